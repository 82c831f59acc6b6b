/* The sink: what comes from the nics. Runs under progress. A frame is parsed here and nowhere else. */
#include "msg/transfer.h"

/* Takes a part from the front of a frame; false: it is not there. */
static bool part_take(const char **data, size_t *length, void *part, size_t bytes)
{
    if (*length < bytes)
        return false;
    memcpy(part, *data, bytes);
    *data += bytes;
    *length -= bytes;
    return true;
}

/* A message, or the announcement of one. In front stands what its flags tell of. */
static __attribute__((noinline)) bool message_arrived(struct msg_peer *peer, uint64_t header, const void *body,
                                                      size_t length)
{
    struct msg_note note;
    struct msg_frame_announce announce = {.id = 0};
    struct msg_keys keys;
    const char *data = body;
    unsigned flags = msg_header_flags(header);
    bool eager = msg_header_kind(header) == MSG_FRAME_EAGER;
    if ((flags & MSG_FLAG_NOTED && !part_take(&data, &length, &note, sizeof note)) ||
        (eager && flags & MSG_FLAG_SYNC && !part_take(&data, &length, &announce.id, sizeof announce.id)) ||
        (!eager && !part_take(&data, &length, &announce, sizeof announce)) ||
        (!eager && !vmsg_keys_read(&keys, flags & MSG_FLAG_KEY ? &announce.key : NULL, data, length))) {
        vmsg_refused(peer, "a message of a wrong length");
        return false;
    }
    struct msg_envelope envelope = {.peer = peer,
                                    .payload = !eager ? NULL : length ? data : "",
                                    .total = eager ? length : announce.total,
                                    .tag = msg_header_tag(header),
                                    .frame = (uint8_t)msg_header_kind(header),
                                    .id = announce.id,
                                    .keys = eager ? NULL : &keys,
                                    .note = flags & MSG_FLAG_NOTED ? &note : NULL};
    vmsg_message_arrived(msg_header_context(header), &envelope);
    return false;
}

/* The usual messages: their context is open and their receives are posted. Of COUNT with one header and one length, as
 * many as find a receive, or all where the first finds none; how many it took. *ENOUGH: a thread waits for one of these
 * receives. */
static inline __attribute__((always_inline)) uint32_t eager_arrived(struct msg_peer *peer, uint64_t header,
                                                                    const char *data, size_t length, uint32_t count,
                                                                    bool *enough)
{
    struct msg_context *context = vmsg_engine.context[msg_header_context(header)];
    int tag = msg_header_tag(header), rank = likely(context != NULL) ? vmsg_context_rank_of(context, peer->world) : -1;
    struct msg_request *found[TUNED(POLL_EVENTS)], *request = NULL;
    uint32_t n = 0;
    if (likely(rank >= 0)) {
        msg_lock(&context->lock);
        struct msg_member *member = context->member[rank];
        while (n < count && n < TUNED(POLL_EVENTS) &&
               likely(member && (request = msg_match_arrival(context, member, tag))) &&
               likely(!msg_match_takes(request, NULL))) {
            msg_match_unlink(request);
            found[n++] = request;
        }
        msg_unlock(&context->lock);
    }
    if (unlikely(n == 0)) {
        if (request) {
            vmsg_message_taken(peer, header, data, length, request);
            return 1;
        }
        for (uint32_t i = 0; i < count; i++)
            (void)message_arrived(peer, header, data + i * length, length);
        return count;
    }
    for (uint32_t i = 0; i < n; i++) {
        *enough |= msg_waited(found[i]);
        msg_eager_deliver(found[i], rank, tag, data + i * length, length);
    }
    msg_credit_owe(peer, n * (length + MSG_FRAME_COST));
    return n;
}

/* Frames that may have several lengths check them, and say whether what a thread waits for is here; of the others the
 * body is handed over as a copy. */
static const struct frame_row {
    void (*take)(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
    size_t length;
    bool (*take_any)(struct msg_peer *peer, uint64_t header, const void *body, size_t length);
} rows[MSG_FRAME_KINDS] = {
    [MSG_FRAME_EAGER] = {.take_any = message_arrived},
    [MSG_FRAME_ANNOUNCE] = {.take_any = message_arrived},
    [MSG_FRAME_GRANT] = {.take_any = vmsg_transfer_granted},
    [MSG_FRAME_DATA] = {.take_any = vmsg_transfer_data},
    [MSG_FRAME_DONE] = {vmsg_transfer_done, sizeof(struct msg_frame_done)},
    [MSG_FRAME_CREDIT] = {vmsg_credit_returned, sizeof(struct msg_frame_credit)},
    [MSG_FRAME_CANCEL] = {vmsg_cancel_asked, sizeof(struct msg_frame_id)},
    [MSG_FRAME_CANCELLED] = {vmsg_cancel_answered, sizeof(struct msg_frame_id)},
    [MSG_FRAME_GOODBYE] = {vmsg_peer_goodbye, 0},
    [MSG_FRAME_WITHDRAW] = {vmsg_withdrawn, 0},
};

/* Every other frame. True: what a thread waits for is here. */
static __attribute__((noinline)) bool frame_arrived(struct msg_peer *peer, uint64_t header, const void *data,
                                                    size_t length)
{
    unsigned kind = msg_header_tag(header) < 0 ? 0 : msg_header_kind(header);
    union msg_frame_body body;
    if (kind < MSG_FRAME_KINDS && rows[kind].take_any)
        return rows[kind].take_any(peer, header, data, length);
    if (kind >= MSG_FRAME_KINDS || !rows[kind].take || length != rows[kind].length) {
        vmsg_refused(peer, "a frame of an unknown kind or a wrong length");
    } else {
        if (length)
            memcpy(&body, data, length);
        rows[kind].take(peer, header, &body);
    }
    return false;
}

/* One that is nothing but payload. */
static inline bool is_eager(uint64_t header)
{
    return (header & 0xffff) == MSG_FRAME_EAGER << 8 && msg_header_tag(header) >= 0;
}

/* From a remote rank: a frame with its number. The usual one comes over the only rail. */
static inline __attribute__((always_inline)) bool far_arrived(struct vi *vi, uint64_t header, const char *data,
                                                              size_t length)
{
    struct msg_peer *peer = vi->owner;
    const char *body = data + sizeof(struct msg_frame_extension);
    bool enough = false, eager = is_eager(header);
    int verdict = likely(eager) && msg_rail_next_received(vi, data, length)
                      ? 1 : vmsg_rail_received(vi, header, data, length);
    if (likely(verdict == 1 && eager))
        (void)eager_arrived(peer, header, body, length - sizeof(struct msg_frame_extension), 1, &enough);
    else if (verdict == 1)
        enough = frame_arrived(peer, header, body, length - sizeof(struct msg_frame_extension));
    if (unlikely(verdict < 0)) {
        vmsg_refused(peer, "a frame out of order");
        vmsg_failed(vbase_fail(ERR_PROTOCOL, "rank %d sent an invalid frame: %s", peer->world, vbase_error_detail()));
    }
    return enough;
}

static __attribute__((noinline)) bool far_each_arrived(struct vi *vi, uint64_t header, const char *data, size_t length,
                                                       uint32_t count)
{
    bool enough = false;
    for (uint32_t i = 0; i < count; i++)
        enough |= vmsg_sink_received(vi, header, data + i * length, length, 1);
    return enough;
}

static __attribute__((noinline)) bool all_arrived(struct vi *vi, uint64_t header, const char *data, size_t length,
                                                  uint32_t count)
{
    struct msg_peer *peer = vi->owner;
    bool enough = false;
    for (uint32_t taken = 0; taken < count;) {
        const char *next = data + taken * length;
        if (likely(is_eager(header))) {
            taken += eager_arrived(peer, header, next, length, count - taken, &enough);
            continue;
        }
        enough |= frame_arrived(peer, header, next, length);
        taken++;
    }
    return enough;
}

bool vmsg_sink_received(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count)
{
    struct msg_peer *peer = vi->owner;
    atomic_store_explicit(&peer->heard, true, memory_order_relaxed);
    if (unlikely(peer->remote))
        return likely(count == 1) ? far_arrived(vi, header, data, length)
                                  : far_each_arrived(vi, header, data, length, count);
    if (unlikely(count != 1 || !is_eager(header)))
        return all_arrived(vi, header, data, length, count);
    bool enough = false;
    (void)eager_arrived(peer, header, data, length, 1, &enough);
    return enough;
}

static void sink_arrived(struct vi *vi, uint32_t immediate, uint64_t length)
{
    struct msg_peer *peer = vi->owner;
    if (peer->remote && vmsg_rail_landed(vi))
        vmsg_transfer_arrived(peer, immediate, length);
}

void vmsg_sink_done(struct vi *vi, void *cookie, int status)
{
    (void)vi;
    vmsg_transfer_told(cookie, status);
}

static void sink_called(struct vi_nic *nic, uint32_t world)
{
    int error = vmsg_peer_accept(nic, world);
    if (error)
        vmsg_failed(error);
}

static void sink_down(struct vi *vi, int cause)
{
    struct msg_peer *peer = vi->owner;
    if (peer->remote)
        vmsg_rail_down(vi, cause);
    else if (!peer->parted && !vmsg_engine.stopping)
        (void)vmsg_peer_lost(peer, cause);
}

const struct vi_sink vmsg_sink = {.received = vmsg_sink_received,
                                    .arrived = sink_arrived,
                                    .done = vmsg_sink_done,
                                    .called = sink_called,
                                    .down = sink_down,
                                    .up = vmsg_rail_up};
