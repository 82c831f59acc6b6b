/* meeting: a place in shared memory where the ranks of one node meet for small blocking collectives.
 *
 * Every rank has two blocks that only it writes; one more block carries the result; one line counts who has come. Numbers
 * only grow: an epoch is an operation, all members meet in the same order, and nothing is ever cleared, so no operation
 * can be mistaken for the next.
 *
 *   line 0   arrived   how many have come, all epochs together      written by everyone, by atomic addition
 *   result             { epoch, 1080 bytes }                        written by the last who came
 *   32 lines           { cast, length, 48 bytes }                   written by the root of that broadcast
 *   block 2r+p         { epoch, 1080 bytes }, p = epoch modulo 2    written by rank r
 *
 * A block is 17 lines of the cache, of which only those are touched that the operation needs: 56 bytes lie in the line of
 * the epoch. Two to sixteen ranks take a third of the time of messages at 64 to 1,024 bytes.
 *
 * Two ways, chosen once by who can run at the same time:
 *   crowd   more ranks than processors: whoever comes last does the work for all and opens the result. A rank is switched
 *           to once an operation, which is the least there can be.
 *   table   every rank has a processor: all read all lines and compute alike. No line is written by two.
 * Operands are combined in the order of the ranks, by one rank or by all alike: the bits are the same everywhere.
 *
 * A result is overwritten by the last comer of the next epoch: by then everybody has come, hence has read the one before.
 * In table mode a line of parity p is rewritten two epochs later: its writer has then seen everybody in the epoch between,
 * hence beyond the reading of it.
 *
 * A broadcast is no meeting: the root writes its line and goes on, whoever comes finds it, and a rank that is switched to
 * late takes many in one go. All meet once before the lines are used again, at every 32nd.
 *
 * What is read here was written by ranks of the own job that share the segment; no length that is read decides what is
 * copied. */
#ifndef COLL_MEETING_H
#define COLL_MEETING_H

#include "base/atomic.h"
#include "type/reduce.h"

#define MEETING_DATA 1080
#define MEETING_CAST 48  /* bytes of a broadcast */
#define MEETING_CASTS 32 /* broadcasts between two meetings */

struct meeting_block {
    _Atomic uint64_t epoch;
    unsigned char data[MEETING_DATA];
} ALIGNED(CACHE_LINE);
_Static_assert(sizeof(struct meeting_block) == 17 * CACHE_LINE, "whole lines");

struct meeting_cast {
    _Atomic uint64_t number;
    uint64_t bytes;
    unsigned char data[MEETING_CAST];
} ALIGNED(CACHE_LINE);
_Static_assert(sizeof(struct meeting_cast) == CACHE_LINE, "a line is a line");

struct meeting_hall { /* in shared memory, zeroed before the first use */
    _Atomic uint64_t arrived ALIGNED(CACHE_LINE);
    _Atomic uint64_t left; /* members that will not come any more, at the end */
    struct meeting_block result;
    struct meeting_cast cast[MEETING_CASTS];
    struct meeting_block block[]; /* two for each rank */
};

struct meeting {
    struct meeting_hall *hall;
    int rank, ranks;
    bool crowd;
    uint64_t epoch; /* of the operation before */
    uint64_t casts; /* broadcasts so far */
    /* Waits until READY(context): the one wait of the engine. */
    int (*wait)(bool (*ready)(void *context), void *context);
    /* What the others look at has changed: wakes those who sleep. */
    void (*wake)(void *owner);
    void *owner;
};

static inline size_t meeting_size(int ranks)
{
    return sizeof(struct meeting_hall) + 2 * (size_t)ranks * sizeof(struct meeting_block);
}

int vcoll_meeting_barrier(struct meeting *meeting) MUST_CHECK;

/* INOUT holds COUNT elements of SIZE bytes, at most MEETING_DATA in all: the own ones, then the result. */
int vcoll_meeting_reduce(struct meeting *meeting, type_kernel *kernel, void *inout, size_t size, size_t count) MUST_CHECK;

/* BYTES of the root's DATA, at most MEETING_CAST, into everybody's. ERR_TRUNCATED where the root sent more. */
int vcoll_meeting_bcast(struct meeting *meeting, int root, void *data, size_t bytes) MUST_CHECK;

#endif
