/* Recording what calls of MPI take and send, for calls.c. Nothing is recorded, and all of this does nothing, in a
 * process that no launcher gave a page to. */
#pragma once

#include "base/clock.h"
#include "base/counters.h"
#include "profile/lock.h"
#include "profile/page.h"
#include "profile/steps.h"
#include "mpi.h"
#include <stdatomic.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden) /* or each is read by way of its address */
extern struct profile_page *_Atomic profile_page; /* NULL: not looked for yet, or nothing is recorded */
extern bool profile_messages;                     /* they are counted: handles are those of our mpi.h */
extern uint32_t profile_ranks;                    /* of the job */
extern uint32_t profile_direct; /* ranks of the world that have a block each; 0: others, or no messages are counted */

/* The engine's counters; NULL: it is not ours, or several threads may wait, which it counts together. */
extern struct base_counters *const *_Atomic profile_engine;

/* Of this thread. */
struct profile_thread {
    struct profile_slice *slice; /* NULL: not taken yet, or it has none */
    bool inside;                 /* of a call: what callbacks call belongs to it */
    struct profile_steps steps;
    uintptr_t type; /* the predefined one that was sent last, by a thread with a slice; 0: none */
    MPI_Count type_size;
    uint64_t bytes; /* that the engine had moved when a call was timed last */
};
extern _Thread_local struct profile_thread profile_thread;
extern uint64_t profile_first; /* so many calls of each kind are timed: all, where events are wanted */
#pragma GCC visibility pop

struct profile_page *profile_open(void) COLD;
/* As profile_enter said; so many ticks of it are known to have been waits. */
void profile_record(enum profile_call call, uint64_t began, uint64_t waited);
void profile_record_wait(enum profile_call call, uint64_t began, uint64_t waited_ns) COLD;
void profile_several(void);                                  /* from now on several threads may call */
void profile_summarize(void);
void profile_begin(void); /* MPI_Init or a session; MPI has ended when each of them has */
void profile_end(void);

void profile_sent_anywhere(MPI_Comm comm, int to, MPI_Count count, MPI_Datatype type);
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

/* A call begins. */
struct profile_entry {
    uint64_t began; /* ticks; 0: it is within another one, or nothing is recorded: then nothing is to be left */
    const struct base_counters *counters; /* of one that WAITS; NULL: its waits are not known, and it is timed */
    uint64_t waited;
};
uint64_t profile_enter_long(void);

/* One that is not LONG may be counted only. */
PROFILE_INLINE struct profile_entry profile_enter(enum profile_call call, enum profile_kind kind)
{
    struct profile_thread *thread = &profile_thread;
    struct base_counters *const *engine =
        kind == PROFILE_WAITS ? atomic_load_explicit(&profile_engine, memory_order_relaxed) : NULL;
    struct profile_entry entry = {0};
    if (kind == PROFILE_LONG || (kind == PROFILE_WAITS && unlikely(!engine)) || unlikely(!thread->slice) ||
        unlikely(atomic_load_explicit(&thread->slice->call[call].count, memory_order_relaxed) < profile_first)) {
        entry.began = profile_enter_long();
        return entry;
    }
    if (thread->inside)
        return entry;
    thread->inside = true;
    if (kind == PROFILE_WAITS) {
        entry.counters = *engine;
        entry.waited = entry.counters->waited;
    }
    entry.began = unlikely(profile_step_due(&thread->steps)) ? clock_ticks() : PROFILE_UNTIMED;
    return entry;
}

/* It has ended. */
PROFILE_INLINE void profile_done(enum profile_call call, enum profile_kind kind, struct profile_entry entry)
{
    struct profile_slice *slice = profile_thread.slice;
    uint64_t waited = kind == PROFILE_WAITS && likely(entry.counters) ? entry.counters->waited - entry.waited : 0;
    if (kind != PROFILE_LONG && likely(entry.began == PROFILE_UNTIMED && !waited && slice)) /* NULL: forked */
        profile_sum_count(&slice->call[call]);
    else if (kind == PROFILE_WAITS)
        profile_record_wait(call, entry.began, waited);
    else
        profile_record(call, entry.began, 0);
}

static inline void profile_leave(void)
{
    profile_thread.inside = false;
}

static inline void profile_traffic_add(struct profile_traffic *traffic, uint64_t bytes)
{
    traffic->messages++;
    traffic->bytes += bytes;
}

static inline unsigned profile_size_of(uint64_t bytes)
{
    unsigned size = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
    return size < PROFILE_SIZES ? size : PROFILE_SIZES - 1;
}

/* After a call that succeeded: what was sent. */
PROFILE_INLINE void profile_sent(MPI_Comm comm, int to, MPI_Count count, MPI_Datatype type)
{
    const struct profile_thread *thread = &profile_thread;
    if ((uintptr_t)type != thread->type || comm != MPI_COMM_WORLD || unlikely((uint32_t)to >= profile_direct)) {
        profile_sent_anywhere(comm, to, count, type);
        return;
    }
    uint64_t bytes = (uint64_t)(count * thread->type_size);
    profile_traffic_add(&thread->slice->size[profile_size_of(bytes)], bytes);
    profile_traffic_add(&thread->slice->to[to], bytes);
}
