/* Halls: see hall.h. One per group, owned by it; opened here, closed by vcoll_group_close. */
#include "coll/hall.h"
#include "base/topology.h"
#include <stdlib.h>
#include <string.h>

#define OPEN_AT 3             /* suitable calls */
#define NO_HALL UINT32_MAX    /* in coll_group.meetings: there is none and never will be */
#define MASK_WORDS 16         /* 1,024 processors, as vbase_affinity knows them */

struct coll_hall {
    struct msg_share *share;
    struct meeting meeting;
};

static void wake_all(void *share) { vmsg_share_wake_all(share); }

/* More ranks than processors that any of them may use? Asked in the first meeting, so that all know the same. */
static int agree_on_crowd(struct meeting *meeting)
{
    const struct base_topology *topology = vbase_topology();
    uint64_t mask[MASK_WORDS];
    int cpus = 0;
    vbase_affinity(mask, MASK_WORDS);
    meeting->crowd = true;
    int error = vcoll_meeting_reduce(meeting, vtype_kernel(OPERATION_BOR, ELEMENT_U64), mask, sizeof *mask, MASK_WORDS);
    if (error)
        return error;
    for (int i = 0; i < MASK_WORDS; i++)
        cpus += __builtin_popcountll(mask[i]);
    if (cpus == 0)
        cpus = topology->cpus_online;
    /* A quota is a rank's own knowledge, but a crowd for one must be one for all. */
    uint64_t crowd = meeting->ranks > cpus || (topology->cpus_quota > 0 && meeting->ranks > topology->cpus_quota);
    error = vcoll_meeting_reduce(meeting, vtype_kernel(OPERATION_BOR, ELEMENT_U64), &crowd, sizeof crowd, 1);
    meeting->crowd = crowd != 0;
    return error;
}

/* The sequence number gives a tag that no schedule of the group uses. */
static int open_hall(struct coll_group *group)
{
    struct coll_hall *hall = calloc(1, sizeof *hall);
    int tag = (int)(group->sequence++ & ((1u << 30) - 1));
    struct msg_share *share;
    int error = vmsg_share_open(group->context, tag, meeting_size(group->size), hall != NULL, &share);
    if (error) {
        free(hall);
        return error;
    }
    hall->share = share;
    hall->meeting = (struct meeting){.hall = vmsg_share_memory(share), .rank = group->rank, .ranks = group->size,
                                     .wait = vmsg_share_wait, .wake = wake_all, .owner = share};
    error = agree_on_crowd(&hall->meeting);
    if (error) { /* the job is lost; nobody comes any more */
        vmsg_share_close(share);
        free(hall);
        return error;
    }
    group->hall = hall;
    return OK;
}

/* Through memory of its own: the elements may have holes, and the root's others than mine. */
static int broadcast(const struct coll_call *call, struct meeting *meeting)
{
    struct type_buffer buffer = coll_whole(&call->receive);
    size_t bytes = type_buffer_bytes(&buffer);
    if (type_buffer_contiguous(&buffer))
        return vcoll_meeting_bcast(meeting, call->root, buffer.base, bytes);
    unsigned char value[MEETING_CAST];
    struct type_cursor cursor;
    vtype_cursor_start(&cursor, &buffer);
    if (call->root == call->group->rank)
        vtype_pack(&cursor, value, bytes);
    int error = vcoll_meeting_bcast(meeting, call->root, value, bytes);
    if (call->root != call->group->rank && (!error || error == ERR_TRUNCATED))
        vtype_unpack(&cursor, value, bytes);
    return error;
}

static int meet(const struct coll_call *call, struct meeting *meeting)
{
    if (call->kind == COLL_BARRIER)
        return vcoll_meeting_barrier(meeting);
    if (call->kind == COLL_BCAST)
        return broadcast(call, meeting);
    const struct type_layout *layout = call->receive.layout;
    size_t size = layout ? layout->shape.size : 1, bytes = size * call->receive.count;
    unsigned char value[MEETING_DATA] ALIGNED(16);
    memcpy(value, call->send.base == COLL_IN_PLACE ? call->receive.base : call->send.base, bytes);
    int error = vcoll_meeting_reduce(meeting, call->reduction.kernel, value, size, call->receive.count);
    if (!error)
        memcpy(call->receive.base, value, bytes);
    return error;
}

bool vcoll_hall_run(const struct coll_call *call, int *error)
{
    struct coll_group *group = call->group;
    if (unlikely(!group->hall)) {
        if (group->meetings == NO_HALL)
            return false;
        if (++group->meetings < OPEN_AT)
            return false;
        int failed = open_hall(group);
        if (failed) {
            group->meetings = NO_HALL;
            return false;
        }
    }
    *error = meet(call, &group->hall->meeting);
    return true;
}

/* All members but the first have left. */
static bool others_left(void *context)
{
    struct meeting *meeting = context;
    /* acquire: pairs with the release of those who left */
    return atomic_load_explicit(&meeting->hall->left, memory_order_acquire) + 1 == (uint64_t)meeting->ranks;
}

void vcoll_group_close(struct coll_group *group)
{
    struct coll_hall *hall = group->hall;
    group->meetings = 0;
    group->hall = NULL;
    if (!hall)
        return;
    if (group->rank == 0) {
        (void)vmsg_share_wait(others_left, &hall->meeting);
    } else {
        /* release: this rank reads and writes nothing there any more */
        atomic_fetch_add_explicit(&hall->meeting.hall->left, 1, memory_order_release);
        vmsg_share_wake(hall->share, 0);
    }
    vmsg_share_close(hall->share);
    free(hall);
}
