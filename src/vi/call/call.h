/* Connections of ranks over network cards: which pairs of cards call each other, when, and which connections stay. The
 * providers of network cards stand on it: their nics, vis and links begin with these structures.
 *
 *   nic    is called and calls. One epoll descriptor watches everything
 *   seat   of this process at the listener of its node: for nics of several providers
 *   peer   a rank that we met, and its rails. Lives as long as the nic
 *   rail   one of our cards with one of the peer's: its addresses, its newest epoch, the connection being made
 *   vi     one session over one rail, from connect or accept to disconnect; outlives that until its queue is sent
 *   link   one connection, from connect(2) or accept(2) on. A proven link waits at its peer until a vi takes it
 *
 * Threads: one polls, others may send, connect, accept and disconnect meanwhile. Links and greetings belong to the
 * polling thread alone. nic->lock guards peers and which of them has which vi; a provider's locks are taken after it.
 * No lock is held over a call of the sink. */
#pragma once

#include "vi/call/listener.h"

#define CALL_PATH 112 /* two interfaces' names and addresses */
#define CALL_WHY  160

_Static_assert(CALL_CARDS <= COUNT_CARDS && CALL_CARDS <= VI_CARDS, "every card has its counter, and its speed");

struct call_peer;
struct call_rail;

struct call_vi {
    struct vi vi;
    struct call_peer *peer;
    struct call_rail *rail;   /* NULL: no link yet */
    char path[CALL_PATH];     /* of it: the cards, in words */
    struct call_link *link;   /* written by the poll, NULL: none */
    struct list_node node;    /* peer->waiting or nic->closed, under nic->lock; nic->gone_vis */
    struct list_node up;      /* nic->up, while it has a link; by the poll, under nic->lock */
    uint8_t card;             /* of ours, its ordinal; set before the first byte is sent */
    bool near;                /* the other side is on this host; set with it */
    _Atomic bool open;        /* between connect or accept, and disconnect; changed under nic->lock */
    bool leaving;             /* the goodbye is said; by the poll */
    bool abrupt;              /* disconnected so: nothing that waits is of use; before `open` is cleared */
};

struct call_seat {
    struct base_lock lock;   /* below; taken before the lock of a nic */
    int fd;
    struct call_note note;
    struct call_listener *listener; /* our own, NULL: the seat is at that of the node */
    struct call_nic *nic[CALL_PROVIDERS];
};

enum call_phase {
    CALL_DIALLING, /* caller: connect(2) is under way */
    CALL_GREETING, /* caller: the hello is sent, the welcome awaited */
    CALL_PROVED,   /* caller: the proof is sent, the verdict awaited */
    CALL_CALLED,   /* called: the listener has passed it on */
    CALL_PARKED,   /* proven, not read yet */
    CALL_UP,       /* belongs to a vi */
    CALL_LEAVING,  /* its vi is disconnected: the queue goes out, what comes is dropped */
    CALL_GONE      /* closed; freed when the poll ends */
};

struct call_link {
    struct list_node node;  /* peer->parked, nic->gone */
    struct call_nic *nic;
    struct call_peer *peer;
    struct call_rail *rail;
    struct call_vi *vi;     /* UP, LEAVING */
    int fd;
    enum call_phase phase;
    uint32_t events;        /* what epoll watches for */
    uint32_t epoch;
    uint64_t deadline;      /* ns; CALL_NEVER */
    uint64_t met;           /* ns: when our call got through; 0: it has not */
    struct call_hello hello;
    struct call_welcome welcome;
    struct call_verdict verdict;
    uint32_t greeted;       /* bytes that came of the message awaited */
};

/* A pair of cards that may connect us. Both sides number the pairs alike. */
struct call_rail {
    uint32_t number;        /* of a hello, and in names of vis */
    struct call_peer *peer;
    struct call_pair pair;  /* under nic->lock; port 0: only the other side can call */
    struct call_vi *vi;     /* the open session over it, under nic->lock */

    /* By the poll. */
    struct call_link *link; /* the newest proven one, NULL: none lives */
    struct call_link *dial; /* the connection being made */
    uint32_t epoch;         /* of the newest proven link */
    uint32_t floor;         /* our next call has a higher one, as has been said to us */
    uint32_t attempts;      /* calls that failed since one did not */
    uint64_t dial_at;       /* ns: not before */
    char *last;             /* why the last one failed; NULL: none has */
};

struct call_peer {
    struct call_nic *nic;
    uint32_t rank;
    struct list_node node;  /* nic->busy */
    struct call_vi *vi;     /* the session of the last connect, while it is open */
    struct list waiting;    /* vis without a link, oldest first */
    struct list parked;     /* links without a vi, oldest first */
    uint32_t parked_count;
    bool called;            /* the sink knows of the first of them that it can take */

    /* Written under nic->lock, also by threads that connect; read by the poll without it. */
    struct call_rail rail[CALL_PAIRS];
    _Atomic uint32_t pairs; /* that can be called; 0: no card of the peer is known yet. Set once, after what follows */
    uint32_t most;          /* rails that may live: as many as the side with more cards has; these pairs use each
                             * card */
    char host[CALL_HOST_NAME + 1]; /* "": unknown */
    _Atomic uint64_t since; /* ns: when the first session began to wait */
    _Atomic uint64_t silent; /* ns: since when there is no rail; later by the time in which the listener there
                              * answered, and by that in which this rank did not look */

    /* By the poll. */
    int cause;              /* of the last call that failed; OK: none has since there was a rail */
    struct call_rail *failed; /* by which it was made */
};

struct call_nic {
    struct vi_nic nic;
    const struct call_provider *provider;
    uint32_t ranks;
    uint8_t secret[SECRET_SIZE];
    struct call_cards cards;
    char card[CALL_CARD_TEXT];
    int epoll, timer;
    struct call_seat *seat; /* authenticated connections come from here; NULL: not yet */
    struct call_seat *alone; /* the same, if it is no other nic's */

    /* By the poll alone. */
    int watched;            /* links in the epoll set */
    int told;               /* events of this poll */
    bool own;               /* a descriptor of the provider says something (call_watch_own); it clears this */
    struct list up, gone;
    bool closing;           /* nobody above takes a call any more */
    struct list gone_vis;   /* under lock */
    uint64_t timer_at;      /* ns: the next thing to do without being called */

    _Atomic bool ordered;   /* something is to be done for a busy peer or a closed vi; release, pairs with the poll */
    _Atomic bool asleep;    /* orders must wake it */

    struct base_lock lock;
    struct call_peer **peers; /* by rank */
    struct list busy;        /* peers that wait for something */
    struct list closed;      /* vis disconnected, to say goodbye and to be freed */
    struct list passed;      /* authenticated connections, the oldest first */
};

/* What a provider does for its connections; called by the poll alone, without a lock. */
struct call_provider {
    const char *name;                       /* as in vi_providers */
    const struct vi_ops *ops;
    uint32_t number;                        /* below CALL_PROVIDERS: in the numbers of its rails */
    size_t vi_size, link_size;              /* of structures that are zeroed at first; the first: whole lines */
    bool single;                            /* a rail is called anew only when the link before is gone at our side */
    int (*cards)(struct call_nic *nic);     /* leaves those of nic->cards that it can and may use; NULL: it can all */
    void (*free)(struct call_vi *vi);
    void (*attach)(struct call_vi *vi, struct call_link *link); /* vi->link from now on; call_up when it is of use */
    void (*detach)(struct call_vi *vi);     /* vi->link is none any more, and is closed next: what waits is dropped */
    void (*leave)(struct call_vi *vi);      /* goodbye; call_break when everything is sent */
};

/* The nic: nic.c. NIC is zeroed; call_close whatever call_open says. */
int call_open(struct call_nic *nic, const struct call_provider *provider, const struct vi_setup *setup) MUST_CHECK;
void call_close(struct call_nic *nic);
/* What epoll says. A link that is up or leaving: that is the provider's; NULL: it is done. *NOW: ns, 0: not asked. */
struct call_link *call_event(struct call_nic *nic, const struct epoll_event *event, uint64_t *now);
int call_watch_own(struct call_nic *nic, int fd) MUST_CHECK; /* a descriptor of the provider: wakes; nic->own */

/* What wakes it: watch.c */
void call_watch(struct call_link *link, uint32_t events); /* 0: not any more */
void call_order(struct call_nic *nic);                    /* any thread: the next poll steps the peers */
void call_timer(struct call_nic *nic, uint64_t at_ns);    /* poll: be called then */

/* The seat: seat.c */
int call_seat_join(struct call_nic *nic, const struct vi_setup *setup) MUST_CHECK;
void call_seat_leave(struct call_nic *nic);
int call_seat_step(struct call_seat *seat) MUST_CHECK; /* what comes goes to its nics. ERR_LINK_DOWN: nothing will */
void call_seat_listen(struct call_seat *seat, uint64_t now); /* its own listener has something to do */

/* Sessions: session.c */
int call_connect(struct vi_nic *nic, const struct vi_address *to, void *owner, struct vi **vi);
int call_reach(struct vi_nic *nic, const struct vi_address *to, struct vi_reach *reach);
void call_disconnect(struct vi *vi, bool abrupt);
void call_path_find(struct call_vi *vi, int fd); /* its cards: path, card, near */
void call_up(struct call_vi *vi);              /* by attach: from now on the sink knows its name */
void call_break(struct call_vi *vi, int cause);
void call_leave(struct call_vi *vi);            /* it is disconnected */
void call_sessions_leave(struct call_nic *nic); /* those that were disconnected */

/* Peers: peer.c */
struct call_peer *call_peer_make(struct call_nic *nic, uint32_t rank); /* under nic->lock; NULL: no memory */
void call_peers_step(struct call_nic *nic, uint64_t now);
void call_peer_commit(struct call_link *link, uint64_t now); /* LINK is proven and chosen */
void call_peer_busy(struct call_peer *peer);                 /* under nic->lock: has something to do */
bool call_peer_carried(const struct call_peer *peer);        /* under nic->lock: an open session has a link */
struct call_link *call_peer_parked(const struct call_peer *peer); /* under nic->lock: oldest that a session may have */
void call_gone_free(struct call_nic *nic);                   /* frees what is gone */
void call_peers_close(struct call_nic *nic);

/* Pairs of cards, and calls over them: rail.c */
/* Under nic->lock: when something may be due next, ns. *DUE: what is to be called now; NULL. */
uint64_t call_rails_look(struct call_peer *peer, uint64_t now, struct call_rail **due);
void call_rail_dial(struct call_rail *rail, uint64_t now);               /* under nic->lock */
void call_rail_failed(struct call_rail *rail, int number, uint64_t now); /* errno of connect(2) */
void call_rail_over(struct call_rail *rail, int cause, uint64_t wait, uint64_t now);
void call_peer_excuse(struct call_peer *peer, uint64_t ns, uint64_t now); /* so much of its silence does not count */
const char *call_rail_last(const struct call_rail *rail);                /* why its last call failed */

/* Sockets and greetings: link.c */
void call_greet(struct call_link *link, uint64_t now); /* something came, or the call got through */
void call_called(struct call_nic *nic, uint64_t now); /* proven calls, from the seat */
struct call_link *call_link_make(struct call_nic *nic, int fd, enum call_phase phase);
void call_link_close(struct call_link *link);
