/* Parts: pieces of a message that are under way, and blocks that wait for their turn. */
#include "pack/pack.h"

int vpack_copy(void *to, const void *from, size_t length)
{
    base_copy(to, from, length);
    return OK;
}

/* ---- what a connection is asked for ------------------------------------------------------------------------------ */

int vpack_failed(vd_connection *connection, int error)
{
    if (error && error != ERR_AGAIN) {
        connection->room = connection->room_in = -1;
        connection->error = connection->error ? connection->error : error;
    }
    return error;
}

bool vpack_goes_on(const vd_connection *connection, bool unpacking)
{
    return connection && connection->state == PACK_OPEN && connection->unpacking == unpacking;
}

int vpack_not_open(const vd_connection *connection, bool unpacking, const char *call)
{
    const char *why = !connection                                     ? "the connection is NULL"
                      : connection->unpacking != unpacking && unpacking ? "this message is being packed"
                      : connection->unpacking != unpacking              ? "this message is being unpacked"
                      : connection->state == PACK_ENDING                ? "this message was ended"
                      : connection->copies ? "a call or a reply leaves by vd_rpc_send or behind its handler"
                      : unpacking          ? "vd_begin_unpacking must come before"
                                           : "vd_begin_packing must come before";
    return vbase_fail(ERR_STATE, "%s: %s", call, why);
}

int vpack_block_check(vd_connection *connection, bool unpacking, const void *data, size_t length, vd_send_mode send,
                      vd_receive_mode receive)
{
    const char *call = unpacking ? "vd_unpack" : "vd_pack";
    if (!vpack_goes_on(connection, unpacking))
        return vpack_not_open(connection, unpacking, call);
    if (connection->error)
        return connection->error;
    if ((unsigned)send > VD_SEND_LATER || (unsigned)receive > VD_RECEIVE_EXPRESS || (length && !data) ||
        length > INT64_MAX)
        return vpack_failed(connection, vbase_fail(ERR_ARGUMENT, "%s: %zu bytes at %p, send mode %d, receive mode %d",
                                                   call, length, data, (int)send, (int)receive));
    return OK;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

struct pack_part *vpack_part_take(vd_connection *connection)
{
    vd_channel *channel = connection->channel;
    pack_lock(channel);
    struct list_node *node = list_take_first(&channel->spare_parts);
    pack_unlock(channel);
    struct pack_part *part = node ? container_of(node, struct pack_part, link) : malloc(sizeof *part);
    if (!part) {
        (void)vbase_fail(ERR_MEMORY, "no memory for a part of a message on channel %s", channel->name);
        return NULL;
    }
    memset(part, 0, sizeof *part);
    part->request.completed = atomic_load_explicit(&vpack_event_over, memory_order_relaxed);
    list_append(&connection->parts, &part->link);
    connection->parts_under_way++;
    return part;
}

void vpack_part_give(vd_connection *connection, struct pack_part *part)
{
    vd_channel *channel = connection->channel;
    list_remove(&part->link);
    connection->parts_under_way--;
    free(part->frame);
    pack_lock(channel);
    list_prepend(&channel->spare_parts, &part->link);
    pack_unlock(channel);
}

/* The error of a part that is over. */
static int part_outcome(const vd_connection *connection, const struct pack_part *part)
{
    int error = part->request.result.error;
    if (error == ERR_TRUNCATED || (!error && connection->unpacking && part->request.result.bytes != part->length))
        return vbase_fail(ERR_ASYMMETRY,
                          "a block of the message from rank %d on channel %s has %s bytes than the %llu that are "
                          "unpacked (VIADUCT_CHECK=yes tells which)",
                          connection->remote, connection->channel->name, error ? "more" : "less",
                          (unsigned long long)part->length);
    return error;
}

struct part_wait {
    vd_connection *connection;
    struct pack_part *part;
    int heard;
};

static bool part_is_over(void *context)
{
    struct part_wait *wait = context;
    if (!wait->heard)
        wait->heard = vpack_check_heard(wait->connection->channel, wait->connection->remote);
    return wait->heard || vmsg_request_done(&wait->part->request);
}

/* Checking: a receiver that sent a complaint may never take it. */
static int part_wait_checked(vd_connection *connection, struct pack_part *part)
{
    struct part_wait wait = {connection, part, OK};
    int error = vmsg_wait_until(part_is_over, &wait);
    if (!error && wait.heard)
        vpack_cancel(connection); /* all that is under way of it: this is told once */
    error = vmsg_wait(&part->request);
    return wait.heard ? wait.heard : error;
}

int vpack_part_wait(vd_connection *connection, struct pack_part *part)
{
    int error = connection->channel->check && !connection->unpacking ? part_wait_checked(connection, part)
                                                                     : vmsg_wait(&part->request);
    if (!error || error == part->request.result.error)
        error = part_outcome(connection, part);
    vpack_part_give(connection, part);
    return error;
}

int vpack_parts_wait(vd_connection *connection)
{
    int first = OK;
    while (!list_empty(&connection->parts)) {
        int error = vpack_part_wait(connection, container_of(list_first(&connection->parts), struct pack_part, link));
        first = first ? first : error;
    }
    return first;
}

int vpack_parts_test(vd_connection *connection)
{
    int error = OK;
    list_for_each(node, &connection->parts) {
        struct pack_part *part = container_of(node, struct pack_part, link);
        if (!vmsg_request_done(&part->request))
            continue;
        int one = part_outcome(connection, part);
        error = error ? error : one;
        vpack_part_give(connection, part);
    }
    if (error)
        connection->error = connection->error ? connection->error : error;
    return list_empty(&connection->parts) ? OK : ERR_AGAIN;
}

void vpack_cancel(vd_connection *connection)
{
    list_for_each(node, &connection->parts) {
        struct pack_part *part = container_of(node, struct pack_part, link);
        if (!connection->unpacking || !part->frame) /* else a complaint */
            vmsg_cancel(&part->request);
    }
}

int vpack_block_wait(vd_connection *connection, const struct pack_block *block)
{
    if (connection->waiting_blocks == connection->waiting_room) {
        uint32_t room = connection->waiting_room ? 2 * connection->waiting_room : 16;
        struct pack_block *more = realloc(connection->waiting, room * sizeof *more);
        if (!more)
            return vbase_fail(ERR_MEMORY, "no memory for block %u of a message on channel %s",
                              connection->waiting_blocks, connection->channel->name);
        connection->waiting = more;
        connection->waiting_room = room;
    }
    connection->waiting[connection->waiting_blocks++] = *block;
    return OK;
}
