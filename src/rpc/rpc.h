/* rpc: calls of functions in other processes, the last part of viaduct.h. It stands on pack: a channel of its own
 * carries calls, replies and notices; each is a packed message that begins with a struct rpc_head.
 *
 *   caller                                       server
 *   vd_rpc_begin    takes one of 64 places
 *   vd_rpc_send     CALL id, name, time left -->  take():  queued for at once, or for the pool
 *                                                 the handler runs
 *   vd_rpc_wait  <-- REPLY id, code               its reply leaves; the place is free
 *   vd_rpc_end                                    else it is now: more of the reply than its first frame stayed there
 *
 * The taker (msg_taker) takes a first frame where it lies; a message without blocks needs no connection, and is
 * sent from its call. Only what no eager frame holds gets the receive from anyone that is always posted. Handlers that
 * run at once are run by the thread that makes progress, after the round and one at a time: while one waits for a long
 * block others may arrive, which are queued. Packing here never waits, and nothing leaves before the message's end
 * (vd_connection.copies): so a call can be given up. Its head says how many frames and long blocks follow, so that they
 * can be taken and dropped where no handler unpacks them.
 *
 * One lock for all that is shared; it is held for a few lines and never around a call of msg. */
#pragma once

#include "pack/pack.h"
#include <pthread.h>

enum rpc_kind { RPC_CALL = 1, RPC_ONE_WAY, RPC_REPLY, RPC_CANCEL, RPC_CREDIT };

struct rpc_head {
    uint64_t name;    /* CALL, ONE_WAY: the hash of it */
    uint64_t id;      /* CALL: the caller's; REPLY, CANCEL: the same */
    union {
        uint64_t ns;  /* CALL: until the caller gives up, 0: never */
        int64_t code; /* REPLY: 0 or an error; CREDIT: places that are free again */
    };
    uint16_t kind;    /* enum rpc_kind */
    uint16_t frames;  /* that follow the first; UINT16_MAX: so many or more */
    uint32_t alone;   /* blocks that follow alone */
};
_Static_assert(sizeof(struct rpc_head) == 32, "both sides alike");

struct rpc_function {
    vd_handler *handler;
    void *context;
    vd_place place;
    char name[64];
};

/* At the caller a one-way call is new until it is idle. */
enum rpc_state { RPC_IDLE, RPC_NEW, RPC_OUT, RPC_ANSWERED, RPC_SERVED };

/* At the caller and at the server. All lie in one pool and keep their place; the idle ones form a stack. At the caller
 * the id is the place there and a number that no two calls share, so the reply to one that was given up finds
 * nothing. */
struct vd_call {
    struct list_node link;     /* server: in a queue, or among those that the pool's threads run */
    vd_connection *arguments, *reply; /* NULL: without blocks, or not asked for yet */
    struct rpc_head head;      /* the caller's; at the server of the same id */
    uint64_t limit;            /* ticks when the caller gives up, 0: never */
    int remote, code;
    _Atomic uint8_t state;     /* enum rpc_state */
    bool one_way;
    bool holds;                /* caller: its reply is here in part; the rest, with the server, holds its place */
    _Atomic bool cancelled;
    uint32_t place, number;    /* in the pool; of the last call that it was */
    vd_call *idle;             /* the next one */
    const struct rpc_function *function; /* server; NULL: not registered here */
    uint64_t hash;             /* caller: of the name, */
    char name[64];             /* as far as there is room; the next call is often of the same */
};

/* The state of calls between us and another rank. */
struct rpc_remote {
    uint32_t out;   /* places that are taken there, */
    uint32_t held;  /* so many by replies that are not unpacked, */
    uint32_t quiet; /* so many by one-way calls that the server has not reported as over */
    uint32_t owed;  /* one-way calls from there that are over and not reported yet */
};

struct rpc {
    bool open, stopping;
    vd_channel *channel;
    struct base_lock lock;
    struct base_map functions; /* by the hash of the name */
    const char *pooled;        /* one of them that is for the pool; NULL: there is none */
    struct base_pool calls;
    vd_call *idle;             /* of them */
    struct msg_request request; /* the posted receive, */
    vd_connection *coming;      /* and where it goes */
    struct list at_once, queue, runs; /* struct vd_call of the server; the last: of the pool's threads */
    vd_call *running;          /* at once */
    uint32_t served;           /* calls; where one thread calls */
    struct list ending;        /* vd_connection that leave, or that come and are dropped */
    struct rpc_remote *remote; /* by rank */
    int threads;
    pthread_t *thread;
    pthread_mutex_t mutex;     /* of the pool's sleep */
    pthread_cond_t more;
};
extern struct rpc vrpc;

#define RPC_OWED_MOST (VD_RPC_ROOM / 4) /* one-way calls that are over before their caller is told */

/* Ticks when NS are over, at most a time that does not overflow. */
#define RPC_LONGEST 1000000000000000000u
static inline uint64_t rpc_limit(uint64_t ns)
{
    return clock_ticks() + vbase_clock_ticks_of_ns(ns < RPC_LONGEST ? ns : RPC_LONGEST);
}

static inline void rpc_lock(void)
{
    if (unlikely(vpack_threads))
        base_lock(&vrpc.lock);
}
static inline void rpc_unlock(void)
{
    if (unlikely(vpack_threads))
        base_unlock(&vrpc.lock);
}

/* rpc.c */
int vrpc_check_open(void) MUST_CHECK;
void vrpc_end(bool close); /* of vpack_end, also where only functions are registered */
vd_connection *vrpc_begin(int remote, const struct rpc_head *head) MUST_CHECK; /* a message; NULL: vd_error */
int vrpc_leave(vd_connection *connection); /* ends it without waiting */
int vrpc_tell(int remote, const struct rpc_head *head); /* a message without blocks */
vd_connection *vrpc_nothing(int remote); /* a connection that unpacks no blocks; NULL: vd_error */
void vrpc_drop(vd_connection *connection); /* takes the rest of it without unpacking */
void vrpc_sweep_all(void); /* what has left or come */
static inline void vrpc_sweep(void)
{
    if (unlikely(vpack_threads || !list_empty(&vrpc.ending)))
        vrpc_sweep_all();
}
vd_call *vrpc_call_make(void); /* lock held; NULL: no memory */

/* NULL is idle, too. Before a call is sent and after its end only one thread uses it. */
static inline enum rpc_state rpc_state(const vd_call *call)
{
    return call ? (enum rpc_state)atomic_load_explicit((_Atomic uint8_t *)&call->state, memory_order_relaxed)
                : RPC_IDLE;
}

/* Lock held. */
static inline vd_call *rpc_call_take(void)
{
    vd_call *call = vrpc.idle;
    if (unlikely(!call))
        return vrpc_call_make();
    vrpc.idle = call->idle;
    return call;
}
static inline void rpc_call_give(vd_call *call)
{
    atomic_store_explicit(&call->state, RPC_IDLE,
                          memory_order_relaxed); /* under the lock; read by programs that use a call after its end */
    call->idle = vrpc.idle;
    vrpc.idle = call;
}

/* serve.c; CONNECTION NULL: without blocks */
void vrpc_called(int remote, const struct rpc_head *head, vd_connection *connection); /* a CALL or ONE_WAY has come */
void vrpc_turn_away(int remote, const struct rpc_head *head); /* there is no memory for it */
void vrpc_cancel_asked(int remote, uint64_t id);
void vrpc_run_at_once(void);
int vrpc_pool_open(int threads) MUST_CHECK;
void vrpc_pool_close(void);
bool vrpc_idle(void *unused); /* no call waits or runs here */

/* call.c */
void vrpc_answered(int remote, const struct rpc_head *head, vd_connection *connection); /* a REPLY has come */
void vrpc_place_free(int remote, uint32_t count, bool one_way); /* ONE_WAY: of such calls, which were sent */
