/* What is known of a rank for `mpiexec --report`: a page of shared memory for each, which the launcher makes and reads,
 * and the rank writes (record.c), as it goes: what a rank that was killed has written is there.
 *
 *   +--------+-------------------------------------+
 *   | header | pages of the ranks of this host      |   each begins at a page of memory
 *   +--------+-------------------------------------+
 *
 * A rank finds it by VIADUCT_JOB_PROFILE="descriptor,seat,rank". The process that calls MPI first takes the page. Times
 * are ticks of the host's clock (base/clock.h). Each thread writes a slice of the page that is its own; those for which
 * there is none share the last one, under a lock. The reader adds slices, and takes no lock: it reads when the rank has
 * ended, and what it sampled before is a number that only grows. */
#pragma once

#include "base/compiler.h"
#include "mpi/calls.h"
#include <stdatomic.h>

#define PROFILE_VARIABLE "VIADUCT_JOB_PROFILE"
#define PROFILE_LIBRARY  "libviaduct-profile.so"
#define PROFILE_MAGIC    0x7463756470726f01ull

/* A number for each function that is timed. */
#define PROFILE_ONE(Name, ...) PROFILE_##Name,
#define PROFILE_TWO(Name, ...) PROFILE_##Name, PROFILE_##Name##_c,
enum profile_call {
#define CALL     PROFILE_ONE
#define CALL_C   PROFILE_TWO
#define BUFFER   PROFILE_ONE
#define BUFFER_C PROFILE_TWO
#define OWN      PROFILE_ONE
#define OWN_C    PROFILE_TWO
#define OLD(...)
#include "mpi/calls.def"
#undef CALL
#undef CALL_C
#undef BUFFER
#undef BUFFER_C
#undef OWN
#undef OWN_C
#undef OLD
    PROFILE_CALLS
};

#define PROFILE_BLOCKS 256 /* of ranks, in the order of their numbers: of one rank each, where there are no more */
#define PROFILE_SLICES 16  /* of a page; a thread that ends leaves its own to the next */
#define PROFILE_SIZES  64  /* of messages: 0 bytes, 1, 2 to 3, 4 to 7 ... */

/* Calls that do not wait take no longer than reading the clock does: where no events are wanted, each rank times the
 * first of each kind, and after them one of so many in the mean, see steps.h. */
#define PROFILE_TIMED_FIRST 64
#define PROFILE_TIMED_ONE   64

struct profile_header {
    uint64_t magic;
    uint32_t calls, seats, ranks; /* of the host, of the job */
    uint32_t room;                /* for events of each rank; 0: none are wanted */
    uint64_t page_size;           /* with its events */
    uint64_t tick_rate;           /* ticks in a nanosecond, times 2^32 */
};

struct profile_sum {
    _Atomic uint64_t count; /* stored by one thread: relaxed */
    uint64_t ticks, most;   /* of all calls, where not all are timed an estimate; of the longest one that was timed */
};
struct profile_traffic {
    uint64_t messages, bytes;
};
struct profile_event {
    uint64_t start;
    uint64_t ticks : 48, call : 16;
};

struct profile_slice {
    ALIGNED(CACHE_LINE) uint64_t ticks; /* in calls, all together */
    struct profile_sum call[PROFILE_CALLS];
    struct profile_traffic size[PROFILE_SIZES]; /* of point-to-point messages, all together those that were sent */
    struct profile_traffic to[PROFILE_BLOCKS];
};

struct profile_page {
    _Atomic uint32_t pid; /* of the process that took it; 0: none has */
    uint32_t events;
    uint32_t no_messages; /* none are counted: the program's handles are not those of our mpi.h */
    uint64_t begun, ended; /* 0: not yet */
    uint64_t shortest;     /* ticks: events that took less are left out */
    uint32_t slices;       /* so many of the first ones were used: no other may be read, that would take memory */

    char summary[400]; /* of the job, by rank 0: what was chosen */
    struct profile_slice slice[PROFILE_SLICES];
    struct profile_event event[];
};

/* By one thread, so relaxed. */
static inline void profile_sum_count(struct profile_sum *sum)
{
    atomic_store_explicit(&sum->count, atomic_load_explicit(&sum->count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* The block of RANK, of so many ranks. */
static inline uint32_t profile_block(uint32_t rank, uint32_t ranks)
{
    return ranks <= PROFILE_BLOCKS ? rank : (uint32_t)((uint64_t)rank * PROFILE_BLOCKS / ranks);
}
