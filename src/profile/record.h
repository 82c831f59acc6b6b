/* Recording what calls of MPI take and send, for calls.c. Nothing is recorded, and all of this does nothing, in a
 * process that no launcher gave a page to. */
#pragma once

#include "base/clock.h"
#include "profile/lock.h"
#include "profile/page.h"
#include "profile/steps.h"
#include "mpi.h"
#include <stdatomic.h>
#include <stdbool.h>

extern struct profile_page *_Atomic profile_page; /* NULL: not looked for yet, or nothing is recorded */
extern bool profile_messages;                     /* they are counted: handles are those of our mpi.h */
extern uint32_t profile_ranks;                    /* of the job */
extern _Thread_local bool profile_inside;         /* of a call: what callbacks call belongs to it */

struct profile_page *profile_open(void) COLD;
void profile_record(enum profile_call call, uint64_t began); /* as profile_enter said */
void profile_several(void);                                  /* from now on several threads may call */
void profile_summarize(void);
void profile_begin(void); /* MPI_Init or a session; MPI has ended when each of them has */
void profile_end(void);

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

/* Into each of the functions of MPI, or all arguments were kept over one more call. */
#define PROFILE_INLINE static inline __attribute__((always_inline))

#define PROFILE_UNTIMED 1 /* in the place of ticks: the call is counted alone */

/* A call begins. Ticks; 0: it is within another one, or nothing is recorded: then nothing is to be left. */
uint64_t profile_enter_long(void);

/* The same; it does not wait if it IS_SHORT: then it may be counted only. */
PROFILE_INLINE uint64_t profile_enter(enum profile_call call, bool is_short)
{
    /* acquire: with profile_open's release */
    const struct profile_page *page = atomic_load_explicit(&profile_page, memory_order_acquire);
    if (!is_short || unlikely(!page || profile_all) ||
        unlikely(atomic_load_explicit(&page->call[call].count, memory_order_relaxed) < PROFILE_TIMED_FIRST))
        return profile_enter_long();
    if (profile_inside)
        return 0;
    profile_inside = true;
    return unlikely(profile_step_due(&profile_steps)) ? clock_ticks() : PROFILE_UNTIMED;
}

/* It has ended. */
PROFILE_INLINE void profile_done(enum profile_call call, bool is_short, uint64_t began)
{
    struct profile_page *page = atomic_load_explicit(&profile_page, memory_order_relaxed);
    if (is_short && likely(began == PROFILE_UNTIMED && page) && likely(!profile_lock_wanted(&profile_lock)))
        profile_sum_count(&page->call[call]);
    else
        profile_record(call, began);
}

static inline void profile_leave(void)
{
    profile_inside = false;
}
