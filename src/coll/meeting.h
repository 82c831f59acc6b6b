/* meeting: a place in shared memory where the ranks of one node meet for blocking collectives.
 *
 * Numbers only grow: an epoch is a step in which all members take part, in the same order. Nothing is ever cleared, so
 * no step can be mistaken for the next.
 *
 *   line 0   arrived   how many have arrived, all epochs together   written by all, by atomic addition
 *   result             { epoch, 1080 bytes }                        written by the last to arrive
 *   64 slots           { cast, length, 240 bytes }                  written by the root of that broadcast
 *   a line a rank      broadcasts taken                             written by that rank
 *   block 2r+p         { epoch, 1080 bytes }, p = epoch modulo 2    written by rank r
 *
 * and, once larger payload has come a few times, an annex:
 *
 *   64 bodies          16 KiB, behind the slots                     written by the root
 *   desk 2r+p          8 to 128 KiB                                 written by rank r
 *
 * A block is 17 cache lines, of which an operation touches those that it needs: 56 bytes lie in the line of the epoch.
 *
 * Small reductions are done in one of two ways, chosen once:
 *   crowd   more ranks than processors: the last to arrive combines for all and publishes the result, so that each
 *           rank is scheduled once for an operation.
 *   table   every rank has a processor: all read all blocks and combine alike. No line is written by two.
 * Operands are combined in the order of the ranks: the bits are the same on all of them.
 *
 * All else is steps: each rank puts something on its desk, arrives, and reads the desks of the others.
 *
 * A result is overwritten by the last to arrive in a later epoch: by then all have arrived, so all have read the one
 * before. A block or desk of parity p is rewritten two epochs later: its writer has seen all arrive in the epoch
 * between, after they read it. A rank that needs nothing from the others waits for them when the next epoch begins.
 *
 * A broadcast is no meeting: the root fills slots and goes on, and a rank that is late takes many at once. Each rank
 * counts what it took; the root reads these counts at every eighth slot. The slot says how long the payload is,
 * whatever the others expect.
 *
 * What is read here was written by ranks of the own job that share the segment; no length that is read decides what is
 * copied beyond a slot, a body or the reader's own buffer. */
#pragma once

#include "type/layout.h"
#include "type/reduce.h"

#define MEETING_DATA 1080
#define MEETING_CAST 240          /* bytes of a broadcast that lie in its slot */
#define MEETING_CASTS 64          /* slots */
#define MEETING_TAKEN 8           /* the root reads the counts of the others once in so many */
#define MEETING_BODY (16u << 10)
#define MEETING_DESK_MOST (128u << 10)
#define MEETING_DESK_LEAST (8u << 10)
#define MEETING_DESKS (2u << 20)  /* all of them together, if that leaves as much as the least for each */

struct meeting_block {
    _Atomic uint64_t epoch;
    unsigned char data[MEETING_DATA];
} ALIGNED(CACHE_LINE);
_Static_assert(sizeof(struct meeting_block) == 17 * CACHE_LINE, "whole lines");

struct meeting_cast {
    _Atomic uint64_t number;
    uint64_t bytes; /* of the whole broadcast */
    unsigned char data[MEETING_CAST];
} ALIGNED(CACHE_LINE);
_Static_assert(sizeof(struct meeting_cast) == 4 * CACHE_LINE, "whole lines");

struct meeting_taken {
    _Atomic uint64_t casts;
} ALIGNED(CACHE_LINE);

/* in shared memory, zeroed before the first use; behind it a meeting_taken and two blocks for each rank */
struct meeting_hall {
    _Atomic uint64_t arrived ALIGNED(CACHE_LINE);
    _Atomic uint64_t left; /* members that will not come any more, at the end */
    struct meeting_block result;
    struct meeting_cast cast[MEETING_CASTS];
    struct meeting_taken taken[];
};

struct meeting {
    struct meeting_hall *hall;
    char *annex; /* NULL: there is none (yet) */
    int rank, ranks;
    bool crowd;
    uint64_t epoch;   /* of the step before */
    uint64_t settled; /* all have arrived in this one */
    uint64_t casts;   /* slots so far */
    /* Waits until READY(context): the one wait of the engine. */
    int (*wait)(void *owner, bool (*ready)(void *context), void *context);
    /* What the others wait for may have changed: wakes those that sleep. */
    void (*wake)(void *owner);
    void *owner;
};

static inline size_t meeting_size(int ranks)
{
    return sizeof(struct meeting_hall) +
           (size_t)ranks * (sizeof(struct meeting_taken) + 2 * sizeof(struct meeting_block));
}

static inline size_t meeting_desk_size(int ranks)
{
    size_t each = MEETING_DESKS / 2 / (unsigned)ranks / CACHE_LINE * CACHE_LINE;
    return each < MEETING_DESK_LEAST ? MEETING_DESK_LEAST : each > MEETING_DESK_MOST ? MEETING_DESK_MOST : each;
}

/* Bytes of a desk for each partner: whole lines, unless there are too many partners for that. */
static inline size_t meeting_desk_share(int ranks)
{
    size_t share = meeting_desk_size(ranks) / (unsigned)ranks;
    return share < CACHE_LINE ? share : share / CACHE_LINE * CACHE_LINE;
}

static inline size_t meeting_annex_size(int ranks)
{
    return MEETING_CASTS * MEETING_BODY + 2 * (size_t)ranks * meeting_desk_size(ranks);
}

int vcoll_meeting_barrier(struct meeting *meeting) MUST_CHECK;

/* What each rank tells, BYTES at most MEETING_DATA, the others find in its block until the next meeting but one. */
int vcoll_meeting_tell(struct meeting *meeting, const void *data, size_t bytes) MUST_CHECK;
const void *vcoll_meeting_block(struct meeting *meeting, int rank);

/* INOUT holds COUNT elements of SIZE bytes, at most MEETING_DATA in all: the own ones, then the result; with a ROOT
 * that is not -1, only there. */
int vcoll_meeting_reduce(struct meeting *meeting, int root, type_kernel *kernel, void *inout, size_t size,
                         size_t count) MUST_CHECK;

/* Tells how many bytes the root's buffer has, and moves them if they are no more than MEETING_CAST. ERR_TRUNCATED where
 * the root sent more than BUFFER holds, ERR_ARGUMENT where less: all that fits has come then. */
int vcoll_meeting_bcast(struct meeting *meeting, int root, const struct type_buffer *buffer,
                        uint64_t *total) MUST_CHECK;
/* Moves more, where there is an annex. */
int vcoll_meeting_bcast_long(struct meeting *meeting, int root, const struct type_buffer *buffer,
                             uint64_t total) MUST_CHECK;

/* The outcome of a broadcast of CAME bytes at a rank with ROOM: OK, ERR_TRUNCATED, ERR_ARGUMENT. */
int vcoll_meeting_told(int root, uint64_t came, uint64_t room) MUST_CHECK;

/* A step, where there is an annex: what lies on the own desk when it ends lies on that of RANK afterwards. WAITS: until
 * all have come; else the desks of the others are not looked at. */
int vcoll_meeting_step_begin(struct meeting *meeting, char **desk) MUST_CHECK;
int vcoll_meeting_step_end(struct meeting *meeting, bool waits) MUST_CHECK;
const char *vcoll_meeting_desk(const struct meeting *meeting, int rank);
