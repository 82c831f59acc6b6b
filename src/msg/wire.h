/* Every byte that msg puts on a vi. A frame is the vi's 64-bit header and a body; the header alone says what it is.
 *
 *    63                            32 31            16 15       8 7        0
 *   +--------------------------------+----------------+----------+----------+
 *   |              tag               |   context id   |   kind   |  flags   |
 *   +--------------------------------+----------------+----------+----------+
 *
 * The sender of a frame is known from the vi it came on, so no frame names it. An eager frame without flags has no body
 * but the payload. Ids name transfers of the process that gave them out; a rank that gets one back looks it up by index
 * and generation and checks that it belongs to this very peer. No frame carries an address that msg would use: keys are
 * handled and checked by the provider.
 *
 * Bytes are in the order of the machine: all ranks of a job run the same build. Bodies are copied to and from these
 * structures, never pointed into, so they need no alignment. A picture is in docs/wire.md.
 *
 * To a remote rank a struct msg_frame_extension stands in front of every body; in shared memory it is not sent. */
#pragma once

#include "base/base.h"
#include "vi/vi.h"

enum msg_frame {
    MSG_FRAME_EAGER = 1, /* (note,) (msg_frame_id,) payload           a message, whole */
    MSG_FRAME_ANNOUNCE,  /* (note,) msg_frame_announce, keys          a message whose payload stays with the sender */
    MSG_FRAME_GRANT,     /* msg_frame_grant(, _more, keys)            matched: this range may be moved, and how */
    MSG_FRAME_DATA,      /* msg_frame_data, payload                   a part of a message whose range was granted */
    MSG_FRAME_DONE,      /* msg_frame_done                            the receiver has all that it wants */
    MSG_FRAME_CREDIT,    /* msg_frame_credit                          so much of my window is free again */
    MSG_FRAME_CANCEL,    /* msg_frame_id                              forget this message if it is not matched yet */
    MSG_FRAME_CANCELLED, /* msg_frame_id                              the answer: forgotten (flag WON), or too late */
    MSG_FRAME_GOODBYE,   /* nothing; tag: the life of the engine      the last frame of this rank to that one in it */
    MSG_FRAME_FENCE,     /* msg_frame_rail                            I have closed this rail: nothing lands from it */
    MSG_FRAME_LANDED,    /* msg_frame_rail                            so much has come over it */
    MSG_FRAME_WITHDRAW,  /* nothing; tag and context: of what         this rank has no memory for its part of it */
    MSG_FRAME_KINDS
};

#define MSG_FLAG_KEY     1 /* ANNOUNCE, GRANT: the key of the head is valid */
#define MSG_FLAG_NOTED   2 /* EAGER, ANNOUNCE: a note stands in front */
#define MSG_FLAG_SYNC    4 /* EAGER: the id of its transfer stands in front; DONE is wanted when it is matched */
#define MSG_FLAG_SLOTS   2 /* GRANT: the key of the slots is valid */
#define MSG_FLAG_PARTIAL 1 /* DONE: from the sender, which moves nothing any more; what is missing is the receiver's */
#define MSG_FLAG_WON     1 /* CANCELLED: the message was forgotten */
#define MSG_FLAG_ASKING  1 /* FENCE: say the same */

#define MSG_KEYS 4 /* in the list of one frame */

/* Which side moves a granted range. */
enum msg_mover {
    MSG_PULL,      /* the receiver gets all of it; needs no GRANT */
    MSG_SHARE,     /* both claim from a slot: the receiver gets from the start, the sender puts from the end */
    MSG_PUSH_SLOT, /* both claim from a slot: the sender sends DATA, the receiver gets only if no DATA comes */
    MSG_PUSH       /* the sender alone: puts where it has a key, else DATA */
};

struct msg_frame_id {
    uint64_t id; /* of the sender's transfer */
};
/* A key that is good over some rails alone: each adapter, and each provider, has keys of its own. */
struct msg_frame_key {
    uint64_t rails; /* a bit each: 1 << the upper half of their names */
    struct vi_key key;
};
struct msg_frame_announce {
    uint64_t total;    /* bytes of the message */
    uint64_t id;       /* of the sender's transfer */
    struct vi_key key; /* of the sender's buffer, in shared memory; for remote ranks keys are listed */
};
struct msg_frame_grant {
    uint64_t id;         /* of the sender's transfer */
    uint64_t answer;     /* of the receiver's transfer: DATA and DONE(PARTIAL) carry it */
    uint64_t upto;       /* the end of the range */
    struct vi_key key;   /* of the receiver's buffer, in shared memory; for remote ranks keys are listed */
    uint32_t generation; /* of the slot */
    uint16_t pages;      /* of a chunk that is claimed from the slot */
    uint8_t slot;
    uint8_t mover;       /* enum msg_mover */
};
struct msg_frame_grant_more {
    uint64_t from;       /* the start of the range; 0 where this part is not there */
    struct vi_key slots; /* of the receiver's slots; told once */
};
struct msg_frame_data {
    uint64_t id;   /* of the receiver's transfer */
    uint64_t from; /* place of the first byte of this part */
};
struct msg_frame_done {
    uint64_t id;     /* of the sender's transfer; PARTIAL: 0 where no DONE is wanted of a receive that is over */
    uint64_t answer; /* PARTIAL: of the receiver's transfer */
};
struct msg_frame_credit {
    uint64_t bytes;
};

/* For rails that may lose what they took: what is needed to acknowledge, replay and drop duplicates. */
struct msg_frame_extension {
    uint32_t sequence;        /* of this frame among the ordered ones to this peer; DATA, FENCE, LANDED: 0 */
    uint32_t acknowledgement; /* ordered frames of the peer that have arrived here */
};
struct msg_frame_rail {
    uint64_t name;   /* of a connection, vi->name */
    uint32_t landed; /* puts and DATA frames of yours that came over it */
    uint32_t zero;
};

_Static_assert(sizeof(struct msg_frame_id) == 8, "wire");
_Static_assert(sizeof(struct msg_frame_key) == 24, "wire");
_Static_assert(sizeof(struct msg_frame_announce) == 32, "wire: an envelope must fit into one cell of 64 bytes");
_Static_assert(sizeof(struct msg_frame_grant) == 48, "wire: it fits into one cell of 64 bytes");
_Static_assert(sizeof(struct msg_frame_grant_more) == 24, "wire");
_Static_assert(sizeof(struct msg_frame_data) == 16, "wire");
_Static_assert(sizeof(struct msg_frame_done) == 16, "wire");
_Static_assert(sizeof(struct msg_frame_credit) == 8, "wire");
_Static_assert(sizeof(struct msg_frame_extension) == 8, "wire");
_Static_assert(sizeof(struct msg_frame_rail) == 16, "wire");

static inline uint64_t msg_header(enum msg_frame kind, uint32_t context, int tag, unsigned flags)
{
    return (uint64_t)(uint32_t)tag << 32 | (uint64_t)(context & 0xffff) << 16 | (uint64_t)kind << 8 | (flags & 0xff);
}
static inline unsigned msg_header_kind(uint64_t header) { return header >> 8 & 0xff; }
static inline unsigned msg_header_flags(uint64_t header) { return header & 0xff; }
static inline uint32_t msg_header_context(uint64_t header) { return header >> 16 & 0xffff; }
static inline int msg_header_tag(uint64_t header) { return (int)(header >> 32); }
