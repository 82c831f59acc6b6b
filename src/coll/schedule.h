/* coll/schedule: the making and the running of schedules. Included by the families of src/coll only.
 *
 * A maker (make.h) describes its algorithm as steps; vcoll_round ends a round. The steps of a round start in the order
 * they were described: a local step (copy, reduce) is done when it has started, sends and receives go on together, and
 * the next round starts when all are complete. So a local step may stand behind the receives of its round and run while
 * the messages fly, as long as it touches none of their buffers.
 *
 * Makers do not test for failure: the first one sticks in schedule->failure, later calls do nothing, and vcoll_prepare
 * reports it. Memory comes from the schedule and lives until its release. */
#pragma once

#include "coll/coll.h"

enum coll_step_kind { STEP_SEND, STEP_RECEIVE, STEP_VISIT, STEP_COPY, STEP_REDUCE, STEP_FORK };

struct coll_step {
    uint8_t kind;
    bool last;               /* of its round */
    bool any_length;         /* a receive: less than `to` holds may come */
    int peer;
    struct type_buffer from; /* sent, copied, or the left operand */
    struct type_buffer to;   /* received into, copied to, or the right operand, which becomes the result */
};

/* The steps behind a fork were made for what this rank expects. Where something else has come, others take their
 * place. Both functions are called by the thread that runs the schedule. */
struct coll_fork {
    bool (*turns)(struct coll_schedule *schedule, struct coll_fork *fork); /* something else has come */
    void (*make)(struct coll_schedule *schedule, struct coll_fork *fork);  /* describes the others */
    uint32_t steps;          /* so many behind it are replaced */
    struct coll_step *other; /* the fork, the others, and what follows the replaced; NULL: not made */
    uint32_t others;
};

struct coll_visit;  /* hall.h */
struct coll_memory; /* a block from malloc, for what the arena cannot hold */

/* One block of SCHEDULE_BYTES; its tail is an arena for steps, requests and small temporaries, so that a small
 * collective allocates nothing else. Made by one thread; run by any thread that makes progress, one at a time: the
 * thread that takes `pending` to 0 owns the schedule. */
struct coll_schedule {
    struct coll_call call;
    int first, rank, size; /* of the members that ranks are about: all of the group, or of two groups the own */
    const int *scope;      /* which members they are in the group; NULL: those from `first` on */
    int tag;
    int failure;    /* of the making */

    struct coll_step *step;
    uint32_t steps, room;
    struct coll_step *made;      /* as it was prepared: `step`, unless a fork turned in this run */
    uint32_t made_steps;
    uint32_t in_round, widest;   /* messages of the round being made, of the widest round */
    struct msg_request *request; /* as many as the widest round needs */
    bool keeps;                  /* holds a reference on the layouts of all steps */
    struct coll_visit *visit;    /* NULL: it is carried out by messages */

    uint32_t next;             /* the step that starts the next round */
    _Atomic uint32_t started;  /* requests of the current round that were started; read to cancel them */
    _Atomic uint32_t pending;  /* steps under way, and one more while a round is being started */
    _Atomic uint32_t state;    /* SCHEDULE_IDLE, _RUNNING, _DONE */
    _Atomic int error;         /* the first of this run */
    _Atomic bool over;         /* an error that nothing can follow: no more steps are started */
    _Atomic uint64_t lacking;  /* of some ranks of a context: bytes that were expected and did not come */
    _Atomic uint32_t ends;     /* its steps, and the guard: what is not over yet */
    struct msg_request guard;  /* ends it when a member dies; see schedule.c */
    void (*completed)(void *context, int error);
    void *context;

    struct coll_memory *memory;
    char *at, *end; /* what is left of the arena */
};
#define SCHEDULE_BYTES 8192
#define SEQUENCE_MASK ((1u << 30) - 1) /* of a tag, see run.c */
#define STARTED_AGAIN (1 << 30)
#define SCHEDULE_IDLE 0u
#define SCHEDULE_RUNNING 1u
#define SCHEDULE_DONE 2u

/* ---- making ---- */

/* From here on ranks are those of SIZE members, this being the one with RANK; NULL: of all. */
void vcoll_scope(struct coll_schedule *schedule, const int *members, int rank, int size);
void vcoll_send(struct coll_schedule *schedule, int to, struct type_buffer buffer);
void vcoll_receive(struct coll_schedule *schedule, int from, struct type_buffer buffer);
/* Less may come than BUFFER holds. */
void vcoll_receive_any(struct coll_schedule *schedule, int from, struct type_buffer buffer);
/* FORK, whose functions are set, behind a round of one receive; vcoll_fork_end: the last step that it replaces. */
void vcoll_fork(struct coll_schedule *schedule, struct coll_fork *fork);
void vcoll_fork_end(struct coll_schedule *schedule, struct coll_fork *fork);
void vcoll_copy(struct coll_schedule *schedule, struct type_buffer from, struct type_buffer to);
/* inout = in OP inout, COUNT elements of the call's layout. IN is the value of the lower ranks. */
void vcoll_reduce(struct coll_schedule *schedule, const void *in, void *inout, uint64_t count);
/* What is carried out in a hall is the only step. */
void vcoll_visit(struct coll_schedule *schedule, struct coll_visit *visit);
void vcoll_round(struct coll_schedule *schedule);
/* Ends the round if it is as wide as is good: loops over many partners call it after each. */
void vcoll_window(struct coll_schedule *schedule);

/* BYTES of the schedule's memory, aligned to 16; NULL when there is none (then schedule->failure is set). */
void *vcoll_memory(struct coll_schedule *schedule, uint64_t bytes);
/* Room for COUNT elements of the call's receive layout, holes and bounds as the layout says: the base to address them
 * by. */
void *vcoll_elements(struct coll_schedule *schedule, uint64_t count);

/* ---- running, for run.c ---- */

struct coll_schedule *vcoll_schedule_new(const struct coll_call *call);
int vcoll_schedule_seal(struct coll_schedule *schedule) MUST_CHECK; /* after the making: room for the requests */
void vcoll_schedule_keep(struct coll_schedule *schedule);           /* the layouts, until freed */
void vcoll_schedule_start(struct coll_schedule *schedule);
void vcoll_schedule_stop(struct coll_schedule *schedule, int error); /* cancels what is under way */

/* Remembers ERROR, and goes on: others wait for what follows. */
void vcoll_schedule_note(struct coll_schedule *schedule, int error);
/* Another member calls something else: nothing more is started. */
void vcoll_schedule_end(struct coll_schedule *schedule, int error);
/* This rank has no memory for its part of what has TAG: the other members are told, and end with an error. */
void vcoll_withdraw(const struct coll_group *group, int tag);
/* Which member of the group a rank is. */
int vcoll_member(const struct coll_schedule *schedule, int rank);

/* Copies what there is room for; returns how many bytes there is none for. */
uint64_t vcoll_buffer_copy(const struct type_buffer *to, const struct type_buffer *from);

/* ---- places ---- */

static inline struct type_buffer coll_bytes(void *base, uint64_t bytes)
{
    return (struct type_buffer){base, bytes, NULL};
}

/* As a number: base may be NULL where nothing is moved, or where displacements are absolute addresses. */
static inline void *coll_place(const void *base, const struct type_layout *layout, int64_t element)
{
    return (void *)((uintptr_t)base + (uint64_t)element * (uint64_t)(layout ? layout->shape.extent : 1));
}

/* COUNT elements of the call's receive layout, from element FIRST of BASE. */
static inline struct type_buffer coll_part(const struct coll_schedule *schedule, const void *base, int64_t first,
                                           uint64_t count)
{
    struct type_layout *layout = schedule->call.receive.layout;
    return (struct type_buffer){coll_place(base, layout, first), count, layout};
}

/* What one side gives to or takes from partner I. */
static inline struct type_buffer coll_block(const struct coll_side *side, int i)
{
    struct type_layout *layout = side->layouts ? side->layouts[i] : side->layout;
    uint64_t count = side->counts ? (uint64_t)side->counts[i] : side->count;
    if (side->layouts)
        return (struct type_buffer){(char *)side->base + side->displacements[i], count, layout};
    int64_t first = side->counts ? side->displacements[i] : i * (int64_t)count;
    return (struct type_buffer){coll_place(side->base, layout, first), count, layout};
}

/* What a rank gives, which lies where the result goes where it is in place. */
static inline void *coll_own_base(const struct coll_call *call)
{
    return call->send.base == COLL_IN_PLACE ? call->receive.base : call->send.base;
}

/* A plain side as one buffer. */
static inline struct type_buffer coll_whole(const struct coll_side *side)
{
    return (struct type_buffer){side->base, side->count, side->layout};
}

/* The same of an allgather: its own block. */
static inline struct type_buffer coll_own_block(const struct coll_call *call)
{
    return call->send.base == COLL_IN_PLACE ? coll_block(&call->receive, call->group->rank) : coll_whole(&call->send);
}

/* Of the elements of a reduction. */
static inline uint64_t coll_element_size(const struct coll_call *call)
{
    return call->receive.layout ? call->receive.layout->shape.size : 1;
}

static inline uint64_t coll_side_bytes(const struct coll_side *side)
{
    return side->count * (side->layout ? side->layout->shape.size : 1);
}

/* The rank that is DISTANCE away, the ranks being a ring; DISTANCE between -size and size. */
static inline int coll_ring(const struct coll_schedule *schedule, int rank, int distance)
{
    return (rank + distance + schedule->size) % schedule->size;
}
