/* Transfers: the long state of one message that does not fit into an eager frame (or waits for an answer). A transfer lies in
 * a pool; its index and generation are its id on the wire. */
#ifndef MSG_TRANSFER_H
#define MSG_TRANSFER_H

#include "msg/match.h"

#define MSG_FETCHED 64 /* pieces of one get or put */
#define MSG_CHUNK (512u << 10) /* claimed at a time where both ends copy; of a message of two chunks one may be nearly all */
#define MSG_PLACE (4u << 20)   /* of one put; both sides count by it */

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
extern struct msg_board vmsg_board;
extern struct base_pool vmsg_transfers;

/* ---- bond.c: under progress ---- */
bool vmsg_bond_step(struct msg_transfer *transfer);
bool vmsg_bond_may_end(const struct msg_transfer *transfer);
bool vmsg_bond_back(struct msg_peer *peer, const struct msg_replay_bulk *bulk); /* lock held; false: no memory now */
void vmsg_bond_forget(struct msg_transfer *transfer);

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

#endif
