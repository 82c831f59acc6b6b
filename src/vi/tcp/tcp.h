/* The tcp provider's own structures.
 *
 *   nic    listens, polls, sleeps. One epoll descriptor watches everything; the links heard lately are read directly
 *   peer   a rank that we met, and its rails. Lives as long as the nic
 *   rail   one of our cards with one of the peer's: its addresses, its newest epoch, the connection being made
 *   vi     one session over one rail, from connect or accept to disconnect; outlives that until its queue is sent
 *   link   one socket, from connect(2) or accept(2) to close(2). A proven link waits at its peer until a vi takes it
 *
 * Threads: one polls, others may send, connect, accept and disconnect meanwhile. Links and greetings belong to the
 * polling thread alone. nic->lock guards peers and which of them has which vi; vi->lock guards the way out of one vi.
 * They are taken in this order: nic->lock, vi->lock, nic->writers_lock; regions_lock alone. No lock is held over a call
 * of the sink. */
#pragma once

#include "vi/call/listener.h"
#include "vi/tcp/wire.h"

#define TCP_MAX_SEND   ((64u << 10) + 256) /* 64 KiB and what stands before them */
#define TCP_MAX_PUT    (1u << 30)
#define TCP_DEPTH      1024u          /* frames sent that the other side has not taken */
#define TCP_TELL       (TCP_DEPTH / 8) /* frames taken and not told */
#define TCP_PUTS       64u            /* puts under way on one vi */
#define TCP_NEVER      UINT64_MAX
#define TCP_PATH       112            /* two interfaces' names and addresses */
#define TCP_WHY        160

_Static_assert(CALL_CARDS <= COUNT_CARDS, "every card has its counter");
_Static_assert(TUNED(TCP_STAGE) >= TCP_MAX_SEND + sizeof(struct tcp_put_frame), "a frame fits the stage");

struct tcp_nic;
struct tcp_peer;
struct tcp_rail;
struct tcp_vi;

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
    struct vi vi;
    struct tcp_peer *peer;
    struct tcp_rail *rail;    /* NULL: no link yet */
    char path[TCP_PATH];      /* of it: the cards, in words */
    struct tcp_link *link;    /* written by the poll, under lock where a sender must see it; NULL: none */
    struct list_node node;    /* peer->waiting or nic->closed, under nic->lock; nic->gone_vis */
    struct list_node up;      /* nic->up, while it has a link; by the poll, under nic->lock */
    uint8_t card;             /* of ours, its ordinal; set before the first byte is sent */
    bool near;                /* the other side is on this host; set with it */
    _Atomic uint64_t doubt;   /* `sent` when the kernel last said that all of it has arrived; by the poll, relaxed */
    _Atomic bool open;        /* between connect or accept, and disconnect; changed under nic->lock */
    bool leaving;             /* the goodbye is said; by the poll */
    bool abrupt;              /* disconnected so: nothing that waits is of use; before `open` is cleared */

    struct base_lock lock;    /* below */
    int fd;                   /* -1: no link */
    bool dead;                /* no link any more */
    bool writing;             /* in nic->writers; under writers_lock */
    bool watched;             /* epoll tells when the socket has room */
    bool held;                /* the queue holds what the socket would have taken: its sender said that more follows */
    bool owes;                /* a TCP_TAKEN frame goes out when the queue is empty */
    int failed;               /* errno of a send, the poll tells */
    struct tcp_queue queue;
    struct list_node writer;
    struct tcp_posted *posted; /* a ring of TCP_PUTS, made with the first put */
    uint64_t posted_first, posted_end;
    _Atomic uint64_t sent;    /* frames; written by senders, release, pairs with the poll that judges `taken` */
    _Atomic uint32_t told;    /* `took` as told last */

    _Atomic uint64_t taken ALIGNED(CACHE_LINE); /* of `sent`, taken by the other side; written by the poll */
    _Atomic uint32_t took;    /* frames of the other side taken here; written by the poll */
};

/* ---- links ------------------------------------------------------------------------------------------------------- */

enum tcp_phase {
    TCP_DIALLING, /* caller: connect(2) is under way */
    TCP_GREETING, /* caller: the hello is sent, the welcome awaited */
    TCP_PROVED,   /* caller: the proof is sent, the verdict awaited */
    TCP_CALLED,   /* called: the listener has passed it on */
    TCP_PARKED,   /* proven, not read yet */
    TCP_UP,       /* belongs to a vi */
    TCP_LEAVING,  /* its vi is disconnected: the queue goes out, what comes is dropped */
    TCP_GONE      /* closed; freed when the poll ends */
};

struct tcp_landing { /* a put whose bytes are coming */
    bool active, refused, signal, quiet;
    uint32_t immediate;
    uint64_t region, offset, left, length;
};

struct tcp_link {
    struct list_node node;  /* peer->parked, nic->gone */
    struct list_node owing; /* nic->owing: frames taken are not told */
    struct list_node unread; /* nic->unread: frames lie in the stage, and the budget was used up */
    struct tcp_peer *peer;
    struct tcp_rail *rail;
    struct tcp_vi *vi;      /* UP, LEAVING */
    int fd;
    enum tcp_phase phase;
    uint32_t events;        /* what epoll watches for */
    uint32_t epoch;
    uint64_t deadline;      /* ns; TCP_NEVER */
    uint64_t met;           /* ns: when our call got through; 0: it has not */
    uint64_t heard;         /* the last byte of a proven one, ticks */

    struct call_hello hello;
    struct call_welcome welcome;
    struct call_verdict verdict;
    uint32_t greeted; /* bytes that came of the message awaited */

    uint8_t *stage; /* where reads go; NULL: nothing lies here */
    uint32_t start, end;
    struct tcp_landing landing;
    bool tell;      /* a put is complete: the other side waits to hear it */
    bool bulk;      /* the last frame was a large put */
};

/* ---- peers ------------------------------------------------------------------------------------------------------- */

/* A pair of cards that may connect us. Both sides number the pairs alike. */
struct tcp_rail {
    uint32_t number;
    struct tcp_peer *peer;
    struct call_pair pair;   /* under nic->lock; port 0: only the other side can call */
    struct tcp_vi *vi;      /* the open session over it, under nic->lock */

    /* By the poll. */
    struct tcp_link *link;  /* the newest proven one, NULL: none lives */
    struct tcp_link *dial;  /* the connection being made */
    uint32_t epoch;         /* of the newest proven link */
    uint32_t floor;         /* our next call has a higher one, as has been said to us */
    uint32_t attempts;      /* calls that failed since one did not */
    uint64_t dial_at;       /* ns: not before */
    char *last;             /* why the last one failed; NULL: none has */
};

struct tcp_peer {
    uint32_t rank;
    struct list_node node;  /* nic->busy */
    struct tcp_vi *vi;      /* the session of the last connect, while it is open */
    struct list waiting;    /* vis without a link, oldest first */
    struct list parked;     /* links without a vi, oldest first */
    uint32_t parked_count;
    bool called;            /* the sink knows of the first of them that it can take */

    /* Written under nic->lock, also by threads that connect; read by the poll without it. */
    struct tcp_rail rail[CALL_PAIRS];
    _Atomic uint32_t pairs; /* that can be called; 0: no card of the peer is known yet. Set once, after what follows */
    uint32_t most;          /* rails that may live: as many as the side with more cards has; these pairs use each
                             * card */
    char host[CALL_HOST_NAME + 1]; /* "": unknown */
    _Atomic uint64_t since; /* ns: when the first session began to wait */
    _Atomic uint64_t silent; /* ns: since when there is no rail; later by the time in which the listener there
                              * answered */

    /* By the poll. */
    int cause;              /* of the last call that failed; OK: none has since there was a rail */
    struct tcp_rail *failed; /* by which it was made */
};

struct tcp_region {
    void *address;
    uint64_t length;
    bool own; /* allocated here */
};

struct tcp_nic {
    struct vi_nic nic;
    uint32_t ranks;
    uint8_t secret[SECRET_SIZE];
    struct call_cards cards;
    char card[CALL_CARD_TEXT];
    int epoll, timer;
    int seat;               /* calls come from here */
    struct call_listener *listener;  /* our own listener, NULL: the seat is at that of the node */

    /* By the poll alone. */
    struct tcp_link *hot[TUNED(TCP_HOT)];
    int hot_count, hot_first;
    int watched;            /* links in the epoll set */
    int told;               /* events of this poll */
    bool enough;            /* the sink said so: this poll ends */
    bool rarely;            /* nothing is awaited, as the last poll said */
    bool moved;             /* bytes went out or in, */
    uint64_t bytes;         /* and how many, in this poll */
    uint8_t *spare[TUNED(TCP_SPARES)]; /* stages that no link has, */
    int spares;                 /* so many */
    struct list owing, unread, gone, up;
    uint64_t health_at;     /* ns: of the next look at the health of links */
    struct list gone_vis;   /* under lock */
    uint64_t timer_at;      /* ns: the next thing to do without being called */
    uint64_t looked, asked, event; /* ticks: of the last poll, the last epoll, the last event */
    uint64_t tick_soon, tick_most, tick_idle, tick_rare, tick_hot, tick_settle, tick_timer; /* gates, in ticks */
    uint64_t timed;         /* ticks: of the last look at the timers */
    bool urgent;            /* the next poll does not wait for its gate */

    _Atomic bool ordered;   /* something is to be done for a busy peer or a closed vi; release, pairs with the poll */
    _Atomic bool asleep;    /* senders that leave something in a queue must let epoll watch for room */

    struct base_lock lock;
    struct tcp_peer **peers; /* by rank */
    struct list busy;        /* peers that wait for something */
    struct list closed;      /* vis disconnected, to say goodbye and to be freed */

    struct base_lock writers_lock;
    struct list writers;     /* vis with something in their queue */
    _Atomic uint32_t writing; /* how many; changed under writers_lock */

    struct base_lock regions_lock; /* never held over a system call */
    struct base_pool regions;
    const struct tcp_region *landing; /* the poll writes to it: it stays registered; under regions_lock; NULL: none */
};

extern const struct vi_ops tcp_ops;

static inline struct tcp_nic *tcp_nic_of(struct vi_nic *nic) { return (struct tcp_nic *)(void *)nic; }
static inline struct tcp_vi *tcp_vi_of(struct vi *vi) { return (struct tcp_vi *)(void *)vi; }

/* nic.c */
int tcp_poll(struct vi_nic *nic, struct vi *only, int budget, unsigned flags);

/* watch.c */
void tcp_watch(struct tcp_nic *nic, struct tcp_link *link, uint32_t events); /* 0: not any more */
void tcp_hot(struct tcp_nic *nic, struct tcp_link *link);                    /* read it directly for a while */
void tcp_cold(struct tcp_nic *nic, struct tcp_link *link);
void tcp_order(struct tcp_nic *nic);                    /* any thread: the next poll steps the peers */
void tcp_timer(struct tcp_nic *nic, uint64_t at_ns);    /* poll: be called then */
void tcp_timer_set(struct tcp_nic *nic, uint64_t at_ns);

/* Sessions: session.c */
int tcp_connect(struct vi_nic *nic, const struct vi_address *to, void *owner, struct vi **vi);
void tcp_disconnect(struct vi *vi, bool abrupt);
void tcp_vi_break(struct tcp_nic *nic, struct tcp_vi *vi, int cause);
void tcp_session_leave(struct tcp_nic *nic, struct tcp_vi *vi); /* says goodbye */
void tcp_sessions_leave(struct tcp_nic *nic);                   /* those that were disconnected */
void tcp_session_free(struct tcp_vi *vi);

/* Peers: peer.c */
struct tcp_peer *tcp_peer_make(struct tcp_nic *nic, uint32_t rank); /* under nic->lock; NULL: no memory */
void tcp_peers_step(struct tcp_nic *nic, uint64_t now);
void tcp_peer_commit(struct tcp_nic *nic, struct tcp_link *link, uint64_t now); /* LINK is proven and chosen */
void tcp_peer_busy(struct tcp_nic *nic, struct tcp_peer *peer);     /* under nic->lock: has something to do */
bool tcp_peer_carried(const struct tcp_peer *peer);                 /* under nic->lock: an open session has a link */
/* under nic->lock: the oldest that a session may have */
struct tcp_link *tcp_peer_parked(const struct tcp_peer *peer);
void tcp_gone_free(struct tcp_nic *nic);                           /* frees what is gone */
void tcp_peers_close(struct tcp_nic *nic);

/* Pairs of cards, and calls over them: rail.c */
/* Under nic->lock: when something may be due next, ns. *DUE: what is to be called now; NULL. */
uint64_t tcp_rails_look(struct tcp_peer *peer, uint64_t now, struct tcp_rail **due);
void tcp_rail_dial(struct tcp_nic *nic, struct tcp_rail *rail, uint64_t now); /* under nic->lock */
void tcp_rail_failed(struct tcp_nic *nic, struct tcp_rail *rail, int number, uint64_t now); /* errno of connect(2) */
void tcp_rail_over(struct tcp_nic *nic, struct tcp_rail *rail, int cause, uint64_t wait, uint64_t now);
const char *tcp_rail_last(const struct tcp_rail *rail); /* why its last call failed */
/* path, card and near of VI, which gets this socket */
void tcp_path(const struct tcp_nic *nic, struct tcp_vi *vi, int fd);

/* Sockets and greetings: link.c */
/* something came, or the call got through */
void tcp_greet(struct tcp_nic *nic, struct tcp_link *link, uint64_t now);
/* a proven call, from the seat */
void tcp_called(struct tcp_nic *nic, const struct call_hello *hello, int fd, uint64_t now);
struct tcp_link *tcp_link_make(int fd, enum tcp_phase phase);
void tcp_link_close(struct tcp_nic *nic, struct tcp_link *link);
void tcp_health(struct tcp_nic *nic, uint64_t now); /* breaks what is dead */
bool tcp_doubtful(const struct tcp_nic *nic);       /* a look at the health is due in time */

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
void tcp_completed(struct tcp_nic *nic, struct tcp_vi *vi, int failed); /* tells the puts that are complete, or all */
bool tcp_queue_copy(struct tcp_queue *queue, const void *data, size_t length); /* false: no memory */
struct tcp_item *tcp_queue_put(struct tcp_queue *queue, const struct iovec *piece, int pieces); /* frame to be filled */
int tcp_queue_gather(const struct tcp_queue *queue, struct iovec *out, int most, size_t bytes); /* that many at most */
void tcp_queue_sent(struct tcp_queue *queue, size_t bytes);
void tcp_queue_drop(struct tcp_queue *queue);
uint64_t tcp_queue_lent(const struct tcp_queue *queue);             /* the first put that lies in it, TCP_NEVER: none */

/* The way in: receive.c */
int tcp_receive(struct tcp_nic *nic, struct tcp_link *link, int budget);

/* Where reads go: link.c. The nic keeps a few at hand. */
bool tcp_stage_use(struct tcp_nic *nic, struct tcp_link *link); /* false: no memory */
void tcp_stage_drop(struct tcp_nic *nic, struct tcp_link *link);

/* Memory: region.c */
int tcp_reg(struct vi_nic *nic, void *address, uint64_t length, struct vi_region *region);
void tcp_dereg(struct vi_region *region);
/* By the poll: LENGTH bytes at OFFSET of region ID, which stays registered until it is released; NULL: they are not
 * there. */
void *tcp_region_hold(struct tcp_nic *nic, uint64_t id, uint64_t offset, uint64_t length);
void tcp_region_release(struct tcp_nic *nic);
