/* Requests as msg sees them: kinds, phases, completion. */
#pragma once

#include "msg/engine.h"

enum msg_kind { MSG_SEND = 1, MSG_RECEIVE, MSG_WORD };
enum msg_phase {
    MSG_PHASE_NEW,       /* send: being started, or to the own rank */
    MSG_PHASE_QUEUED,    /* send: in its peer's queue */
    MSG_PHASE_ANNOUNCED, /* send: known to the receiver, not matched as far as we know; cancel must ask */
    MSG_PHASE_POSTED,    /* receive: in a posted list; word: among the words */
    MSG_PHASE_MOVING,    /* matched, payload under way */
    MSG_PHASE_OVER
};

/* A cancel of another thread reads the phase under the lock that guards the way out of it: POSTED under the context's
 * (of a word: leaf), QUEUED and ANNOUNCED under the peer's. The others may be written without; hence atomic, and
 * relaxed. */
static inline void msg_phase_set(struct msg_request *request, enum msg_phase phase)
{
    __atomic_store_n(&request->phase, (uint8_t)phase, __ATOMIC_RELAXED);
}
static inline enum msg_phase msg_phase(const struct msg_request *request)
{
    return (enum msg_phase)__atomic_load_n(&request->phase, __ATOMIC_RELAXED);
}

static inline bool msg_waited(const struct msg_request *request)
{
    return __atomic_load_n(&request->waited, __ATOMIC_RELAXED);
}

/* ---- complete.c -------------------------------------------------------------------------------------------------- */
void vmsg_publish(struct msg_request *request); /* several threads: it is done; wakes a thread that waits for it */
void vmsg_finish(struct msg_request *request);  /* its callback is called soon, then it is done */
bool vmsg_callbacks_run(void); /* no lock held; true: there were some */
void vmsg_wait_changed(void);  /* several threads: a request of any of them may be complete */
void vmsg_wait_looked_for(void); /* the same for what only threads that wait for more than one request check */

/* It is done, and its owner's. */
static inline void msg_publish(struct msg_request *request)
{
    if (likely(!vmsg_engine.threads)) /* release: pairs with the acquire of vmsg_request_done */
        atomic_store_explicit(&request->state, MSG_DONE, memory_order_release);
    else
        vmsg_publish(request);
}

/* Under any lock; the request is gone afterwards. Its error stands in the result. */
static inline void msg_over(struct msg_request *request)
{
    msg_phase_set(request, MSG_PHASE_OVER);
    if (unlikely(request->awaited)) {
        request->awaited = false;
        msg_await_end();
    }
    if (likely(!request->completed))
        msg_publish(request);
    else
        vmsg_finish(request);
}
static inline void msg_complete(struct msg_request *request, int error)
{
    request->result.error = error;
    msg_over(request);
}
