/* The engine: what all files of msg share. The headers of this room are by noun: engine.h, request.h, nics.h, peer.h,
 * match.h, transfer.h, wait.h, wire.h. Other rooms include msg.h alone; tests of the room may include these.
 *
 * Locks. They are taken only after vmsg_threads(true). Each may be taken while holding those above it:
 *   progress     only ever tried (context close and stop wait for it, holding nothing)
 *   context      one for each context: its matching
 *   peer         one for each peer: its queues, its window, sends on its vis
 *   boot         while the launcher is asked
 *   leaf         one for the engine: pools, lists of work, blocked peers, finished requests, early messages
 * The sink runs under progress and takes context, peer and leaf. Callbacks of requests run under none. */
#pragma once

#ifdef MSG_REQUEST_ROOM
#error "engine.h comes before msg.h: it says what the private part of a request is"
#endif
#define MSG_REQUEST_PRIVATE                                                                                            \
    uint8_t kind, mode, phase;                                                                                         \
    bool awaited; /* a posted receive that a remote rank may match */                                                  \
    bool waited;  /* a thread waits until it is done, see msg_wait; atomic, relaxed: a hint */                         \
    struct msg_context *context;                                                                                       \
    struct msg_peer *peer;                                                                                             \
    struct type_buffer buffer;                                                                                         \
    struct list_node link; /* in a matching queue, a sending queue, or among the words */                              \
    uint64_t order; /* receive: posting order within the context; send: the frame's header */                          \
    union {                                                                                                            \
        uint64_t total; /* bytes of the message; until a receive is matched, of its buffer */                          \
        bool (*ready)(void *owner); /* of a word */                                                                    \
    };                                                                                                                 \
    void *extra     /* a transfer's long state, where one is needed */

#include "base/base.h"
#include "msg/msg.h"
#include "vi/vi.h"
#include <sched.h>

_Static_assert(sizeof(struct msg_request) - offsetof(struct msg_request, kind) == MSG_REQUEST_ROOM,
               "msg.h leaves room for the private part of a request");

#define MSG_CONTEXTS 65536u
#define MSG_NICS 6 /* two or three of the usual ways, and one of each other network */

struct msg_engine {
    /* Read by every call, written at start and stop. */
    bool open;      /* false: before start, after stop, and in a child made by fork */
    bool threads;   /* take locks */
    bool child;     /* made by fork */
    bool networked; /* some ranks are reached by a nic whose polls cost a system call; then there is no single one */
    int rank, size;
    uint32_t nics, usual; /* usual: those that were opened at start, for network 0 */
    struct vi_nic *nic[MSG_NICS];
    struct vi_nic *single;        /* the only one, where its polls cost little; NULL: several, or none such */
    struct msg_peer **peer;       /* by network and world rank, NULL until talked to; written under leaf */
    struct msg_context **context; /* by id */
    _Atomic int failed;           /* why the job is lost, 0 */

    struct base_lock progress ALIGNED(CACHE_LINE);
    bool progressing;         /* the same as `progress` while there is one thread */
    uint32_t looks;           /* at one lane alone, until a round looks at all; under progress */
    struct base_lock leaf, boot_lock;
    _Atomic uint32_t awaited; /* what may come from remote ranks, see nics.c */

    /* Work of the next round, under leaf. */
    _Atomic uint32_t chores; /* entries of the four lists together: one look tells that there is nothing to do */
    struct list work;        /* transfers that want a turn */
    struct list stuck;       /* peers with something queued */
    struct list finished;    /* requests whose callback is due */
    struct list words;       /* requests for what other ranks store in shared memory: each round looks */
    struct list guards, withdrawals; /* see withdraw.c; no work */
    uint64_t pending_sends;  /* the sum over all peers that have not said goodbye: stop waits for them */

    const struct msg_taker *taker; /* NULL: none */
    _Atomic bool turn;                   /* it wants one */

    /* Ranks that died without ending the job. Under progress; release, so that a reader of the count sees `dead`. */
    _Atomic uint32_t deaths;
    _Atomic bool *dead;  /* by world rank; NULL: no rank is dead */
    _Atomic bool death_again; /* something was begun with one of them; relaxed: a hint to look again */

    int starts;   /* minus stops */
    _Atomic bool leaving; /* goodbye was said to all; a rank that connects now hears it at once */
    bool stopping;
    bool resting; /* see vmsg_rest */
    _Atomic int lives; /* how often all have met before a rest */
    struct boot_job *job;
};
extern struct msg_engine vmsg_engine;

int vmsg_closed(void) COLD;  /* the error of a call while the engine is not open */

static inline void msg_lock(struct base_lock *lock)
{
    if (unlikely(vmsg_engine.threads))
        base_lock(lock);
}
static inline void msg_unlock(struct base_lock *lock)
{
    if (unlikely(vmsg_engine.threads))
        base_unlock(lock);
}

/* False: another thread makes progress, or this one does further up. */
static inline bool msg_progress_enter(void)
{
    struct msg_engine *engine = &vmsg_engine;
    if (unlikely(engine->threads))
        return base_lock_try(&engine->progress);
    if (unlikely(engine->progressing))
        return false;
    engine->progressing = true;
    return true;
}
/* Until nobody else makes progress. Not from inside a round. */
static inline void msg_progress_keep_out(void)
{
    while (!msg_progress_enter())
        sched_yield();
}
static inline void msg_progress_leave(void)
{
    if (unlikely(vmsg_engine.threads))
        base_unlock(&vmsg_engine.progress);
    else
        vmsg_engine.progressing = false;
}

/* Under leaf. Progress reads the count without the lock: what it misses has its turn in the next round. */
static inline void msg_chore(struct list *list, struct list_node *node)
{
    list_append(list, node);
    uint32_t chores = atomic_load_explicit(&vmsg_engine.chores, memory_order_relaxed);
    atomic_store_explicit(&vmsg_engine.chores, chores + 1, memory_order_relaxed);
}
static inline void msg_chore_remove(struct list_node *node)
{
    list_remove(node);
    uint32_t chores = atomic_load_explicit(&vmsg_engine.chores, memory_order_relaxed);
    atomic_store_explicit(&vmsg_engine.chores, chores - 1, memory_order_relaxed);
}

/* Something may come from a remote rank: until the end of it the network is polled in each round. */
static inline void msg_await(void)
{
    atomic_fetch_add_explicit(&vmsg_engine.awaited, 1, memory_order_relaxed); /* a count */
}
static inline void msg_await_end(void) { atomic_fetch_sub_explicit(&vmsg_engine.awaited, 1, memory_order_relaxed); }

static inline bool msg_dead(int world)
{
    /* acquire: pairs with vmsg_death_look */
    return unlikely(atomic_load_explicit(&vmsg_engine.deaths, memory_order_acquire)) &&
           atomic_load_explicit(&vmsg_engine.dead[world], memory_order_relaxed);
}
/* Something was begun with a dead rank: the next look ends it. */
static inline void msg_death_again(void)
{
    atomic_store_explicit(&vmsg_engine.death_again, true, memory_order_relaxed);
}
