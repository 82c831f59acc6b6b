/* Replay: what one side of a pair of processes knows of the frames and the bulk between them, over connections that may
 * end at any moment, so that nothing is lost. No global state, no locks, no vi: events go in, what is to be sent comes
 * out. docs/design.md has the invariants, tests/msg/replay.c plays random schedules against them. Called by rail.c and
 * bond.c under the peer's lock.
 *
 * Ordered frames have a sequence over all connections and go over one of them at a time, the main rail. Each is kept
 * here until the other side has it; a new main rail gets all that are not acknowledged once more, and the other side
 * drops what it has. Bulk (puts, parts of messages) is not kept: of each connection is noted what went over it, in
 * order. When it ends, the other side's fence says how much of that landed and that nothing more will; the rest is then
 * taken back.
 *
 * A connection has a name that both ends know and that is never used again: the pair of cards << 32 | an epoch that
 * grows. */
#pragma once

#include "base/base.h"
#include <sys/uio.h>

#define MSG_REPLAY_PAIRS 64   /* of cards, of all providers */
#define MSG_RAILS        8    /* that are held at a time */
#define MSG_REPLAY_RAILS 24   /* those, and lost ones with bulk in doubt */
#define MSG_REPLAY_ASKED 64
#define MSG_REPLAY_BULK  256u /* under way on one rail */
#define MSG_REPLAY_NONE  (-1)

enum msg_replay_state {
    MSG_RAIL_FREE,
    MSG_RAIL_HELD,
    MSG_RAIL_LOST,    /* closed by this side: nothing lands from it any more; the peer's fence is awaited */
    MSG_RAIL_SETTLED  /* it came; bulk that did not land is to be taken back */
};

struct msg_replay_bulk {
    uint64_t id, from, bytes; /* the user's */
};

struct msg_replay_rail {
    uint64_t name;         /* 0: not up yet, so nothing has come or landed anywhere */
    uint8_t state;         /* enum msg_replay_state */
    int8_t told_on;        /* LOST: the rail that our fence went over, which is held; NONE: it is to be told */
    uint32_t sent, landed; /* bulk of ours: sent over it; known to have landed */
    uint32_t told;         /* bulk of the peer: told to it as landed */
    struct msg_replay_bulk *bulk; /* a ring, made with the first */
};

/* A frame that is kept; its body follows. What is sent begins at `sequence`: a struct msg_frame_extension, then the
 * body. */
struct msg_replay_frame {
    uint32_t length, zero;              /* of the body; zero: so that no padding comes before the body */
    uint64_t header, room;              /* room: of the provider, see struct vi_staying */
    uint32_t sequence, acknowledgement; /* the latter is written whenever the frame is sent */
};

/* Where rings lie. */
struct msg_replay_memory {
    void *(*take)(void *context, uint64_t bytes); /* NULL: there is none */
    void (*give)(void *ring);
    void *context;
};

struct msg_replay {
    struct msg_replay_rail rail[MSG_REPLAY_RAILS];
    struct {
        uint64_t name;  /* the newest connection over this pair on which bulk of the peer landed, */
        uint32_t came;  /* and how much */
        uint32_t floor; /* connections up to this epoch are fenced: never to be held (again) */
    } pair[MSG_REPLAY_PAIRS];
    struct {
        uint64_t name; /* of a connection whose fence the peer asked for, */
        int rail;      /* over this one; the answer goes there: if it is lost, the peer asks again */
    } asked[MSG_REPLAY_ASKED];
    int askings;
    int lost;              /* rails that are neither free nor held */
    int main;              /* a rail that is held; NONE */
    uint32_t sent, acked;  /* ordered frames of ours: so many, and known to have arrived */
    uint64_t doubt;        /* the last main rail, if lost with frames unacknowledged: frames wait for its fence; 0 */
    uint32_t arrived;      /* of the peer */
    uint32_t owed_frames, owed_bytes; /* arrived and not acknowledged */

    struct msg_replay_memory memory;
    uint8_t *ring;         /* frames acked + 1 .. sent; places only grow and are taken modulo `size` */
    uint64_t first, next, end; /* next: the first that the main rail has not got */
    uint64_t size, most;
};

/* MOST: bytes of frames that may be kept. No memory is taken before it is needed. */
void vmsg_replay_open(struct msg_replay *replay, uint64_t most, const struct msg_replay_memory *memory);
void vmsg_replay_close(struct msg_replay *replay);

/* ---- connections */

int vmsg_replay_add(struct msg_replay *replay); /* its number; NONE: too many are held */
/* false: close it, it is fenced already */
bool vmsg_replay_up(struct msg_replay *replay, int rail, uint64_t name) MUST_CHECK;
void vmsg_replay_lost(struct msg_replay *replay, int rail);                         /* this side has closed it */
int vmsg_replay_named(const struct msg_replay *replay, uint64_t name);              /* the one that is held, NONE */
void vmsg_replay_main(struct msg_replay *replay, int rail); /* from now on the ordered frames go over it */

/* ---- ordered frames */

/* What a frame takes in the ring. Frames leave from it. Were they as far apart there as in the memory of a socket,
 * which has a few bytes more of each, then the system might copy each of them to the same place of a page that it lies
 * at: a processor that tells loads from stores by this place waits at every step. So they lie further apart. */
static inline uint64_t msg_replay_frame_size(uint64_t length)
{
    return (sizeof(struct msg_replay_frame) + length + length / TUNED(REPLAY_APART) + 15) & ~15ull;
}
static inline struct msg_replay_frame *msg_replay_frame_at(const struct msg_replay *replay, uint64_t place)
{
    return (struct msg_replay_frame *)(void *)(replay->ring + (place & (replay->size - 1)));
}
/* A place for a frame of BYTES at the end of what is kept, in a larger ring if there must be one. */
int vmsg_replay_append(struct msg_replay *replay, uint64_t bytes, struct msg_replay_frame **frame) MUST_CHECK;

static inline bool msg_replay_quiet(const struct msg_replay *replay) /* nothing is unacknowledged */
{
    return replay->first == replay->end;
}
static inline bool msg_replay_ready(const struct msg_replay *replay) /* a new one may go */
{
    return replay->main != MSG_REPLAY_NONE && replay->next == replay->end && !replay->doubt;
}
/* Kept frames that are to go over the main rail, the oldest; NULL: none, or none yet. */
struct msg_replay_frame *vmsg_replay_next(const struct msg_replay *replay);
void vmsg_replay_went(struct msg_replay *replay); /* the next one did */
/* Only if msg_replay_ready: keeps frame sent + 1. The caller sends it over the main rail at once, then calls
 * msg_replay_kept_went, or msg_replay_drop if the rail refused it: nothing else may happen in between. ERR_AGAIN,
 * ERR_MEMORY: there is no room for it. One piece at least, which may be empty. */
static inline __attribute__((always_inline)) MUST_CHECK int msg_replay_keep(struct msg_replay *replay, uint64_t header,
                                                                 const struct iovec *piece, int pieces,
                                                                 struct msg_replay_frame **out)
{
    uint64_t length = piece[0].iov_len;
    for (int i = 1; unlikely(i < pieces); i++)
        length += piece[i].iov_len;
    uint64_t bytes = msg_replay_frame_size(length), at = replay->end & (replay->size - 1);
    struct msg_replay_frame *frame;
    if (likely(at + bytes <= replay->size && replay->end - replay->first + bytes <= replay->size)) {
        frame = msg_replay_frame_at(replay, at);
        replay->end += bytes;
    } else {
        int error = vmsg_replay_append(replay, bytes, &frame);
        if (error)
            return error;
    }
    frame->length = (uint32_t)length;
    frame->zero = 0;
    frame->header = header;
    frame->room = 0;
    frame->sequence = ++replay->sent;
    uint8_t *to = (uint8_t *)(frame + 1);
    if (likely(length == 8 && pieces == 1)) { /* a word needs no call */
        memcpy(to, piece[0].iov_base, 8);
        pieces = 0;
    }
    for (int i = 0; i < pieces; to += piece[i++].iov_len)
        if (piece[i].iov_len)
            base_copy(to, piece[i].iov_base, piece[i].iov_len);
    *out = frame;
    return OK;
}
static inline void msg_replay_kept_went(struct msg_replay *replay) { replay->next = replay->end; }
static inline void msg_replay_drop(struct msg_replay *replay)
{
    replay->end = replay->next;
    replay->sent--;
}

/* The same frames in memory that is taken anew. ERR_MEMORY: there is none. */
int vmsg_replay_renew(struct msg_replay *replay) MUST_CHECK;

/* 1: the next one of the peer; 0: it was here before; ERR_PROTOCOL: one is missing. */
int vmsg_replay_arrived(struct msg_replay *replay, uint32_t sequence, uint32_t length) MUST_CHECK;
bool vmsg_replay_acknowledged(struct msg_replay *replay, uint32_t upto) MUST_CHECK; /* false: it makes no sense */
/* Both together, where it is the next one, and nothing has to be told to the peer at once: true. False: nothing has
 * changed but what was acknowledged. */
static inline bool msg_replay_next_arrived(struct msg_replay *replay, uint32_t sequence, uint32_t length,
                                           uint32_t acknowledged)
{
    uint32_t frames = replay->owed_frames + 1, bytes = replay->owed_bytes + length;
    if (unlikely(sequence != replay->arrived + 1 || frames >= TUNED(REPLAY_OWED_FRAMES) ||
                 bytes >= TUNED(REPLAY_OWED_BYTES) ||
                 (acknowledged != replay->acked && !vmsg_replay_acknowledged(replay, acknowledged))))
        return false;
    replay->arrived = sequence;
    replay->owed_frames = frames;
    replay->owed_bytes = bytes;
    return true;
}
static inline uint32_t msg_replay_acknowledge(struct msg_replay *replay) /* to be sent */
{
    replay->owed_frames = replay->owed_bytes = 0;
    return replay->arrived;
}
static inline void msg_replay_hurry(struct msg_replay *replay) /* the peer waits for it */
{
    replay->owed_bytes = UINT32_MAX / 2;
}
static inline bool msg_replay_owes(const struct msg_replay *replay) /* so much that the peer may be waiting for it */
{
    return replay->owed_bytes >= TUNED(REPLAY_OWED_BYTES) || replay->owed_frames >= TUNED(REPLAY_OWED_FRAMES);
}

/* ---- bulk */

bool vmsg_replay_bulk_room(struct msg_replay *replay, int rail); /* for one more, or false */
void vmsg_replay_bulk_sent(struct msg_replay *replay, int rail, const struct msg_replay_bulk *bulk);
void vmsg_replay_bulk_landed(struct msg_replay *replay, int rail);               /* the peer's, here */
uint32_t vmsg_replay_bulk_came(const struct msg_replay *replay, uint64_t name);  /* how much of the peer's */
bool vmsg_replay_bulk_owes(const struct msg_replay *replay, int rail);
/* false: it makes no sense */
bool vmsg_replay_bulk_told(struct msg_replay *replay, int rail, uint32_t landed) MUST_CHECK;

/* ---- fences */

/* One to be told: over *OVER, in *NAME; *ASKING: the peer's is awaited. False: none. */
bool vmsg_replay_fence(const struct msg_replay *replay, int *over, uint64_t *name, bool *asking);
void vmsg_replay_fence_told(struct msg_replay *replay); /* that one */
/* The peer's fence of a connection came over RAIL; if that connection is held, it must be closed before. ERR_PROTOCOL:
 * it makes no sense; ERR_AGAIN: no room for one more question, so RAIL is to be closed, and the peer asks again over
 * another. */
int vmsg_replay_fenced(struct msg_replay *replay, int rail, uint64_t name, uint32_t landed, bool asking) MUST_CHECK;
/* one that did not land and never will */
bool vmsg_replay_back(struct msg_replay *replay, struct msg_replay_bulk *bulk);
void vmsg_replay_back_taken(struct msg_replay *replay);                         /* that one */
