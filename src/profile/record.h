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

/* Of this thread: one line of memory. */
struct profile_thread {
    ALIGNED(CACHE_LINE) struct profile_slice *slice; /* NULL: not taken yet, or it has none: then no call passes */
    struct profile_steps steps;
    uintptr_t type; /* the predefined one that was sent last, by a thread with a slice; 0: none */
    MPI_Count type_size;
    uint64_t bytes;  /* that the engine had moved when a call was timed last */
    uint32_t direct; /* as profile_direct, with a slice */
};
extern _Thread_local struct profile_thread profile_thread;
extern bool profile_all; /* calls are timed: events are wanted */
#pragma GCC visibility pop

enum profile_kind { PROFILE_LONG, PROFILE_WAITS, PROFILE_SHORT }; /* see steps.h */

/* A call that is timed begins. */
struct profile_entry {
    uint64_t began; /* ticks; 0: it is within another one, or nothing is recorded: then nothing is to be left */
    bool due;       /* the last of a step */
    const struct base_counters *counters; /* of one that WAITS; NULL: its waits are not known */
    uint64_t waited;
};

struct profile_page *profile_open(void) COLD;
struct profile_entry profile_enter(enum profile_call call, enum profile_kind kind);
void profile_record(enum profile_call call, const struct profile_entry *entry); /* it has ended */
/* One that passed has ended, and waited. */
void profile_record_wait(enum profile_call call, uint64_t waited_ns);
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

static inline void profile_leave(void)
{
    profile_step_leave(&profile_thread.steps);
}

/* The usual call: it is counted, and not timed. */
struct profile_passage {
    const struct base_counters *counters; /* of one that WAITS */
    uint64_t waited;
};

/* A call begins, one that is not LONG. False: it is to be timed. */
PROFILE_INLINE bool profile_pass(struct profile_passage *passage, enum profile_call call, enum profile_kind kind)
{
    struct profile_thread *thread = &profile_thread;
    struct base_counters *const *engine =
        kind == PROFILE_WAITS ? atomic_load_explicit(&profile_engine, memory_order_relaxed) : NULL;
    if (unlikely(!profile_step_passes(&thread->steps)) || (kind == PROFILE_WAITS && unlikely(!engine)) ||
        unlikely(atomic_load_explicit(&thread->slice->call[call].count, memory_order_relaxed) < PROFILE_TIMED_FIRST))
        return false;
    if (kind == PROFILE_WAITS) {
        passage->counters = *engine;
        passage->waited = passage->counters->waited;
    }
    profile_step_pass(&thread->steps);
    return true;
}

/* It has ended. False: nothing is to be recorded. */
PROFILE_INLINE bool profile_passed(struct profile_passage passage, enum profile_call call, enum profile_kind kind)
{
    struct profile_thread *thread = &profile_thread;
    if (unlikely(!profile_step_passed(&thread->steps)))
        return false;
    if (kind == PROFILE_WAITS && passage.counters->waited != passage.waited)
        profile_record_wait(call, passage.counters->waited - passage.waited);
    else
        profile_sum_count(&thread->slice->call[call]);
    return true;
}

/* A brief call may pass. SLICE: of this thread; not NULL where one may. */
PROFILE_INLINE bool profile_is_brief(const struct profile_slice *slice, enum profile_call call)
{
    return likely(profile_step_passes(&profile_thread.steps)) &&
           likely(atomic_load_explicit(&slice->call[call].count, memory_order_relaxed) >= PROFILE_TIMED_FIRST);
}

/* It passes. */
PROFILE_INLINE void profile_brief_count(struct profile_slice *slice, enum profile_call call)
{
    profile_step_skip(&profile_thread.steps);
    profile_sum_count(&slice->call[call]);
}

static inline void profile_traffic_add(struct profile_traffic *traffic, uint64_t bytes)
{
    traffic->messages++;
    traffic->bytes += bytes;
}

static inline unsigned profile_size_of(uint64_t bytes)
{
    return 63 - (unsigned)__builtin_clzll(2 * bytes | 1);
}

/* Arguments that are right as far as what is noted goes: the predefined type that was sent last, and a rank that has a
 * block. */
PROFILE_INLINE bool profile_sends_directly(MPI_Comm comm, int to, MPI_Count count, MPI_Datatype type)
{
    const struct profile_thread *thread = &profile_thread;
    return likely((uintptr_t)type == thread->type) && likely(comm == MPI_COMM_WORLD) &&
           likely((uint32_t)to < thread->direct) && likely(count >= 0);
}

PROFILE_INLINE void profile_sent_directly(struct profile_slice *slice, int to, MPI_Count count)
{
    uint64_t bytes = (uint64_t)(count * profile_thread.type_size);
    profile_traffic_add(&slice->size[profile_size_of(bytes)], bytes);
    profile_traffic_add(&slice->to[to], bytes);
}

/* After a call that succeeded: what was sent. */
PROFILE_INLINE void profile_sent(MPI_Comm comm, int to, MPI_Count count, MPI_Datatype type)
{
    if (profile_sends_directly(comm, to, count, type))
        profile_sent_directly(profile_thread.slice, to, count);
    else
        profile_sent_anywhere(comm, to, count, type);
}
