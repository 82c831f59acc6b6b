/* The tcp provider's own structures: what frames need. Below them lie nic, vi and link of vi/call, with its threads.
 *
 * vi->lock guards the way out of one vi. Locks are taken in this order: those of vi/call, vi->lock, nic->writers_lock;
 * regions_lock alone. */
#pragma once

#include "vi/call/call.h"
#include "vi/tcp/wire.h"

#define TCP_MAX_SEND   ((64u << 10) + 256) /* 64 KiB and what stands before them */
#define TCP_MAX_PUT    (1u << 30)
#define TCP_NONE       UINT64_MAX

_Static_assert(TUNED(TCP_STAGE) >= TCP_MAX_SEND + sizeof(struct tcp_put_frame), "a frame fits the stage");

/* ---- the way out ------------------------------------------------------------------------------------------------- */

/* Bytes on their way to a socket: copied ones (then the item may grow by `room`), or a put: its frame, and memory of
 * the caller. */
struct tcp_item {
    struct tcp_item *next;
    uint32_t room;
    bool put;
    int at, pieces; /* those before AT are sent */
    uint64_t number; /* of the put */
    struct tcp_put_frame frame;
    struct iovec piece[];
};
struct tcp_queue {
    struct tcp_item *first, *last;
    uint64_t bytes, copied; /* copied: those in items with room */
};
struct tcp_posted { /* a put that is not complete */
    uint64_t number;
    void *cookie;
    int status;
};

struct tcp_vi {
    struct call_vi call;
    _Atomic uint64_t doubt;   /* `sent` when the kernel last said that all of it has arrived; by the poll, relaxed */

    struct base_lock lock;    /* below, and call.link */
    bool writing;             /* in nic->writers; under writers_lock */
    bool watched;             /* epoll tells when the socket has room */
    bool held;                /* the queue holds what the socket would have taken: its sender said that more follows */
    bool owes;                /* a TCP_TAKEN frame goes out when the queue is empty */
    int failed;               /* errno of a send, the poll tells; or there is no link any more */
    struct tcp_queue queue;
    struct list_node writer;
    struct tcp_posted *posted; /* a ring of TUNED(TCP_PUTS), made with the first put */
    uint64_t posted_first, posted_end;
    _Atomic uint64_t sent;    /* frames; written by senders, release, pairs with the poll that judges `taken` */
    _Atomic uint32_t told;    /* `took` as told last */

    _Atomic uint64_t taken ALIGNED(CACHE_LINE); /* of `sent`, taken by the other side; written by the poll */
    _Atomic uint32_t took;    /* frames of the other side taken here; written by the poll */
};

struct tcp_landing { /* a put whose bytes are coming */
    bool active, refused, signal, quiet;
    uint32_t immediate;
    uint64_t region, offset, left, length;
};

struct tcp_link {
    struct call_link call;
    struct list_node owing; /* nic->owing: frames taken are not told */
    struct list_node unread; /* nic->unread: frames lie in the stage, and the budget was used up */
    uint64_t heard;         /* the last byte of a proven one, ticks */

    uint8_t *stage; /* where reads go; NULL: nothing lies here */
    uint32_t start, end;
    struct tcp_landing landing;
    bool tell;      /* a put is complete: the other side waits to hear it */
    bool bulk;      /* the last frame was a large put */
};

struct tcp_region {
    void *address;
    uint64_t length;
    bool own; /* allocated here */
};

struct tcp_nic {
    struct call_nic call;

    /* By the poll alone. */
    struct tcp_link *hot[TUNED(TCP_HOT)];
    int hot_count, hot_first;
    bool enough;            /* the sink said so: this poll ends */
    bool rarely;            /* nothing is awaited, as the last poll said */
    bool moved;             /* bytes went out or in, */
    uint64_t bytes;         /* and how many, in this poll */
    uint8_t *spare[TUNED(TCP_SPARES)]; /* stages that no link has, */
    int spares;                 /* so many */
    struct list owing, unread;
    uint64_t health_at;     /* ns: of the next look at the health of links */
    uint64_t looked, asked, event; /* ticks: of the last poll, the last epoll, the last event */
    uint64_t tick_soon, tick_most, tick_idle, tick_rare, tick_hot, tick_settle, tick_timer; /* gates, in ticks */
    uint64_t timed;         /* ticks: of the last look at the timers */
    bool urgent;            /* the next poll does not wait for its gate */

    struct base_lock writers_lock;
    struct list writers;     /* vis with something in their queue */
    _Atomic uint32_t writing; /* how many; changed under writers_lock */

    struct base_lock regions_lock; /* never held over a system call */
    struct base_pool regions;
    const struct tcp_region *landing; /* the poll writes to it: it stays registered; under regions_lock; NULL: none */
};

extern const struct vi_ops tcp_ops;
extern const struct call_provider tcp_provider;

static inline struct tcp_nic *tcp_nic_of(struct vi_nic *nic) { return (struct tcp_nic *)(void *)nic; }
static inline struct tcp_vi *tcp_vi_of(struct vi *vi) { return (struct tcp_vi *)(void *)vi; }
static inline struct tcp_vi *tcp_link_vi(const struct tcp_link *link) { return (struct tcp_vi *)(void *)link->call.vi; }
static inline struct tcp_link *tcp_link_of(struct call_link *link) { return (struct tcp_link *)(void *)link; }

/* The way out: send.c, queue.c */
int tcp_send(struct vi *vi, uint64_t header, const struct iovec *piece, int pieces, unsigned flags);
int tcp_put(struct vi *vi, const struct vi_transfer *transfer);
/* a frame without payload; TCP_TAKEN lets others go first */
void tcp_control_send(struct tcp_vi *vi, enum tcp_kind kind, uint64_t word);
bool tcp_put_refused(struct tcp_vi *vi, uint64_t number);           /* false: there is no such put */
bool tcp_flush(struct tcp_vi *vi);                                  /* by the poll; false: the socket has failed */
/* all of them; false: one has failed (TELL: told) */
bool tcp_writers_flush(struct tcp_nic *nic, bool tell);
void tcp_writer_forget(struct tcp_vi *vi);
void tcp_completed(struct tcp_vi *vi, int failed); /* tells the puts that are complete, or all */
bool tcp_queue_copy(struct tcp_queue *queue, const void *data, size_t length); /* false: no memory */
struct tcp_item *tcp_queue_put(struct tcp_queue *queue, const struct iovec *piece, int pieces); /* frame to be filled */
int tcp_queue_gather(const struct tcp_queue *queue, struct iovec *out, int most, size_t bytes); /* that many at most */
void tcp_queue_sent(struct tcp_queue *queue, size_t bytes);
void tcp_queue_drop(struct tcp_queue *queue);
uint64_t tcp_queue_lent(const struct tcp_queue *queue);             /* the first put that lies in it, TCP_NONE: none */

/* The way in: receive.c */
int tcp_receive(struct tcp_nic *nic, struct tcp_link *link, int budget);

/* Sessions and their sockets: link.c. The nic keeps a few stages at hand. */
void tcp_disconnect(struct vi *vi, bool abrupt);
bool tcp_stage_use(struct tcp_nic *nic, struct tcp_link *link); /* false: no memory */
void tcp_stage_drop(struct tcp_nic *nic, struct tcp_link *link);
void tcp_hot(struct tcp_nic *nic, struct tcp_link *link);       /* read it directly for a while */
void tcp_cold(struct tcp_nic *nic, struct tcp_link *link);
void tcp_health(struct tcp_nic *nic, uint64_t now);             /* breaks what is dead */
bool tcp_doubtful(const struct tcp_nic *nic);                   /* a look at the health is due in time */

/* Memory: region.c */
int tcp_reg(struct vi_nic *nic, void *address, uint64_t length, struct vi_region *region);
void tcp_dereg(struct vi_region *region);
/* By the poll: LENGTH bytes at OFFSET of region ID, which stays registered until it is released; NULL: they are not
 * there. */
void *tcp_region_hold(struct tcp_nic *nic, uint64_t id, uint64_t offset, uint64_t length);
void tcp_region_release(struct tcp_nic *nic);
