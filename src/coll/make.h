/* coll/make: the makers, one for each family of calls, and the pieces they are made of. A maker reads schedule->call
 * and describes the whole operation of this rank; a piece describes a part and ends its last round.
 *
 * The choice of an algorithm depends only on what is the same on all members: the size of the group, the bytes of the
 * payload (MPI demands equal signatures, not equal layouts), commutativity. Where ranks outnumber the processors each
 * round costs a switch of the scheduler, so small operations go over a flat tree: two switches and 2(n-1) messages,
 * where a dissemination needs log n switches and n log n messages. Large payloads go directly between all members: as
 * many bytes as a ring or halving moves, without a chain of dependences. */
#pragma once

#include "coll/schedule.h"

void vcoll_make_barrier(struct coll_schedule *schedule);
void vcoll_make_bcast(struct coll_schedule *schedule);
void vcoll_make_reduce(struct coll_schedule *schedule);
void vcoll_make_allreduce(struct coll_schedule *schedule);
void vcoll_make_scan(struct coll_schedule *schedule);           /* exscan too */
void vcoll_make_reduce_scatter(struct coll_schedule *schedule); /* the _block form too */
void vcoll_make_gather(struct coll_schedule *schedule);         /* the v form too */
void vcoll_make_scatter(struct coll_schedule *schedule);        /* the v form too */
void vcoll_make_allgather(struct coll_schedule *schedule);
void vcoll_make_allgatherv(struct coll_schedule *schedule);
void vcoll_make_alltoall(struct coll_schedule *schedule); /* the v and w forms too */
void vcoll_make_between(struct coll_schedule *schedule);  /* any of two groups but a barrier */

void vcoll_make_neighborhood(struct coll_schedule *schedule); /* any along edges */

/* hall.c. True: the call is carried out in shared memory, *error is its outcome. False: it does not suit, or there is
 * no memory (yet): then by messages, in run.c. */
bool vcoll_hall_run(const struct coll_call *call, int *error);

/* ---- trees ---- */

/* A tree of RADIX over n nodes numbered from its root 0: the parent of a node is the node with its lowest non-zero
 * digit cleared. Each subtree is a contiguous range of numbers and children ascend, so operands meet in order. */
struct coll_tree {
    int parent; /* -1: the root */
    int children;
    int child[128], span[128]; /* nodes, ascending, and the sizes of their subtrees */
    int own_span;
};
void vcoll_tree(struct coll_tree *tree, int node, int nodes, int radix);

/* Flat while a payload costs less than a turn of the scheduler, narrower when a node's copies cost more. */
#define COLL_WIDE_MOST 2048
static inline int coll_radix(uint64_t bytes) { return bytes <= COLL_WIDE_MOST ? 16 : 4; }

/* A block up to this size is joined with others. */
#define COLL_SMALL_BLOCK 1024

/* ---- pieces ---- */

/* Of a barrier, over a tree: all tell rank 0; rank 0 tells all. */
#define RADIX_OF_BARRIER 16
void vcoll_piece_arrive(struct coll_schedule *schedule, int radix);
void vcoll_piece_leave(struct coll_schedule *schedule, int radix);
/* A broadcast of which all members know the length. */
void vcoll_piece_cast(struct coll_schedule *schedule, int root, struct type_buffer buffer);
/* A piece of BUFFER for each member, where ROOT: this rank has it; false: there is no memory. And back again. */
bool vcoll_cast_cut(struct coll_schedule *schedule, bool root, struct type_buffer buffer, struct coll_side *pieces);
void vcoll_cast_join(struct coll_schedule *schedule, bool root, struct type_buffer buffer,
                     const struct coll_side *pieces);
/* Each member's block of SIDE to all members but FULL, which has them all; -1: none has. */
void vcoll_piece_spread(struct coll_schedule *schedule, int full, const struct coll_side *side);
/* The blocks of SIDE, which the root has, to each its own: OWN is where it goes. */
void vcoll_piece_scatter(struct coll_schedule *schedule, int root, struct type_buffer own,
                         const struct coll_side *side);
/* COUNT elements of the call's receive layout. RESULT is looked at on the root alone and may be OWN. */
void vcoll_piece_reduce(struct coll_schedule *schedule, int root, const void *own, void *result, uint64_t count);
/* VALUE becomes the sum of those of all members. Where the operation is not commutative their order counts. A tree has
 * its root at ROOT. */
void vcoll_piece_sum(struct coll_schedule *schedule, int root, void *value, uint64_t count);
/* Each member gets the sum of its slice, in its place of RESULT, which is MINE then; COUNT is no less than there are
 * members. False: there is no memory. */
#define COLL_ELSEWHERE ((void *)2) /* RESULT: in memory of the schedule. NULL is a place: that of absolute addresses */
bool vcoll_piece_slices(struct coll_schedule *schedule, const void *own, void *result, uint64_t count,
                        struct coll_side *slices, struct type_buffer *mine);
/* head.c: a broadcast of which the root alone knows the length. REST moves it if it is longer than its head, in the
 * scope of vcoll_headed_new; ROOT and BUFFER are those given there, but BUFFER is as long as the root's at all. */
typedef void coll_rest(struct coll_schedule *schedule, int root, struct type_buffer buffer);
struct coll_headed;
/* NULL: there is no memory. */
struct coll_headed *vcoll_headed_new(struct coll_schedule *schedule, int root, struct type_buffer buffer,
                                     coll_rest *rest);
/* The head comes from PARENT; -1: this rank is the root. */
void vcoll_headed_parent(struct coll_schedule *schedule, struct coll_headed *headed, int parent);
void vcoll_headed_child(struct coll_schedule *schedule, struct coll_headed *headed, int child);
/* Both, over a tree of the scope whose root is ROOT. */
void vcoll_headed_tree(struct coll_schedule *schedule, struct coll_headed *headed, int root);
void vcoll_headed_make(struct coll_schedule *schedule, struct coll_headed *headed);
/* OWN: this rank's block; SIDE: where the root puts all of them, its own as well. */
void vcoll_piece_gather(struct coll_schedule *schedule, int root, struct type_buffer own, const struct coll_side *side);
/* Each member's block of SIDE to all members; OWN is what this rank sends, and is copied to its place. */
void vcoll_piece_allgather(struct coll_schedule *schedule, struct type_buffer own, const struct coll_side *side);
