/* The listener: a layer that would post the same receive again and again is shown each message where it lies. There is one
 * in a process. What is not eager, is declined or comes from ourselves goes the ordinary way, and while the receive is taken
 * by such a message, so does all that comes behind it: the order stays. */
#include "msg/match.h"

void vmsg_listen(struct msg_context *context, const struct msg_listener *listener)
{
    while (!vmsg_progress_enter())
        cpu_pause();
    vmsg_engine.listener = listener;
    context->listened = true;
    vmsg_progress_leave();
}

bool vmsg_listener_turn(void)
{
    struct msg_engine *engine = &vmsg_engine;
    bool turn = true;
    if (likely(!engine->threads))
        atomic_store_explicit(&engine->turn, false, memory_order_relaxed); /* nobody else is here */
    else /* acquire: pairs with vmsg_listened; of several threads one has it */
        turn = atomic_exchange_explicit(&engine->turn, false, memory_order_acquire);
    if (turn)
        engine->listener->behind();
    return turn;
}

static inline void taken(struct msg_peer *peer, size_t length)
{
    if (unlikely(vmsg_engine.threads)) {
        vmsg_credit_owe(peer, length + MSG_FRAME_COST);
    } else {
        peer->owed += (int64_t)(length + MSG_FRAME_COST);
        if (unlikely(peer->owed >= peer->window_half) && !vmsg_credit_tell(peer))
            vmsg_peer_stuck(peer);
    }
    COUNT(recv_messages);
    COUNT_ADD(recv_bytes, length);
}

/* The lock is what it was posted under: who posted it has done all that comes before. */
static inline bool is_posted(struct msg_context *context, const struct msg_request *receive)
{
    msg_lock(&context->lock);
    bool posted = msg_phase(receive) == MSG_PHASE_POSTED;
    msg_unlock(&context->lock);
    return posted;
}

uint32_t vmsg_listened(struct msg_context *context, struct vi *vi, uint64_t header, const char *data, size_t length,
                       uint32_t count)
{
    struct msg_engine *engine = &vmsg_engine;
    const struct msg_listener *listener = engine->listener;
    struct msg_peer *peer = vi->owner;
    int rank = vmsg_context_rank_of(context, peer->world);
    uint32_t done = 0;
    if (unlikely((uint16_t)header != MSG_FRAME_EAGER << 8 || rank < 0 || msg_header_tag(header) != listener->tag ||
                 !is_posted(context, listener->receive)))
        return 0;
    for (enum msg_heard heard; done < count; done++) {
        heard = listener->heard(rank, data + done * length, length);
        if (unlikely(heard == MSG_DECLINED))
            break;
        taken(peer, length);
        if (heard == MSG_HEARD_TURN) /* release: pairs with vmsg_listener_turn */
            atomic_store_explicit(&engine->turn, true, memory_order_release);
    }
    vi->nic->enough = done > 0; /* who calls or is called waits for it */
    return done;
}
