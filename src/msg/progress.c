/* Progress: one round polls the nics, moves a chunk of everything under way, and retries what found a lane full. One
 * thread at a time makes a round; a thread that finds it taken returns at once. Callbacks run after the round, under no
 * lock, so that they may start operations.
 *
 * A request with a callback is done at the moment when the callback is called, by the thread that drains the list; a
 * request without one is done at once. */
#include "msg/transfer.h"
#include "msg/wait.h"

static uint32_t looks; /* at one lane or socket alone; under progress */

/* The vi on which the message or answer for REQUEST must come; NULL: it may come on any. Progress held, so that no rail
 * is closed. */
static inline struct vi *vi_of(const struct msg_request *request)
{
    /* relaxed: the peer of a receive is a hint, and is written again when a message has matched */
    const struct msg_peer *peer = request ? __atomic_load_n(&request->peer, __ATOMIC_RELAXED) : NULL;
    if (!peer || (peer->far && peer->far->held != 1))
        return NULL;
    return __atomic_load_n(&peer->vi, __ATOMIC_RELAXED);
}

/* Polls only the lane on which the answer must come, but all of them now and then: other ranks must not starve. For a
 * blocking receive it takes one message, as the next one has no receive yet. */
static inline bool poll_round(const struct msg_request *request)
{
    struct msg_engine *engine = &vmsg_engine;
    struct vi *only = vi_of(request);
    if (likely(only && !only->nic->card && ++looks % TUNED(DIRECT_ROUND)))
        return vi_poll_only(only, request->mode == MSG_AT_ONCE ? 1 : TUNED(POLL_EVENTS)) > 0;
    if (unlikely(engine->networked))
        return vmsg_nics_poll(TUNED(POLL_EVENTS), only);
    return likely(engine->nics) && vi_poll(engine->nic[0], TUNED(POLL_EVENTS)) > 0;
}

bool vmsg_progress_for(const struct msg_request *request)
{
    struct msg_engine *engine = &vmsg_engine;
    bool moved = false;
    if (unlikely(!engine->open))
        return false;
    if (likely(msg_progress_enter())) {
        engine->waited = request;
        moved = poll_round(request);
        engine->waited = NULL;
        if (unlikely(atomic_load_explicit(&engine->chores, memory_order_relaxed))) {
            moved |= vmsg_transfers_work();
            moved |= vmsg_peers_flush();
        }
        msg_progress_leave();
    }
    if (unlikely(atomic_load_explicit(&engine->turn, memory_order_relaxed)))
        moved |= vmsg_listener_turn();
    if (unlikely(atomic_load_explicit(&engine->chores, memory_order_relaxed)))
        moved |= vmsg_callbacks_run();
    return moved;
}

bool vmsg_progress(void) { return vmsg_progress_for(NULL); }
