/* Progress: one round looks at the nics, moves a chunk of everything under way, and retries what a full lane turned
 * away. One thread at a time makes a round; whoever finds it taken goes away. Callbacks run after the round, under no lock,
 * so that they may start operations.
 *
 * A request with a callback is done at the moment when the callback is called, by whichever thread drains the list; a
 * request without one is done at once. */
#include "msg/engine.h"

#define EVENTS_A_ROUND 16

bool vmsg_progress_enter(void)
{
    struct msg_engine *engine = &vmsg_engine;
    if (unlikely(engine->threads))
        return base_lock_try(&engine->progress);
    if (engine->progressing)
        return false;
    engine->progressing = true;
    return true;
}

void vmsg_progress_leave(void)
{
    struct msg_engine *engine = &vmsg_engine;
    if (unlikely(engine->threads))
        base_unlock(&engine->progress);
    else
        engine->progressing = false;
}

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

/* ---- completion -------------------------------------------------------------------------------------------------- */

/* It is done, and its owner's. */
static inline void publish(struct msg_request *request)
{
    /* release: pairs with the acquire of vmsg_request_done; acq_rel: and the exchange with that of park */
    if (likely(!vmsg_engine.threads))
        atomic_store_explicit(&request->state, MSG_DONE, memory_order_release);
    else
        vmsg_wait_completed(atomic_exchange_explicit(&request->state, MSG_DONE, memory_order_acq_rel) == MSG_PARKED);
}

void vmsg_complete(struct msg_request *request, int error)
{
    struct msg_engine *engine = &vmsg_engine;
    msg_phase_set(request, MSG_PHASE_OVER);
    request->result.error = error;
    if (unlikely(request->awaited)) {
        request->awaited = false;
        msg_await_end();
    }
    if (likely(!request->completed)) {
        publish(request);
        return;
    }
    msg_lock(&engine->leaf);
    msg_chore(&engine->finished, &request->link);
    msg_unlock(&engine->leaf);
    vmsg_wake();
}

void vmsg_complete_all(struct msg_request *const *request, uint32_t count)
{
    bool parked = false;
    for (uint32_t i = 0; i < count; i++) {
        if (unlikely(request[i]->completed || request[i]->awaited)) {
            vmsg_complete(request[i], OK);
            continue;
        }
        msg_phase_set(request[i], MSG_PHASE_OVER);
        /* acq_rel: pairs with park, as in publish */
        parked |= atomic_exchange_explicit(&request[i]->state, MSG_DONE, memory_order_acq_rel) == MSG_PARKED;
    }
    vmsg_wait_completed(parked);
}

static bool callbacks_run(void)
{
    struct msg_engine *engine = &vmsg_engine;
    bool ran = false;
    struct list_node *node;
    do {
        msg_lock(&engine->leaf);
        node = list_first(&engine->finished);
        if (node)
            msg_chore_remove(node);
        msg_unlock(&engine->leaf);
        if (node) {
            struct msg_request *request = container_of(node, struct msg_request, link);
            void (*completed)(struct msg_request *) = request->completed;
            publish(request);
            completed(request); /* who may free it */
            ran = true;
        }
    } while (node);
    return ran;
}

bool vmsg_progress_behind(void)
{
    struct msg_engine *engine = &vmsg_engine;
    bool moved = atomic_load_explicit(&engine->turn, memory_order_relaxed) && vmsg_listener_turn();
    if (unlikely(atomic_load_explicit(&engine->chores, memory_order_relaxed)))
        moved |= callbacks_run();
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

void vmsg_refused(const struct msg_peer *peer, const char *what)
{
    static struct base_log_gate gate;
    char more[LOG_MORE];
    COUNT(refused);
    if (vbase_log_gate_open(&gate, 10, more))
        LOG_WARN("rank %d sent %s; it was dropped%s", peer->world, what, more);
}
