/* The shm provider's own structures, and the few inline steps of its hot path.
 *
 * A vi and everything known of its peer live in one struct shm_vi, made when either side first calls and kept until the
 * nic is closed: the position in a lane outlives the connection that used it.
 *
 * Threads: one sends on a vi, one polls, both may run at once. What one writes and the other reads is atomic and names
 * its partner. nic->lock guards connecting and the table of peers; heap.lock guards blocks and credits. */
#pragma once

#include "vi/shm/layout.h"
#include "vi/shm/segment.h"
#include "vi/vi.h"

#define SHM_DEPTH         (SHM_LINES - 2)     /* lines in flight; one is kept for the goodbye, one may be cleaned behind
                                               * it */
#define SHM_NOWHERE       UINT32_MAX
#define SHM_NO_BLOCK      UINT32_MAX
#define SHM_NO_SLAB       0xffu
#define SHM_NO_BUNDLE     UINT64_MAX
#define SHM_SHARED_KEY    (1ull << 63)        /* in a key's address: an offset in the owner's shared slice */

/* What is known of the line between two processors, by the receiver: see line.c. */
struct shm_line {
    bool known, asked;   /* asked: a probe is wanted */
    enum base_class class;
    uint32_t row;        /* samples of this look */
    uint64_t least, second; /* of them, in picoseconds a line */
    uint64_t changed_at, dwell; /* in ticks: it stays so long at least */
    uint64_t probed_at;        /* in ticks: when the last probe was taken */
};

enum shm_reach { SHM_UNKNOWN, SHM_REACHED, SHM_REFUSED };

struct shm_reached; /* a part of a peer's slice that is mapped; see region.c */

struct shm_vi {
    struct vi vi;

    /* Sending. Written by the sending thread, except where it says more. */
    struct shm_cell *out;
    const struct shm_credit *credit; /* of the lane out; the peer writes it */
    struct shm_bell *bell;           /* the peer's */
    _Atomic uint64_t turn_out;       /* the turn that is ours to write; 0: the peer has it. Release by the poll, pairs
                                      * with shm_send */
    uint16_t turns_out;              /* messages that went by turn, * SHM_TURN */
    _Atomic uint64_t out_next;       /* lines sent; stored before the head is published */
    _Atomic uint64_t out_seen;       /* of them known to be consumed; under heap.lock, read relaxed by the sender */
    _Atomic uint32_t limit;          /* SHM_DEPTH, 0 when down: one comparison tells both */
    uint32_t index;                  /* of the peer on the node */
    uint32_t blocks_out;             /* under heap.lock */
    _Atomic uint32_t ahead;          /* bytes behind `ahead_at` to prefetch when a poll finds no answer; both relaxed: a
                                      * hint */
    _Atomic(char *) ahead_at;
    _Atomic bool answered;           /* something came from the peer since the last send; by both threads, relaxed: a
                                      * hint */
    struct {                         /* the cell written last, while it may take more */
        uint64_t header;
        uint64_t length; /* of each message; SHM_NO_BUNDLE: it takes no more */
        struct shm_cell *cell;
        uint32_t at;   /* where the next one lies */
        uint32_t word; /* published */
    } bundle;
    uint64_t stale[SHM_LINES / 64];  /* a bit for each line that was payload or skipped in the last lap */
    uint32_t stale_lines;            /* how many */
    uint32_t probed;                 /* the credit that says that the last probe was taken */

    /* Receiving. Written by the polling thread. A poll that finds nothing reads only the first line of it. */
    struct shm_cell *in ALIGNED(CACHE_LINE);
    const struct shm_cell *in_cell; /* what is taken next: a head, */
    uint64_t in_next;            /* of this number, which is how many lines are taken, */
    uint32_t in_word;            /* and what it says while nothing more has come: shm_word(in_next) + in_bundle, */
    uint32_t in_bundle;          /* of which so many messages are taken */
    struct shm_cell *turn;       /* the line that both write, */
    uint64_t turn_in;            /* the turn that the peer writes there next, */
    uint16_t turns_in;           /* and messages that came so, * SHM_TURN */
    bool used;                   /* since the last tick */
    bool cooling;                /* told cold, still polled for a while */
    uint32_t place;              /* in nic->hot, SHM_NOWHERE */
    uint32_t told;               /* the explicit credit given last */
    uint32_t owed_bytes;         /* of blocks, taken since then */
    struct shm_credit *told_line;
    struct shm_line line;        /* to the peer */

    /* The connection, under nic->lock; `deliver` sums it up for the poll. */
    _Atomic bool deliver; /* open (released with the owner), and the peer's stream is in the same session */
    bool open, waiting;   /* waiting: the peer called and there is no vi yet */
    _Atomic bool broken;  /* the peer sent something invalid: never used again */
    int behind;           /* goodbyes sent less goodbyes received */
    _Atomic int get_reach, put_reach; /* enum shm_reach */
    struct shm_reached *reached;      /* parts of the peer's shared memory that are mapped; under nic->lock */
    uint8_t slab[SHM_LINES];          /* in which the block of each line in flight lies; under heap.lock */
};

/* The memory for blocks of this process: see heap.c. */
struct shm_heap {
    struct base_lock lock;
    char *base;
    uint32_t slabs, wanted, most; /* slabs in use; so many soon; at most */
    uint32_t present, at;    /* the slab from which blocks are cut, down from AT; SHM_NO_SLAB: none yet */
    uint32_t taken;          /* slabs that were free, since as many are wanted */
    uint32_t head, tail;     /* of the ring FREE */
    uint8_t free[SHM_SLABS]; /* slabs, the one that was given back first first */
    uint16_t out[SHM_SLABS]; /* blocks of each that are not back */
};

struct shm_extent; /* an allocation in our shared slice; see region.c */

struct shm_nic {
    struct vi_nic nic;
    struct shm_segment segment;
    uint32_t index;   /* of this process on the node */
    int *local_ranks; /* a copy, ascending */
    struct shm_bell *bell;
    _Atomic uint64_t *bits;

    struct shm_vi **hot; /* the lanes that are polled, NULL: one that was removed; room for all peers */
    uint32_t hot_count, hot_first, polls, idle;
    int told;            /* events of this poll that were not messages: called, down */
    bool stale;          /* some entry of hot is to be removed */
    bool enough;         /* the sink said so: this poll ends */
    bool counted;        /* among those that sleep */
    _Atomic uint32_t *asleep;
    uint64_t tick_at, tick_gap; /* in ticks of the clock */

    struct base_lock lock;
    _Atomic(struct shm_vi *) *peers; /* by index; set once under lock, release, read by the poll */
    struct shm_heap heap;
    struct shm_extent *extents;      /* ascending; under lock */
    uint64_t cookie[2];              /* what peers read to prove that they can */
    uint64_t soon_at, settle;        /* when VI_ARM_SOON was said, 0 awake; the least time from there to sleep */
    bool direct_children;
    int wake_fd; /* the socket slept on where other nics are slept on, too; -1: the bell alone */
};

extern const struct vi_ops shm_ops;

static inline struct shm_nic *shm_nic_of(struct vi_nic *nic)
{
    return (struct shm_nic *)(void *)nic;
}
static inline struct shm_vi *shm_vi_of(struct vi *vi) { return (struct shm_vi *)(void *)vi; }
/* What is published with a head that holds no message yet. */
static inline uint32_t shm_word(uint64_t line)
{
    return (uint32_t)(line / SHM_LINES + 1) * (SHM_BUNDLE + 1);
}

/* The nic: nic.c */
struct shm_vi *shm_peer_make(struct shm_nic *nic, uint32_t index); /* under nic->lock; NULL: no memory */
void shm_update_deliver(struct shm_vi *vi);                        /* under nic->lock */

/* The lane: lane.c (sending), inbox.c (receiving) */
int shm_send(struct vi *vi, uint64_t header, const struct iovec *piece, int pieces, unsigned flags);
int shm_send_word(struct shm_vi *vi, enum shm_kind kind, uint64_t header); /* a cell without payload */
void shm_probe(struct shm_vi *vi); /* the receiver asks for one; behind a message that is complete */
int shm_lane_room(struct shm_vi *vi);                                       /* OK, ERR_AGAIN, ERR_LINK_DOWN */
void shm_lane_harvest(struct shm_vi *vi);                                   /* under heap.lock */
/* Lines of ours that the peer did not take yet, goodbyes of earlier sessions included. */
uint64_t shm_lane_in_flight(struct shm_vi *vi);
void shm_goodbye(struct shm_vi *vi);                                        /* under nic->lock */
int shm_poll(struct vi_nic *nic, struct vi *only, int budget, unsigned flags);
bool shm_inbox_pending(struct shm_nic *nic); /* the full sweep before sleeping */
void shm_inbox_settle(struct shm_nic *nic);  /* tells every credit that is owed */
void shm_inbox_call(struct shm_nic *nic, uint32_t index); /* makes the next poll examine this lane */
void shm_break(struct shm_vi *vi, const char *why);       /* the peer sent something invalid; the next poll tells */

/* Of the nic or its heap: a locked instruction also waits until what was stored for a peer has left. */
static inline void shm_lock(struct shm_nic *nic, struct base_lock *lock)
{
    if (unlikely(!nic->nic.alone))
        base_lock(lock);
}
static inline void shm_unlock(struct shm_nic *nic, struct base_lock *lock)
{
    if (unlikely(!nic->nic.alone))
        base_unlock(lock);
}

/* Blocks: heap.c; under heap.lock */
void shm_heap_open(struct shm_heap *heap, char *base);
uint32_t shm_heap_take(struct shm_nic *nic, struct shm_vi *vi, uint32_t length); /* its offset; SHM_NO_BLOCK */
void shm_heap_give(struct shm_heap *heap, uint32_t slab);                        /* one block of it */
/* the offset of a block of this length, if it comes next */
uint32_t shm_heap_next(const struct shm_heap *heap, uint32_t length);

/* Copying into rows and blocks: store.c */
void shm_store(char *to, const struct iovec *piece, int pieces, bool past, unsigned flags);

/* The line of this NUMBER is taken next, from its first message on. */
static inline void shm_in_begin(struct shm_vi *vi, uint64_t number)
{
    vi->in_next = number;
    vi->in_cell = &vi->in[number % SHM_LINES];
    vi->in_word = shm_word(number);
    vi->in_bundle = 0;
}

/* The class of a line: line.c */
extern _Atomic int shm_line_fixed; /* for tests: every line is told to be of this class; -1 */
void shm_line_time(struct shm_line *line, const void *probe);
void shm_line_sampled(struct shm_line *line, uint64_t ns, uint64_t now);
/* As a receiver has measured it and told; CLASSES: not yet. */
static inline unsigned shm_class_in(const struct shm_credit *credit)
{
    unsigned word = atomic_load_explicit(&credit->hot, memory_order_relaxed) >> SHM_CLASS_SHIFT;
    return word - 1 < CLASSES ? word - 1 : CLASSES;
}
static inline unsigned shm_class_told(const struct shm_vi *vi) { return shm_class_in(vi->credit); }
static inline bool shm_stores_past(const struct shm_vi *vi, uint32_t length)
{
    return unlikely(shm_class_told(vi) == CLASS_FAR) && length >= TUNED(STORE_PAST_LEAST);
}

/* Prefetches lines that are written next: as many as the message before took. */
void shm_lines_ask(const char *at, uint32_t length);
void shm_ahead_ask(struct shm_vi *vi);

/* Waking and sleeping: doorbell.c */
void shm_ring(struct shm_vi *vi);
int shm_wake(struct vi *vi); /* the same without a message: shared memory was written */
int shm_arm(struct vi_nic *nic, enum vi_arm what, struct vi_wait *wait);
int shm_wake_open(struct shm_nic *nic) MUST_CHECK;

/* Memory semantics: copy.c, region.c */
int shm_get(struct vi *vi, const struct vi_transfer *transfer);
int shm_put(struct vi *vi, const struct vi_transfer *transfer);
void shm_reach_prove(struct shm_vi *vi);
void shm_allow_peers(int launcher);
int shm_reg(struct vi_nic *nic, void *address, uint64_t length, struct vi_region *region);
void shm_dereg(struct vi_region *region);
int shm_map(struct vi *vi, struct vi_key key, uint64_t offset, uint64_t length, void **pointer);
void shm_region_close(struct shm_nic *nic);

#ifdef VIADUCT_HOOKS
/* Called just before a step that a race must be forced at; a test defines it. */
void shm_hook(const char *where);
#else
static inline void shm_hook(const char *where) { (void)where; }
#endif

/* Makes what was put into CELL the peer's, and wakes the peer where needed.
 *
 * The mark is read after the store, but the processor may do it before. That is safe while the mark is AWAKE: its owner
 * sets SOON long before it sleeps, so our store is visible to it by then (shm_arm sees to it). With any other mark, or
 * for a lane that is not polled, shm_ring is called, which fences first. The signal fence keeps the compiler from
 * moving the load above the store: this thread could pause between the two for any time.
 *
 * shm_ring also sends a probe where the receiver asks for one: whatever belongs to this message is done before. */
static inline void shm_publish(struct shm_vi *vi, struct shm_cell *cell, uint32_t word)
{
    shm_hook("publish");
    atomic_store_explicit(&cell->published, word, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    shm_hook("look");
    uint32_t hot = atomic_load_explicit(&vi->credit->hot, memory_order_relaxed) & (SHM_HOT | SHM_ASKED);
    if (unlikely(atomic_load_explicit(&vi->bell->mark, memory_order_relaxed) != SHM_AWAKE || hot != SHM_HOT))
        shm_ring(vi);
}
