/* The verbs provider's own structures. Below them lie nic, vi and link of vi/call, with its threads.
 *
 *   adapter   a port of an RDMA device that belongs to one of our cards: its queues, and registered memory
 *   vi        has a queue pair from attach until it is detached, or disconnected abruptly
 *   place     of a request in the send queue of a vi; requests complete in order
 *
 * vi->lock guards the way out of one vi, and its queue pair; adapter->lock the completion queue and free blocks. Locks
 * are taken in this order: those of vi/call, vi->lock, adapter->lock or nic->writers_lock. */
#pragma once

#include "vi/call/call.h"
#include "vi/verbs/ibverbs.h"
#include "vi/verbs/memory.h"
#include "vi/verbs/wire.h"

#define VERBS_BLOCK     (VERBS_MAX_SEND + 64)
#define VERBS_READS     16   /* under way at once, at most */
#define VERBS_DEPTH     64u  /* sends and immediates that the other side has not taken */
#define VERBS_PLACES    128u /* in a send queue, */
#define VERBS_LEAST     32u  /* of which so many are always its own, the others are lent; */
#define VERBS_RESERVED  8u   /* of those it has, for what is not a send of the caller */
#define VERBS_RECEIVED  (2 * VERBS_DEPTH + 8) /* frames under way to one vi, with those that take no credit */
#define VERBS_RECEIVES_MOST 16384u /* of an adapter of iWARP */
#define VERBS_GIDS      256u /* entries of a port's table that a connection can name */

/* Memory that an adapter registers at its start: blocks for receives, and for sends. */
#define VERBS_BYTES ((size_t)(TUNED(VERBS_RECEIVES) + TUNED(VERBS_BLOCKS)) * VERBS_BLOCK)

_Static_assert(VERBS_BLOCK >= VERBS_MAX_SEND + sizeof(struct verbs_frame), "a frame fits a block");

struct verbs_vi;

/* In `wr_id`, beside a pointer: what it is of. */
enum { VERBS_OF_PLACE, VERBS_OF_RECEIVE, VERBS_OF_DRAIN, VERBS_TAGS = 3 };

struct verbs_transfer { /* a put or get under way */
    struct list_node written; /* vi->written */
    uint64_t number;          /* of a put: it is there when the other side has taken so many; 0: when it is complete */
    uint64_t length;
    uint64_t begun;           /* ticks */
    void *cookie;
    struct verbs_memory *memory;
    uint8_t *row;            /* the pieces in a row, where they do not lie so; NULL: they do */
    int pieces;              /* of a get, to which ROW is copied */
    struct iovec piece[];
};

struct verbs_place { /* what is to be done when a request is complete; mostly nothing */
    struct verbs_vi *vi;
    uint8_t *block;                  /* is free then */
    struct verbs_memory *memory;     /* was sent from */
    struct verbs_transfer *transfer; /* ends then */
    bool last;                       /* the goodbye */
};

struct verbs_kept { /* a frame that waits */
    struct verbs_kept *next;
    uint64_t word;
    uint32_t length;
    uint16_t kind;
    uint8_t data[];
};

enum verbs_state { VERBS_ALONE, VERBS_MEETING, VERBS_READY, VERBS_UP, VERBS_ENDED };

struct verbs_pace { /* how fast requests complete; written by the poll but for the first two, which are under lock */
    uint64_t timed, at;           /* the last request that is timed, and ticks when it was posted */
    uint64_t ended;               /* ticks: the last transfer */
    _Atomic uint64_t rate;        /* bytes a second; 0: unknown, as below */
    _Atomic uint32_t trip, least; /* ns */
};

struct verbs_vi {
    struct call_vi call;
    struct list_node attached; /* nic->attached, as long as it has a socket; by the poll */
    struct list_node broken; /* nic->broken; by the poll */
    int cause;               /* why it is there */
    char why[CALL_WHY];
    struct verbs_meeting theirs; /* by the poll, and so are the next nine */
    uint32_t heard;          /* bytes of it, or of what follows */
    bool met, ready;         /* the other side has said how it is reached; that it is ready */
    struct rdmacm_id *id;    /* of iWARP: its connection */
    uint8_t word[16];        /* of iWARP: by which the other side connects */
    uint32_t calls;          /* of iWARP: that found their port taken */
    uint32_t says;           /* of iWARP: so often it has said that it is there, and 1; 0: it need not, it is called */
    uint64_t say_at;         /* ns: and says so again */
    bool refused;            /* it sent what makes no sense: all that comes behind is dropped */
    struct list written;     /* puts that are complete here, and not known to be there */

    struct base_lock lock;   /* below */
    enum verbs_state state;
    bool failed;             /* no request is posted any more */
    bool drained, last;      /* all requests have come back; all receives. Under adapter->lock */
    bool in_doubt;           /* at its end they had not: they may come yet, so its memory stays */
    struct verbs_adapter *adapter;
    struct ibverbs_qp *qp;
    uint32_t first;          /* packet */
    uint32_t inlined;        /* bytes that may be */
    uint32_t gid_index;      /* by which it is reached: its entry in the table of the port */
    uint8_t gid[16];
    struct verbs_kept *kept, *kept_last; /* frames; none may pass them */
    bool asked;              /* the other side waits for VERBS_TAKEN */
    struct list_node writer; /* nic->writers, while something is to be sent; under writers_lock */
    struct verbs_place place[VERBS_PLACES];
    uint64_t posted, over;   /* requests, and those complete */
    struct verbs_pace pace;
    uint32_t places;         /* that may be under way now; 0: there is no queue pair yet, and frames are kept */
    uint32_t blocks;         /* it has so many */
    _Atomic uint64_t sent;   /* what takes credit; written by senders */
    _Atomic uint64_t taken;  /* of it by the other side; written by the poll */
    _Atomic uint32_t unsent; /* of it, in kept frames; under lock, and read by the poll */
    _Atomic uint32_t took;   /* of theirs; written by the poll */
    _Atomic uint32_t told;   /* `took` as told last */
};

struct verbs_settings { /* VIADUCT_VERBS */
    uint8_t level, class; /* service level; traffic class */
    uint16_t key;         /* partition; 0: the first of the port */
    uint32_t gid;         /* entry of its table; VERBS_GIDS: any that has the address */
};

struct verbs_port {
    const char *device;
    struct ibverbs_context *context;
    struct ibverbs_port_attr attr;
    uint32_t gid_index;
    uint8_t gid[16];
    uint8_t number;
    uint32_t receives; /* that a shared queue of its device may have; 0: it makes none */
    bool managed; /* by librdmacm: a port of iWARP */
};

struct verbs_receive { /* of a block; the same whenever it is posted */
    struct ibverbs_recv_wr wr;
    struct ibverbs_sge whole;
};

struct verbs_more { /* receives, where those of the adapter are too few */
    struct verbs_more *next;
    struct ibverbs_mr *mr;
    uint8_t *memory;
    struct verbs_receive receive[VERBS_RECEIVED];
};

struct verbs_adapter {
    struct vi_nic nic;       /* what its vis belong to where there are several */
    struct verbs_nic *home;
    struct verbs_port port;
    struct verbs_settings settings;
    uint16_t key;            /* entry of its partition keys */
    uint8_t reads, read_by;  /* under way at once, by us; by others */
    uint8_t card;            /* ordinal */
    bool iwarp;              /* it has no immediates; that a request has completed says only that its memory was read */
    struct verbs_manager *manager; /* connects its queue pairs: iwarp.c; NULL: they are told each other's numbers */
    char name[64];
    struct ibverbs_pd *pd;
    struct ibverbs_channel *channel;
    struct ibverbs_cq *cq;
    struct ibverbs_srq *srq;
    uint8_t *memory;         /* blocks: first those for receives */
    struct verbs_receive receive[TUNED(VERBS_RECEIVES)];
    struct ibverbs_recv_wr *back; /* a chain of those that are posted next; by the poll, and so is `backs` */
    uint32_t backs;
    uint32_t receives, receives_most; /* those there are; may be */
    uint32_t sessions;       /* queue pairs; under lock */
    struct verbs_more *more;
    struct ibverbs_mr *mr;
    struct verbs_cache cache;

    struct base_lock lock;   /* below */
    bool armed;
    bool few;                /* receives are left */
    bool failed;             /* its port is down, or the device is lost: its connections end at the next poll */
    bool overrun;            /* its completion queue tells of nothing any more: it has no connections from then on */
    int room, room_most;     /* of the completion queue; that the device gives it */
    int needed;              /* of it, by receives and places */
    struct base_map vis;     /* by number of their queue pairs */
    struct verbs_vi *latest; /* the one that was looked up last; NULL: none */
    uint32_t latest_number;
    struct ibverbs_wc *event;     /* completions: those from `told` up to `polled` wait to be told */
    struct verbs_vi **event_vi;   /* of a receive; NULL: it is gone */
    uint32_t told, polled, event_room;
    uint8_t *free_block;     /* each free one begins with the next */
};

struct verbs_nic {
    struct call_nic call;
    const struct ibverbs_library *library;
    struct verbs_adapter *adapter[CALL_CARDS];
    int adapters;
    bool enough;
    uint64_t asked, tick_ask; /* ticks: the last look at sockets; 0: the next poll looks */
    uint32_t busy;            /* polls since then that found completions */
    int first;                /* of the adapters, in the last poll of all */
    struct list attached, broken;
    struct base_lock writers_lock;
    struct list writers;      /* vis with kept frames */
    _Atomic uint32_t writing; /* so many */
};

extern const struct vi_ops verbs_ops;
#define VERBS_NAME "verbs"
extern const struct call_provider verbs_provider;

static inline struct verbs_vi *verbs_vi_of(struct vi *vi) { return (struct verbs_vi *)(void *)vi; }
static inline struct verbs_nic *verbs_home(const struct verbs_vi *vi)
{
    return (struct verbs_nic *)(void *)vi->call.peer->nic;
}
/* NIC may be that of an adapter. */
static inline struct verbs_nic *verbs_nic_of(struct vi_nic *nic)
{
    return nic->caps.adapter ? container_of(nic, struct verbs_adapter, nic)->home : (struct verbs_nic *)(void *)nic;
}

/* Settings: settings.c */
int verbs_settings_read(struct verbs_settings *settings) MUST_CHECK;
int verbs_settings_check(void) MUST_CHECK;

/* Ports: port.c */
/* Is it active, and does it belong to the card? RoCE v2: one of its GIDs is the card's address. InfiniBand: one stands
 * in the card's hardware address (IPoIB). Then that GID is in PORT. iWARP: librdmacm finds it on the card's address. */
bool verbs_port_has(const struct ibverbs_library *library, struct verbs_port *port, const struct call_card *card,
                    const struct verbs_settings *settings);
uint32_t verbs_receives_of(const struct ibverbs_device_attr *device); /* verbs_port.receives */
int verbs_key_find(const struct ibverbs_library *library, const struct verbs_port *port,
                   const struct verbs_settings *settings); /* entry of its partition keys; -1: it has none such */
bool verbs_card_allowed(const char *device, const struct call_card *card); /* by VIADUCT_TRANSPORTS */
void verbs_report(vi_line *line, void *context); /* all of this host in words: report.c */

/* Devices: adapter.c */
int verbs_adapters_open(struct call_nic *nic);     /* one for each card that has one; the others are left out */
struct verbs_adapter *verbs_adapter_of(struct verbs_nic *nic, uint8_t card); /* by its ordinal; NULL: it has none */
void verbs_adapters_close(struct verbs_nic *nic);
int verbs_receives_post(struct verbs_adapter *adapter) MUST_CHECK; /* those of adapter->back */
int verbs_receives_add(struct verbs_adapter *adapter) MUST_CHECK;  /* for one queue pair more, of iWARP */
void verbs_receives_fill(struct verbs_adapter *adapter); /* few are left */
uint8_t *verbs_block_take(struct verbs_adapter *adapter); /* NULL: there is none now */
void verbs_block_give(struct verbs_adapter *adapter, uint8_t *block);
int verbs_adapter_fault(struct verbs_adapter *adapter) MUST_CHECK; /* why it has no connections now */
void verbs_adapter_events(struct verbs_adapter *adapter); /* what its driver tells; under adapter->lock */

/* Room for requests under way: room.c */
int verbs_room_make(struct verbs_adapter *adapter) MUST_CHECK; /* for one queue pair more */
void verbs_room_give(struct verbs_adapter *adapter, struct verbs_vi *vi); /* all of VI's; under adapter->lock */
bool verbs_places_more(struct verbs_vi *vi); /* under vi->lock; false: there is no room for more now */
void verbs_places_less(struct verbs_vi *vi); /* under vi->lock: VERBS_LEAST, if so many will do */

/* Queue pairs: pair.c */
int verbs_pair_make(struct verbs_vi *vi, struct verbs_adapter *adapter) MUST_CHECK;
int verbs_pair_connect(struct verbs_vi *vi) MUST_CHECK;
void verbs_pair_end(struct verbs_vi *vi);          /* under vi->lock: when it returns nothing of it lands any more */
int verbs_post_failed(struct verbs_vi *vi, struct verbs_place *at, int number) COLD MUST_CHECK; /* send.c */
/* LENGTH bytes. There must be a place. PLACE: what is to be done when it is complete, of this very vi; NULL:
 * nothing. */
static inline __attribute__((always_inline)) MUST_CHECK int verbs_post(struct verbs_vi *vi, struct ibverbs_send_wr *wr,
                                                            uint64_t length, const struct verbs_place *place)
{
    struct verbs_place *at = &vi->place[vi->posted % VERBS_PLACES];
    struct ibverbs_send_wr *bad;
    wr->wr_id = (uintptr_t)at | VERBS_OF_PLACE;
    if (place)
        wr->send_flags |= IBVERBS_SEND_SIGNALED;
    if (vi->posted % TUNED(VERBS_SIGNAL) == 0) {
        wr->send_flags |= IBVERBS_SEND_SIGNALED;
        vi->pace.timed = vi->posted;
        vi->pace.at = clock_ticks();
    }
    if (place) /* before it is posted: the poll of another thread may find it complete at once */
        *at = *place;
    int number = vi->adapter->port.context->ops.post_send(vi->qp, wr, &bad);
    if (unlikely(number))
        return verbs_post_failed(vi, at, number);
    vi->posted++;
    base_count_card(&vbase_counters->frames0, vi->adapter->card, 1);
    base_count_card(&vbase_counters->card0, vi->adapter->card, length);
    return OK;
}

void verbs_sockets_look(struct verbs_nic *nic); /* if it is time to, or if something is ordered: nic.c */

/* Of iWARP: iwarp.c */
bool verbs_iwarp_has(const struct ibverbs_library *library, const struct verbs_port *port,
                     const struct call_address *address); /* is the port that of this address? */
int verbs_iwarp_open(struct verbs_adapter *adapter, const struct call_address *address) MUST_CHECK;
/* At one more address of its card; once for each family. */
int verbs_iwarp_listen(struct verbs_adapter *adapter, const struct call_address *address) MUST_CHECK;
void verbs_iwarp_close(struct verbs_adapter *adapter);
int verbs_iwarp_introduce(struct verbs_vi *vi, struct verbs_meeting *ours) MUST_CHECK;
int verbs_iwarp_connect(struct verbs_vi *vi) MUST_CHECK; /* under vi->lock: begins to, when vi->theirs is known */
/* What came of it; false: nothing now. *RESULT: OK, or an error that ends *VI. */
bool verbs_iwarp_step(struct verbs_adapter *adapter, struct verbs_vi **vi, int *result) MUST_CHECK;
void verbs_iwarp_say(struct verbs_nic *nic, uint64_t now); /* what callers have to say now */
void verbs_iwarp_end(struct verbs_vi *vi);

/* Sessions: session.c */
void verbs_link_event(struct call_link *link);     /* its socket says something */
void verbs_session_up(struct verbs_vi *vi);        /* the other side can send and receive */
void verbs_broken_end(struct verbs_nic *nic);
void verbs_disconnect(struct vi *vi, bool abrupt);

/* The way out: send.c */
int verbs_send(struct vi *vi, uint64_t header, const struct iovec *piece, int pieces, unsigned flags);
void verbs_control_send(struct verbs_vi *vi, enum verbs_kind kind); /* now, or as soon as there is room */
void verbs_writer_add(struct verbs_vi *vi);       /* something is to be sent by the next poll */
void verbs_break_later(struct verbs_vi *vi, int cause); /* with the error of this thread */
void verbs_writers_flush(struct verbs_nic *nic);
void verbs_kept_drop(struct verbs_vi *vi);
void verbs_frame_send(struct verbs_vi *vi, enum verbs_kind kind, uint64_t word); /* behind all others; under vi->lock */
int verbs_room(struct verbs_vi *vi) MUST_CHECK;    /* under vi->lock: for one more request of the caller */
void verbs_count(struct verbs_vi *vi, int more);   /* what takes credit; before it is posted, or when it was not */
uint64_t verbs_total(const struct iovec *piece, int pieces);
void verbs_gather(uint8_t *to, const struct iovec *piece, int pieces);

/* Memory: transfer.c */
int verbs_put(struct vi *vi, const struct vi_transfer *transfer);
int verbs_get(struct vi *vi, const struct vi_transfer *transfer);
int verbs_reg(struct vi_nic *nic, void *address, uint64_t length, struct vi_region *region);
void verbs_dereg(struct vi_region *region);
/* NULL: it is of another adapter. */
struct verbs_memory *verbs_memory_of(const struct verbs_vi *vi, const struct vi_region *region);
void verbs_transfer_end(struct verbs_vi *vi, struct verbs_transfer *transfer, int status); /* its request is complete */
void verbs_written_end(struct verbs_vi *vi, int status); /* of those that are there; of all, if STATUS is an error */

/* What completes: complete.c */
bool verbs_events_poll(struct verbs_adapter *adapter);        /* under adapter->lock; false: nothing has completed */
bool verbs_event_there(struct verbs_adapter *adapter);        /* one could be told */
bool verbs_complete(struct verbs_adapter *adapter);           /* tells of one; false: there is none */
int verbs_poll(struct vi_nic *nic, struct vi *only, int budget, unsigned flags);
void verbs_places_end(struct verbs_vi *vi, int status);       /* of all that were posted */
