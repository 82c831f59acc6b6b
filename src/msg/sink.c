/* The sink: what comes from the nics. Runs under progress. A frame is parsed here and nowhere else. */
#include "msg/transfer.h"

/* An eager message that waits, or of which more is to be told. */
static __attribute__((noinline)) void eager_kept(struct msg_peer *peer, uint64_t header, const void *data, size_t length)
{
    struct msg_envelope envelope = {
        .peer = peer, .payload = length ? data : "", .total = length, .tag = msg_header_tag(header), .frame = MSG_FRAME_EAGER};
    vmsg_message_arrived(msg_header_context(header), &envelope);
}

/* The usual message: its context is open and its receive is posted. */
static inline __attribute__((always_inline)) void eager_arrived(struct msg_peer *peer, uint64_t header, const void *data, size_t length)
{
    struct msg_context *context = vmsg_engine.context[msg_header_context(header)];
    int tag = msg_header_tag(header), rank = likely(context != NULL) ? vmsg_context_rank_of(context, peer->world) : -1;
    struct msg_request *request = NULL;
    if (likely(rank >= 0 && !peer->note)) {
        msg_lock(&context->lock);
        struct msg_member *member = context->member[rank];
        if (likely(member && (request = msg_match_arrival(context, member, tag)) && request->mode != MSG_LISTEN))
            msg_match_unlink(request);
        else
            request = NULL;
        msg_unlock(&context->lock);
    }
    if (likely(request != NULL)) {
        uint64_t want = msg_receive_found(request, rank, tag, length);
        msg_payload_deliver(request, peer, data, want);
        return;
    }
    eager_kept(peer, header, data, length);
}

static void sync_arrived(struct msg_peer *peer, uint64_t header, const void *data, size_t length)
{
    struct msg_frame_id body;
    if (length < sizeof body) {
        vmsg_refused(peer, "a synchronous message without its id");
        return;
    }
    memcpy(&body, data, sizeof body);
    struct msg_envelope envelope = {.peer = peer,
                                    .payload = (const char *)data + sizeof body,
                                    .total = length - sizeof body,
                                    .tag = msg_header_tag(header),
                                    .frame = MSG_FRAME_EAGER_SYNC,
                                    .id = body.id};
    vmsg_message_arrived(msg_header_context(header), &envelope);
}

static void announce_arrived(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    struct msg_envelope envelope = {.peer = peer,
                                    .total = body->announce.total,
                                    .tag = msg_header_tag(header),
                                    .frame = MSG_FRAME_ANNOUNCE,
                                    .id = body->announce.id,
                                    .key = body->announce.key,
                                    .fetchable = msg_header_flags(header) & MSG_FLAG_KEY};
    vmsg_message_arrived(msg_header_context(header), &envelope);
}

/* Frames whose body has one length. */
static const struct frame_row {
    void (*take)(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
    size_t length;
} rows[MSG_FRAME_KINDS] = {
    [MSG_FRAME_ANNOUNCE] = {announce_arrived, sizeof(struct msg_frame_announce)},
    [MSG_FRAME_CLEAR] = {vmsg_rendezvous_clear, sizeof(struct msg_frame_clear)},
    [MSG_FRAME_FINISH] = {vmsg_rendezvous_finish, sizeof(struct msg_frame_id)},
    [MSG_FRAME_ACK] = {vmsg_rendezvous_finish, sizeof(struct msg_frame_id)},
    [MSG_FRAME_CREDIT] = {vmsg_credit_returned, sizeof(struct msg_frame_credit)},
    [MSG_FRAME_CANCEL] = {vmsg_cancel_asked, sizeof(struct msg_frame_id)},
    [MSG_FRAME_CANCELLED] = {vmsg_cancel_answered, sizeof(struct msg_frame_id)},
    [MSG_FRAME_BOARD] = {vmsg_joint_board, sizeof(struct msg_frame_board)},
    [MSG_FRAME_JOIN] = {vmsg_joint_invited, sizeof(struct msg_frame_join)},
    [MSG_FRAME_WITHDRAW] = {vmsg_joint_withdrawn, sizeof(struct msg_frame_withdraw)},
    [MSG_FRAME_GOODBYE] = {vmsg_peer_parted, 0},
    [MSG_FRAME_NOTE] = {vmsg_note_arrived, sizeof(struct msg_note)},
};

/* Every other frame. */
static __attribute__((noinline)) void frame_arrived(struct msg_peer *peer, uint64_t header, const void *data, size_t length)
{
    unsigned kind = msg_header_tag(header) < 0 ? 0 : msg_header_kind(header);
    union msg_frame_body body;
    if (kind == MSG_FRAME_EAGER_SYNC) {
        sync_arrived(peer, header, data, length);
    } else if (kind == MSG_FRAME_DATA) {
        vmsg_rendezvous_data(peer, data, length);
    } else if (kind >= MSG_FRAME_KINDS || !rows[kind].take || length != rows[kind].length) {
        vmsg_refused(peer, "a frame of an unknown kind or a wrong length");
    } else {
        if (length)
            memcpy(&body, data, length);
        rows[kind].take(peer, header, &body);
    }
}

static inline bool is_eager(uint64_t header)
{
    return msg_header_kind(header) == MSG_FRAME_EAGER && msg_header_tag(header) >= 0;
}

/* From a remote rank: a frame with its number. */
static void far_received(struct vi *vi, uint64_t header, const char *data, size_t length)
{
    struct msg_peer *peer = vi->owner;
    int verdict = vmsg_rail_received(vi, header, data, length);
    data += sizeof(struct msg_frame_extension);
    if (verdict == 1 && is_eager(header))
        eager_arrived(peer, header, data, length - sizeof(struct msg_frame_extension));
    else if (verdict == 1)
        frame_arrived(peer, header, data, length - sizeof(struct msg_frame_extension));
    if (unlikely(verdict < 0)) {
        vmsg_refused(peer, "a frame out of its turn");
        vmsg_failed(vbase_fail(ERR_PROTOCOL, "rank %d sent a frame that makes no sense: %s", peer->world, vbase_error_detail()));
    }
}

static __attribute__((noinline)) void others_arrived(struct vi *vi, uint64_t header, const char *data, size_t length,
                                                     uint32_t count)
{
    struct msg_peer *peer = vi->owner;
    for (uint32_t i = 0; i < count; i++)
        if (peer->remote)
            far_received(vi, header, data + i * length, length);
        else
            frame_arrived(peer, header, data + i * length, length);
}

bool vmsg_sink_received(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count)
{
    struct msg_peer *peer = vi->owner;
    peer->heard = true;
    if (unlikely(!is_eager(header) || peer->remote))
        others_arrived(vi, header, data, length, count);
    else
        do
            eager_arrived(peer, header, data, length);
        while (data = (const char *)data + length, unlikely(--count));
    const struct msg_request *waited = vmsg_engine.waited;
    return waited && vmsg_request_done(waited);
}

static void sink_arrived(struct vi *vi, uint32_t immediate, uint64_t length)
{
    struct msg_peer *peer = vi->owner;
    if (peer->remote && vmsg_rail_landed(vi))
        vmsg_rendezvous_arrived(peer, immediate, length);
}

void vmsg_sink_done(struct vi *vi, void *cookie, int status)
{
    struct msg_transfer *transfer = cookie;
    (void)vi;
    if (vmsg_engine.failed)
        return; /* its request may have been abandoned */
    if (transfer->told_later)
        vmsg_joint_told(transfer, status);
    else
        vmsg_rendezvous_fetched(transfer, status);
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
