/* The one wait. */
#pragma once

#include "msg/match.h"
#include "msg/request.h"

/* What threads of this process sleep on, and how they are woken: written by wait.c, read by complete.c. */
struct msg_waiters {
    _Atomic uint32_t changes;         /* parked threads sleep on it */
    _Atomic uint32_t parked;          /* how many do */
    _Atomic uint32_t curious;         /* how many sleep, parked or watching, for more than one request */
    _Atomic(_Atomic uint32_t *) bell; /* what the watcher sleeps on, NULL while awake or on descriptors */
    _Atomic bool listening;           /* the watcher sleeps on descriptors, and on the eventfd */
    int wake_fd;                          /* an eventfd, -1: no nic asks for descriptors */
};
extern struct msg_waiters vmsg_waiters;

extern uint32_t vmsg_gap;                  /* pauses between two polls */

/* Between two polls. */
static inline void msg_wait_gap(void)
{
    for (uint32_t i = 0; i < vmsg_gap; i++)
        cpu_pause();
}

int vmsg_wait_start(void) MUST_CHECK;     /* measures the gap, decides how long to spin */
/* Until what others alone can change: they wake, so no timer does */
int vmsg_wait_goodbye(bool (*ready)(void *context), void *context);
int vmsg_wait_fence(void) MUST_CHECK;     /* the job's fence; progress is made meanwhile */
int vmsg_wait_networked(void) MUST_CHECK; /* progress kept out: from now on sleeps are on descriptors */
void vmsg_wait_stop(void);

/* ---- waits_for.c ------------------------------------------------------------------------------------------------ */
/* For TICKS already: REQUEST, or a collective over CONTEXT, or a fence, or something else */
void vmsg_waits_tell(struct msg_request *request, struct msg_context *context, const int *group_tag, bool fence,
                     uint64_t ticks);
void vmsg_waits_end(uint64_t ticks); /* it took so long */

/* ---- word.c ----------------------------------------------------------------------------------------------------- */
void vmsg_word_await(struct msg_context *context, struct msg_request *request, bool (*ready)(void *owner));
bool vmsg_word_look(struct msg_request *request); /* progress held; true: it is complete now */
bool vmsg_words_look(void);                       /* progress held; true: some are */
bool vmsg_word_take(struct msg_request *request); /* true: it was waited for, and is not any more */
void vmsg_words_end(int world, int error);        /* progress held; those that a rank will never store */

/* ---- progress.c -------------------------------------------------------------------------------------------------- */
bool vmsg_poll_all(const struct vi *lane); /* progress held; LANE: what the next rounds poll alone; NULL: none */
bool vmsg_chores_do(void);                 /* progress held */

/* A round for a thread that waits for REQUEST; NULL: for anything. It looks only at the lane on which the answer must
 * come, or at the word, but at all now and then: other ranks must not starve. BUDGET: of messages. A blocking receive
 * takes one, as the next one has no receive yet. WORD: of that kind. */
bool vmsg_progress_for(struct msg_request *request);
static inline __attribute__((always_inline)) bool msg_progress_for(struct msg_request *request, bool word,
                                                                  int budget)
{
    struct msg_engine *engine = &vmsg_engine;
    bool moved = false, chores = false;
    if (unlikely(!engine->open))
        return false;
    if (likely(msg_progress_enter())) {
        /* acquire: another thread may have made them. The peer of a receive is a hint, and is written again when a
         * message has matched */
        const struct msg_peer *peer = request ? __atomic_load_n(&request->peer, __ATOMIC_ACQUIRE) : NULL;
        struct vi *lane = peer ? __atomic_load_n(&peer->lane, __ATOMIC_ACQUIRE) : NULL;
        if (likely(lane) && likely(engine->looks-- != 0))
            moved = vi_poll_only(lane, budget) > 0;
        else if (word && likely(engine->looks-- != 0))
            moved = vmsg_word_look(request);
        else
            moved = vmsg_poll_all(lane);
        chores = atomic_load_explicit(&engine->chores, memory_order_relaxed) > word; /* it is one itself */
        if (unlikely(chores))
            moved |= vmsg_chores_do();
        msg_progress_leave();
    }
    if (unlikely(atomic_load_explicit(&engine->turn, memory_order_relaxed)))
        moved |= vmsg_taker_turn();
    if (unlikely(chores))
        moved |= vmsg_callbacks_run();
    return moved;
}

int vmsg_wait_on(struct msg_request *request); /* it is not done yet */

/* Waits until the request is done; returns its error. If it is done already, one load is enough. */
static inline int msg_wait(struct msg_request *request, bool word, int budget)
{
    if (!vmsg_request_done(request)) {
        __atomic_store_n(&request->waited, true, __ATOMIC_RELAXED);
        (void)msg_progress_for(request, word, budget);
    }
    return likely(vmsg_request_done(request)) ? request->result.error : vmsg_wait_on(request);
}
