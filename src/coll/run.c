/* coll/run: the face of coll. Preparing, launching, waiting.
 *
 * Tags. A call takes its group's next sequence number when it is prepared, so members that prepare in the same order
 * agree on it, and that number modulo 2^30 is the tag of all its messages. A persistent schedule keeps its number: MPI
 * matches persistent collectives by the order of their initialization and lets them start in any order. Its starts
 * cannot mix: between two ranks, messages of one tag are matched in the order they were sent, and each start sends as
 * many as it receives. Starts after the first set bit 30, so that they never meet a later call whose number has come
 * round.
 *
 * In a group of some ranks of a context all 31 bits of the number are the caller's, and all starts have the same
 * tag. */
#include "coll/hall.h"
#include "coll/nodes.h"

static void (*const maker[COLL_KINDS])(struct coll_schedule *schedule) = {
    [COLL_BARRIER] = vcoll_make_barrier,
    [COLL_BCAST] = vcoll_make_bcast,
    [COLL_REDUCE] = vcoll_make_reduce,
    [COLL_ALLREDUCE] = vcoll_make_allreduce,
    [COLL_SCAN] = vcoll_make_scan,
    [COLL_EXSCAN] = vcoll_make_scan,
    [COLL_REDUCE_SCATTER] = vcoll_make_reduce_scatter,
    [COLL_REDUCE_SCATTER_BLOCK] = vcoll_make_reduce_scatter,
    [COLL_GATHER] = vcoll_make_gather,
    [COLL_GATHERV] = vcoll_make_gather,
    [COLL_SCATTER] = vcoll_make_scatter,
    [COLL_SCATTERV] = vcoll_make_scatter,
    [COLL_ALLGATHER] = vcoll_make_allgather,
    [COLL_ALLGATHERV] = vcoll_make_allgatherv,
    [COLL_ALLTOALL] = vcoll_make_alltoall,
    [COLL_ALLTOALLV] = vcoll_make_alltoall,
    [COLL_ALLTOALLW] = vcoll_make_alltoall,
};

static bool root_is_right(const struct coll_call *call)
{
    const struct coll_group *group = call->group;
    int ranks = !call->between ? group->size : group->rank < group->split ? group->size - group->split : group->split;
    return (unsigned)call->root < (unsigned)ranks ||
           (call->between && (call->root == COLL_ROOT_HERE || call->root == COLL_ROOT_BESIDE));
}

static uint32_t tag_next(struct coll_group *group)
{
    return group->sequence++ & (group->member ? INT32_MAX : SEQUENCE_MASK);
}

/* This rank has no memory for CALL: the others are told. */
static void withdraw(const struct coll_call *call, int tag)
{
    if (call->form == COLL_ANY || !vcoll_hall_withdraw(call))
        vcoll_withdraw(call->group, tag);
}

/* The number is taken first: a rank whose preparing fails stays in step with the others, which it tells. */
static int prepare(const struct coll_call *call, struct coll_schedule **out)
{
    int tag = (int)tag_next(call->group);
    if ((unsigned)call->kind >= COLL_KINDS || !root_is_right(call))
        return vbase_fail(ERR_ARGUMENT, "collective %d with root %d among %d ranks", call->kind, call->root,
                          call->group->size);
    struct coll_schedule *schedule = vcoll_schedule_new(call);
    if (!schedule) {
        withdraw(call, tag);
        return ERR_MEMORY;
    }
    schedule->tag = tag;
    struct coll_visit *visit = call->form == COLL_ANY ? NULL : vcoll_memory(schedule, sizeof *visit);
    int error = OK;
    if (visit && vcoll_hall_enter(&schedule->call, visit, true, &error)) {
        if (error) { /* of all members */
            vcoll_release(schedule);
            return error;
        }
        vcoll_visit(schedule, visit);
    } else if (!vcoll_make_across(schedule))
        (call->edges ? vcoll_make_neighborhood : call->between ? vcoll_make_between : maker[call->kind])(schedule);
    error = vcoll_schedule_seal(schedule);
    if (error) {
        vcoll_withdraw(call->group, tag);
        vcoll_release(schedule);
        return error;
    }
    *out = schedule;
    return OK;
}

int vcoll_prepare(const struct coll_call *call, struct coll_schedule **schedule)
{
    int error = prepare(call, schedule);
    if (!error)
        vcoll_schedule_keep(*schedule);
    return error;
}

int vcoll_refuse(const struct coll_call *call)
{
    withdraw(call, (int)tag_next(call->group));
    return vbase_fail(ERR_MEMORY, "this rank has no memory for its part of a collective");
}

int vcoll_launch(struct coll_schedule *schedule, void (*completed)(void *context, int error), void *context)
{
    /* acquire: the last run is over with all it wrote */
    uint32_t state = atomic_load_explicit(&schedule->state, memory_order_acquire);
    if (state == SCHEDULE_RUNNING)
        return vbase_fail(ERR_STATE, "the collective is still under way");
    if (state == SCHEDULE_DONE && !schedule->call.group->member)
        schedule->tag |= STARTED_AGAIN;
    schedule->completed = completed;
    schedule->context = context;
    vcoll_schedule_start(schedule);
    return OK;
}

bool vcoll_done(const struct coll_schedule *schedule)
{
    /* acquire: pairs with the release that ends a run, so results are seen */
    return atomic_load_explicit((_Atomic uint32_t *)&schedule->state, memory_order_acquire) == SCHEDULE_DONE;
}

int vcoll_error(const struct coll_schedule *schedule)
{
    return atomic_load_explicit((_Atomic int *)&schedule->error, memory_order_relaxed);
}

static bool is_done(void *schedule) { return vcoll_done(schedule); }
static int wait_for(struct coll_schedule *schedule)
{
    return vmsg_wait_collective(schedule->call.group->context, is_done, schedule);
}

int vcoll_abandon(struct coll_schedule *schedule, int cause)
{
    if (!vcoll_done(schedule))
        vcoll_schedule_stop(schedule, cause);
    if (!vcoll_done(schedule) && wait_for(schedule) && !vcoll_done(schedule))
        return cause;
    int error = vcoll_error(schedule);
    vcoll_release(schedule);
    return error;
}

int vcoll_run_by_messages(const struct coll_call *call)
{
    struct coll_schedule *schedule;
    int error = prepare(call, &schedule);
    if (error)
        return error;
    vcoll_schedule_start(schedule); /* a job that is lost ends the wait early */
    return vcoll_abandon(schedule, vcoll_done(schedule) ? OK : wait_for(schedule));
}

int vcoll_run(const struct coll_call *call)
{
    int error;
    return vcoll_hall_run(call, &error) ? error : vcoll_run_by_messages(call);
}
