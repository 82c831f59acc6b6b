/* coll/hall: blocking collectives of a group on one node, in shared memory (meeting.h).
 *
 * A group gets a hall at its first suitable call and an annex at the third call that needs one, so groups that live for
 * a moment pay little. Suitability depends only on what is the same on all members, and either all members get the
 * memory or none, so all decide alike; which way they take then is the plan's (choose.h). Only the root of a broadcast
 * knows its length, and tells it in the hall. */
#include "coll/hall.h"

#define NONE    UINT32_MAX    /* in coll_group.meetings: there is no hall and never will be; in .needs: no annex */
#define ANNEX_AT 3            /* calls that need one */
#define MASK_WORDS 16         /* 1,024 processors, as vbase_affinity knows them */

struct coll_hall {
    struct msg_share *share, *annex;
    struct meeting meeting;
    struct coll_plan plan;
    uint32_t needs; /* calls that needed the annex, until it was there */
    bool reads;     /* all members can read the memory of all */
};

static void wake_all(void *share) { vmsg_share_wake_all(share); }

static int wait_here(void *share, bool (*ready)(void *), void *context)
{
    return vmsg_share_wait(share, ready, context);
}

/* More ranks than processors that any of them may use? Decided in the first meeting, so that all know the same. */
static int agree_on_crowd(struct meeting *meeting)
{
    const struct base_topology *topology = vbase_topology();
    uint64_t mask[MASK_WORDS];
    int cpus = 0;
    vbase_affinity(mask, MASK_WORDS);
    meeting->crowd = true;
    int error =
        vcoll_meeting_reduce(meeting, -1, vtype_kernel(OPERATION_BOR, ELEMENT_U64), mask, sizeof *mask, MASK_WORDS);
    if (error)
        return error;
    for (int i = 0; i < MASK_WORDS; i++)
        cpus += __builtin_popcountll(mask[i]);
    if (cpus == 0)
        cpus = topology->cpus_online;
    /* only the rank itself knows its quota, and all must decide alike */
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
                                     .wait = wait_here, .wake = wake_all, .owner = share};
    error = agree_on_crowd(&hall->meeting);
    if (error) { /* the job is lost */
        vmsg_share_close(share);
        free(hall);
        return error;
    }
    vcoll_plan_make(&hall->plan, group->size, hall->meeting.crowd);
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

/* Whether all members can read each other's memory. Where they cannot the plan has no such way any more. */
static bool direct(struct coll_hall *hall)
{
    if (likely(hall->reads))
        return true;
    uint64_t refused = !vmsg_share_reads(hall->share);
    int error = vcoll_meeting_reduce(&hall->meeting, -1, vtype_kernel(OPERATION_BOR, ELEMENT_U64), &refused,
                                     sizeof refused, 1);
    hall->reads = !error && !refused;
    if (!hall->reads)
        vcoll_plan_without(&hall->plan, COLL_DIRECT);
    return hall->reads;
}

/* ---- calls ---- */

#define HALL_RANKS 1024

/* Operations with a kernel are commutative, and their elements are the same everywhere and without holes. */
static bool reduces(const struct coll_call *call)
{
    const struct type_layout *layout = call->receive.layout;
    return call->reduction.kernel && (!layout || (layout->shape.contiguous && layout->shape.size <= 64));
}

static bool suits(const struct coll_call *call)
{
    const struct coll_group *group = call->group;
    if (group->member || call->between || call->edges || group->size < 2 || group->size > HALL_RANKS ||
        call->root < 0 || call->root >= group->size)
        return false;
    switch (call->kind) {
    case COLL_BARRIER:
    case COLL_BCAST:
        return true;
    case COLL_ALLREDUCE:
    case COLL_REDUCE:
        return reduces(call) && call->receive.count > 0;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        return reduces(call) && coll_element_size(call) <= meeting_desk_share(group->size);
    default:
        return call->kind == COLL_ALLTOALL || call->kind == COLL_ALLGATHER || call->kind == COLL_ALLGATHERV;
    }
}

/* By messages, of the length that the root told: a member that expects another length fails alone. */
static int broadcast_by_messages(const struct coll_call *call, uint64_t total)
{
    struct type_buffer buffer = coll_whole(&call->receive);
    uint64_t bytes = type_buffer_bytes(&buffer);
    if (bytes == total)
        return vcoll_run_by_messages(call);
    struct coll_call other = *call;
    other.receive = (struct coll_side){.base = malloc(total), .count = total};
    int error = other.receive.base
                    ? vcoll_run_by_messages(&other)
                    : vbase_fail(ERR_MEMORY, "no memory for a broadcast of %llu bytes", (unsigned long long)total);
    if (!error)
        (void)vtype_unpack_at(&buffer, 0, other.receive.base, total);
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
    if (coll_plan_way(&call->group->hall->plan, COLL_BCAST, total) == COLL_DESK && annex(call->group))
        return vcoll_meeting_bcast_long(meeting, call->root, &buffer, total);
    return broadcast_by_messages(call, total);
}

static int reduce_small(const struct coll_call *call, struct meeting *meeting, size_t bytes)
{
    unsigned char value[MEETING_DATA] ALIGNED(16);
    int root = call->kind == COLL_REDUCE ? call->root : -1;
    memcpy(value, coll_own_base(call), bytes);
    int error = vcoll_meeting_reduce(meeting, root, call->reduction.kernel, value, bytes / call->receive.count,
                                     call->receive.count);
    if (!error && (root < 0 || root == meeting->rank))
        memcpy(call->receive.base, value, bytes);
    return error;
}

/* What the plan asks for: see choose.def. */
static uint64_t payload(const struct coll_call *call)
{
    uint64_t bytes = 0;
    switch (call->kind) {
    case COLL_ALLGATHERV:
        for (int r = 0; r < call->group->size; r++) {
            struct type_buffer block = coll_block(&call->receive, r);
            bytes = type_buffer_bytes(&block) > bytes ? type_buffer_bytes(&block) : bytes;
        }
        return bytes;
    case COLL_REDUCE_SCATTER:
        for (int r = 0; r < call->group->size; r++)
            bytes += (uint64_t)call->receive.counts[r];
        return bytes * coll_element_size(call);
    case COLL_REDUCE_SCATTER_BLOCK:
        return coll_side_bytes(&call->receive) * (uint64_t)call->group->size;
    default:
        return coll_side_bytes(&call->receive);
    }
}

static int run_block(const struct coll_call *call, struct meeting *meeting)
{
    return call->kind == COLL_BARRIER ? vcoll_meeting_barrier(meeting)
                                      : reduce_small(call, meeting, coll_side_bytes(&call->receive));
}

bool vcoll_hall_run(const struct coll_call *call, int *error)
{
    struct coll_group *group = call->group;
    if (!suits(call))
        return false;
    if (unlikely(!group->hall)) {
        if (group->meetings == NONE)
            return false;
        if (open_hall(group)) {
            group->meetings = NONE;
            return false;
        }
    }
    struct coll_hall *hall = group->hall;
    if (call->kind == COLL_BCAST) { /* only the root knows the payload */
        *error = broadcast(call, &hall->meeting);
        return true;
    }
    uint64_t bytes = payload(call);
    enum coll_way way = coll_plan_way(&hall->plan, call->kind, bytes);
    if (way == COLL_DIRECT && !direct(hall))
        way = coll_plan_way(&hall->plan, call->kind, bytes);
    if (way == COLL_BLOCK)
        *error = run_block(call, &hall->meeting);
    else if (way == COLL_DIRECT)
        *error = vcoll_direct_run(call, &hall->meeting, hall->share);
    else if (way == COLL_DESK && annex(group))
        *error = vcoll_desk_run(call, &hall->meeting);
    else
        return false;
    return true;
}

/* All members but the first have left. */
static bool others_left(void *context)
{
    struct meeting *meeting = context;
    /* acquire: pairs with the release of each member that left */
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
        (void)vmsg_share_wait(hall->share, others_left, &hall->meeting);
    } else {
        /* release: this rank reads and writes nothing there any more */
        atomic_fetch_add_explicit(&hall->meeting.hall->left, 1, memory_order_release);
        vmsg_share_wake(hall->share, 0);
    }
    vmsg_share_close(hall->annex);
    vmsg_share_close(hall->share);
    free(hall);
}
