/* pack: channels and packed messages, the personality of viaduct.h. This header is for its files and for rpc.
 *
 * A channel is a context of msg. A message travels as frames and as blocks that go alone:
 *
 *   vd_pack:    4 bytes   300   40000   12     200   9000        end
 *              +-----------+  +-------+  +---------------+
 *              | 4 | 300   |  | 40000 |  | 12 | 200 | ... |
 *              +-----------+  +-------+  +---------------+
 *              first frame    alone      next frame
 *
 * A block longer than `alone` goes by itself, from and to the user's memory. Others lie in frames of at most PACK_FRAME
 * bytes, one behind the other. A frame goes when the next block does not fit, when a block goes alone, and at the end;
 * the first goes in any case. These rules depend on the lengths alone, which both sides know, so no byte is sent to
 * describe a message.
 *
 * Tags: all first frames have tag 0, so that a receive from anyone finds them. What follows carries the number of the
 * message among those from its sender to its receiver on this channel, which both count; so several messages of one
 * sender may be unpacked at once, and what is left of one never gets into another.
 *
 * A connection is a message on its way. It is taken from the channel's idle ones and belongs to one thread until it
 * ends. With several threads the channel's locks guard that list, and keep first frames in the order of their numbers.
 *
 * Checking (VIADUCT_CHECK): each block has a mark before it in the frame, see check.c. */
#pragma once

#include "msg/msg.h"
#include "viaduct.h"

#define PACK_FRAME 8192 /* an eager message of the engine in every class */
#define PACK_ALONE 2048  /* a longer block goes alone */

enum pack_state { PACK_IDLE, PACK_OPEN, PACK_ENDING };

/* Something of a message that is under way: a frame, or a block that goes alone. */
struct pack_part {
    struct list_node link;
    struct msg_request request;
    uint64_t length;      /* of a block to receive */
    unsigned char *frame; /* what is sent: a frame, or unpacking a complaint; NULL */
};

/* A block that must wait. Packing: from the first LATER on. Unpacking: its frame is not here. */
struct pack_block {
    void *data;           /* unpacking, NULL: no block; the frame ends here, since the next one went alone */
    size_t length;
    bool copied;          /* packing: DATA is ours */
};

/* An idle connection is ready for the next message: the code that ends one resets what it changed, so that beginning is
 * a few stores. */
struct vd_connection {
    /* A small message touches the first cache line only. FILL + length <= ROOM: the block lies in this frame. ROOM is
     * -1 where this short path is closed; packing uses one, unpacking the other, and the unused one stays -1. */
    int64_t fill, room, room_in;
    unsigned char *frame;
    size_t alone;             /* a longer block goes alone: PACK_ALONE but in measurements */
    vd_channel *channel;
    struct msg_context *context;
    vd_connection *next_idle;
    int remote;
    uint8_t state;            /* enum pack_state */
    bool unpacking;
    bool begun;               /* packing: the first frame has left */
    bool copies;              /* packing: every block is copied, and nothing leaves before the end */
    bool kept;                /* at its end it is not idle yet: its keeper (rpc) gives it back */
    uint32_t parts_under_way;
    /* For all other messages. */
    int error;                /* of the message, 0 */
    uint32_t sequence;        /* its number; packing: once it has begun */
    bool here;                /* unpacking: the current frame is in memory */
    bool lacking;             /* unpacking: counted in vpack_event_frames */
    bool ending_now;          /* packing: in vd_end_packing, which may wait */
    int64_t bytes;            /* unpacking: of the current frame */
    uint32_t blocks;          /* checking: so far; UINT32_MAX: the mark of the end is there, too */
    bool counted;             /* unpacking: it is known how many frames, and blocks alone, have not been taken: */
    uint32_t frames_left, alone_left;
    uint32_t waiting_blocks, waiting_done, waiting_room;
    struct pack_block *waiting;
    struct list parts;        /* struct pack_part, oldest first */
    struct list_node link;    /* of rpc */
};

struct vd_channel {
    uint32_t magic;
    int rank, size;
    struct msg_context *context;
    int network;              /* of the engine, over which it goes */
    bool check;
    struct base_lock lock;    /* of the lists; innermost */
    struct base_lock first_out, first_in; /* several threads: first frames are sent and taken in order */
    _Atomic bool missed;       /* a thread found first_in taken since the last one has begun to look */
    bool wakes;                /* one had before: look_end sees to it; under first_in */
    vd_connection *idle[2];   /* for packing, for unpacking: the one used last, which leads to the others */
    int awaited;              /* the rank whose message vd_begin_unpacking waits for without other threads */
    struct list spare_parts;
    uint32_t *sent, *heard;   /* messages so far, by remote */
    struct list_node link;    /* of all channels */
    uint32_t id;
    uint32_t made;            /* connections */
    struct pack_complaints *complaints; /* checking */
    char name[64];
};

/* ---- life.c ---- */
extern bool vpack_threads; /* several threads call */
/* Of rpc: this thread is in a handler, which runs at once or in the pool. */
enum pack_inside { PACK_OUTSIDE, PACK_INSIDE_POOL, PACK_INSIDE_AT_ONCE };
extern __thread uint8_t vpack_inside TLS_QUICK;
/* Set by rpc while it is open; called by vd_finalize at all ranks, which call nothing after it: first to let things
 * end, then to close. */
extern void (*vpack_end)(bool close);
extern vd_channel *vpack_calls; /* of rpc, while it is open; NULL */
int vpack_start(void) MUST_CHECK; /* OK, or not between vd_init and vd_finalize */
int vpack_start_all(void) MUST_CHECK; /* the same for what waits for all ranks: or in a handler that runs at once */
vd_connection *vpack_fail(int error) COLD; /* NULL, and vd_error gives ERROR */
int vpack_least(int64_t *value, uint64_t count) MUST_CHECK; /* of all ranks, for each of COUNT */
int vpack_all_here(void) MUST_CHECK;
uint32_t vpack_own_id(uint32_t which);

/* ---- channel.c ---- */
#define PACK_OWN 2      /* numbers of contexts, less MSG_CONTEXT_PACK: 0 is of all ranks, 1 is rpc's; twice */
#define PACK_ID_FIRST (2 * PACK_OWN)
void vpack_channels_begin(void);
int vpack_channels_close(void) MUST_CHECK;
int vpack_channels_ended(void) MUST_CHECK; /* OK, or a message of the program's is on its way */
int vpack_channel_open(uint32_t id, const char *name, vd_channel **channel) MUST_CHECK; /* by this rank alone */
void vpack_channel_free(vd_channel *channel);
vd_connection *vpack_take(vd_channel *channel, bool unpacking) MUST_CHECK; /* NULL, with vd_error set */
void vpack_give(vd_connection *connection); /* it is idle again, unless it is kept */
int vpack_argument(vd_channel *channel, int remote) COLD; /* what is wrong with them */

static inline void pack_lock(vd_channel *channel)
{
    if (unlikely(vpack_threads))
        base_lock(&channel->lock);
}
static inline void pack_unlock(vd_channel *channel)
{
    if (unlikely(vpack_threads))
        base_unlock(&channel->lock);
}

#define PACK_MAGIC 0x76644368u
static inline bool pack_valid(const vd_channel *channel, int remote)
{
    return likely(channel != NULL) && likely(channel->magic == PACK_MAGIC) &&
           likely((unsigned)remote < (unsigned)channel->size);
}

/* The short path, where no other thread calls: there is an idle one, and it is not kept. */
static inline vd_connection *pack_take(vd_channel *channel, bool unpacking)
{
    vd_connection *connection = channel->idle[unpacking];
    channel->idle[unpacking] = connection->next_idle;
    connection->state = PACK_OPEN;
    return connection;
}
static inline void pack_give(vd_connection *connection, bool unpacking)
{
    vd_channel *channel = connection->channel;
    connection->state = PACK_IDLE;
    connection->next_idle = channel->idle[unpacking];
    channel->idle[unpacking] = connection;
}

int vpack_copy(void *to, const void *from, size_t length); /* part.c; OK */

static inline __attribute__((always_inline)) int pack_copy(void *to, const void *from, size_t length)
{
    if (likely(length == 4))
        memcpy(to, from, 4);
    else if (likely(length == 8))
        memcpy(to, from, 8);
    else
        return vpack_copy(to, from, length);
    return OK;
}

#define PACK_NOBODY (-2) /* no rank, and not VD_ANYONE */
#define PACK_TAG_FIRST 0
static inline int pack_tag_frame(const vd_connection *connection)
{
    return (int)(connection->sequence % (1u << 29) * 2 + 1);
}
static inline int pack_tag_alone(const vd_connection *connection)
{
    return pack_tag_frame(connection) + 1;
}
#define PACK_TAG_COMPLAINT INT32_MAX

bool vpack_any_message(void); /* is there a first frame that was not taken? Makes progress */

/* ---- event.c ---- */
extern void (*_Atomic vpack_event_over)(struct msg_request *request); /* something is over; NULL: no event thread */
extern _Atomic uint32_t vpack_event_frames; /* messages whose end waits for frames */
void vpack_event_close(void);

/* ---- packing.c, unpacking.c ---- */
int vpack_packing_over(vd_connection *connection); /* gives it back; what has come of it */
/* No more blocks; counts frames after the first, and blocks alone; needs `copies`. */
int vpack_seal(vd_connection *connection, uint32_t *frames, uint32_t *alone) MUST_CHECK;
/* Its first frame is here. */
void vpack_begun(vd_connection *connection, const struct msg_result *result, uint32_t sequence);
/* Unpacking: takes and drops what was not unpacked. ERR_AGAIN: not all of it is here. */
void vpack_abandon(vd_connection *connection);
int vpack_drop(vd_connection *connection); /* OK: given back, kept or not */

/* ---- part.c ---- */
int vpack_failed(vd_connection *connection, int error); /* ERROR, but for ERR_AGAIN: the message goes no further */
bool vpack_goes_on(const vd_connection *connection, bool unpacking); /* it is open for that */
int vpack_not_open(const vd_connection *connection, bool unpacking, const char *call) COLD;
int vpack_block_check(vd_connection *connection, bool unpacking, const void *data, size_t length, vd_send_mode send,
                      vd_receive_mode receive) MUST_CHECK;
struct pack_part *vpack_part_take(vd_connection *connection); /* NULL: no memory; linked as the newest */
void vpack_part_give(vd_connection *connection, struct pack_part *part);
int vpack_part_wait(vd_connection *connection, struct pack_part *part) MUST_CHECK; /* and gives it */
int vpack_parts_wait(vd_connection *connection) MUST_CHECK; /* for all: the first error */
/* Gives those that are over; ERR_AGAIN while some are not. */
int vpack_parts_test(vd_connection *connection) MUST_CHECK;
void vpack_cancel(vd_connection *connection); /* its parts, as far as they are not on their way */
/* Appends to those that wait. */
int vpack_block_wait(vd_connection *connection, const struct pack_block *block) MUST_CHECK;

/* ---- check.c: what packer and unpacker must agree upon ---- */
/* Before each block, in the frame; behind the last one with PACK_MARK_END. */
struct pack_mark {
    uint64_t length;
    uint32_t number; /* of the block; at the end: how many there were */
    uint8_t send, receive, what, unused;
};
#define PACK_MARK_BLOCK 0xb1
#define PACK_MARK_END 0xe2
_Static_assert(sizeof(struct pack_mark) == 16, "the marks of both sides are alike");

/* PACKED came where UNPACKED was expected. OK: they agree; ERR_ASYMMETRY: both sides report it. */
int vpack_check_mark(vd_connection *connection, const struct pack_mark *packed,
                     const struct pack_mark *unpacked) MUST_CHECK;
int vpack_check_open(vd_channel *channel) MUST_CHECK;
void vpack_check_close(vd_channel *channel);
int vpack_check_heard(vd_channel *channel, int remote) MUST_CHECK; /* ERR_ASYMMETRY: a receiver has complained */
