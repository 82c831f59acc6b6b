/* Counters: one table (counters.def), one page per process, one writer, always on.
 *
 * The page starts as private memory and moves into the node's segment when there is one, so that other processes can
 * read it. Written with plain stores: with several threads an increment may get lost, a torn value never
 * appears. Readers know the layout by its version. */
#pragma once

#include "base/compiler.h"
#include <stdatomic.h>

/* What the process waits for, written before it sleeps. Ranks are those of the job; -1: any, of a tag as well. */
enum base_waits { WAITS_NOT, WAITS_RECEIVE, WAITS_SEND, WAITS_COLLECTIVE, WAITS_FENCE, WAITS_GROUP, WAITS_ELSE };
struct base_message { /* on a communicator, which its id names */
    int32_t peer, tag;
    uint32_t context, there; /* there: not 0; or there is none */
    uint64_t bytes;
};
/* The members of a communicator in order, as rows of ranks: first, first + stride ... Unused rows are zero. Where there
 * are not rows enough the last members are missing, and SIZE is larger than all counts together. */
#define BASE_MEMBER_ROWS 8
struct base_members {
    uint32_t size; /* 0: of no communicator */
    struct base_member_row {
        int32_t first, stride;
        uint32_t count;
    } row[BASE_MEMBER_ROWS];
};
struct base_waiting {
    _Atomic uint32_t turn; /* odd while the rest is written; release, pairs with a reader that sees it twice */
    uint32_t kind;         /* enum base_waits */
    uint64_t since_ns;     /* CLOCK_MONOTONIC */
    struct base_members members;
    uint32_t several;            /* other threads may call the library meanwhile */
    struct base_message message; /* awaited; of a collective the communicator alone */
    struct base_message other;   /* one that came and that nobody receives; the sender's rank and tag */
};

struct base_counters {
    uint32_t version; /* number of counters in the table: a reader of another build stops here */
    uint32_t pid;
    uint32_t rank, ranks; /* in the job */
    uint64_t pid_space;    /* the inode of the namespace that PID counts in; 0: not known */
    char last_call[40] ALIGNED(8); /* "MPI_Recv": the library call entered last; see DOING */
    struct base_waiting waiting;
#define COUNTER(name, class, group, unit, help) uint64_t name;
#include "base/counters.def"
#undef COUNTER
};
#define BASE_COUNTERS_SIZE 1024
_Static_assert(sizeof(struct base_counters) <= BASE_COUNTERS_SIZE, "the counters outgrew their page slot");

VEXPORT extern struct base_counters *vbase_counters;

struct base_counter { /* a row of the table */
    const char *name, *group, *unit, *help;
    enum { COUNTER_LEVEL, COUNTER_COUNTER } class;
    size_t offset;
};
VEXPORT extern const struct base_counter vbase_counter_table[];
VEXPORT extern const size_t vbase_counter_count;

/* From now on count in SLOT (BASE_COUNTERS_SIZE bytes, aligned to a line); what was counted so far moves along.
 * NULL: back to private memory, before the slot is unmapped. */
VEXPORT void vbase_counters_move(void *slot);

/* The namespace in which this process counts PIDs, as an inode; 0: not known, as without /proc. */
VEXPORT uint64_t vbase_pid_space(void);

/* One instruction. */
#ifdef __SANITIZE_THREAD__
#define COUNT_ADD(name, n)                                                                                             \
    __atomic_store_n(&vbase_counters->name,                                                                            \
                     __atomic_load_n(&vbase_counters->name, __ATOMIC_RELAXED) + (uint64_t)(n), __ATOMIC_RELAXED)
#else
#define COUNT_ADD(name, n) (vbase_counters->name += (uint64_t)(n))
#endif
#define COUNT(name) COUNT_ADD(name, 1)
/* A level that several threads change at any time. */
#define COUNT_TOGETHER(name, n) ((void)__atomic_fetch_add(&vbase_counters->name, (uint64_t)(n), __ATOMIC_RELAXED))

/* Rows of counters that begin with card0, frames0 and lost0: of each network card. */
#define COUNT_CARDS 8
static inline void base_count_card(uint64_t *first, unsigned card, uint64_t more)
{
    uint64_t *count = first + card; /* plain stores: as COUNT */
    __atomic_store_n(count, __atomic_load_n(count, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}

/* Written by one thread at a time. */
static inline struct base_waiting *vbase_waiting_begin(void)
{
    struct base_waiting *waiting = &vbase_counters->waiting;
    uint32_t turn = atomic_load_explicit(&waiting->turn, memory_order_relaxed);
    atomic_store_explicit(&waiting->turn, turn + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* pairs with the acquire fence of a reader */
    return waiting;
}
static inline void vbase_waiting_end(struct base_waiting *waiting)
{
    uint32_t turn = atomic_load_explicit(&waiting->turn, memory_order_relaxed);
    atomic_store_explicit(&waiting->turn, turn + 1, memory_order_release);
}

/* Records which library call this process is in, for reports of a hang or a death. TEXT is a string constant of
 * at most 39 letters: two or three plain stores. */
#define DOING(text)                                                                                                    \
    do {                                                                                                               \
        _Static_assert(sizeof(text) <= sizeof vbase_counters->last_call, "the name is too long");                      \
        _Pragma("GCC unroll 5") for (size_t i_ = 0; i_ < sizeof(text "\0\0\0\0\0\0\0") / 8; i_++) {                   \
            uint64_t word_;                                                                                            \
            __builtin_memcpy(&word_, &(text "\0\0\0\0\0\0\0")[8 * i_], 8);                                             \
            __atomic_store_n((uint64_t *)(void *)vbase_counters->last_call + i_, word_, __ATOMIC_RELAXED);             \
        }                                                                                                              \
    } while (0)
