/* The sink: what comes from the nics. Runs under progress. A frame is parsed here and nowhere else. */
#include "msg/transfer.h"

static void eager_arrived(struct msg_peer *peer, uint64_t header, const void *data, size_t length)
{
    struct msg_envelope envelope = {.peer = peer,
                                    .payload = length ? data : "",
                                    .total = length,
                                    .tag = msg_header_tag(header),
                                    .frame = MSG_FRAME_EAGER};
    vmsg_message_arrived(msg_header_context(header), &envelope);
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

static inline void copy_short(void *to, const void *from, size_t length)
{
    if (likely(length == 8))
        memcpy(to, from, 8);
    else if (length == 4)
        memcpy(to, from, 4);
    else if (length)
        memcpy(to, from, length);
}

/* The window of COUNT messages of LENGTH bytes is free again; one thread. */
static inline void owe(struct msg_peer *peer, size_t length, uint32_t count)
{
    peer->owed += (int64_t)(count * (length + MSG_FRAME_COST));
    if (unlikely(peer->owed >= peer->window_half) && !vmsg_credit_tell(peer))
        vmsg_peer_stuck(peer);
    COUNT_ADD(recv_messages, count);
    COUNT_ADD(recv_bytes, count * length);
}

/* From anyone; a receive that is posted for him was first. */
static inline bool expected_from(struct msg_expected *expected, struct msg_peer *peer, uint64_t header)
{
    struct msg_context *context = vmsg_engine.context[msg_header_context(header)];
    int rank = expected->member ? -1 : vmsg_context_rank_of(context, peer->world);
    struct msg_member *member = rank < 0 ? NULL : context->member[rank];
    if (!member || !list_empty(&member->posted))
        return false;
    peer->heard = true;
    context->last = member;
    expected->result->source = rank;
    return true;
}

/* The short way of a message that a blocking receive waits for. */
static inline bool expected_taken(struct vi *vi, struct msg_peer *peer, uint64_t header, const void *data, size_t length)
{
    struct msg_expected *expected = &vmsg_expected;
    if (header != expected->header || !header || length > expected->room || /* 0: nothing is expected, whoever sends it */
        (peer != expected->peer && !expected_from(expected, peer, header)))
        return false;
    expected->header = 0;
    copy_short(expected->data, data, length);
    expected->result->bytes = length;
    /* relaxed: there is one thread */
    atomic_store_explicit(&expected->request->state, MSG_TAKEN, memory_order_relaxed);
    vi->nic->enough = true;
    owe(peer, length, 1);
    return true;
}

/* The receives that an eager message of this header looks at, if that is plain to see: those for its sender, no others. */
static inline struct list *plainly_for(const struct msg_peer *peer, uint64_t header)
{
    const struct msg_engine *engine = &vmsg_engine;
    const struct msg_context *context = engine->context[msg_header_context(header)];
    int rank;
    if ((uint16_t)header != MSG_FRAME_EAGER << 8 || vmsg_expected.header || !context ||
        !list_empty(&context->wildcard) || (rank = vmsg_context_rank_of(context, peer->world)) < 0)
        return NULL;
    struct msg_member *member = context->member[rank];
    return member ? &member->posted : NULL;
}

/* The short way of messages whose receives are posted, in their order; how many took it. */
static inline uint32_t posted_taken(struct msg_peer *peer, uint64_t header, const char *data, size_t length,
                                    uint32_t count)
{
    struct list *posted = plainly_for(peer, header);
    int tag = msg_header_tag(header);
    uint32_t taken = 0;
    if (unlikely(!posted || tag < 0))
        return 0;
    struct list_node *node = posted->head.next;
    for (; taken < count && node != &posted->head; taken++) {
        struct msg_request *request = container_of(node, struct msg_request, link);
        if (unlikely((request->result.tag != tag && request->result.tag != MSG_ANY_TAG) || length > request->total ||
                     request->buffer.layout))
            break;
        node = node->next; /* all that are taken leave the list together */
        copy_short(request->buffer.base, data + taken * length, length);
        request->total = length;
        request->result.tag = tag;
        request->result.bytes = length;
        if (unlikely(request->completed != NULL || request->awaited)) {
            vmsg_complete(request, OK);
        } else { /* the same in short; its error is OK from the start */
            msg_phase_set(request, MSG_PHASE_OVER);
            atomic_store_explicit(&request->state, MSG_DONE, memory_order_relaxed); /* one thread */
        }
    }
    posted->head.next = node;
    node->previous = &posted->head;
    if (taken)
        owe(peer, length, taken);
    return taken;
}

#define RUN_MOST 8 /* messages looked at together */

/* The same with several threads: first they leave the list, for whoever waits for one of them may free it when it is done. */
static uint32_t posted_cut(struct msg_context *context, const struct msg_peer *peer, int tag, size_t length,
                           uint32_t count, struct msg_request **cut)
{
    uint32_t n = 0;
    msg_lock(&context->lock);
    int rank = list_empty(&context->wildcard) ? vmsg_context_rank_of(context, peer->world) : -1;
    struct msg_member *member = rank < 0 ? NULL : context->member[rank];
    while (member && n < count && n < RUN_MOST && !list_empty(&member->posted)) {
        struct msg_request *request = container_of(list_first(&member->posted), struct msg_request, link);
        if ((request->result.tag != tag && request->result.tag != MSG_ANY_TAG) || length > request->total ||
            request->buffer.layout)
            break;
        list_remove(&request->link);
        msg_phase_set(request, MSG_PHASE_MOVING); /* from now on a cancel comes too late */
        cut[n++] = request;
    }
    msg_unlock(&context->lock);
    return n;
}

static __attribute__((noinline)) uint32_t posted_taken_locked(struct msg_peer *peer, uint64_t header, const char *data,
                                                              size_t length, uint32_t count)
{
    struct msg_context *context = vmsg_engine.context[msg_header_context(header)];
    struct msg_request *cut[RUN_MOST];
    int tag = msg_header_tag(header);
    if ((uint16_t)header != MSG_FRAME_EAGER << 8 || tag < 0 || !context || peer->note || vmsg_expected.header)
        return 0;
    uint32_t taken = posted_cut(context, peer, tag, length, count, cut);
    if (!taken)
        return 0;
    for (uint32_t i = 0; i < taken; i++) {
        copy_short(cut[i]->buffer.base, data + i * length, length);
        cut[i]->total = length;
        cut[i]->result.tag = tag;
        cut[i]->result.bytes = length;
    }
    vmsg_credit_owe(peer, taken * (length + MSG_FRAME_COST));
    COUNT_ADD(recv_messages, taken);
    COUNT_ADD(recv_bytes, taken * length);
    vmsg_complete_all(cut, taken);
    return taken;
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

/* Every frame that no short way takes. */
static __attribute__((noinline)) void frame_arrived(struct msg_peer *peer, uint64_t header, const void *data,
                                                    size_t length)
{
    unsigned kind = msg_header_tag(header) < 0 ? 0 : msg_header_kind(header);
    union msg_frame_body body;
    if (kind == MSG_FRAME_EAGER) {
        eager_arrived(peer, header, data, length);
    } else if (kind == MSG_FRAME_EAGER_SYNC) {
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

static inline __attribute__((always_inline)) uint32_t received(struct vi *vi, struct msg_peer *peer, uint64_t header,
                                                               const void *data, size_t length, uint32_t count)
{
    if (likely(expected_taken(vi, peer, header, data, length)))
        return 1;
    peer->heard = true;
    struct msg_context *context = vmsg_engine.context[msg_header_context(header)];
    uint32_t taken = 0;
    if (context && context->listened) /* no receive of its tag is posted but the listener's */
        taken = vmsg_listened(context, vi, header, data, length, count);
    if (!taken)
        taken = likely(vmsg_engine.quick) ? posted_taken(peer, header, data, length, count)
                                          : posted_taken_locked(peer, header, data, length, count);
    if (likely(taken))
        return taken;
    frame_arrived(peer, header, data, length);
    return 1;
}

/* From a remote rank: a frame with its number. */
static __attribute__((noinline)) bool far_received(struct vi *vi, uint64_t header, const void *data, size_t length)
{
    struct msg_peer *peer = vi->owner;
    int verdict = vmsg_rail_received(vi, header, data, length);
    if (verdict == 1)
        return received(vi, peer, header, (const char *)data + sizeof(struct msg_frame_extension),
                        length - sizeof(struct msg_frame_extension), 1);
    if (unlikely(verdict < 0)) {
        vmsg_refused(peer, "a frame out of its turn");
        vmsg_failed(vbase_fail(ERR_PROTOCOL, "rank %d sent a frame that makes no sense: %s", peer->world, vbase_error_detail()));
    }
    return true;
}

uint32_t vmsg_sink_received(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count)
{
    struct msg_peer *peer = vi->owner;
    if (unlikely(peer->remote))
        return vi_each(far_received, vi, header, data, length, count);
    return received(vi, peer, header, data, length, count);
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
