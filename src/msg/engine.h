/* The inside of msg: what its files share. Nobody else includes this (tests of the room do).
 *
 * Locks, taken only when vmsg_threads(true) was said; each line may be taken while holding those above it:
 *   progress     only ever tried (context close and stop wait for it, holding nothing)
 *   context      one per context: its matching
 *   peer         one per peer: its queues, its window, sends on its vis
 *   boot         while the launcher is asked
 *   leaf         one for the engine: pools, the work list, stuck peers, finished requests, early messages
 * The sink runs under progress and takes context, peer and leaf. Callbacks of requests run under none.
 *
 * A transfer is the long state of one message that does not fit into an eager frame (or waits for an answer). It lies
 * in a pool; its index and generation are its id on the wire. */
#ifndef MSG_ENGINE_H
#define MSG_ENGINE_H

#include "msg/choice.h"
#include "msg/msg.h"
#include "msg/replay.h"
#include "msg/wire.h"
#include "vi/vi.h"
#include <pthread.h>

#define MSG_CONTEXTS 65536u
#define MSG_NICS 6 /* two or three of the usual ways, and one of each other network */
#define MSG_RAILS 8
#define MSG_FAR_EAGER 4 /* to ask over a network costs as much as to copy so many times the bytes as inside a node */
#define MSG_PIECES 32 /* of an iovec for one frame; more are packed first */
#define MSG_CONTROL_MOST 48    /* the longest body of an answer: CLEAR and JOIN */
#define MSG_FRAME_COST 64      /* what a message takes of its receiver's window beside its payload */
#define MSG_INLINE 80          /* unexpected payload that lies inside its message */
#define MSG_FETCHED 64 /* pieces of one get or put, and of a registered buffer */
#define MSG_CHUNK (512u << 10) /* claimed at a time where both ends copy; of a message of two chunks one may be nearly all */
#define MSG_BURST 4            /* sends to a remote rank in a row: from now on some wait to leave together, */
#define MSG_LAG 16             /* so many at most */
#define MSG_BURST_NS 3000      /* from one to the next, at most */
#define MSG_PLACE (4u << 20)   /* of one put; both sides count by it */

enum msg_kind { MSG_SEND = 1, MSG_RECEIVE };
enum msg_phase {
    MSG_PHASE_NEW, /* send: being started, or to the own rank */
    MSG_PHASE_QUEUED,    /* send: in its peer's queue */
    MSG_PHASE_ANNOUNCED, /* send: known to the receiver, not matched as far as we know; cancel must ask */
    MSG_PHASE_POSTED,    /* receive: in a posted list */
    MSG_PHASE_MOVING,    /* matched, payload under way */
    MSG_PHASE_OVER
};

/* What a rail does, as it was when the kernel was asked last. */
struct msg_pace {
    uint64_t asked;           /* ticks; 0: never */
    uint64_t rate;            /* bytes a second, 0 unknown */
    uint64_t backlog;         /* bytes given and not on their way, with those given since */
    uint64_t score;           /* ns until a small message would be there */
    uint64_t given;           /* bytes of chunks, since it came up */
};

/* Of a remote peer. */
struct msg_far {
    struct msg_replay replay;
    struct vi *vi[MSG_REPLAY_RAILS]; /* of the rails that are held */
    int held;
    int over; /* the rail of the next DATA frame */
    uint64_t judged; /* ticks: of the last look for a better main rail */
    struct msg_pace pace[MSG_REPLAY_RAILS];
};

struct msg_peer {
    /* First line: all that a small send touches, under the lock. */
    struct vi *vi;       /* of the rail for small messages, NULL: not connected */
    int64_t short_limit; /* payload that may go at once; -1: not connected, something is queued, or it is ourselves */
    int64_t window;      /* bytes of unmatched payload that the peer still takes from us */
    int64_t owed;        /* bytes of his window that he does not know to be free */
    int64_t window_half; /* owed is told when it reaches this */
    int64_t eager;       /* payload that fits into one eager frame here */
    struct base_lock lock;
    int32_t world;       /* his rank in the job */
    uint32_t lagging;    /* sends in the queue because more may follow */
    bool heard;          /* he called or sent: he knows us and will say goodbye */
    _Atomic bool parted; /* he said goodbye, or died; written under leaf, and what comes after it takes the lock */
    bool stuck;          /* linked in the engine's list of stuck peers (leaf) */
    bool remote;         /* reached by a nic whose polls cost */

    struct vi_nic *nic;  /* by which he is reached, once he is */
    int network;
    bool gone;           /* he is dead: nothing is sent to him any more */
    struct msg_far *far; /* NULL: he is not remote */
    struct list queue;   /* requests that were not launched yet, in order */
    struct list control; /* struct msg_control: answers that did not fit into the lane; bounded by what the peer asked */
    struct list_node stuck_link;
    uint64_t pending_sends; /* transfers of ours that he has not finished; leaf */
    struct msg_slot *board; /* his, mapped; NULL: none yet */
    _Atomic uint64_t busy;  /* ticks when he was last seen sending parts of a message, or asked to; relaxed */
    bool board_told;        /* he knows ours */
    _Atomic uint32_t joint; /* messages of his that he works on, too; relaxed: what is learned then says nothing */
    struct list turns[2];   /* transfers that move his memory, ours to him last: one after another; leaf */
    struct msg_note *note;  /* about the next message of his; NULL: none */
    struct msg_choice choice[3]; /* of the ways that his large messages come; while ours cross them; into short pieces */
    uint32_t ended;         /* our transfers to him that are over; leaf */
    _Atomic bool crossing;  /* when his last large message came, some of ours were on their way; relaxed: a hint */
    uint8_t burst;          /* sends that followed each other at once, up to MSG_BURST; */
    uint64_t burst_at;      /* ticks: the end of the last one */
} ALIGNED(CACHE_LINE);
_Static_assert(offsetof(struct msg_peer, nic) == CACHE_LINE, "the hot part of a peer is one line");

/* Of a frame that came, if it has one length: a copy, read once; the sink has judged the length. */
union msg_frame_body {
    struct msg_frame_id id;
    struct msg_frame_announce announce;
    struct msg_frame_clear clear;
    struct msg_frame_credit credit;
    struct msg_frame_board board;
    struct msg_frame_join join;
    struct msg_frame_withdraw withdraw;
    struct msg_note note;
};

struct msg_control {
    struct list_node link;
    uint64_t header;
    uint32_t length;
    uint64_t body[MSG_CONTROL_MOST / 8];
};

/* A rank of a context that somebody talked to: where its messages and the receives for it wait. */
struct msg_member {
    struct msg_peer *peer;
    int rank; /* in the context */
    struct list posted, unexpected;
};

struct msg_context {
    struct msg_member **member; /* by rank in the context, NULL until used */
    int *world;                 /* world rank of each rank; NULL: the same */
    int *rank_of;               /* the inverse, -1: no member; NULL: the same */
    int rank, size;
    uint32_t id;
    bool noted;                 /* messages carry notes */
    int network;                /* over which its members are reached */
    struct base_lock lock;
    uint64_t order;             /* of the next receive posted */
    struct list wildcard;       /* receives from any source */
    struct list arrivals;       /* every unexpected message, as they came */
    bool listened;              /* the engine's listener hears it first */
    struct msg_member *last;    /* whose message was received from anyone by the short way last; NULL: nobody's */
    uint32_t guesses;           /* that the next one is his, too */
};

/* What is known of a message when it comes. */
struct msg_envelope {
    struct msg_peer *peer;
    const void *payload;       /* of an eager message */
    struct msg_request *local; /* of a message to ourselves whose payload still lies with its sender */
    uint64_t total;            /* bytes of the message */
    uint64_t id;               /* of the sender's transfer, 0: he awaits nothing */
    struct vi_key key;
    int source, tag;           /* source: rank in the context */
    uint8_t frame;             /* enum msg_frame */
    bool fetchable;            /* the key is valid */
    struct msg_note *note;     /* belongs to it; NULL: none */
};

/* A message without a receive. */
struct msg_message {
    struct list_node of_member;  /* unlinked: taken out by a matched probe */
    struct list_node of_context; /* also in the engine's early list */
    struct msg_context *context;
    uint32_t context_id;
    struct msg_envelope envelope;
    void *block; /* holds the payload when it is longer than `near` */
    unsigned char near[MSG_INLINE];
};

enum msg_transfer_phase {
    MSG_TRANSFER_ANNOUNCED, /* sender: waits for CLEAR, FINISH or ACK */
    MSG_TRANSFER_SENDING,   /* sender: DATA frames go out; in the work list */
    MSG_TRANSFER_PLACING,   /* sender: puts go out; in the work list until the last one has begun; over at FINISH */
    MSG_TRANSFER_JOINT,     /* either: both copy, see joint.c; in the work list, in frames until nothing is left to claim */
    MSG_TRANSFER_FETCHING,  /* receiver: pulls; in the work list, or a get is under way */
    MSG_TRANSFER_RECEIVING, /* receiver: DATA frames come in */
    MSG_TRANSFER_OVER       /* receiver: the request is complete and gone; to be learned from and given back; in the work list */
};
struct msg_transfer {
    struct list_node link; /* in the work list */
    struct list_node turn; /* in the peer's turns */
    struct msg_request *request;
    struct msg_peer *peer;
    uint64_t remote;       /* id of the other side's transfer */
    uint64_t moved, upto;  /* the part still to move */
    uint64_t under_way;    /* bytes of a get that is not complete */
    struct msg_span *back; /* chunks that a lost rail did not land */
    struct vi_key key;     /* of the other side's memory */
    struct vi_region region; /* our memory, for the other side; nic NULL when nothing is registered */
    struct type_cursor *cursor; /* NULL: the buffer is one piece */
    struct iovec *list;      /* of the buffer's pieces, where these are registered; else NULL */
    struct msg_slot *slot;   /* joint: the shared counters */
    uint64_t arrived;        /* joint in frames, or from afar, receiver: bytes that are in place */
    uint64_t began;          /* receiver: ticks, while its time is to be judged; else 0 */
    uint64_t over_at;        /* ticks: its end, where it is judged later; else 0 */
    uint32_t ended;          /* receiver: peer->ended then */
    uint32_t generation;
    uint32_t mine, done;     /* joint: chunks claimed here, and moved */
    uint16_t slot_number;
    uint8_t share;           /* joint: as in the invitation */
    uint8_t passed;          /* by shorter ones whose turn came later */
    uint8_t phase, way;      /* enum msg_way; the sender's is what the receiver chose */
    uint8_t learned;         /* receiver: which of the peer's choices judges it */
    bool overtook, alone;    /* OVER: one before it was still under way then; no other one waited then */
    bool sender, cancelling;
    bool frames, stranded;   /* joint: the sender's chunks come in frames; a get of ours failed */
    bool first;              /* joint, receiver: this side was ready before the other one */
    bool looking;            /* joint: nothing is left to claim, but the other side may be at it */
    bool told_later, withdrawn; /* joint: the chunk's end comes by the sink; the sender withdrew meanwhile */
};

/* Our slots for joint copies, under leaf. */
struct msg_board {
    struct vi_nic *nic;      /* on which it is registered, NULL: none */
    struct vi_region region;
    uint64_t free;           /* a bit a slot */
    uint32_t generation;
    bool tried;
};

/* What a blocking receive waits for, if one eager frame can be all of it: then the sink compares two words and is done,
 * without matching. Only while there is one thread, and only when no other receive of the context and no message of the
 * sender is queued. Whatever else comes in between, or is posted, turns it into a posted request first. */
struct msg_expected {
    uint64_t header;         /* 0: nothing is expected */
    struct msg_peer *peer;   /* from anyone: who may be it; NULL: nobody is guessed */
    void *data;
    uint64_t room;
    struct msg_result *result; /* tag is set, and source, if there is a peer */
    struct msg_request *request; /* on the stack of the call; only its state is set */
    struct msg_member *member; /* NULL: anyone for whom no receive is posted */
};

struct msg_engine {
    struct msg_expected expected;
    uint32_t straight;       /* blocking receives that looked at their lane alone: now and then one makes progress for all */
    uint32_t looks;          /* so often, before they wait like everybody; see vmsg_wait_start */
    uint32_t gap;            /* pauses between two looks */

    /* Read by every call, written at start and stop. */
    bool open;    /* false: before start, after stop, and in a child made by fork */
    bool threads; /* take locks */
    bool quick;   /* open and one thread: the short ways may be taken */
    bool child;   /* made by fork */
    int rank, size;
    bool networked; /* some ranks are reached by a nic whose polls cost */
    uint32_t nics, usual; /* usual: those that were opened at start, for network 0 */
    struct vi_nic *nic[MSG_NICS];
    struct vi_nic *network[MSG_NETWORKS]; /* the nic of each but the first */
    int networks;           /* that were tried, the first included, */
    int tried_as[MSG_NETWORKS]; /* and the number of each among those: the name of its business cards */
    struct vi_door *door;   /* this rank keeps it for its node; NULL else */
    struct msg_peer **peer; /* by network and world rank, NULL until talked to; written under leaf */
    _Atomic int failed;     /* why the job is lost, 0 */

    struct base_lock progress ALIGNED(CACHE_LINE);
    bool progressing;       /* the same as `progress` while there is one thread */
    uint64_t burst_ticks;     /* MSG_BURST_NS */
    _Atomic uint32_t awaited; /* what may come from remote ranks, see nics.c */
    struct base_lock leaf, boot_lock;
    _Atomic uint32_t chores; /* entries of the first three lists together: one look tells that there is nothing to do */
    struct list work;       /* transfers that want a turn */
    struct list stuck;      /* peers with something queued */
    struct list finished;   /* requests whose callback is due */
    const struct msg_listener *listener; /* NULL: none. Under progress */
    _Atomic bool turn;      /* it wants one */
    struct list early;      /* messages for contexts that are not open yet, as they came */
    uint64_t pending_sends; /* the sum over all peers who have not said goodbye: stop waits for them */
    _Atomic uint32_t deaths; /* that are known here; 0 but where a death does not end the job. Under progress; release, so that
                              * who reads it sees `dead` */
    _Atomic bool *dead;      /* by world rank; NULL: nobody is */
    struct msg_board board;
    struct base_pool members, messages, transfers, controls;
    unsigned char *scratch; /* for packing one frame; under scratch_lock, a leaf as well */
    size_t scratch_size;
    struct base_lock scratch_lock;

    int starts; /* minus stops */
    bool leaving; /* goodbye was said to all; who calls now hears it at once */
    bool stopping;
    struct boot_job *job;
    struct msg_context **context; /* by id */
    char why[512];          /* the job is lost, in words; under leaf, unchanged once it is */
};
extern struct msg_engine vmsg_engine;

/* A cancel of another thread looks at the phase under the lock that guards the way out of it: POSTED under the context's,
 * QUEUED and ANNOUNCED under the peer's. The others may be written without; hence atomic, and relaxed. */
static inline void msg_phase_set(struct msg_request *request, enum msg_phase phase)
{
    __atomic_store_n(&request->phase, (uint8_t)phase, __ATOMIC_RELAXED);
}
static inline enum msg_phase msg_phase(const struct msg_request *request)
{
    return (enum msg_phase)__atomic_load_n(&request->phase, __ATOMIC_RELAXED);
}

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

int vmsg_peer_lost(struct msg_peer *peer, int cause) COLD;
int vmsg_peer_send_far(struct msg_peer *peer, uint64_t header, const struct iovec *piece, int pieces);

/* Every send goes through here, with the peer's lock held: OK, ERR_AGAIN, or the link is gone for good. */
static inline int msg_peer_send(struct msg_peer *peer, uint64_t header, const struct iovec *piece, int pieces)
{
    if (unlikely(peer->remote))
        return vmsg_peer_send_far(peer, header, piece, pieces);
    int error = vi_send(peer->vi, header, piece, pieces);
    return likely(!error) || error == ERR_AGAIN ? error : vmsg_peer_lost(peer, error);
}

/* Bytes of a body. */
static inline uint64_t msg_frame_most(const struct msg_peer *peer)
{
    return peer->nic->caps.max_send - (peer->remote ? sizeof(struct msg_frame_extension) : 0);
}

/* Under leaf; progress looks without it, and what it misses has its turn in the next round. */
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

/* ---- engine.c ---- */
int vmsg_closed(void) COLD;            /* the error of a call while the engine is not open */
void vmsg_failed(int error);           /* the job is lost: every wait returns this from now on */
int vmsg_failure(void);                /* OK, or why it is lost, with the cause */
uint32_t vmsg_sink_received(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count); /* the parser of frames */
void vmsg_sink_done(struct vi *vi, void *cookie, int status);

/* ---- nics.c ---- */
int vmsg_scratch_grow(const struct vi_nic *nic) MUST_CHECK; /* to what its largest send holds */
int vmsg_nics_open(const struct vi_sink *sink) MUST_CHECK;
void vmsg_nics_close(void);
int vmsg_nic_connect(struct msg_peer *peer, struct vi **vi) MUST_CHECK; /* who owns it then */
bool vmsg_nic_remote(int network, int world); /* reached by a nic whose polls cost */
bool vmsg_nics_poll(int budget); /* progress held */
void vmsg_nics_tell(enum vi_arm what);      /* that a sleep may come, or that we are awake */
bool vmsg_nics_arm(struct vi_wait *from);   /* what to sleep on, of every nic. False: one of them has something */
static inline void msg_await(void)
{
    atomic_fetch_add_explicit(&vmsg_engine.awaited, 1, memory_order_relaxed); /* a count */
}
static inline void msg_await_end(void) { atomic_fetch_sub_explicit(&vmsg_engine.awaited, 1, memory_order_relaxed); }

/* ---- peer.c ---- */
bool vmsg_rails_end(struct msg_peer *peer); /* he is dead: loses all, at the next poll nothing is lent to them. True: there were some */
void vmsg_peer_gone(struct msg_peer *peer); /* lock held: answers that wait for him are thrown away */
int vmsg_peer_find(int network, int world, struct msg_peer **peer) MUST_CHECK; /* makes it on first use */
struct msg_peer *vmsg_peer_known(int network, int world);                      /* NULL: nobody talked to it */
int vmsg_peer_connect(struct msg_peer *peer) MUST_CHECK;          /* lock held; OK when connected already */
int vmsg_peer_accept(struct vi_nic *nic, uint32_t world) MUST_CHECK;
void vmsg_peer_queue(struct msg_peer *peer, struct msg_request *request); /* lock held */
bool vmsg_peer_flush(struct msg_peer *peer);  /* lock held: what is queued for him, as far as it goes */
bool vmsg_peers_flush(void);           /* progress held: queued things of all stuck peers; true: something went */
void vmsg_peer_answer(struct msg_peer *peer, uint64_t header, const void *body, uint32_t length); /* lock held */
void vmsg_peer_control(struct msg_peer *peer, uint64_t header, const void *body, uint32_t length); /* takes the lock */
void vmsg_peer_stuck(struct msg_peer *peer); /* lock held: wants to be flushed */
bool vmsg_peer_starved(struct msg_peer *peer); /* lock held, after ERR_AGAIN */
void vmsg_peer_parted(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
void vmsg_peers_close(void); /* vis and memory, not the table */

/* ---- rail.c: remote peers; lock held ---- */
int vmsg_rails_open(struct msg_peer *peer) MUST_CHECK;
void vmsg_rails_close(struct msg_peer *peer);
bool vmsg_rails_flush(struct msg_peer *peer); /* fences, what is to be sent again, what is owed; true: something went */
bool vmsg_rails_pend(struct msg_peer *peer);  /* not all of that went */
void vmsg_rail_add(struct msg_peer *peer, struct vi *vi);
void vmsg_rail_measure(struct msg_peer *peer, int rail, uint64_t age_ns); /* its pace, unless it is younger */
void vmsg_rail_up(struct vi *vi);              /* no lock held, as in all that follows */
void vmsg_rail_down(struct vi *vi, int cause);
int vmsg_rail_received(struct vi *vi, uint64_t header, const void *data, size_t length) MUST_CHECK;
bool vmsg_rail_landed(struct vi *vi);

/* ---- bond.c: under progress ---- */
bool vmsg_bond_step(struct msg_transfer *transfer);
bool vmsg_bond_may_end(const struct msg_transfer *transfer);
bool vmsg_bond_back(struct msg_peer *peer, const struct msg_replay_bulk *bulk); /* lock held; false: no memory now */
void vmsg_bond_forget(struct msg_transfer *transfer);

/* ---- match.c: context lock held ---- */
struct msg_request *vmsg_match_arrival(struct msg_context *context, struct msg_member *member, int tag);
struct msg_message *vmsg_match_posting(struct msg_context *context, struct msg_member *member, int tag);
void vmsg_match_post(struct msg_context *context, struct msg_member *member, struct msg_request *request);
void vmsg_match_keep(struct msg_context *context, struct msg_member *member, struct msg_message *message);
void vmsg_match_take(struct msg_message *message); /* out of the lists */
struct msg_message *vmsg_match_sent(struct msg_member *member, uint64_t id);

/* ---- context.c ---- */
int vmsg_member_find(struct msg_context *context, int rank, struct msg_member **member) MUST_CHECK; /* takes the lock */
int vmsg_member_make(struct msg_context *context, int rank, struct msg_member **member) MUST_CHECK; /* lock held */
void vmsg_contexts_close(void);
static inline int vmsg_context_rank_of(const struct msg_context *context, int world)
{
    return context->rank_of ? context->rank_of[world] : world;
}

/* ---- message.c: messages that come ---- */
void vmsg_message_arrived(uint32_t context_id, struct msg_envelope *envelope);
int vmsg_message_enter(struct msg_context *context, struct msg_envelope *envelope) MUST_CHECK;
void vmsg_message_deliver(struct msg_request *request, const struct msg_envelope *envelope);
void vmsg_message_give(struct msg_message *message, struct msg_request *request); /* deliver and free */
void vmsg_message_forget(struct msg_message *message);
void vmsg_message_drop(struct msg_message *message);

/* ---- note.c ---- */
int vmsg_note_send(struct msg_request *request) MUST_CHECK; /* peer lock held; before its message */
void vmsg_note_arrived(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
void vmsg_note_of_self(const struct msg_request *request, struct msg_envelope *envelope);
void vmsg_note_give(const struct msg_request *request, const struct msg_note *note);

/* ---- eager.c ---- */
int vmsg_send_launch(struct msg_request *request) MUST_CHECK; /* peer lock held */
void vmsg_send_forsake(struct msg_request *request) COLD; /* peer lock held: he has left, so it is over unless it left before */
int vmsg_frame_send(struct msg_request *request, uint64_t header, struct iovec body, struct type_cursor *cursor,
                    uint64_t from, uint64_t bytes) MUST_CHECK; /* peer lock held */

/* ---- rendezvous.c: under progress, except announce (peer lock held) and matched (no lock) ---- */
int vmsg_rendezvous_announce(struct msg_request *request) MUST_CHECK;
void vmsg_rendezvous_matched(struct msg_request *request, const struct msg_envelope *envelope, uint64_t want);
void vmsg_rendezvous_clear(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
void vmsg_rendezvous_data(struct msg_peer *peer, const void *body, size_t length);
void vmsg_rendezvous_finish(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
void vmsg_rendezvous_finish_tell(struct msg_peer *peer, uint64_t id);
void vmsg_rendezvous_arrived(struct msg_peer *peer, uint32_t immediate, uint64_t bytes);
void vmsg_rendezvous_fetched(struct msg_transfer *transfer, int status);
void vmsg_rendezvous_ask(struct msg_transfer *transfer);
void vmsg_rendezvous_sent(struct msg_transfer *transfer, int error); /* the sender's end */
int vmsg_rendezvous_push(struct msg_transfer *transfer, uint64_t upto) MUST_CHECK; /* peer lock held */
bool vmsg_rendezvous_work(void); /* one chunk of everything under way; true: something moved */

/* ---- joint.c: under progress, except begin (no lock) ---- */
bool vmsg_joint_begin(struct msg_transfer *transfer);
bool vmsg_joint_step(struct msg_transfer *transfer);
void vmsg_joint_told(struct msg_transfer *transfer, int status);
void vmsg_joint_alone(struct msg_transfer *transfer);
void vmsg_joint_board(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
void vmsg_joint_invited(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
void vmsg_joint_withdrawn(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
bool vmsg_joint_data(struct msg_transfer *transfer, uint64_t bytes); /* in place; true: the transfer is over */
bool vmsg_joint_after(struct msg_transfer *transfer); /* in phase OVER */
void vmsg_joint_leave(struct msg_transfer *transfer); /* its receiver gives the slot back */
void vmsg_joint_close(void);

/* ---- transfer.c ---- */
struct msg_transfer *vmsg_transfer_take(struct msg_request *request); /* NULL: no memory */
int vmsg_transfer_for_send(struct msg_request *request) MUST_CHECK;
void vmsg_transfer_give(struct msg_transfer *transfer);
void vmsg_transfer_over(struct msg_transfer *transfer, int error);
struct msg_transfer *vmsg_transfer_next(const struct msg_peer *peer, uint32_t *place); /* of his, from PLACE on; NULL: no more */
uint64_t vmsg_transfer_id(const struct msg_transfer *transfer);
struct msg_transfer *vmsg_transfer_find(struct msg_peer *peer, uint64_t id);
struct msg_transfer *vmsg_transfer_at(struct msg_peer *peer, uint64_t id, enum msg_transfer_phase phase);
void vmsg_transfer_work(struct msg_transfer *transfer); /* gives it a turn at every round */
int vmsg_transfer_cursor(struct msg_transfer *transfer, uint64_t from) MUST_CHECK;
uint64_t vmsg_transfer_pieces(struct msg_transfer *transfer, uint64_t bytes, struct iovec *piece, int *pieces);
bool vmsg_transfer_register(struct msg_transfer *transfer, uint64_t bytes) MUST_CHECK;
bool vmsg_transfer_first(struct msg_transfer *transfer); /* its turn among those of its peer; takes a place in the line */
void vmsg_transfer_pass(struct msg_transfer *transfer);  /* leaves the line */
void vmsg_transfer_choose(struct msg_transfer *transfer, const struct vi_state *reach);
void vmsg_transfer_judge(struct msg_transfer *transfer, bool well); /* WELL: it ended by the way that was chosen */

/* ---- receive.c ---- */
void vmsg_expected_post(void) COLD; /* from now on it is a posted request like any other */

/* ---- listen.c ---- */
bool vmsg_listener_turn(void); /* no lock held: true: it had one */
/* Under progress: how many were taken. */
uint32_t vmsg_listened(struct msg_context *context, struct vi *vi, uint64_t header, const char *data, size_t length,
                       uint32_t count);

/* ---- death.c ---- */
void vmsg_death_look(void);  /* no lock held, outside progress */
void vmsg_death_again(void); /* something was begun with a dead rank: the next look ends it */
static inline bool msg_dead(int world)
{
    /* acquire: pairs with vmsg_death_look */
    return unlikely(atomic_load_explicit(&vmsg_engine.deaths, memory_order_acquire)) &&
           atomic_load_explicit(&vmsg_engine.dead[world], memory_order_relaxed);
}
/* Somebody has died, and this is a context of pack's, who looks who is left before he waits for anyone. */
static inline bool msg_context_bereaved(const struct msg_context *context)
{
    return atomic_load_explicit(&vmsg_engine.deaths, memory_order_relaxed) && context->id >= MSG_CONTEXT_PACK &&
           context->id < MSG_CONTEXT_PACK + MSG_CONTEXTS_PACK;
}

/* ---- cancel.c ---- */
void vmsg_request_abandon(struct msg_request *request, int error);
void vmsg_cancel_asked(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
void vmsg_cancel_answered(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);

/* ---- credit.c: peer lock not held ---- */
void vmsg_credit_owe(struct msg_peer *peer, uint64_t cost); /* of messages, each with MSG_FRAME_COST */
void vmsg_credit_returned(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
bool vmsg_credit_tell(struct msg_peer *peer); /* lock held; false: the lane is full */

/* ---- self.c ---- */
int vmsg_self_send(struct msg_request *request, struct msg_member *member) MUST_CHECK;
void vmsg_self_copy(struct msg_request *receive, struct msg_request *send);

/* ---- progress.c ---- */
void vmsg_complete(struct msg_request *request, int error); /* under any lock; the request is gone afterwards */
void vmsg_complete_all(struct msg_request *const *request, uint32_t count); /* well, all of them at once; several threads */
void vmsg_refused(const struct msg_peer *peer, const char *what) COLD; /* something came that makes no sense */
bool vmsg_progress_enter(void);
void vmsg_progress_leave(void);
bool vmsg_progress_round(void); /* between enter and leave */
bool vmsg_progress_behind(void); /* after leave: what runs under no lock; true: something did */

/* ---- wait.c ---- */
int vmsg_wait_start(void) MUST_CHECK; /* measures the gap, decides how long to spin */
int vmsg_wait_networked(void) MUST_CHECK; /* from now on it is slept on descriptors */
/* Between two looks; returns how many pauses it was. */
static inline uint32_t msg_wait_gap(void)
{
    const struct vi_nic *nic = vmsg_engine.nic[0];
    uint32_t linger = nic ? atomic_load_explicit(&nic->linger, memory_order_relaxed) : 0;
    uint32_t pauses = linger > vmsg_engine.gap ? linger : vmsg_engine.gap;
    for (uint32_t i = 0; i < pauses; i++)
        cpu_pause();
    return pauses;
}
void vmsg_wait_changed(void); /* several threads: somebody's request may be complete */
/* The same for one thing: a request that a thread was PARKED for, or what only those look at who wait for anything. */
void vmsg_wait_completed(bool parked);
void vmsg_wait_stop(void);

#endif
