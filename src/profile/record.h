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
extern _Thread_local struct profile_slice *profile_slice; /* of this thread; NULL: not taken yet, or it has none */

struct profile_page *profile_open(void) COLD;
/* As profile_enter said; so many ticks of it are known to have been waits. */
void profile_record(enum profile_call call, uint64_t began, uint64_t waited);
void profile_several(void);                                  /* from now on several threads may call */
void profile_summarize(void);
void profile_begin(void); /* MPI_Init or a session; MPI has ended when each of them has */
void profile_end(void);

extern _Thread_local struct profile_steps profile_steps;
extern uint64_t profile_first; /* so many calls of each kind are timed: all, where events are wanted */

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

enum profile_kind { PROFILE_LONG, PROFILE_WAITS, PROFILE_SHORT }; /* see steps.h */

/* A call begins. Ticks; 0: it is within another one, or nothing is recorded: then nothing is to be left. */
uint64_t profile_enter_long(void);
uint64_t profile_enter_wait(enum profile_call call);
void profile_done_wait(enum profile_call call, uint64_t began);

/* The same. One that is not LONG may be counted only. */
PROFILE_INLINE uint64_t profile_enter(enum profile_call call, enum profile_kind kind)
{
    const struct profile_slice *slice = profile_slice;
    if (kind == PROFILE_WAITS)
        return profile_enter_wait(call);
    if (kind == PROFILE_LONG || unlikely(!slice) ||
        unlikely(atomic_load_explicit(&slice->call[call].count, memory_order_relaxed) < profile_first))
        return profile_enter_long();
    if (profile_inside)
        return 0;
    profile_inside = true;
    return unlikely(profile_step_due(&profile_steps)) ? clock_ticks() : PROFILE_UNTIMED;
}

/* It has ended. */
PROFILE_INLINE void profile_done(enum profile_call call, enum profile_kind kind, uint64_t began)
{
    struct profile_slice *slice = profile_slice;
    if (kind == PROFILE_WAITS)
        profile_done_wait(call, began);
    else if (kind == PROFILE_SHORT && likely(began == PROFILE_UNTIMED && slice)) /* NULL: a callback has forked */
        profile_sum_count(&slice->call[call]);
    else
        profile_record(call, began, 0);
}

static inline void profile_leave(void)
{
    profile_inside = false;
}
