/* vi: the user-level network. A wire, a window, a doorbell. No ranks' meaning, no tags, no matching.
 *
 * Objects: a nic is an opened adapter of a provider; a vi is a connected endpoint on one nic; a region is registered
 * memory with a key that the other side can name, one for each nic. Fifteen operations; what a provider lacks is a
 * function that answers ERR_UNSUPPORTED (vi_no_get, vi_no_map, ...): no caller tests for NULL.
 *
 * Threads: one thread at a time polls or arms a nic; one at a time sends on a vi. Polling and sending may go on at
 * once. msg holds the locks; providers hold none, except where a comment says so. No operation blocks.
 *
 * Back-pressure is a value (ERR_AGAIN or VI_HELD), never a failure and never a hidden buffer.
 * Whatever is read from shared memory or a wire is hostile: an index is read once and checked against its bounds. */
#pragma once

#include "base/base.h"
#include <sys/uio.h>

struct vi;
struct vi_nic;
struct vi_ops;
struct call_seat;

/* What the vis of a nic can, in numbers; 0 means cannot. Two vis of one peer may be of different nics: ask the vi
 * (vi_caps). */
struct vi_caps {
    uint32_t max_send;       /* payload of any send; of a nic with adapters behind it: the most of theirs */
    uint64_t max_put;        /* bytes of one put or get */
    uint64_t put_least;      /* from so many bytes on a put by the sender alone beats sends; 0: it never does */
    uint32_t depth;          /* sends that may be under way on one vi */
    uint32_t trip_ns;        /* a small message takes about so long, as a rule: orders the ways to a peer, no more */
    uint32_t stays;          /* from so many bytes on a send with VI_STAYS is not copied; 0: all are */
    uint8_t ordered;         /* sends of one vi arrive in order */
    uint8_t get, put, map;   /* these operations exist on this nic (whether they reach a peer: vi_query) */
    uint8_t source;          /* the last piece of a send may be written by a source: VI_SOURCE */
    uint8_t node;            /* it reaches the ranks of this node alone */
    uint8_t polls_cost;      /* a poll is a system call, and a sleep is on descriptors */
    uint8_t adapter;         /* one of several behind the nic that was opened: its keys are for its own vis alone */
};

/* What names a registered region to the other side: opaque bytes of the provider, safe to send; its user checks the
 * bounds. */
struct vi_key {
    uint64_t word[2];
};
struct vi_region {
    struct vi_nic *nic;
    void *address;
    uint64_t length;
    struct vi_key key;
    void *own; /* the provider's */
};

/* What happens on a nic is told to the caller's sink, from inside vi_poll only, never from a send. A sink may send, put
 * and connect; it must not poll, arm or close. It must accept everything that it is given: so lanes drain whenever a
 * rank polls, and answers arrive. */
struct vi_sink {
    void *context;

    /* COUNT sends of the other side arrived, one at least, with one header and one length; their payloads follow each
     * other in memory. DATA is valid only during the call and may be anything: check it. True: what the caller of poll
     * waits for is here, this poll may end. */
    bool (*received)(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count);

    /* A put of LENGTH bytes with an immediate arrived: everything before it on this vi is in memory. LENGTH may be 0
     * where the provider moves no bytes itself. */
    void (*arrived)(struct vi *vi, uint32_t immediate, uint64_t length);

    /* A put or get that was not complete at once is complete (or failed: STATUS). For a put that means: in the
     * remote memory. */
    void (*done)(struct vi *vi, void *cookie, int status);

    /* PEER, which has proved that it belongs to the job, calls. Answer with vi_accept, now or later; until then its
     * sends wait. Told again when another pair of cards has come up: accepting gives one more vi to it. Which of
     * several vis a side sends on is its own choice; what is sent on different ones has no order. */
    void (*called)(struct vi_nic *nic, uint32_t peer);

    /* The vi is unusable from now on; sends on it give ERR_LINK_DOWN; vi_disconnect it. Told once. */
    void (*down)(struct vi *vi, int cause);

    /* The vi has a connection, vi->name says which; before anything comes over it. NULL: of no interest. Only where
     * cards are called. */
    void (*up)(struct vi *vi);
};

/* Flags of a send. */
#define VI_MORE   1u /* more follows at once: what is small may wait for that, or for a poll, to leave together */
#define VI_SOURCE 2u /* where caps.source: the last piece's address is that of a vi_source, which writes its bytes */
struct vi_source {
    /* The next so many, called in order, in sizes that the provider chooses, after the send can no longer fail. */
    void (*write)(struct vi_source *source, void *to, uint64_t bytes);
};

#define VI_STAYS  4u /* where caps.stays: the one piece begins a vi_staying */
/* Memory that is sent from where it lies. With a region the caller lets it alone until it is known that the other side
 * has it, or the vi is disconnected: the provider may read it once more until then. */
struct vi_staying {
    struct iovec piece; /* the 16 bytes before it: the header once more, and 8 that the provider writes */
    const struct vi_region *region; /* of this nic, with memory of the provider (reg); dereg, at any time, leaves this
                                     * memory as it is until no send reads it any more. NULL: what is short goes at
                                     * once, the rest is copied */
};

/* Results beside OK and errors. */
#define VI_COMPLETE 1 /* of put and get: done already, the sink will not be told */
#define VI_HELD     2 /* of send, in the place of ERR_AGAIN: there is room for short messages, but the memory that this
                       * one needs is held by messages to other peers, and these may not poll for hours */

/* How to open a nic. Everything pointed to must live until close. */
struct vi_setup {
    uint32_t rank;                       /* this process, in the job */
    uint32_t ranks;                      /* of the job */
    const uint8_t *secret;               /* SECRET_SIZE bytes; for providers that anybody can connect to */
    uint32_t local_index, local_count;   /* this process among those of its node */
    const int *local_ranks;              /* rank of each of them, ascending */
    int node_fd;                         /* the node's segment, -1: none; stays the caller's */
    int seat_fd;                         /* this process's seat at the listener of its node, from which authenticated
                                          * connections come; -1: it listens itself; stays the caller's */
    struct call_seat **seat;             /* NULL at first: the first nic that needs it opens the seat, for all that are
                                          * to share it; NULL: this nic has one of its own */
    int launcher_pid;                    /* an ancestor of all processes of the node, 0: unknown */
    bool direct_children;                /* pids of the node's ranks are not reused while the job lives */
    bool descriptors;                    /* several nics are slept on together: every one must arm with a descriptor */
    const struct vi_sink *sink;
    const char *card;                    /* the only network card that may be used, by its name; NULL: all */
};

/* Where a peer is reached. */
struct vi_address {
    uint32_t peer;        /* rank in the job */
    const char *card;     /* the peer's vi_nic.card; NULL where none is needed: in memory, or where the peer calls */
};

/* By which of our cards, and how fast. */
#define VI_CARDS 8
struct vi_reach {
    uint32_t speed[VI_CARDS]; /* Mb/s of the rails that may be up over this card; 0: none */
};

/* A put or get: LOCAL pieces <-> KEY + OFFSET of the other side. With COOKIE, completion that is not at once is told
 * through the sink. The local memory must stay until then. */
struct vi_transfer {
    const struct iovec *local;
    int pieces;
    const struct vi_region *region; /* of this nic, in which the local pieces lie; NULL: they are not registered */
    struct vi_key key;
    uint64_t offset;
    void *cookie;
    bool signal;         /* put only: tell the receiver's sink IMMEDIATE when all is there */
    uint32_t immediate;
};
/* How a nic is waited for; arming closes the race of the lost wake-up. A thread that is about to sleep uses it in this
 * order:
 *   vi_arm(nic, VI_ARM_SOON, NULL)   when its yield phase begins: peers now publish so that a sleeper is woken
 *   vi_arm(nic, VI_ARM_SLEEP, &w)    ERR_AGAIN: something is there, poll; OK: sleep on w (futex or descriptor); it is
 *                                    now counted among those that sleep (vi_nic.asleep)
 *   vi_arm(nic, VI_ARM_AWAKE, NULL)  after waking, or when it no longer wants to sleep. */
enum vi_arm {
    VI_ARM_SOON,
    VI_ARM_SLEEP,
    VI_ARM_AWAKE,
    VI_ARM_HERE,      /* no sleep: this thread waits on; ERR_AGAIN: another process of the node that is awake was last
                       * seen waiting on the same processor, and needs it, too. A hint */
    VI_ARM_DESCRIPTOR /* no sleep: from now on arm with a descriptor, as if vi_setup.descriptors had said so */
};
struct vi_wait {
    _Atomic uint32_t *futex; /* NULL: use the descriptor. Another thread may add to it and wake it, to end the sleep */
    uint32_t value;          /* sleep while *futex == value */
    int descriptor;          /* readable when there is something to poll; -1: use the futex */
    short events;            /* for poll(2) */
};

/* The health and the state of a vi, from the provider and the kernel, never from the peer's engine. */
struct vi_state {
    enum base_class line;    /* what it costs to read what the other side has written; of one host: as measured */
    bool usable;
    bool get, put;           /* proven to work with this very peer (shm: a real read of a cookie succeeded) */
    uint64_t backlog;        /* bytes accepted and not yet on their way */
    uint64_t rate;           /* bytes a second lately, 0 unknown */
    uint32_t round_trip_ns;  /* 0 unknown */
    uint32_t least_trip_ns;  /* of the last minutes */
    uint64_t crowd;          /* bytes on their way through the same card of ours, to any peer */
    uint8_t card;            /* of ours, its ordinal; 0: the first, or none */
    const char *path;        /* the cards at both ends, in words; NULL: none, or not yet. Lives as the vi does */
};

/* How a poll looks. */
#define VI_RARELY 1u /* nothing is awaited here: the provider may look at the network as rarely as it likes */

typedef void vi_line(void *context, const char *text); /* is given one at a time, without a newline */

struct vi_provider {
    const char *name; /* "shm" */
    const struct vi_ops *ops;
    bool cards; /* it uses network cards, of which vi_setup.card may name one, and a listener */
    bool node;  /* it reaches the ranks of the own node, without a listener */
    const char *devices; /* a folder; where that is empty it is used only if VIADUCT_TRANSPORTS names it */
    int (*check)(void);  /* ERR_ARGUMENT: a setting of its own makes no sense; NULL: it has none */
    void (*report)(vi_line *line, void *context); /* its devices here, used or not, and why; NULL: it has none */
};

struct vi_ops {
    /* Where there is nothing to open: an error whose detail says why not. */
    int (*open)(const struct vi_setup *setup, struct vi_nic **nic);
    /* All its vis must be disconnected and regions dereged. Never fails; never waits for a peer. */
    void (*close)(struct vi_nic *nic);

    /* A vi to a peer. It can be sent on at once; frames wait in the provider's own depth until the peer accepts. OWNER
     * is the caller's, readable as vi->owner. Calling and being called at once give one vi on each side. Where several
     * pairs of cards may connect the two, it uses the first that does; the others are tried meanwhile. */
    int (*connect)(struct vi_nic *nic, const struct vi_address *to, void *owner, struct vi **vi);
    /* What vis to a peer could do beside those of other nics: every provider numbers our cards alike. TO must have a
     * card. ERR_UNREACHABLE, ERR_PROTOCOL. */
    int (*reach)(struct vi_nic *nic, const struct vi_address *to, struct vi_reach *reach);
    /* Frees the vi. What was accepted for sending is still delivered where links are not lost. ABRUPT: the vi is of
     * no use any more: nothing of it lands after the call has returned, and completion of its puts and gets is not
     * told. */
    void (*disconnect)(struct vi *vi, bool abrupt);

    /* Channel semantics: HEADER and the pieces arrive as one, in order, in memory that the receiver's provider owns.
     * The memory of the pieces is free when the call returns. FLAGS: VI_MORE, VI_SOURCE, VI_STAYS. ERR_AGAIN: full;
     * VI_HELD: see there. ERR_ARGUMENT: above max_send. ERR_LINK_DOWN: the sink is told. Any other error: it is not
     * sent. */
    int (*send)(struct vi *vi, uint64_t header, const struct iovec *piece, int pieces, unsigned flags);

    /* Memory semantics. OK: under way; VI_COMPLETE: done. A get or put that the kernel refuses for this peer gives
     * ERR_UNSUPPORTED from then on (and vi_query says so): the caller falls back to sends. ERR_PEER_DEAD: its process
     * is gone. */
    int (*put)(struct vi *vi, const struct vi_transfer *transfer);
    int (*get)(struct vi *vi, const struct vi_transfer *transfer);
    /* Memory that the other side shares (map) was written: if it sleeps it wakes, and looks at it. */
    int (*wake)(struct vi *vi);

    /* Registers memory; ADDRESS NULL: the provider allocates, zeroed, in memory that peers can map. */
    int (*reg)(struct vi_nic *nic, void *address, uint64_t length, struct vi_region *region);
    void (*dereg)(struct vi_region *region);
    /* A local pointer to LENGTH bytes at OFFSET of a peer's region, where the two share memory. */
    int (*map)(struct vi *vi, struct vi_key key, uint64_t offset, uint64_t length, void **pointer);

    /* Hands at most BUDGET events to the sink, fewer when the sink says that it has enough; returns how many, 0 when
     * nothing was there. With ONLY a provider may look at this vi alone (the lane or the socket that an answer must
     * come on): then the whole nic must be polled now and then, too. FLAGS: VI_RARELY. */
    int (*poll)(struct vi_nic *nic, struct vi *only, int budget, unsigned flags);
    int (*arm)(struct vi_nic *nic, enum vi_arm what, struct vi_wait *wait);
    int (*query)(struct vi *vi, struct vi_state *state);
};

/* Common heads; a provider's own structures begin with these. Written at open and connect, then only read. */
struct vi_nic {
    const struct vi_ops *ops;
    const struct vi_provider *provider;
    struct vi_sink sink; /* a copy */
    struct vi_caps caps;
    uint32_t rank;
    bool alone;          /* one thread does everything, no lock is needed: vi_threads */
    const _Atomic uint32_t *asleep; /* how many processes of the node sleep, a hint; NULL: no memory is shared */
    const char *card; /* what peers put into vi_address.card: printable, no blank, none of =;|, < 1000 bytes; NULL */
    uint64_t rails;   /* those that its vis may be of (vi.name), a bit each */
};
struct vi {
    const struct vi_ops *ops;
    struct vi_nic *nic;
    void *owner;
    uint32_t peer;
    uint64_t name;    /* of the connection, at both ends: rail (below 64) << 32 | epoch, which grows; 0: none yet */
    _Atomic uint64_t waiting; /* bytes that the provider has taken and not passed on; by the provider; relaxed */
};

/* Every provider of this build, ending with a NULL name; the order is the order of preference. */
VEXPORT extern const struct vi_provider vi_providers[];

VEXPORT const struct vi_provider *vi_provider_find(const char *name); /* NULL: there is none */
/* VIADUCT_TRANSPORTS names it; or is not set, and there are devices of it where it needs some. */
VEXPORT bool vi_provider_allowed(const struct vi_provider *provider);
/* Of a transport that is allowed: VIADUCT_TRANSPORTS names it without a card, or with this one. */
bool vi_card_allowed(const char *transport, const char *card);
/* Of a job of RANKS, LOCAL are on this node: is one of them reached only by calling its listener? */
VEXPORT bool vi_listener_needed(uint32_t local, uint32_t ranks);
/* Or by cards that are named, or of RDMA, on this node, too. */
bool vi_network_needed(uint32_t local, uint32_t ranks);

/* ERR_ARGUMENT: VIADUCT_TRANSPORTS makes no sense, or a setting of a provider. */
VEXPORT int vi_settings_check(void) MUST_CHECK;

/* The answers of providers that lack these. */
int vi_no_get(struct vi *vi, const struct vi_transfer *transfer);
int vi_no_wake(struct vi *vi);
int vi_no_reach(struct vi_nic *nic, const struct vi_address *to, struct vi_reach *reach);
int vi_no_map(struct vi *vi, struct vi_key key, uint64_t offset, uint64_t length, void **pointer);

VEXPORT int vi_nic_open(const struct vi_provider *provider, const struct vi_setup *setup,
                        struct vi_nic **nic) MUST_CHECK;

/* For tests: opens nics in the place of their providers, which it may wrap. */
typedef int vi_opener(const struct vi_provider *provider, const struct vi_setup *setup, struct vi_nic **nic);
VEXPORT void vi_wrap(vi_opener *open);

/* Makes the segment of a node with RANKS processes, for vi_setup.node_fd, where the launcher did not: the lowest rank
 * of the node makes it and hands the descriptor (close-on-exec) to the others. */
VEXPORT int vi_node_create(int ranks, int *fd) MUST_CHECK;

/* Counters and what the process waits for lie in the node's segment from now on, where launcher and tools read them;
 * FD: as vi_setup.node_fd, -1: they stay private. And back, before the process is no rank any more. */
VEXPORT void vi_counters_share(int fd, uint32_t local_index);
VEXPORT void vi_counters_keep(void);

/* The listener of a node, see vi_setup.seat_fd: opened by one of its ranks where the launcher has none, watched by a
 * thread until it is closed. SEAT: one for each local rank; close-on-exec, the caller's. */
struct call_listener;
VEXPORT int vi_listener_open(const struct vi_setup *setup, int *seat, struct call_listener **listener) MUST_CHECK;
VEXPORT void vi_listener_close(struct call_listener *listener);
VEXPORT void vi_seat_close(struct call_seat *seat); /* of vi_setup.seat, after its nics; NULL: there is none */

static inline void vi_nic_close(struct vi_nic *nic) { nic->ops->close(nic); }
static inline int vi_connect(struct vi_nic *nic, const struct vi_address *to, void *owner, struct vi **vi)
{
    return nic->ops->connect(nic, to, owner, vi);
}
static inline int vi_reach(struct vi_nic *nic, const struct vi_address *to, struct vi_reach *reach)
{
    return nic->ops->reach(nic, to, reach);
}
static inline int vi_accept(struct vi_nic *nic, uint32_t peer, void *owner, struct vi **vi)
{
    return nic->ops->connect(nic, &(struct vi_address){.peer = peer}, owner, vi);
}
static inline const struct vi_caps *vi_caps(const struct vi *vi) { return &vi->nic->caps; }
/* From now on several threads use the nic, or one alone does. While no other thread does. */
static inline void vi_threads(struct vi_nic *nic, bool several) { nic->alone = !several; }
static inline void vi_disconnect(struct vi *vi) { vi->ops->disconnect(vi, false); }
static inline void vi_disconnect_abruptly(struct vi *vi) { vi->ops->disconnect(vi, true); }
static inline int vi_send(struct vi *vi, uint64_t header, const struct iovec *piece, int pieces)
{
    return vi->ops->send(vi, header, piece, pieces, 0);
}
static inline int vi_send_as(struct vi *vi, uint64_t header, const struct iovec *piece, int pieces, unsigned flags)
{
    return vi->ops->send(vi, header, piece, pieces, flags);
}
static inline int vi_put(struct vi *vi, const struct vi_transfer *transfer) { return vi->ops->put(vi, transfer); }
static inline int vi_get(struct vi *vi, const struct vi_transfer *transfer) { return vi->ops->get(vi, transfer); }
static inline int vi_wake(struct vi *vi) { return vi->ops->wake(vi); }
static inline int vi_reg(struct vi_nic *nic, void *address, uint64_t length, struct vi_region *region)
{
    return nic->ops->reg(nic, address, length, region);
}
static inline void vi_dereg(struct vi_region *region) { region->nic->ops->dereg(region); }
static inline int vi_map(struct vi *vi, struct vi_key key, uint64_t offset, uint64_t length, void **pointer)
{
    return vi->ops->map(vi, key, offset, length, pointer);
}
static inline int vi_poll(struct vi_nic *nic, int budget) { return nic->ops->poll(nic, NULL, budget, 0); }
static inline int vi_poll_rarely(struct vi_nic *nic, int budget)
{
    return nic->ops->poll(nic, NULL, budget, VI_RARELY);
}
static inline int vi_poll_only(struct vi *vi, int budget) { return vi->ops->poll(vi->nic, vi, budget, 0); }
static inline int vi_arm(struct vi_nic *nic, enum vi_arm what, struct vi_wait *wait)
{
    return nic->ops->arm(nic, what, wait);
}
static inline int vi_query(struct vi *vi, struct vi_state *state) { return vi->ops->query(vi, state); }
