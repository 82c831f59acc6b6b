/* Transfers: the long state of one message that does not fit into an eager frame (or waits for an answer), on either
 * side. docs/design.md 4a has the states, the events and the invariants; tests/msg/transfer.pml is their model.
 *   transfer.c   the machine: what each frame and each end of a move does
 *   mover.c      which side moves a message, from a table
 *   chunk.c      what this side moves by gets and puts
 *   push.c       what the sender sends in DATA frames inside a node
 *   bond.c       what the sender gives to the rails of a network
 *   slot.c       the words in shared memory from which both sides claim
 *   keys.c       memory that is registered, and its keys
 *   transfer_pool.c  where they live: ids, the work list, the order among those of one peer */
#pragma once

#include "msg/match.h"

#define MSG_GATHERED ((int)TUNED(GATHERED))
#define MSG_CHUNKS   ((int)TUNED(CHUNKS))

enum msg_transfer_phase {
    MSG_WAITING, /* sender: announced, or out of it again; receiver: just matched */
    MSG_MOVING,  /* there may be something left to claim here */
    MSG_ENDING   /* there is not; bytes, the slot or a frame of the other side are awaited */
};

/* A part that was claimed here and is to be moved by a get or a put. */
struct msg_chunk {
    uint64_t from, bytes; /* bytes 0: there is none in this place */
    int8_t rail;          /* by which it is under way, */
};
#define MSG_BY_LANE (-1)  /* or inside the node, */
#define MSG_NOT_BEGUN (-2) /* or not yet */

/* A chunk that came back. */
struct msg_span {
    struct msg_span *next;
    uint64_t from, bytes;
};

struct msg_transfer {
    struct list_node link;       /* in the work list */
    struct list_node turn;       /* in the peer's turns */
    struct msg_request *request; /* NULL: none; OVER is called at the end */
    void (*over)(void *owner, int error);
    void *owner;
    struct msg_peer *peer;
    struct type_buffer buffer;
    struct type_cursor *cursor;  /* NULL: the buffer is one piece */
    uint64_t remote;             /* id of the other side's transfer; 0: there is none */
    uint64_t want;               /* bytes of the whole movement */
    uint64_t next, upto;         /* held here without a slot, or claimed from it to be sent; still to be moved */
    uint64_t moved;              /* bytes in place, as far as this side counts them */
    uint64_t granted_at;         /* receiver: ticks */
    struct msg_span *back;       /* chunks that a lost rail did not land */
    struct msg_slot *slot;       /* SHARE, PUSH_SLOT: the shared words */
    uint64_t chunk;              /* bytes that are claimed from it at a time */
    uint32_t generation;         /* of the slot */
    uint32_t mine, done;         /* chunks claimed from it here, and moved */
    int error;                   /* a get or a put failed: no more are begun */
    uint16_t slot_number;
    uint8_t phase, mover;        /* enum msg_transfer_phase, msg_mover */
    uint8_t passed;              /* by shorter ones whose turn came later */
    uint8_t claimed, under_way;  /* chunks in the table below; those that were begun */
    uint8_t regions;
    bool sender, cancelling;
    struct msg_keys keys;        /* of the other side's memory */
    /* Below: not cleared. */
    struct vi_region region[MSG_KEYS]; /* our memory, on each adapter */
    struct msg_chunk part[MSG_CHUNKS];
};

/* Our slots, under leaf. */
struct msg_slots {
    struct vi_nic *nic;      /* on which they are registered, NULL: none */
    struct vi_region region;
    uint64_t free;           /* a bit a slot */
    uint32_t generation;
    bool tried;
};
extern struct msg_slots vmsg_slots;
extern struct base_pool vmsg_transfers;

/* ---- transfer.c: under progress, except announce (peer lock held) and matched (no lock) -------------------------- */
int vmsg_transfer_announce(struct msg_request *request, const struct msg_note *note) MUST_CHECK;
void vmsg_transfer_matched(struct msg_request *request, const struct msg_envelope *envelope, uint64_t want);
/* True: what a thread waits for is over. */
bool vmsg_transfer_granted(struct msg_peer *peer, uint64_t header, const void *body, size_t length);
bool vmsg_transfer_data(struct msg_peer *peer, uint64_t header, const void *body, size_t length);
void vmsg_transfer_done(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
void vmsg_transfer_arrived(struct msg_peer *peer, uint32_t immediate, uint64_t bytes); /* a put, over a network */
void vmsg_transfer_told(void *cookie, int status); /* a get or a put is complete, or failed */
void vmsg_done_tell(struct msg_peer *peer, uint64_t id);
bool vmsg_transfers_work(void); /* one chunk of everything under way; true: something moved */

/* Moves BUFFER from (sender: to) memory of the peer that it has given keys of, without a message. OVER is called at the
 * end, under progress. */
struct msg_movement {
    struct msg_peer *peer;
    struct type_buffer buffer;
    struct msg_keys keys;
    bool sender;
    void (*over)(void *owner, int error);
    void *owner;
};
int vmsg_transfer_start(const struct msg_movement *movement) MUST_CHECK;

/* ---- mover.c ----------------------------------------------------------------------------------------------------- */
enum msg_mover vmsg_mover_choose(struct msg_transfer *transfer); /* a matched receive's */

/* ---- chunk.c: under progress ------------------------------------------------------------------------------------- */
/* Claims and begins. VI_COMPLETE: one is moved; OK: some are under way; ERR_AGAIN: not now; ERR_NOT_FOUND: nothing is
 * left to claim; else one has failed, and transfer->error says why. */
int vmsg_chunks_step(struct msg_transfer *transfer) MUST_CHECK;
struct msg_transfer *vmsg_chunk_told(void *cookie, int status); /* NULL: nothing follows */
const struct msg_chunk *vmsg_chunk_unmoved(const struct msg_transfer *transfer); /* the first of those */
void vmsg_chunks_drop(struct msg_transfer *transfer); /* they are another one's; none is under way */
void vmsg_chunks_lost(struct msg_peer *peer, int rail); /* the rail is closed: nothing lands from it any more */

/* ---- push.c: under progress -------------------------------------------------------------------------------------- */
bool vmsg_push_step(struct msg_transfer *transfer); /* it may be over afterwards; true: some went */

/* ---- bond.c: under progress -------------------------------------------------------------------------------------- */
bool vmsg_bond_step(struct msg_transfer *transfer);
bool vmsg_bond_all_given(const struct msg_transfer *transfer);
bool vmsg_bond_back(struct msg_peer *peer, const struct msg_replay_bulk *bulk); /* lock held; false: no memory now */

/* ---- slot.c ------------------------------------------------------------------------------------------------------ */
bool vmsg_slot_take(struct msg_transfer *transfer, bool at_once); /* AT_ONCE: and one chunk; false: none is free */
void vmsg_slot_tell(const struct msg_transfer *transfer, struct msg_frame_grant *grant);
void vmsg_slot_give(struct msg_transfer *transfer);  /* its receiver gives it back */
void vmsg_slot_close(struct msg_transfer *transfer); /* from now on no claim succeeds */
bool vmsg_slot_claim(struct msg_transfer *transfer, uint64_t *from, uint64_t *bytes);
void vmsg_slot_count(struct msg_transfer *transfer); /* a chunk is moved: the other side may see it */
bool vmsg_slot_all(const struct msg_transfer *transfer);       /* both sides together have moved everything */
uint64_t vmsg_slot_put(const struct msg_transfer *transfer);   /* where that begins which the sender has moved */
uint64_t vmsg_slot_chunks(const struct msg_transfer *transfer); /* of the whole movement */
bool vmsg_slot_find(struct msg_transfer *transfer, const struct msg_frame_grant *grant) MUST_CHECK; /* false: hostile */
void vmsg_slots_map(struct msg_peer *peer, const struct vi_key *key);
void vmsg_slots_close(void);

/* ---- keys.c ------------------------------------------------------------------------------------------------------ */
bool vmsg_keys_register(struct msg_transfer *transfer, uint64_t bytes, bool to_be_read); /* peer lock held */
void vmsg_keys_drop(struct msg_transfer *transfer);
unsigned vmsg_keys_write(const struct msg_transfer *transfer, struct vi_key *head, struct msg_frame_key *list,
                         int *listed);
bool vmsg_keys_read(struct msg_keys *keys, const struct vi_key *head, const void *list, size_t length) MUST_CHECK;
const struct vi_key *vmsg_key_for(const struct msg_transfer *transfer, const struct vi *vi); /* NULL: none */
const struct vi_region *vmsg_region_for(const struct msg_transfer *transfer, const struct vi *vi); /* NULL: none */

/* ---- transfer_pool.c --------------------------------------------------------------------------------------------- */
struct msg_transfer *vmsg_transfer_take(struct msg_request *request); /* the request's; NULL: no memory */
struct msg_transfer *vmsg_transfer_make(struct msg_peer *peer, const struct type_buffer *buffer, bool sender);
void vmsg_transfer_give(struct msg_transfer *transfer);
void vmsg_transfer_end(struct msg_transfer *transfer, int error); /* gives it back; its request is complete */
struct msg_transfer *vmsg_transfer_next(const struct msg_peer *peer, uint32_t *place); /* NULL: no more */
uint64_t vmsg_transfer_id(const struct msg_transfer *transfer);
struct msg_transfer *vmsg_transfer_find(struct msg_peer *peer, uint64_t id);
struct msg_transfer *vmsg_transfer_sent(struct msg_peer *peer, uint64_t id); /* of ours to this peer */
void vmsg_transfer_work(struct msg_transfer *transfer); /* gives it a turn at every round */
void vmsg_transfer_rest(struct msg_transfer *transfer); /* none any more */
int vmsg_transfer_cursor(struct msg_transfer *transfer, uint64_t from) MUST_CHECK;
/* Its turn among those of its peer. Else it stands in line, out of the work list, and is put there when the turn is its
 * own. */
bool vmsg_transfer_first(struct msg_transfer *transfer);
void vmsg_transfer_pass(struct msg_transfer *transfer); /* leaves the line */
