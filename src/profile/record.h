/* Recording what calls of MPI take and send, for calls.c. Nothing is recorded, and all of this does nothing, in a
 * process that no launcher gave a page to. */
#pragma once

#include "base/clock.h"
#include "profile/page.h"
#include "mpi.h"
#include <stdbool.h>

extern struct profile_page *profile_page; /* NULL: nothing is recorded */
extern bool profile_opened;               /* it was looked for */
extern _Thread_local int profile_depth;   /* calls within calls: of callbacks */

void profile_open(void) COLD;
void profile_record(enum profile_call call, uint64_t began, uint64_t ended);
void profile_several(void); /* from now on several threads may call */
void profile_summarize(void);
void profile_end(void); /* MPI has ended */

/* After a call that succeeded: what was sent. */
void profile_sent(MPI_Comm comm, int to, MPI_Count count, MPI_Datatype type);
/* Requests that are started again and again: made, started, freed. */
void profile_made(MPI_Request request, MPI_Comm comm, int to, MPI_Count count, MPI_Datatype type);
void profile_started(MPI_Request request);
void profile_freed(MPI_Request request);
void profile_comm_freed(MPI_Comm comm);

/* Ticks; 0: this call is within another one, or nothing is recorded. */
static inline uint64_t profile_enter(void)
{
    if (unlikely(!profile_opened))
        profile_open();
    return profile_page && profile_depth++ == 0 ? clock_ticks() : 0;
}

static inline void profile_leave(enum profile_call call, uint64_t began)
{
    if (!profile_page)
        return;
    profile_depth--;
    if (began)
        profile_record(call, began, clock_ticks());
}
