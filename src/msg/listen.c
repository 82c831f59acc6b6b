/* The listener: see msg.h. Its receive is found by the one match; here it is shown the message. */
#include "msg/match.h"

bool vmsg_listener_turn(void)
{
    struct msg_engine *engine = &vmsg_engine;
    bool turn = true;
    if (likely(!engine->threads))
        atomic_store_explicit(&engine->turn, false, memory_order_relaxed); /* there is no other thread */
    else /* acquire: pairs with vmsg_listener_hears; of several threads one has it */
        turn = atomic_exchange_explicit(&engine->turn, false, memory_order_acquire);
    if (turn)
        engine->listener->behind();
    return turn;
}

bool vmsg_listener_hears(const struct msg_envelope *envelope)
{
    struct msg_engine *engine = &vmsg_engine;
    enum msg_heard heard = engine->listener->heard(envelope->source, envelope->payload, envelope->total);
    if (unlikely(heard == MSG_DECLINED))
        return false;
    msg_credit_owe(envelope->peer, envelope->total + MSG_FRAME_COST);
    COUNT(recv_messages);
    COUNT_ADD(recv_bytes, envelope->total);
    if (heard == MSG_HEARD_TURN) /* release: pairs with vmsg_listener_turn */
        atomic_store_explicit(&engine->turn, true, memory_order_release);
    return true;
}
