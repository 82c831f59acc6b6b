/* Unpacking: the same rules from the other side. A block is taken from the frame that is here. Where the frame is not
 * here yet an EXPRESS block waits for it, a CHEAPER one is remembered and taken when the frame is needed for something
 * that cannot wait. A block that went alone is received into its place.
 *
 * A length that differs from the packer's is noticed where a frame or block does not end as expected; nothing is ever
 * written outside the user's blocks. */
#include "pack/pack.h"

static COLD int length_disagree(const vd_connection *connection, const char *what)
{
    return vbase_fail(ERR_ASYMMETRY, "the message from rank %d on channel %s has %s (VIADUCT_CHECK=yes tells where)",
                      connection->remote, connection->channel->name, what);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static void frame_came(vd_connection *connection, uint64_t bytes)
{
    connection->bytes = (int64_t)bytes;
    connection->fill = 0;
    connection->here = true;
    connection->room_in = connection->channel->check ? -1 : connection->bytes;
}

/* The rest of this frame will not be unpacked. */
static int frame_over(vd_connection *connection)
{
    if (connection->here && connection->fill != connection->bytes)
        return length_disagree(connection, "more bytes packed than are unpacked");
    connection->here = false;
    connection->room_in = -1;
    connection->fill = 0;
    return OK;
}

/* ERR_AGAIN: it is not here, and WAIT is false. */
static int frame_get(vd_connection *connection, bool wait)
{
    struct msg_where from = {connection->context, connection->remote, pack_tag_frame(connection)};
    struct msg_result result;
    bool found = true;
    if (connection->counted && !connection->frames_left)
        return length_disagree(connection, "less bytes packed than are unpacked");
    int error = wait ? OK : vmsg_probe(&from, &found, &result);
    if (error || !found)
        return error ? error : ERR_AGAIN;
    error = vmsg_recv(from.context, from.rank, from.tag, connection->frame, PACK_FRAME, &result);
    if (!error) {
        frame_came(connection, result.bytes);
        connection->frames_left -= connection->counted;
    }
    return error;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* A block of a frame, when its turn has come. */
static int block_copy(vd_connection *connection, void *data, size_t length, bool wait)
{
    int error = OK;
    if (!length)
        return OK; /* needs no frame */
    if (connection->fill + (int64_t)length > PACK_FRAME)
        error = frame_over(connection);
    if (!error && !connection->here)
        error = frame_get(connection, wait);
    if (!error && connection->fill + (int64_t)length > connection->bytes)
        error = length_disagree(connection, "less bytes packed than are unpacked");
    if (error)
        return error;
    base_copy(data, connection->frame + connection->fill, length);
    connection->fill += (int64_t)length;
    return OK;
}

/* Blocks that were remembered. ERR_AGAIN: not all, and WAIT is false. */
static int waiting_take(vd_connection *connection, bool wait)
{
    while (connection->waiting_done < connection->waiting_blocks) {
        const struct pack_block *block = &connection->waiting[connection->waiting_done];
        int error = block->data ? block_copy(connection, block->data, block->length, wait) : frame_over(connection);
        if (error)
            return error;
        connection->waiting_done++;
    }
    connection->waiting_blocks = connection->waiting_done = 0;
    if (connection->here)
        connection->room_in = connection->channel->check ? -1 : connection->bytes;
    return OK;
}

/* It is posted, so that it may come while the program unpacks the next ones. The frame before it ends here. */
static int alone_receive(vd_connection *connection, void *data, size_t length, vd_receive_mode receive)
{
    int error = connection->waiting_blocks ? vpack_block_wait(connection, &(struct pack_block){.data = NULL})
                                           : frame_over(connection);
    if (!error && connection->counted && !connection->alone_left)
        error = length_disagree(connection, "less long blocks packed than are unpacked");
    if (error)
        return error;
    struct pack_part *part = vpack_part_take(connection);
    if (!part)
        return ERR_MEMORY;
    struct msg_where from = {connection->context, connection->remote, pack_tag_alone(connection)};
    struct type_buffer buffer = {.base = data, .count = length};
    part->length = length;
    error = vmsg_recv_start(&part->request, &from, &buffer);
    if (error)
        vpack_part_give(connection, part);
    else
        connection->alone_left -= connection->counted;
    if (!error && receive == VD_RECEIVE_EXPRESS)
        error = vpack_part_wait(connection, part);
    return error;
}

static int block_get(vd_connection *connection, void *data, size_t length, vd_receive_mode receive)
{
    if (length > connection->alone)
        return alone_receive(connection, data, length, receive);
    bool absent = connection->waiting_blocks || !connection->here || connection->fill + (int64_t)length > PACK_FRAME;
    if (absent)
        connection->room_in = -1; /* the next block must not overtake it */
    if (absent && receive == VD_RECEIVE_CHEAPER)
        return length ? vpack_block_wait(connection, &(struct pack_block){.data = data, .length = length}) : OK;
    int error = connection->waiting_blocks ? waiting_take(connection, true) : OK;
    return error ? error : block_copy(connection, data, length, true);
}

static int mark_get(vd_connection *connection, const struct pack_mark *unpacked)
{
    struct pack_mark packed;
    int error = block_get(connection, &packed, sizeof packed, VD_RECEIVE_EXPRESS);
    return error ? error : vpack_check_mark(connection, &packed, unpacked);
}

static __attribute__((noinline)) int block_unpack_slowly(vd_connection *connection, void *data, size_t length,
                                                   vd_send_mode send, vd_receive_mode receive)
{
    int error = vpack_block_check(connection, true, data, length, send, receive);
    if (error)
        return error;
    if (connection->channel->check)
        error = mark_get(connection, &(struct pack_mark){length, connection->blocks++, (uint8_t)send, (uint8_t)receive,
                                                         PACK_MARK_BLOCK});
    if (!error)
        error = block_get(connection, data, length, receive);
    return vpack_failed(connection, error);
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

void vpack_begun(vd_connection *connection, const struct msg_result *result, uint32_t sequence)
{
    connection->remote = result->source;
    connection->sequence = sequence;
    frame_came(connection, result->bytes);
}

/* Does vd_begin_unpacking, which called this handler, wait for a message from REMOTE? Then the next one belongs to
 * it. */
static inline bool message_is_awaited(const vd_channel *channel, int remote)
{
    int awaited = channel->awaited;
    return awaited != PACK_NOBODY && (remote == VD_ANYONE || awaited == VD_ANYONE || awaited == remote);
}

/* One thread at a time looks. Another one that tries may sleep then, though its message may be there: it says
 * so, and who looks, or looks next, wakes it if any message is left. What comes later wakes all sleepers. */
static bool look_begin(vd_channel *channel)
{
    if (unlikely(!base_lock_try(&channel->first_in))) {
        atomic_store_explicit(&channel->missed, true, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst); /* pairs with look_end: it sees this, or the lock is free by now */
        if (!base_lock_try(&channel->first_in))
            return false;
    }
    channel->wakes = atomic_load_explicit(&channel->missed, memory_order_relaxed);
    if (unlikely(channel->wakes))
        /* look_end sees who says so from now on */
        atomic_store_explicit(&channel->missed, false, memory_order_relaxed);
    return true;
}

static void look_end(vd_channel *channel)
{
    struct msg_where any = {channel->context, VD_ANYONE, PACK_TAG_FIRST};
    struct msg_result first;
    bool wakes = channel->wakes, found = false;
    base_unlock(&channel->first_in);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with look_begin */
    if (likely(!wakes && !atomic_load_explicit(&channel->missed, memory_order_relaxed)))
        return;
    if (vmsg_probe(&any, &found, &first) || found)
        vmsg_wake();
}

/* One thread at a time takes a first frame and counts it: their order is that of the numbers. OWN: vd_begin_unpacking
 * waits for it. LOOKED: it was our turn to try. */
static int message_take_now(vd_channel *channel, int remote, vd_connection *connection, bool own, bool *looked)
{
    struct msg_where from = {channel->context, remote, PACK_TAG_FIRST};
    struct type_buffer buffer = {.base = connection->frame, .count = PACK_FRAME};
    struct msg_message *message;
    struct msg_request request = {.completed = NULL};
    *looked = vpack_threads ? look_begin(channel) : own || !message_is_awaited(channel, remote);
    if (!*looked)
        return ERR_AGAIN; /* tried only: the probe makes progress, which may call a handler, which may come here */
    int error = vmsg_message_probe(&from, &message, &request.result);
    uint32_t sequence = !error && message ? channel->heard[request.result.source]++ : 0;
    if (vpack_threads)
        look_end(channel);
    if (error || !message)
        return error ? error : ERR_AGAIN;
    error = vmsg_message_recv(&request, message, &buffer);
    if (!error)
        error = vmsg_wait(&request);
    if (!error)
        vpack_begun(connection, &request.result, sequence);
    return error;
}

struct begin_wait {
    vd_channel *channel;
    int remote, error;
    vd_connection *connection;
    bool own;
};

/* Are all ranks dead that could send it? */
static bool senders_are_dead(const vd_channel *channel, int remote)
{
    if (likely(!vmsg_deaths()))
        return false;
    if (remote != VD_ANYONE)
        return vmsg_dead(remote);
    for (int rank = 0; rank < channel->size; rank++)
        if (rank != channel->rank && !vmsg_dead(rank))
            return false;
    return channel->size > 1;
}

/* Messages of a dead rank come before the news of its death. */
static int message_take_or_fail(vd_channel *channel, int remote, vd_connection *connection, bool own)
{
    bool looked;
    int error = message_take_now(channel, remote, connection, own, &looked);
    if (error == ERR_AGAIN && looked && unlikely(senders_are_dead(channel, remote)) && !vmsg_progress())
        error = vbase_fail(ERR_PEER_DEAD, "channel %s: all ranks that could send have ended", channel->name);
    return error;
}

static bool message_has_begun(void *context)
{
    struct begin_wait *wait = context;
    if (wait->error == ERR_AGAIN)
        wait->error = message_take_or_fail(wait->channel, wait->remote, wait->connection, wait->own);
    return wait->error != ERR_AGAIN;
}

/* The thread that finds a message takes and counts it at once: a handler may take others meanwhile. Where no other
 * thread calls, the handler leaves the one that is waited for. */
static int message_take_waiting(vd_channel *channel, int remote, vd_connection *connection)
{
    bool own = !vpack_threads && channel->awaited == PACK_NOBODY;
    struct begin_wait wait = {channel, remote, ERR_AGAIN, connection, own};
    if (own)
        channel->awaited = remote;
    int error = vmsg_wait_until(message_has_begun, &wait);
    if (own)
        channel->awaited = PACK_NOBODY;
    return wait.error == ERR_AGAIN ? error : wait.error;
}

static __attribute__((noinline)) vd_connection *message_begin_slowly(vd_channel *channel, int remote)
{
    if (!pack_valid(channel, remote == VD_ANYONE ? 0 : remote))
        return vpack_fail(vpack_argument(channel, remote));
    vd_connection *connection = vpack_take(channel, true);
    if (!connection)
        return NULL;
    int error = message_take_waiting(channel, remote, connection);
    if (!error)
        return connection;
    vpack_give(connection);
    return vpack_fail(error);
}

/* REMOTE is a rank of the channel, or VD_ANYONE. */
static inline __attribute__((always_inline)) vd_connection *message_begin(vd_channel *channel, int remote)
{
    struct msg_result result;
    if (unlikely(vpack_threads || channel->check || channel->awaited != PACK_NOBODY || !channel->idle[1]))
        return message_begin_slowly(channel, remote);
    vd_connection *connection = pack_take(channel, true);
    channel->awaited = remote; /* a handler that runs meanwhile sees it */
    int error = vmsg_recv(channel->context, remote, PACK_TAG_FIRST, connection->frame, PACK_FRAME, &result);
    channel->awaited = PACK_NOBODY;
    if (unlikely(error)) {
        vpack_give(connection);
        return error == ERR_PEER_DEAD && remote == MSG_ANY_SOURCE ? message_begin_slowly(channel, remote)
                                                                  : vpack_fail(error);
    }
    connection->remote = result.source;
    connection->sequence = channel->heard[result.source]++;
    connection->bytes = connection->room_in = (int64_t)result.bytes;
    return connection;
}

VEXPORT vd_connection *vd_begin_unpacking(vd_channel *channel)
{
    DOING("vd_begin_unpacking");
    return likely(pack_valid(channel, 0)) ? message_begin(channel, MSG_ANY_SOURCE) : message_begin_slowly(channel, 0);
}

VEXPORT vd_connection *vd_begin_unpacking_from(vd_channel *channel, int remote)
{
    DOING("vd_begin_unpacking_from");
    return likely(pack_valid(channel, remote)) ? message_begin(channel, remote) : message_begin_slowly(channel, remote);
}

VEXPORT int vd_begin_unpacking_now(vd_channel *channel, int remote, vd_connection **out)
{
    if (unlikely(!pack_valid(channel, remote == VD_ANYONE ? 0 : remote)))
        return vpack_argument(channel, remote);
    vd_connection *connection = vpack_take(channel, true);
    if (!connection)
        return vd_error();
    int error = message_take_or_fail(channel, remote, connection, false);
    if (error)
        vpack_give(connection);
    else
        *out = connection;
    return error;
}

VEXPORT int vd_unpack(vd_connection *connection, void *data, size_t length, vd_send_mode send, vd_receive_mode receive)
{
    if (unlikely(!connection || !data || length > connection->alone ||
                 connection->fill + (int64_t)length > connection->room_in))
        return block_unpack_slowly(connection, data, length, send, receive);
    const unsigned char *from = connection->frame + connection->fill;
    connection->fill += (int64_t)length;
    return pack_copy(data, from, length);
}

/* Checking. ERR_AGAIN: it is not here, and WAIT is false. */
static int mark_get_end(vd_connection *connection, bool wait)
{
    struct pack_mark packed, end = {0, connection->blocks, 0, 0, PACK_MARK_END};
    int error = block_copy(connection, &packed, sizeof packed, wait);
    if (error == ERR_AGAIN)
        return error;
    connection->blocks = UINT32_MAX;
    return error ? error : vpack_check_mark(connection, &packed, &end);
}

/* The end, as far as it goes without waiting, or all of it. ERR_AGAIN: not yet. */
static int frames_end(vd_connection *connection, bool wait)
{
    int error = connection->error;
    if (!error)
        error = waiting_take(connection, wait);
    if (!error && connection->channel->check && connection->blocks != UINT32_MAX)
        error = mark_get_end(connection, wait);
    if (!error)
        error = frame_over(connection);
    return vpack_failed(connection, error);
}

static int message_over(vd_connection *connection)
{
    int error = connection->error;
    connection->waiting_blocks = connection->waiting_done = connection->blocks = 0;
    connection->here = true;
    connection->fill = 0;
    connection->room_in = -1;
    if (unlikely(connection->lacking))
        atomic_fetch_sub_explicit(&vpack_event_frames, 1, memory_order_relaxed); /* a hint */
    connection->lacking = false;
    if (!connection->kept) {
        connection->counted = false;
        connection->error = OK;
    }
    vpack_give(connection);
    return error;
}

void vpack_abandon(vd_connection *connection)
{
    connection->error = connection->error ? connection->error : ERR_CANCELLED;
    connection->room_in = -1;
    vpack_cancel(connection);
    while (!list_empty(&connection->parts)) {
        struct pack_part *part = container_of(list_first(&connection->parts), struct pack_part, link);
        connection->alone_left += vmsg_wait(&part->request) == ERR_CANCELLED && connection->counted;
        vpack_part_give(connection, part);
    }
}

/* One after another: the numbers are the sender's. */
int vpack_drop(vd_connection *connection)
{
    if (!connection->counted)
        connection->frames_left = connection->alone_left = 0;
    while (vpack_parts_test(connection) == OK) {
        uint32_t *left = connection->frames_left ? &connection->frames_left : &connection->alone_left;
        int tag = connection->frames_left ? pack_tag_frame(connection) : pack_tag_alone(connection);
        struct pack_part *part = *left ? vpack_part_take(connection) : NULL;
        struct msg_where from = {connection->context, connection->remote, tag};
        if (!part || vmsg_recv_start(&part->request, &from, &(struct type_buffer){.count = 0})) {
            if (part)
                vpack_part_give(connection, part);
            connection->kept = false;
            (void)message_over(connection);
            return OK;
        }
        --*left;
    }
    return ERR_AGAIN;
}

static __attribute__((noinline)) int message_end_slowly(vd_connection *connection)
{
    if (!vpack_goes_on(connection, true))
        return vpack_not_open(connection, true, "vd_end_unpacking");
    if (frames_end(connection, true))
        vpack_cancel(connection);
    (void)vpack_failed(connection, vpack_parts_wait(connection));
    return message_over(connection);
}

VEXPORT int vd_end_unpacking(vd_connection *connection)
{
    if (unlikely(!connection || connection->fill != connection->room_in || connection->parts_under_way ||
                 connection->kept || vpack_threads))
        return message_end_slowly(connection);
    connection->fill = 0;
    connection->room_in = -1;
    pack_give(connection, true);
    return OK;
}

VEXPORT int vd_end_unpacking_start(vd_connection *connection)
{
    if (!vpack_goes_on(connection, true))
        return vpack_not_open(connection, true, "vd_end_unpacking_start");
    connection->state = PACK_ENDING;
    int error = frames_end(connection, false);
    if (error && error != ERR_AGAIN)
        vpack_cancel(connection);
    connection->lacking = error == ERR_AGAIN;
    if (connection->lacking && atomic_fetch_add_explicit(&vpack_event_frames, 1, memory_order_relaxed) == 0)
        vmsg_wake(); /* the event thread waits with a limit from now on */
    return error == ERR_AGAIN ? OK : error;
}

/* ---- what was ended without waiting -------------------------------------------------------------------------------
 */

static int message_not_ending(const vd_connection *connection)
{
    if (connection && connection->state == PACK_ENDING)
        return OK;
    return vbase_fail(ERR_STATE, "vd_end_packing_start or vd_end_unpacking_start must come before vd_done and vd_wait");
}

VEXPORT int vd_done(vd_connection *connection)
{
    int error = message_not_ending(connection);
    if (error)
        return error;
    (void)vd_progress();
    if (connection->channel->check && !connection->unpacking && !connection->error &&
        vpack_failed(connection, vpack_check_heard(connection->channel, connection->remote)))
        vpack_cancel(connection); /* the receiver may never take them */
    if (connection->unpacking && !connection->error && frames_end(connection, false) == ERR_AGAIN)
        return ERR_AGAIN;
    if (vpack_parts_test(connection) == ERR_AGAIN)
        return ERR_AGAIN;
    return connection->unpacking ? message_over(connection) : vpack_packing_over(connection);
}

VEXPORT int vd_wait(vd_connection *connection)
{
    int error = message_not_ending(connection);
    if (error)
        return error;
    if (!connection->unpacking) {
        int ended = vpack_parts_wait(connection);
        connection->error = connection->error ? connection->error : ended;
        return vpack_packing_over(connection);
    }
    connection->state = PACK_OPEN;
    return message_end_slowly(connection);
}
