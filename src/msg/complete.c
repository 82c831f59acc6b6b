/* Completion: a request becomes its owner's again, and a thread that sleeps until then is woken.
 *
 * A request with a callback is done when the callback is called, by the thread that drains the list; a request without
 * one is done at once. */
#include "msg/wait.h"

struct msg_waiters vmsg_waiters = {.wake_fd = -1};

/* Wakes the threads of this process that sleep, so that they look again. */
void vmsg_wait_changed(void)
{
    /* seq_cst: pairs with the fences in thread_park and nics_sleep: either they see what changed, or we see that they
     * sleep */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&vmsg_waiters.parked, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&vmsg_waiters.changes, 1, memory_order_relaxed); /* the futex orders it */
        vbase_futex_wake(&vmsg_waiters.changes, INT_MAX);
    }
    _Atomic uint32_t *bell = atomic_load_explicit(&vmsg_waiters.bell, memory_order_relaxed);
    if (bell) {
        atomic_fetch_add_explicit(bell, 1, memory_order_relaxed); /* the watcher's futex_wait then returns at once */
        vbase_futex_wake(bell, INT_MAX);
    }
    if (atomic_load_explicit(&vmsg_waiters.listening, memory_order_relaxed))
        (void)!write(vmsg_waiters.wake_fd, &(uint64_t){1}, sizeof(uint64_t));
}

void vmsg_wait_looked_for(void)
{
    /* seq_cst: pairs with the fences in thread_park and nics_sleep, as to `curious` */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&vmsg_waiters.curious, memory_order_relaxed))
        vmsg_wait_changed();
}

void vmsg_wake(void)
{
    if (vmsg_engine.threads)
        vmsg_wait_changed();
}

void vmsg_publish(struct msg_request *request)
{
    /* seq_cst, both: pairs with the acquire of vmsg_request_done, with the exchange of a thread that parks, and, as to
     * `curious`, with the fences in thread_park and nics_sleep */
    bool parked = atomic_exchange_explicit(&request->state, MSG_DONE, memory_order_seq_cst) == MSG_PARKED;
    if (parked || atomic_load_explicit(&vmsg_waiters.curious, memory_order_seq_cst))
        vmsg_wait_changed();
}

void vmsg_finish(struct msg_request *request)
{
    msg_lock(&vmsg_engine.leaf);
    msg_chore(&vmsg_engine.finished, &request->link);
    msg_unlock(&vmsg_engine.leaf);
    vmsg_wake();
}

/* Not all where a callback starts what completes at once, again and again: the thread has something to wait for. */
bool vmsg_callbacks_run(void)
{
    struct list_node *node;
    uint64_t ran = 0;
    do {
        msg_lock(&vmsg_engine.leaf);
        node = list_first(&vmsg_engine.finished);
        if (node)
            msg_chore_remove(node);
        msg_unlock(&vmsg_engine.leaf);
        if (node) {
            struct msg_request *request = container_of(node, struct msg_request, link);
            void (*completed)(struct msg_request *) = request->completed;
            msg_publish(request);
            completed(request); /* which may free it */
            ran++;
        }
    } while (node && ran < TUNED(POLL_EVENTS));
    /* requests are done before their callbacks run: threads that wait for what these have changed are to look again */
    if (ran && unlikely(vmsg_engine.threads))
        vmsg_wait_looked_for();
    return ran > 0;
}
