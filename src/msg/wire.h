/* Every byte that msg puts on a vi. A frame is the vi's 64-bit header and a body; the header alone says what it is.
 *
 *    63                            32 31            16 15       8 7        0
 *   +--------------------------------+----------------+----------+----------+
 *   |              tag               |   context id   |   kind   |  flags   |
 *   +--------------------------------+----------------+----------+----------+
 *
 * Who sent a frame is known from the vi it came on, so no frame names its sender. An eager frame has no body but the
 * payload. Ids name transfers of the process that gave them out; whoever gets one back looks it up by index and
 * generation and checks that it belongs to this very peer. No frame carries an address that msg would use: keys are
 * the provider's business and checked there.
 *
 * Bytes are in the order of the machine: all ranks of a job run the same build. Bodies are copied to and from these
 * structures, never pointed into, so they need no alignment. A picture is in docs/wire.md.
 *
 * To a remote rank a struct msg_frame_extension stands in front of every body; in shared memory it is not sent. */
#ifndef MSG_WIRE_H
#define MSG_WIRE_H

#include "base/base.h"
#include "vi/vi.h"

enum msg_frame {
    MSG_FRAME_EAGER = 1, /* payload                                   a message, whole */
    MSG_FRAME_EAGER_SYNC, /* msg_frame_id, payload                    the same; answered by ACK when matched */
    MSG_FRAME_ANNOUNCE,  /* msg_frame_announce                        a message whose payload stays with the sender */
    MSG_FRAME_CLEAR,     /* msg_frame_clear                           matched: send me this part of it */
    MSG_FRAME_DATA,      /* msg_frame_data, payload                   a part of an announced message */
    MSG_FRAME_FINISH,    /* msg_frame_id                              matched, and I have all that I want */
    MSG_FRAME_ACK,       /* msg_frame_id                              an eager synchronous message was matched */
    MSG_FRAME_CREDIT,    /* msg_frame_credit                          so much of my window is free again */
    MSG_FRAME_CANCEL,    /* msg_frame_id                              forget this message if it is not matched yet */
    MSG_FRAME_CANCELLED, /* msg_frame_id                              the answer: forgotten (flag WON), or too late */
    MSG_FRAME_BOARD,     /* msg_frame_board                           where the slots of joint copies are; once */
    MSG_FRAME_JOIN,      /* msg_frame_join                            matched: let us copy it together */
    MSG_FRAME_WITHDRAW,  /* msg_frame_withdraw                        I cannot, or a chunk of mine failed: copy it alone */
    MSG_FRAME_GOODBYE,   /* nothing                                   the last frame of this rank to that one */
    MSG_FRAME_NOTE,      /* msg_note                                  about the message that comes next */
    MSG_FRAME_FENCE,     /* msg_frame_rail                            I have closed this rail: nothing lands from it any more */
    MSG_FRAME_LANDED,    /* msg_frame_rail                            so much has come over it */
    MSG_FRAME_KINDS
};

#define MSG_FLAG_KEY 1 /* ANNOUNCE: the key is valid, the payload may be fetched */
                       /* CLEAR: the key is valid, the payload may be put there */
#define MSG_FLAG_NOTED 2 /* EAGER, EAGER_SYNC, ANNOUNCE: a note came just before, so no short way is taken */
#define MSG_FLAG_WON 1 /* CANCELLED: the message was forgotten */
#define MSG_FLAG_ASKING 1 /* FENCE: say the same */

struct msg_frame_id {
    uint64_t id; /* of the sender's transfer */
};
struct msg_frame_announce {
    uint64_t total; /* bytes of the message */
    uint64_t id;    /* of the sender's transfer */
    struct vi_key key;
};
struct msg_frame_clear {
    uint64_t id;         /* of the sender's transfer */
    uint64_t answer;     /* of the receiver's transfer: DATA frames carry it */
    uint64_t from, upto; /* the part that is wanted */
    struct vi_key key;   /* of the receiver's buffer */
};
struct msg_frame_data {
    uint64_t id;   /* of the receiver's transfer */
    uint64_t from; /* place of the first byte of this part */
};
struct msg_frame_credit {
    uint64_t bytes;
};

struct msg_frame_board {
    struct vi_key key;
};
struct msg_frame_join {
    uint64_t id;       /* of the sender's transfer */
    uint64_t answer;   /* of the receiver's transfer: WITHDRAW carries it */
    uint64_t upto;     /* bytes that are wanted, from the first */
    struct vi_key key; /* of the receiver's buffer */
    uint32_t generation;
    uint16_t slot;
    uint8_t frames;    /* 1: send what you claim in DATA frames, do not put it */
    uint8_t share;     /* where there are two chunks: 256ths of UPTO in the first one, down to a page */
};

struct msg_frame_withdraw {
    uint64_t answer; /* of the receiver's transfer */
    uint64_t id;     /* of the sender's: FINISH is wanted even if that one is over; 0: it is not */
};

/* For rails that may lose what they took: what is needed to acknowledge, replay and drop duplicates. */
struct msg_frame_extension {
    uint32_t sequence;        /* of this frame among all ordered ones to this peer, over all rails; DATA, FENCE, LANDED: 0 */
    uint32_t acknowledgement; /* ordered frames of the peer that have arrived here */
};
struct msg_frame_rail {
    uint64_t name;   /* of a connection, vi->name */
    uint32_t landed; /* puts and DATA frames of yours that came over it */
    uint32_t zero;
};

_Static_assert(sizeof(struct msg_frame_id) == 8, "wire");
_Static_assert(sizeof(struct msg_frame_announce) == 32, "wire: an envelope must fit into one cell of 64 bytes");
_Static_assert(sizeof(struct msg_frame_clear) == 48, "wire: it fits into one cell of 64 bytes");
_Static_assert(sizeof(struct msg_frame_data) == 16, "wire");
_Static_assert(sizeof(struct msg_frame_credit) == 8, "wire");
_Static_assert(sizeof(struct msg_frame_board) == 16, "wire");
_Static_assert(sizeof(struct msg_frame_join) == 48, "wire: it fits into one cell of 64 bytes");
_Static_assert(sizeof(struct msg_frame_withdraw) == 16, "wire");
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

#endif
