/* Progress: one round polls the nics, moves a chunk of everything under way, and retries what found a lane full. One
 * thread at a time makes a round; a thread that finds it taken returns at once. Callbacks run after the round, under no
 * lock, so that they may start operations.
 *
 * A request with a callback is done at the moment when the callback is called, by the thread that drains the list; a
 * request without one is done at once. */
#include "msg/transfer.h"
#include "msg/wait.h"
#include <sched.h>

bool vmsg_poll_all(const struct vi *lane)
{
    struct msg_engine *engine = &vmsg_engine;
    engine->looks = (unlikely(lane && vi_caps(lane)->polls_cost) ? TUNED(SOCKET_ROUND) : TUNED(DIRECT_ROUND)) - 1;
    return likely(engine->single) ? vi_poll(engine->single, TUNED(POLL_EVENTS)) > 0
                                  : vmsg_nics_poll(TUNED(POLL_EVENTS));
}

bool vmsg_chores_do(void)
{
    bool moved = vmsg_words_look();
    moved |= vmsg_transfers_work();
    return vmsg_peers_flush() || moved;
}

bool vmsg_progress_for(struct msg_request *request)
{
    bool word = request && request->kind == MSG_WORD;
    return msg_progress_for(request, word, request && request->mode == MSG_AT_ONCE ? 1 : TUNED(POLL_EVENTS));
}

/* A program that calls MPI_Test in a loop waits for other ranks, like one in MPI_Wait. Where awake ranks outnumber
 * processors it yields after some rounds of this function that found nothing; then it looks for deaths, too. */
bool vmsg_progress(void)
{
    static uint32_t empty; /* rounds since the last that found something; threads may lose counts of each other */
    if (vmsg_progress_for(NULL)) {
        __atomic_store_n(&empty, 0, __ATOMIC_RELAXED);
        return true;
    }
    uint32_t now = __atomic_load_n(&empty, __ATOMIC_RELAXED) + 1;
    __atomic_store_n(&empty, now, __ATOMIC_RELAXED);
    if (likely(now <= TUNED(TESTS_CROWDED)) || !vmsg_engine.open)
        return false;
    vmsg_death_look();
    if (vmsg_crowded(0)) {
        COUNT(yields);
        sched_yield();
    }
    return false;
}
