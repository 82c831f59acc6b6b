/* Sending: the short way of small messages, and the choice for all others.
 *
 * vmsg_send of a small message on an idle peer is one comparison, one vi_send, and no request. Everything else makes a
 * request (on the stack when the call blocks) and is launched: at once when nothing is queued for the peer, else when
 * its turn comes. Launching decides: eagerly when the payload fits into a frame and into the receiver's window,
 * announced otherwise. The buffer is the caller's until the request is complete. */
#include "msg/transfer.h"

/* In a burst of sends to a remote rank each would be a system call of its own. After BURST_LENGTH of them they wait
 * in the queue and leave together: BATCH_MOST at a time, or when the program makes progress, as it must to complete
 * them. */
static bool peer_lags(struct msg_peer *peer)
{
    if (clock_ticks() - peer->burst_at > vbase_clock_ticks_of_ns(TUNED(BURST_GAP)))
        peer->burst = 0;
    else if (peer->burst < TUNED(BURST_LENGTH))
        peer->burst++;
    return peer->burst == TUNED(BURST_LENGTH);
}

int vmsg_send_start(struct msg_request *request, const struct msg_where *to, const struct type_buffer *buffer,
                    enum msg_mode mode)
{
    if (unlikely(!vmsg_engine.open))
        return vmsg_closed();
    struct msg_member *member = msg_member_at(to->context, to->rank);
    int error = likely(member != NULL) ? OK : vmsg_member_find(to->context, to->rank, &member);
    if (unlikely(error))
        return error;
    if (unlikely(to->tag < 0))
        return vbase_fail(ERR_ARGUMENT, "tag %d of a message is negative", to->tag);

    struct msg_peer *peer = member->peer;
    atomic_store_explicit(&request->state, MSG_PENDING, memory_order_relaxed); /* nobody else knows it yet */
    request->kind = MSG_SEND;
    request->mode = (uint8_t)mode;
    request->awaited = request->waited = false;
    msg_phase_set(request, MSG_PHASE_NEW);
    request->result = (struct msg_result){.source = to->rank, .tag = to->tag};
    request->context = to->context;
    request->peer = peer;
    request->buffer = *buffer;
    /* What waits in a queue may outlive its context. */
    request->order =
        msg_header(0, to->context->id, to->tag, unlikely(to->context->noted) && request->note ? MSG_FLAG_NOTED : 0);
    request->total = type_buffer_bytes(buffer);
    request->result.bytes = request->total;
    request->extra = NULL;
    if (peer->world == vmsg_engine.rank)
        return vmsg_self_send(request, member);

    if (msg_dead(peer->world))
        return vbase_fail(ERR_PEER_DEAD, "rank %d is dead", peer->world);
    msg_lock(&peer->lock);
    error = vmsg_peer_connect(peer);
    bool lag = unlikely(peer->remote) && peer_lags(peer) && mode != MSG_AT_ONCE;
    if (likely(!error))
        error = list_empty(&peer->queue) && !lag ? vmsg_send_launch(request) : ERR_AGAIN;
    if (error == ERR_AGAIN) {
        vmsg_peer_queue(peer, request);
        error = OK;
        if (lag && ++peer->lagging == TUNED(BATCH_MOST))
            (void)vmsg_peer_flush(peer);
    }
    if (unlikely(peer->remote))
        peer->burst_at = clock_ticks();
    if (unlikely(peer->parted) && !error)
        vmsg_send_forsake(request);
    msg_unlock(&peer->lock);
    return error;
}

/* Peer lock held, or one thread. ERR_AGAIN: it does not go at once. */
static inline __attribute__((always_inline)) int send_eagerly(struct msg_peer *peer, uint64_t header,
                                                              const void *data, uint64_t bytes)
{
    struct type_buffer buffer = {.base = (void *)data, .count = bytes};
    if (unlikely((int64_t)bytes > peer->short_limit) && (peer->short_limit < 0 || !vmsg_eager_here(peer, bytes)))
        return ERR_AGAIN;
    if (unlikely((int64_t)bytes + MSG_FRAME_COST > peer->window))
        return ERR_AGAIN;
    int error = msg_eager_send(peer, header, NULL, &buffer, NULL, bytes);
    return unlikely(error == VI_HELD) ? ERR_AGAIN : error;
}

/* ERR_AGAIN: start a request, which waits or tells what is wrong. BLOCKING: the caller waits; else messages to a remote
 * rank may leave together, see peer_lags. */
static inline __attribute__((always_inline)) int send_now(struct msg_context *context, int rank, int tag,
                                                          const void *data, uint64_t bytes, bool blocking)
{
    if (unlikely(!vmsg_engine.open || (unsigned)rank >= (unsigned)context->size || tag < 0))
        return ERR_AGAIN;
    /* pairs with vmsg_member_make */
    struct msg_member *member = __atomic_load_n(&context->member[rank], __ATOMIC_ACQUIRE);
    if (unlikely(!member || (!blocking && member->peer->remote)))
        return ERR_AGAIN;
    struct msg_peer *peer = member->peer;
    msg_lock(&peer->lock);
    int error = send_eagerly(peer, context->eager | (uint64_t)tag << 32, data, bytes);
    msg_unlock(&peer->lock);
    return error;
}

int vmsg_send_now(struct msg_context *context, int rank, int tag, const void *data, uint64_t bytes)
{
    return send_now(context, rank, tag, data, bytes, false);
}

static __attribute__((noinline)) int send_slowly(struct msg_context *context, int rank, int tag, const void *data,
                                                 uint64_t bytes)
{
    struct msg_request request = {.completed = NULL};
    struct msg_where to = {context, rank, tag};
    struct type_buffer buffer = {.base = (void *)data, .count = bytes};
    int error = vmsg_send_start(&request, &to, &buffer, MSG_AT_ONCE);
    return error ? error : vmsg_wait(&request);
}

int vmsg_send(struct msg_context *context, int rank, int tag, const void *data, uint64_t bytes)
{
    int error = send_now(context, rank, tag, data, bytes, true);
    return likely(error != ERR_AGAIN) ? error : send_slowly(context, rank, tag, data, bytes);
}
