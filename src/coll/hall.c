/* Halls: see hall.h. One per group, owned by it; opened here, closed by vcoll_group_close. */
#include "coll/hall.h"
#include "base/topology.h"
#include <stdlib.h>
#include <string.h>

#define NONE    UINT32_MAX    /* in coll_group.meetings: there is no hall and never will be; in .needs: no annex */
#define ANNEX_AT 3            /* calls that need one */
#define MASK_WORDS 16         /* 1,024 processors, as vbase_affinity knows them */

struct coll_hall {
    struct msg_share *share, *annex;
    struct meeting meeting;
    uint32_t needs; /* calls that needed the annex, until it was there */
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
    int error = vcoll_meeting_reduce(meeting, -1, vtype_kernel(OPERATION_BOR, ELEMENT_U64), mask, sizeof *mask, MASK_WORDS);
    if (error)
        return error;
    for (int i = 0; i < MASK_WORDS; i++)
        cpus += __builtin_popcountll(mask[i]);
    if (cpus == 0)
        cpus = topology->cpus_online;
    /* A quota is a rank's own knowledge, but a crowd for one must be one for all. */
    uint64_t crowd = meeting->ranks > cpus || (topology->cpus_quota > 0 && meeting->ranks > topology->cpus_quota);
    error = vcoll_meeting_reduce(meeting, -1, vtype_kernel(OPERATION_BOR, ELEMENT_U64), &crowd, sizeof crowd, 1);
    meeting->crowd = crowd != 0;
    return error;
}

/* The sequence number gives a tag that no schedule of the group uses. */
static int open_share(struct coll_group *group, size_t bytes, bool willing, struct msg_share **share)
{
    int tag = (int)(group->sequence++ & ((1u << 30) - 1));
    return vmsg_share_open(group->context, tag, bytes, willing, share);
}

static int open_hall(struct coll_group *group)
{
    struct coll_hall *hall = calloc(1, sizeof *hall);
    struct msg_share *share;
    int error = open_share(group, meeting_size(group->size), hall != NULL, &share);
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

/* Whether there is an annex, for a call that needs one. */
static bool annex(struct coll_group *group)
{
    struct coll_hall *hall = group->hall;
    if (likely(hall->meeting.annex))
        return true;
    if (hall->needs == NONE || ++hall->needs < ANNEX_AT)
        return false;
    if (open_share(group, meeting_annex_size(group->size), true, &hall->annex) == OK)
        hall->meeting.annex = vmsg_share_memory(hall->annex);
    else
        hall->needs = NONE;
    return hall->meeting.annex != NULL;
}

/* By messages, as long as the root says: who expects something else disturbs nobody. */
static int broadcast_by_messages(const struct coll_call *call, uint64_t total)
{
    struct type_buffer buffer = coll_whole(&call->receive);
    uint64_t bytes = type_buffer_bytes(&buffer);
    if (bytes == total)
        return vcoll_run_by_messages(call);
    struct coll_call other = *call;
    other.receive = (struct coll_side){.base = malloc(total), .count = total};
    int error = other.receive.base ? vcoll_run_by_messages(&other)
                                   : vbase_fail(ERR_MEMORY, "no memory for a broadcast of %llu bytes", (unsigned long long)total);
    struct type_cursor cursor;
    vtype_cursor_start(&cursor, &buffer);
    if (!error)
        (void)vtype_unpack(&cursor, other.receive.base, total);
    free(other.receive.base);
    return error ? error : vcoll_meeting_told(call->root, total, bytes);
}

static int broadcast(const struct coll_call *call, struct meeting *meeting)
{
    struct type_buffer buffer = coll_whole(&call->receive);
    uint64_t total;
    int error = vcoll_meeting_bcast(meeting, call->root, &buffer, &total);
    if (error || total <= MEETING_CAST)
        return error;
    if (annex(call->group))
        return vcoll_meeting_bcast_long(meeting, call->root, &buffer, total);
    return broadcast_by_messages(call, total);
}

static int reduce_small(const struct coll_call *call, struct meeting *meeting, size_t bytes)
{
    unsigned char value[MEETING_DATA] ALIGNED(16);
    int root = call->kind == COLL_REDUCE ? call->root : -1;
    memcpy(value, call->send.base == COLL_IN_PLACE ? call->receive.base : call->send.base, bytes);
    int error = vcoll_meeting_reduce(meeting, root, call->reduction.kernel, value, bytes / call->receive.count,
                                     call->receive.count);
    if (!error && (root < 0 || root == meeting->rank))
        memcpy(call->receive.base, value, bytes);
    return error;
}

static bool is_small_reduction(const struct coll_call *call)
{
    return (call->kind == COLL_ALLREDUCE || call->kind == COLL_REDUCE) && coll_side_bytes(&call->receive) <= MEETING_DATA;
}

bool vcoll_hall_run(const struct coll_call *call, int *error)
{
    struct coll_group *group = call->group;
    if (unlikely(!group->hall)) {
        if (group->meetings == NONE)
            return false;
        if (open_hall(group)) {
            group->meetings = NONE;
            return false;
        }
    }
    struct meeting *meeting = &group->hall->meeting;
    if (call->kind == COLL_BARRIER)
        *error = vcoll_meeting_barrier(meeting);
    else if (call->kind == COLL_BCAST)
        *error = broadcast(call, meeting);
    else if (is_small_reduction(call))
        *error = reduce_small(call, meeting, coll_side_bytes(&call->receive));
    else if (annex(group))
        *error = vcoll_desk_run(call, meeting);
    else
        return false;
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
    vmsg_share_close(hall->annex);
    vmsg_share_close(hall->share);
    free(hall);
}
