/* The taker: see msg.h. Its receive is found by the one match; here it is shown the message. */
#include "msg/match.h"

bool vmsg_taker_turn(void)
{
    bool turn = true;
    if (likely(!vmsg_engine.threads))
        atomic_store_explicit(&vmsg_engine.turn, false, memory_order_relaxed); /* there is no other thread */
    else /* acquire: pairs with vmsg_taker_takes; of several threads one has it */
        turn = atomic_exchange_explicit(&vmsg_engine.turn, false, memory_order_acquire);
    if (turn)
        vmsg_engine.taker->behind();
    return turn;
}

void vmsg_taker_again(void)
{
    atomic_store_explicit(&vmsg_engine.turn, true, memory_order_release); /* pairs with vmsg_taker_turn */
    vmsg_wake();
}

bool vmsg_taker_takes(const struct msg_envelope *envelope)
{
    enum msg_taken taken = vmsg_engine.taker->take(envelope->source, envelope->payload, envelope->total);
    if (unlikely(taken == MSG_DECLINED))
        return false;
    msg_credit_owe(envelope->peer, envelope->total + MSG_FRAME_COST);
    COUNT(recv_messages);
    COUNT_ADD(recv_bytes, envelope->total);
    if (taken == MSG_TAKEN_TURN) /* release: pairs with vmsg_taker_turn */
        atomic_store_explicit(&vmsg_engine.turn, true, memory_order_release);
    return true;
}
