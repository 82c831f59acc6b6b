/* Progress: one round looks at the nics, moves a chunk of everything under way, and retries what a full lane turned
 * away. One thread at a time makes a round; whoever finds it taken goes away. Callbacks run after the round, under no lock,
 * so that they may start operations.
 *
 * A request with a callback is done at the moment when the callback is called, by whichever thread drains the list; a
 * request without one is done at once. */
#include "msg/transfer.h"
#include "msg/wait.h"

#define EVENTS_A_ROUND 16

bool vmsg_progress_round(void)
{
    struct msg_engine *engine = &vmsg_engine;
    bool moved = false;
    if (unlikely(engine->networked))
        moved = vmsg_nics_poll(EVENTS_A_ROUND);
    else if (likely(engine->nics))
        moved = vi_poll(engine->nic[0], EVENTS_A_ROUND) > 0;
    if (unlikely(atomic_load_explicit(&engine->chores, memory_order_relaxed))) {
        moved |= vmsg_rendezvous_work();
        moved |= vmsg_peers_flush();
    }
    return moved;
}

bool vmsg_progress_behind(void)
{
    struct msg_engine *engine = &vmsg_engine;
    bool moved = atomic_load_explicit(&engine->turn, memory_order_relaxed) && vmsg_listener_turn();
    if (unlikely(atomic_load_explicit(&engine->chores, memory_order_relaxed)))
        moved |= vmsg_callbacks_run();
    return moved;
}

bool vmsg_progress(void)
{
    struct msg_engine *engine = &vmsg_engine;
    bool moved = false;
    if (unlikely(!engine->open))
        return false;
    if (likely(vmsg_progress_enter())) {
        moved = vmsg_progress_round();
        vmsg_progress_leave();
    }
    return vmsg_progress_behind() || moved;
}
