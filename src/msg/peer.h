/* Peers: one structure for each rank that this one talks to, its rails, and answers to it. */
#pragma once

#include "msg/nics.h"
#include "msg/replay.h"
#include "msg/request.h"
#include "msg/wire.h"

#define MSG_PIECES 32 /* of an iovec for one frame; more are packed first */
#define MSG_FRAME_COST 64      /* what a message takes of its receiver's window beside its payload */

/* What a rail does, as it was when the kernel was asked last. */
struct msg_pace {
    uint64_t asked;           /* ticks; 0: never */
    uint64_t rate;            /* bytes a second, 0 unknown */
    uint64_t backlog;         /* bytes given and not on their way, with those given since */
    uint64_t score;           /* ns until a small message would be there */
    uint64_t given;           /* bytes of chunks, since it came up */
};

/* By one nic. */
struct msg_way {
    struct vi_nic *nic;
    bool at_once;        /* beside quicker ones: it is the quickest, or adds much to their speed */
    bool given_up;       /* it did not come up, and nothing else carries: not again before that has changed */
    uint8_t failures;    /* since it was up */
    uint64_t not_before; /* ticks: of the next call, where there are several ways */
};

/* Of a remote peer. */
struct msg_far {
    struct msg_way way[MSG_WAYS]; /* the quickest first */
    int ways;            /* 0: this side has not called yet */
    bool lacking;        /* one of them is to be called, now or later, beside what there is */
    uint64_t bare;       /* ticks: since when no rail of them was up, when that was so last */
    struct msg_replay replay;
    struct vi *vi[MSG_REPLAY_RAILS]; /* of the rails that are held */
    int held;
    int over; /* the rail of the next DATA frame */
    int moved_by; /* that of the last get or put of a chunk */
    uint64_t judged; /* ticks: of the last look for a better main rail */
    struct msg_pace pace[MSG_REPLAY_RAILS];
};

struct msg_peer {
    /* First line: all that a small send touches, under the lock. */
    struct vi *vi;       /* of the rail for small messages, NULL: not connected */
    int64_t short_limit; /* payload that may go at once; -1: not connected, something is queued, or it is ourselves */
    int64_t window;      /* bytes of unmatched payload that the peer still takes from us */
    int64_t owed;        /* bytes of the peer's window that are free again and not told to it */
    int64_t window_half; /* owed is told when it reaches this */
    struct vi *lane;     /* the same, where a wait may poll it alone; else NULL */
    struct base_lock lock;
    int32_t world;       /* its rank in the job */
    uint32_t lagging;    /* sends in the queue because more may follow */
    _Atomic bool heard;  /* it connected or sent: it knows us and will say goodbye; relaxed */
    _Atomic bool parted; /* it said goodbye, or died; written under leaf, and later changes take the lock */
    bool remote;         /* reached by a nic whose polls cost */

    uint64_t frame_most; /* body of a frame that each of its rails takes; 0: never connected */
    int64_t eager;       /* payload that is eager whatever the class of the line, and fits into such a frame */
    int network;
    bool more;           /* the queue is flushed, and more of it follows at once; by a remote peer's sends */
    bool gone;           /* it is dead: nothing is sent to it any more */
    struct msg_far *far; /* NULL: it is not remote */
    struct list queue;   /* requests that were not launched yet, in order */
    struct list control; /* struct msg_control: answers that did not fit; bounded by what the peer asked */
    struct list_node stuck; /* in the engine's list of stuck peers (leaf) */
    uint64_t pending_sends; /* transfers of ours that it has not finished; leaf */
    struct msg_slot *slots; /* the peer's, mapped; NULL: none yet */
    bool slots_told;        /* it knows ours */
    uint64_t forsaken;      /* sends announced to it and given up at its goodbye: DONE may still come for them */
    _Atomic int goodbye;    /* the life that its goodbye ended; by the sink, before `parted`; relaxed */
    _Atomic uint64_t busy;  /* ticks when it was last seen sending parts of a message; relaxed */
    struct list turns[2];   /* transfers from it, and to it, that are moved one after another; leaf */
    uint8_t burst;          /* sends that followed each other at once, up to BURST_LENGTH; */
    uint64_t burst_at;      /* ticks: the end of the last one */
} ALIGNED(CACHE_LINE);
_Static_assert(offsetof(struct msg_peer, frame_most) == CACHE_LINE, "the hot part of a peer is one line");

/* Of a frame that came, if it has one length: a copy, read once; the sink has judged the length. */
union msg_frame_body {
    struct msg_frame_id id;
    struct msg_frame_done done;
    struct msg_frame_credit credit;
};

struct msg_control {
    struct list_node link;
    uint64_t header;
    uint32_t length;
    unsigned char body[];
};

int vmsg_peer_lost(struct msg_peer *peer, int cause) COLD;
int vmsg_peer_send_far(struct msg_peer *peer, uint64_t header, const struct iovec *piece, int pieces);

/* Every send goes through here, with the peer's lock held: OK, ERR_AGAIN, VI_HELD, or the link is gone for good. FLAGS:
 * of vi_send_as, VI_SOURCE only where the vi has it. */
static inline int msg_peer_send_as(struct msg_peer *peer, uint64_t header, const struct iovec *piece, int pieces,
                                   unsigned flags)
{
    if (unlikely(peer->remote))
        return vmsg_peer_send_far(peer, header, piece, pieces);
    int error = vi_send_as(peer->vi, header, piece, pieces, flags);
    return likely(!error) || error == ERR_AGAIN || error == VI_HELD ? error : vmsg_peer_lost(peer, error);
}
static inline int msg_peer_send(struct msg_peer *peer, uint64_t header, const struct iovec *piece, int pieces)
{
    return msg_peer_send_as(peer, header, piece, pieces, 0);
}

/* Bytes of a body over this rail alone. */
static inline uint64_t msg_frame_room(const struct msg_peer *peer, const struct vi *vi)
{
    return vi_caps(vi)->max_send - (peer->remote ? sizeof(struct msg_frame_extension) : 0);
}

/* ---- peer.c ------------------------------------------------------------------------------------------------------ */
void vmsg_rails_open(struct msg_peer *peer); /* what they replay: of a peer that is made */
/* The peer is dead: closes all its rails; after the next poll they use no memory of ours. True: there were some. */
bool vmsg_rails_end(struct msg_peer *peer);
void vmsg_peer_gone(struct msg_peer *peer); /* lock held: answers that wait for it are dropped */
int vmsg_peer_find(int network, int world, struct msg_peer **peer) MUST_CHECK; /* makes it on first use */
struct msg_peer *vmsg_peer_known(int network, int world);                      /* NULL: not used yet */
int vmsg_peer_connect(struct msg_peer *peer) MUST_CHECK;          /* lock held; OK when connected already */
int vmsg_peer_call(struct msg_peer *peer) MUST_CHECK;             /* lock held; the same, and further ways are called */
int vmsg_peer_accept(struct vi_nic *nic, uint32_t world) MUST_CHECK;
void vmsg_peer_queue(struct msg_peer *peer, struct msg_request *request); /* lock held */
bool vmsg_peer_flush(struct msg_peer *peer);  /* lock held: sends what is queued for it, as far as there is room */
bool vmsg_peers_flush(void);           /* progress held: queued things of all stuck peers; true: something went */
void vmsg_peer_answer(struct msg_peer *peer, uint64_t header, const void *body, uint32_t length); /* lock held */
void vmsg_peer_control(struct msg_peer *peer, uint64_t header, const void *body, uint32_t length); /* takes the lock */
void vmsg_peer_stuck(struct msg_peer *peer); /* lock held: wants to be flushed */
void vmsg_peer_goodbye(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
void vmsg_peers_close(void); /* vis and memory, not the table */

/* ---- ways.c: remote peers; lock held ----------------------------------------------------------------------------- */
/* Calls over the next nic that is due: PEER owns the vi. ERR_AGAIN: none is now. */
int vmsg_way_call(struct msg_peer *peer, struct vi **vi) MUST_CHECK;
bool vmsg_ways_due(const struct msg_peer *peer);  /* one is called now, beside others */
bool vmsg_ways_pend(const struct msg_peer *peer); /* none is up, and one more will be called */
uint64_t vmsg_ways_room(const struct msg_peer *peer, const struct vi *vi); /* of a body over any rail there may be */
void vmsg_way_up(struct msg_peer *peer, const struct vi *vi);
void vmsg_way_lost(struct msg_peer *peer, const struct vi *vi);
bool vmsg_way_spare(const struct msg_peer *peer, const struct vi *vi); /* it is not needed while a quicker one is up */

/* ---- rail.c: remote peers; lock held ----------------------------------------------------------------------------- */
bool vmsg_rails_flush(struct msg_peer *peer); /* fences, what is to be sent again, what is owed; true: something went */
bool vmsg_rails_pend(struct msg_peer *peer);  /* not all of that went */
bool vmsg_rails_quiet(struct msg_peer *peer); /* no rail is up, or the peer has all frames; takes the lock */
void vmsg_rail_add(struct msg_peer *peer, struct vi *vi);
void vmsg_rail_measure(struct msg_peer *peer, int rail, uint64_t age_ns); /* its pace, unless it is younger */
void vmsg_rail_up(struct vi *vi);              /* no lock held, as in all that follows */
void vmsg_rail_down(struct vi *vi, int cause);
int vmsg_rail_received(struct vi *vi, uint64_t header, const void *data, size_t length) MUST_CHECK;
bool vmsg_rail_landed(struct vi *vi);
/* The same as vmsg_rail_received for an eager frame, if it is the next one, comes over the only rail, and that is all.
 * Else false: it is still to be received. */
static inline bool msg_rail_next_received(struct vi *vi, const void *data, size_t length)
{
    struct msg_peer *peer = vi->owner;
    struct msg_frame_extension extension;
    if (unlikely(length < sizeof extension))
        return false;
    memcpy(&extension, data, sizeof extension);
    msg_lock(&peer->lock);
    bool next = likely(peer->lane == vi && !peer->far->lacking) &&
                msg_replay_next_arrived(&peer->far->replay, extension.sequence,
                                        (uint32_t)(length - sizeof extension), extension.acknowledgement);
    msg_unlock(&peer->lock);
    return next;
}

/* ---- answer.c: peer lock not held -------------------------------------------------------------------------------- */
bool vmsg_answers_flush(struct msg_peer *peer); /* lock held */
void vmsg_credit_returned(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
bool vmsg_credit_tell(struct msg_peer *peer); /* lock held; false: not now, it is kept */
void vmsg_refused(const struct msg_peer *peer, const char *what) COLD; /* a frame came that makes no sense */

/* Messages whose window was COST are matched, each with MSG_FRAME_COST: told to the sender at half a window. */
static inline void msg_credit_owe(struct msg_peer *peer, uint64_t cost)
{
    msg_lock(&peer->lock);
    peer->owed += (int64_t)cost;
    if (unlikely(peer->owed >= peer->window_half) && !vmsg_credit_tell(peer))
        vmsg_peer_stuck(peer);
    msg_unlock(&peer->lock);
}

/* ---- frame.c ----------------------------------------------------------------------------------------------------- */
int vmsg_scratch_grow(const struct vi_nic *nic) MUST_CHECK; /* to what its largest send holds */
void vmsg_scratch_close(void);
int vmsg_frame_send(struct msg_peer *peer, uint64_t header, struct iovec body, const struct type_buffer *buffer,
                    struct type_cursor *cursor, uint64_t from, uint64_t bytes) MUST_CHECK; /* peer lock held */

/* An eager message that fits into a frame and the window: HEAD, if there is one, and the whole buffer (cursor NULL: it
 * is one piece). Peer lock held. */
static inline __attribute__((always_inline)) int msg_eager_send(struct msg_peer *peer, uint64_t header,
                                                                const struct iovec *head,
                                                                const struct type_buffer *buffer,
                                                                struct type_cursor *cursor, uint64_t bytes)
{
    struct iovec piece = {buffer->base, bytes};
    int error = head ? vmsg_frame_send(peer, header, *head, buffer, cursor, 0, bytes)
                     : msg_peer_send(peer, header, &piece, 1);
    if (likely(!error)) {
        peer->window -= (int64_t)bytes + MSG_FRAME_COST;
        COUNT(send_eager);
        COUNT_ADD(send_bytes, bytes);
    }
    return error;
}
bool vmsg_eager_here(const struct msg_peer *peer, uint64_t bytes); /* launch.c: in this class of the line it is eager */
