/* coll: collectives. Each one is a schedule: rounds of steps that progress advances. The algorithm is written once, as
 * the making of the schedule; blocking, non-blocking and persistent forms differ only in which caller waits and frees.
 *
 *   round 0: send, receive, receive      all steps of a round start together;
 *   round 1: reduce, copy, send          when all are complete the next round starts;
 *   ...                                  steps start in order; local ones (reduce, copy) are done when started
 *
 * A group is a communicator without its name: a context of its own for collectives, so that they never meet the user's
 * messages. All members call the same collectives in the same order; a sequence number becomes the tag, so that several
 * may be under way at once.
 *
 * Results of reductions are bitwise the same on every rank, and in every run with the same number of ranks. */
#pragma once

#include "msg/msg.h"
#include "type/layout.h"
#include "type/reduce.h"

struct coll_group {
    struct msg_context *context; /* for collectives only; the caller opens and closes it */
    int rank, size;
    const int *member;           /* whose ranks in the context they are; NULL: all of the context, in order */
    uint32_t sequence;           /* of the next collective; starts at 0 on all members */
    int split;                   /* members of the first of two groups (see `between`); 0: there is one */
    uint32_t meetings;           /* private: starts at 0 */
    struct coll_hall *hall;      /* private: where they happen, once there were a few; starts NULL */
    struct coll_nodes *nodes;    /* private: of a group on several nodes; starts NULL */
};

/* Before the context is closed. All members call it; it may wait for the others to leave the shared memory. */
VEXPORT void vcoll_group_close(struct coll_group *group);

enum coll_kind {
    COLL_BARRIER, COLL_BCAST, COLL_REDUCE, COLL_ALLREDUCE, COLL_SCAN, COLL_EXSCAN, COLL_REDUCE_SCATTER,
    COLL_REDUCE_SCATTER_BLOCK, COLL_GATHER, COLL_GATHERV, COLL_SCATTER, COLL_SCATTERV, COLL_ALLGATHER, COLL_ALLGATHERV,
    COLL_ALLTOALL, COLL_ALLTOALLV, COLL_ALLTOALLW, COLL_KINDS
};

/* What MPI calls MPI_IN_PLACE: as the `send` buffer (or `receive` for scatter's root). */
#define COLL_IN_PLACE ((void *)1)

/* One side of a collective. Plain forms use base, count, layout (count elements for each partner, as MPI counts); the v
 * forms use counts[] and displacements[] (in extents of the layout, as MPI does), w forms displacements in bytes and
 * layouts[]. Arrays are read until the operation is complete; layout NULL: bytes. */
struct coll_side {
    void *base;
    uint64_t count;
    struct type_layout *layout;
    const int64_t *counts, *displacements;
    struct type_layout *const *layouts;
};

/* Between two groups: what one group gives goes to the other, as MPI has it for intercommunicators. The group holds
 * both; each side's counts, displacements and layouts are for the members of the other, but those of reduce_scatter for
 * the own. `root` is a rank of the other group, or tells that the root is this process, or beside it. */
#define COLL_ROOT_HERE (-4)
#define COLL_ROOT_BESIDE (-3)

/* Of a neighborhood: allgather and alltoall, and their v and w forms, along edges. An edge is the block of its side
 * that comes from a rank, or goes to it; of several between the same two ranks the k-th out meets the k-th in. */
struct coll_edge {
    int rank, block;
};
struct coll_edges {
    int ins, outs;
    struct coll_edge *in, *out;
};

/* How a call is used that is prepared. Those of ONCE and AGAIN may be carried out in shared memory. */
enum coll_form {
    COLL_ANY,  /* launched at any time, and again */
    COLL_ONCE, /* launched right after it was prepared, and once: all members do both in the same order */
    COLL_AGAIN /* launched again and again; to prepare it may block until all members do */
};

struct coll_call {
    enum coll_kind kind;
    enum coll_form form; /* where it is prepared */
    struct coll_group *group;
    int root;
    bool between;
    const struct coll_edges *edges; /* NULL: with all members */
    /* bcast uses `receive` on every rank; reductions count elements of receive.layout */
    struct coll_side send, receive;
    struct type_reduction reduction;
};

/* How a call is carried out, and the table that decides it: choose.def. */
enum coll_way { COLL_BLOCK, COLL_DESK, COLL_DIRECT, COLL_MESSAGE, COLL_MASTERS, COLL_SLICES, COLL_WAYS };
struct coll_choice {
    enum coll_kind kind;
    const char *name; /* of the kind; NULL: the end of the table */
    bool nodes;       /* of a group on several nodes */
    int ranks, crowd;
    uint64_t from;
    enum coll_way way;
};
VEXPORT const struct coll_choice *vcoll_choices(void);
VEXPORT const char *vcoll_way_name(enum coll_way way);

struct coll_schedule;

/* Makes the schedule of a call; nothing moves yet. All members must prepare in the same order (the sequence number is
 * taken here, also when preparing fails). Layouts are kept until release, and so must arrays be. */
VEXPORT int vcoll_prepare(const struct coll_call *call, struct coll_schedule **schedule) MUST_CHECK;
/* Starts it, again and again for persistent use, never while it is under way. Starts of different schedules need no
 * order: a schedule's messages carry the number it took when it was prepared. COMPLETED (may be NULL) is called once
 * for each start, from progress or within the launch, when vcoll_done is true already. Either COMPLETED or a caller
 * that saw vcoll_done may release the schedule, not both. */
VEXPORT int vcoll_launch(struct coll_schedule *schedule, void (*completed)(void *context, int error),
                         void *context) MUST_CHECK;
VEXPORT bool vcoll_done(const struct coll_schedule *schedule);
/* The first error of the last start. A message longer than its place is ERR_TRUNCATED here and disturbs no other rank;
 * after any other error this rank's part ended early. */
VEXPORT int vcoll_error(const struct coll_schedule *schedule);
VEXPORT void vcoll_release(struct coll_schedule *schedule);
/* A caller without memory for what it needs itself, instead of vcoll_prepare and the launch after it, or, where FORM is
 * COLL_ANY, of vcoll_run in a group that has no hall: members that wait for this one end with ERR_MEMORY, which is
 * returned. Nothing of the call's buffers is read or written. */
VEXPORT int vcoll_refuse(const struct coll_call *call);
/* Cancels what is under way for CAUSE, and releases it. If even that does not complete, the memory is left alone, since
 * the engine may still write to it. Returns how it ended. */
VEXPORT int vcoll_abandon(struct coll_schedule *schedule, int cause);

/* Prepare, launch, wait, release: the blocking form. */
VEXPORT int vcoll_run(const struct coll_call *call);
/* The same, never in memory of its own group: it meets those that were prepared as COLL_ANY. */
VEXPORT int vcoll_run_by_messages(const struct coll_call *call);
