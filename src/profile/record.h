/* Recording what calls of MPI take and send, for calls.c. Nothing is recorded, and all of this does nothing, in a
 * process that no launcher gave a page to. */
#pragma once

#include "base/clock.h"
#include "profile/page.h"
#include "mpi.h"
#include <stdatomic.h>
#include <stdbool.h>

extern struct profile_page *_Atomic profile_page; /* NULL: not looked for yet, or nothing is recorded */
extern bool profile_messages;                     /* they are counted: handles are those of our mpi.h */
extern _Thread_local bool profile_inside;         /* of a call: what callbacks call belongs to it */

struct profile_page *profile_open(void) COLD;
void profile_record(enum profile_call call, uint64_t began); /* as profile_enter or profile_enter_short said */
void profile_several(void);                                  /* from now on several threads may call */
void profile_summarize(void);
void profile_begin(void); /* MPI_Init or a session; MPI has ended when each of them has */
void profile_end(void);

/* Which of the calls that do not wait a thread times: one at the end of each step. Steps are of random length, so no
 * loop of the program falls in with them, and what is timed stands for all calls of its step: in the mean that is what
 * they all take. */
struct profile_steps {
    uint32_t passed, step; /* calls of this step, after so many one is timed */
    uint32_t random;
    uint64_t since; /* what a step took is at most the time since then: when the last one ended, and later by what was
                     * spent in calls that are always timed */
};
extern _Thread_local struct profile_steps profile_steps;
extern bool profile_all; /* calls are timed: events are wanted */

/* After a call that succeeded: what was sent. */
void profile_sent(MPI_Comm comm, int to, MPI_Count count, MPI_Datatype type);
/* Requests that are started again and again: made, started, freed. */
void profile_made(const MPI_Request *request, MPI_Comm comm, int to, MPI_Count count, MPI_Datatype type);
void profile_started(MPI_Request request);
struct profile_made *profile_made_take(MPI_Request request); /* NULL: not known; then it is kept again, or freed */
void profile_made_keep(struct profile_made *one);
void profile_comm_freed(MPI_Comm comm);

#define PROFILE_UNTIMED 1 /* in the place of ticks: the call is counted alone */

/* Ticks; 0: this call is within another one, or nothing is recorded: then nothing is to be left. */
static inline uint64_t profile_enter(void)
{
    /* acquire: with profile_open's release */
    if (unlikely(!atomic_load_explicit(&profile_page, memory_order_acquire) && !profile_open()) || profile_inside)
        return 0;
    profile_inside = true;
    return clock_ticks();
}

/* The same for a call that does not wait, which may be counted only. */
static inline uint64_t profile_enter_short(enum profile_call call)
{
    const struct profile_page *page = atomic_load_explicit(&profile_page, memory_order_acquire);
    if (unlikely(!page || profile_all))
        return profile_enter();
    if (profile_inside)
        return 0;
    profile_inside = true;
    bool timed = atomic_load_explicit(&page->call[call].count, memory_order_relaxed) < PROFILE_TIMED_FIRST ||
                 profile_steps.passed++ >= profile_steps.step;
    return unlikely(timed) ? clock_ticks() : PROFILE_UNTIMED;
}

static inline void profile_leave(void)
{
    profile_inside = false;
}
