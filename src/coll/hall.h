/* hall: which calls are held in shared memory (meeting.h, desk.c), and the memory they need.
 *
 * A group gets a hall at its first suitable call, and an annex at the third one that needs it, so that groups made for a
 * moment pay little. Suitable is decided from what is the same on all members, and the memory is had by all or by none, so
 * all members always decide alike. Of a broadcast the root alone knows the length, and tells it in the hall. */
#ifndef COLL_HALL_H
#define COLL_HALL_H

#include "coll/coll.h"
#include "coll/meeting.h"
#include "coll/schedule.h"

#define HALL_RANKS 1024

/* A block for each partner that is worth a message of its own. */
#define HALL_BLOCK (32u << 10)

/* Operations with a kernel are commutative, and their elements are the same everywhere and without holes. */
static inline bool coll_hall_reduces(const struct coll_call *call)
{
    const struct type_layout *layout = call->receive.layout;
    return call->reduction.kernel && (!layout || (layout->shape.contiguous && layout->shape.size <= 64));
}

static inline bool vcoll_hall_suits(const struct coll_call *call)
{
    if (call->group->size < 2 || call->group->size > HALL_RANKS || call->root < 0 || call->root >= call->group->size)
        return false;
    switch (call->kind) {
    case COLL_BARRIER:
    case COLL_BCAST:
        return true;
    case COLL_ALLREDUCE:
    case COLL_REDUCE:
        return coll_hall_reduces(call) && call->receive.count > 0;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        return coll_hall_reduces(call);
    case COLL_ALLTOALL:
        return coll_side_bytes(&call->receive) <= HALL_BLOCK;
    default:
        return call->kind == COLL_ALLGATHER || call->kind == COLL_ALLGATHERV;
    }
}

/* True: held, *error is its outcome. False: there is no memory (yet): the schedule's way. */
bool vcoll_hall_run(const struct coll_call *call, int *error);

/* run.c: the schedule's way. */
int vcoll_run_by_messages(const struct coll_call *call);

/* desk.c: what is no broadcast and no small reduction, where there is an annex. */
int vcoll_desk_run(const struct coll_call *call, struct meeting *meeting);

#endif
