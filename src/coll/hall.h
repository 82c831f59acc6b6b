/* hall: which calls are held as meetings (meeting.h), and the shared memory they need.
 *
 * A group gets its memory at its third suitable call, so that groups made for a moment pay nothing. Suitable is decided
 * from what is the same on all members, and the memory is had by all or by none, so all members always decide alike. */
#ifndef COLL_HALL_H
#define COLL_HALL_H

#include "coll/coll.h"
#include "coll/meeting.h"
#include "coll/schedule.h"

#define HALL_RANKS 1024

/* Small, blocking, and of a kind that a meeting knows. Operations with a kernel are commutative, and their elements are
 * the same everywhere and without holes. Those of a broadcast may differ and have any: it is packed. */
static inline bool vcoll_hall_suits(const struct coll_call *call)
{
    if (call->group->size < 2 || call->group->size > HALL_RANKS)
        return false;
    if (call->kind == COLL_BARRIER)
        return true;
    uint64_t bytes = coll_side_bytes(&call->receive);
    if (call->kind == COLL_BCAST)
        return bytes > 0 && bytes <= MEETING_CAST && call->root >= 0 && call->root < call->group->size;
    const struct type_layout *layout = call->receive.layout;
    return call->kind == COLL_ALLREDUCE && call->reduction.kernel &&
           bytes <= MEETING_DATA && call->receive.count > 0 &&
           (!layout || layout->shape.contiguous);
}

/* True: held, *error is its outcome. False: there is no memory (yet): the schedule's way. */
bool vcoll_hall_run(const struct coll_call *call, int *error);

#endif
