/* Packing: blocks become frames. A small block is one copy behind the others; the frame of a small message is sent by
 * the short path of the engine, without a request. What the engine cannot take at once becomes a part, with a frame of
 * its own, and the next blocks go into a new frame: so packing waits only for a SAFER block that goes alone. */
#include "pack/pack.h"

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static int frame_start(vd_connection *connection, int tag)
{
    unsigned char *next = malloc(PACK_FRAME);
    if (!next)
        return vbase_fail(ERR_MEMORY, "no memory for a frame on channel %s", connection->channel->name);
    struct pack_part *part = vpack_part_take(connection);
    if (!part) {
        free(next);
        return ERR_MEMORY;
    }
    struct msg_where to = {connection->context, connection->remote, tag};
    struct type_buffer buffer = {.base = connection->frame, .count = (uint64_t)connection->fill};
    part->frame = connection->frame;
    connection->frame = next;
    int error = vmsg_send_start(&part->request, &to, &buffer, MSG_STANDARD);
    if (error)
        vpack_part_give(connection, part);
    return error;
}

/* WAIT: it may wait, and then becomes no part. */
static int frame_leave(vd_connection *connection, int tag, bool wait)
{
    uint64_t bytes = (uint64_t)connection->fill;
    if (wait)
        return vmsg_send(connection->context, connection->remote, tag, connection->frame, bytes);
    int error = vmsg_send_now(connection->context, connection->remote, tag, connection->frame, bytes);
    return error == ERR_AGAIN ? frame_start(connection, tag) : error;
}

static int frame_first(vd_connection *connection)
{
    vd_channel *channel = connection->channel;
    if (vpack_threads)
        base_lock(&channel->first_out); /* held: it must not wait */
    connection->sequence = channel->sent[connection->remote]++;
    int error = frame_leave(connection, PACK_TAG_FIRST, connection->ending_now && !vpack_threads);
    channel->sent[connection->remote] -= error != OK; /* the receiver counts what comes */
    if (vpack_threads)
        base_unlock(&channel->first_out);
    connection->begun = true;
    return error;
}

/* What was packed since the last frame. A message has one frame at least. */
static int frame_send(vd_connection *connection)
{
    int error = OK;
    if (!connection->begun)
        error = frame_first(connection);
    else if (connection->fill)
        error = frame_leave(connection, pack_tag_frame(connection), connection->ending_now);
    connection->fill = 0;
    return error;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static int alone_send(vd_connection *connection, const void *data, size_t length, vd_send_mode send)
{
    int tag = pack_tag_alone(connection);
    int error = vmsg_send_now(connection->context, connection->remote, tag, data, length);
    if (error != ERR_AGAIN)
        return error;
    struct pack_part *part = vpack_part_take(connection);
    if (!part)
        return ERR_MEMORY;
    struct msg_where to = {connection->context, connection->remote, tag};
    struct type_buffer buffer = {.base = (void *)data, .count = length};
    error = vmsg_send_start(&part->request, &to, &buffer, MSG_STANDARD);
    if (error)
        vpack_part_give(connection, part);
    else if (send == VD_SEND_SAFER)
        error = vpack_part_wait(connection, part);
    return error;
}

static int block_put(vd_connection *connection, const void *data, size_t length, vd_send_mode send)
{
    int error = OK;
    if (length > connection->alone) {
        error = frame_send(connection);
        return error ? error : alone_send(connection, data, length, send);
    }
    if (connection->fill + (int64_t)length > PACK_FRAME)
        error = frame_send(connection);
    if (error)
        return error;
    if (length)
        base_copy(connection->frame + connection->fill, data, length);
    connection->fill += (int64_t)length;
    return OK;
}

/* From a LATER block on everything is kept until the end: the blocks behind it come after it. */
static int block_keep(vd_connection *connection, const void *data, size_t length, vd_send_mode send)
{
    struct pack_block block = {.data = (void *)data, .length = length, .copied = send == VD_SEND_SAFER && length};
    if (block.copied) {
        block.data = malloc(length);
        if (!block.data)
            return vbase_fail(ERR_MEMORY, "no memory to copy a block of %zu bytes", length);
        base_copy(block.data, data, length);
    }
    connection->room = -1;
    int error = vpack_block_wait(connection, &block);
    if (error && block.copied)
        free(block.data);
    return error;
}

static int block_take(vd_connection *connection, const void *data, size_t length, vd_send_mode send)
{
    bool leaves = length > connection->alone || connection->fill + (int64_t)length > PACK_FRAME;
    if (connection->copies)
        send = VD_SEND_SAFER;
    if (connection->waiting_blocks || send == VD_SEND_LATER || (connection->copies && leaves))
        return block_keep(connection, data, length, send);
    return block_put(connection, data, length, send);
}

static __attribute__((noinline)) int block_pack_slowly(vd_connection *connection, const void *data, size_t length,
                                                 vd_send_mode send, vd_receive_mode receive)
{
    int error = vpack_block_check(connection, false, data, length, send, receive);
    if (error)
        return error;
    if (connection->channel->check) {
        struct pack_mark mark = {length, connection->blocks++, (uint8_t)send, (uint8_t)receive, PACK_MARK_BLOCK};
        error = block_take(connection, &mark, sizeof mark, VD_SEND_SAFER);
    }
    return vpack_failed(connection, error ? error : block_take(connection, data, length, send));
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) vd_connection *message_begin_slowly(vd_channel *channel, int remote)
{
    int error = pack_valid(channel, remote) ? OK : vpack_argument(channel, remote);
    if (!error && channel->check && channel->id >= PACK_ID_FIRST) /* calls report it by their code */
        error = vpack_check_heard(channel, remote);
    if (error)
        return vpack_fail(error);
    vd_connection *connection = vpack_take(channel, false);
    if (!connection)
        return NULL;
    connection->remote = remote;
    connection->room = channel->check ? -1 : PACK_FRAME;
    return connection;
}

VEXPORT vd_connection *vd_begin_packing(vd_channel *channel, int remote)
{
    if (unlikely(!pack_valid(channel, remote)) || unlikely(channel->check || vpack_threads || !channel->idle[0]))
        return message_begin_slowly(channel, remote);
    vd_connection *connection = pack_take(channel, false);
    connection->remote = remote;
    connection->room = PACK_FRAME;
    return connection;
}

VEXPORT int vd_pack(vd_connection *connection, const void *data, size_t length, vd_send_mode send,
                    vd_receive_mode receive)
{
    if (unlikely(!connection || !data || length > connection->alone ||
                 connection->fill + (int64_t)length > connection->room ||
                 ((unsigned)send | (unsigned)receive) > 1))
        return block_pack_slowly(connection, data, length, send, receive);
    unsigned char *to = connection->frame + connection->fill;
    connection->fill += (int64_t)length;
    return pack_copy(to, data, length);
}

/* Checking: behind the last block a mark says so. */
static int mark_put_end(vd_connection *connection)
{
    if (!connection->channel->check || connection->error || connection->blocks == UINT32_MAX)
        return connection->error;
    struct pack_mark mark = {0, connection->blocks, 0, 0, PACK_MARK_END};
    connection->blocks = UINT32_MAX;
    return block_take(connection, &mark, sizeof mark, VD_SEND_SAFER);
}

int vpack_seal(vd_connection *connection, uint32_t *frames, uint32_t *alone)
{
    int error = mark_put_end(connection);
    int64_t fill = connection->fill;
    uint32_t full = 0, single = 0;
    for (uint32_t i = 0; i < connection->waiting_blocks; i++) { /* what block_put will do */
        int64_t length = (int64_t)connection->waiting[i].length;
        bool goes_alone = connection->waiting[i].length > connection->alone;
        if (goes_alone || fill + length > PACK_FRAME) {
            full += fill || !full;
            fill = 0;
        }
        single += goes_alone;
        fill += goes_alone ? 0 : length;
    }
    full += fill || !full;
    *frames = full - 1;
    *alone = single;
    return vpack_failed(connection, error);
}

/* Everything is handed to the engine. */
static int message_hand_over(vd_connection *connection)
{
    int error = mark_put_end(connection);
    for (uint32_t i = 0; i < connection->waiting_blocks && !error; i++)
        error = block_put(connection, connection->waiting[i].data, connection->waiting[i].length, VD_SEND_CHEAPER);
    if (!error)
        error = frame_send(connection);
    return vpack_failed(connection, error);
}

int vpack_packing_over(vd_connection *connection)
{
    int error = connection->error;
    for (uint32_t i = 0; i < connection->waiting_blocks; i++)
        if (connection->waiting[i].copied)
            free(connection->waiting[i].data);
    connection->fill = 0;
    connection->blocks = connection->waiting_blocks = 0;
    connection->begun = connection->ending_now = connection->copies = false;
    connection->room = -1;
    connection->error = OK;
    vpack_give(connection);
    return error;
}

static __attribute__((noinline)) int message_end_slowly(vd_connection *connection)
{
    if (!vpack_goes_on(connection, false) || connection->copies)
        return vpack_not_open(connection, false, "vd_end_packing");
    connection->ending_now = true;
    (void)message_hand_over(connection);
    (void)vpack_failed(connection, vpack_parts_wait(connection));
    return vpack_packing_over(connection);
}

VEXPORT int vd_end_packing(vd_connection *connection)
{
    DOING("vd_end_packing");
    if (unlikely(!connection || connection->room < 0 || connection->begun || connection->copies || vpack_threads))
        return message_end_slowly(connection);
    connection->channel->sent[connection->remote]++;
    int error = vmsg_send(connection->context, connection->remote, PACK_TAG_FIRST, connection->frame,
                          (uint64_t)connection->fill);
    connection->fill = 0;
    connection->room = -1;
    pack_give(connection, false);
    return error;
}

VEXPORT int vd_end_packing_start(vd_connection *connection)
{
    if (!vpack_goes_on(connection, false) || connection->copies)
        return vpack_not_open(connection, false, "vd_end_packing_start");
    int error = message_hand_over(connection);
    connection->room = -1;
    connection->state = PACK_ENDING;
    return error;
}
