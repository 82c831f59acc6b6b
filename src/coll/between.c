/* coll/between: the collectives of two groups (intercommunicators). What each group gives goes to the other one:
 * directly where every member gets something of its own; else over the first members of both, with the pieces of one
 * group on either side of the step between them. */
#include "coll/make.h"

/* From here on ranks are those of the own group. */
static void own_group_enter(struct coll_schedule *schedule)
{
    const struct coll_group *group = schedule->call.group;
    bool is_first = group->rank < group->split;
    schedule->first = is_first ? 0 : group->split;
    schedule->rank = group->rank - schedule->first;
    schedule->size = is_first ? group->split : group->size - group->split;
}

static int others(const struct coll_schedule *schedule) { return schedule->call.group->size - schedule->size; }

/* Member I of the other group, for vcoll_send and vcoll_receive. */
static int other(const struct coll_schedule *schedule, int i)
{
    return schedule->first ? i - schedule->first : i + schedule->size;
}

static bool has_bytes(struct type_buffer buffer) { return type_buffer_bytes(&buffer) > 0; }

/* ROOT: as the call has it. */
static void cast_rest(struct coll_schedule *schedule, int root, struct type_buffer buffer)
{
    if (root == COLL_ROOT_HERE) {
        vcoll_send(schedule, other(schedule, 0), buffer);
        return;
    }
    if (schedule->rank == 0)
        vcoll_receive(schedule, other(schedule, root), buffer);
    vcoll_round(schedule);
    vcoll_piece_cast(schedule, 0, buffer);
}

/* Its head and all of it go to the first member of the other group, which is the root of the others then. */
static void bcast_between(struct coll_schedule *schedule)
{
    int root = schedule->call.root;
    struct coll_headed *headed = vcoll_headed_new(schedule, root, coll_whole(&schedule->call.receive), cast_rest);
    if (!headed)
        return;
    if (root == COLL_ROOT_HERE)
        vcoll_headed_child(schedule, headed, other(schedule, 0));
    else
        vcoll_headed_tree(schedule, headed, 0);
    if (root != COLL_ROOT_HERE && schedule->rank == 0)
        vcoll_headed_parent(schedule, headed, other(schedule, root));
    vcoll_headed_make(schedule, headed);
}

/* Between the root's SIDE and the OWN block of each member of the other group. */
static void with_root(struct coll_schedule *schedule, struct type_buffer own, const struct coll_side *side,
                      bool gathers)
{
    bool is_root = schedule->call.root == COLL_ROOT_HERE;
    void (*move)(struct coll_schedule *, int, struct type_buffer) = is_root == gathers ? vcoll_receive : vcoll_send;
    if (!is_root && has_bytes(own))
        move(schedule, other(schedule, schedule->call.root), own);
    for (int i = 0; is_root && i < others(schedule); i++) {
        struct type_buffer block = coll_block(side, i);
        if (has_bytes(block))
            move(schedule, other(schedule, i), block);
        vcoll_window(schedule);
    }
}
static void gather_between(struct coll_schedule *schedule)
{
    with_root(schedule, coll_whole(&schedule->call.send), &schedule->call.receive, true);
}
static void scatter_between(struct coll_schedule *schedule)
{
    with_root(schedule, coll_whole(&schedule->call.receive), &schedule->call.send, false);
}

/* Each member with each of the others: in step t those whose ranks add up to t, so both take their partners in one
 * order, and no circle of members waits for each other. */
static void exchange_between(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    bool gathers = call->kind == COLL_ALLGATHER || call->kind == COLL_ALLGATHERV;
    int count = others(schedule), steps = count > schedule->size ? count : schedule->size;
    for (int t = 0; t < steps; t++) {
        int i = (t - schedule->rank + steps) % steps;
        if (i >= count)
            continue;
        struct type_buffer in = coll_block(&call->receive, i),
                           out = gathers ? coll_whole(&call->send) : coll_block(&call->send, i);
        if (has_bytes(in))
            vcoll_receive(schedule, other(schedule, i), in);
        if (has_bytes(out))
            vcoll_send(schedule, other(schedule, i), out);
        vcoll_window(schedule);
    }
}

/* ---- reductions: the sum of a group is made at its first member ---- */

/* RESULT: where the other group's sum goes, at the first member. */
static void sums_exchange(struct coll_schedule *schedule, void *result, uint64_t count)
{
    bool is_first = schedule->rank == 0;
    void *sum = is_first ? vcoll_elements(schedule, count) : NULL;
    vcoll_piece_reduce(schedule, 0, schedule->call.send.base, sum, count);
    if (is_first) {
        vcoll_receive(schedule, other(schedule, 0), coll_part(schedule, result, 0, count));
        vcoll_send(schedule, other(schedule, 0), coll_part(schedule, sum, 0, count));
    }
    vcoll_round(schedule);
}

static void reduce_between(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    uint64_t count = call->receive.count;
    if (count && call->root == COLL_ROOT_HERE) {
        vcoll_receive(schedule, other(schedule, 0), coll_whole(&call->receive));
    } else if (count) {
        void *sum = schedule->rank == 0 ? vcoll_elements(schedule, count) : NULL;
        vcoll_piece_reduce(schedule, 0, call->send.base, sum, count);
        if (schedule->rank == 0)
            vcoll_send(schedule, other(schedule, call->root), coll_part(schedule, sum, 0, count));
    }
}

static void allreduce_between(struct coll_schedule *schedule)
{
    const struct coll_side *receive = &schedule->call.receive;
    if (receive->count == 0)
        return;
    sums_exchange(schedule, receive->base, receive->count);
    vcoll_piece_cast(schedule, 0, coll_whole(receive));
}

static void reduce_scatter_between(struct coll_schedule *schedule)
{
    struct coll_side side = schedule->call.receive;
    int64_t *place = vcoll_memory(schedule, (uint64_t)schedule->size * sizeof *place), total = 0;
    for (int i = 0; place && i < schedule->size; i++) {
        place[i] = total;
        total += side.counts ? side.counts[i] : (int64_t)side.count;
    }
    if (!place || total == 0)
        return;
    struct type_buffer mine = {side.base, side.counts ? (uint64_t)side.counts[schedule->rank] : side.count,
                               side.layout};
    side.displacements = place;
    side.base = schedule->rank == 0 ? vcoll_elements(schedule, (uint64_t)total) : NULL;
    sums_exchange(schedule, side.base, (uint64_t)total);
    vcoll_piece_scatter(schedule, 0, mine, &side);
}

void vcoll_make_between(struct coll_schedule *schedule)
{
    static void (*const maker[COLL_KINDS])(struct coll_schedule *schedule) = {
        [COLL_BCAST] = bcast_between,
        [COLL_REDUCE] = reduce_between,
        [COLL_ALLREDUCE] = allreduce_between,
        [COLL_REDUCE_SCATTER] = reduce_scatter_between,
        [COLL_REDUCE_SCATTER_BLOCK] = reduce_scatter_between,
        [COLL_GATHER] = gather_between,
        [COLL_GATHERV] = gather_between,
        [COLL_SCATTER] = scatter_between,
        [COLL_SCATTERV] = scatter_between,
        [COLL_ALLGATHER] = exchange_between,
        [COLL_ALLGATHERV] = exchange_between,
        [COLL_ALLTOALL] = exchange_between,
        [COLL_ALLTOALLV] = exchange_between,
        [COLL_ALLTOALLW] = exchange_between,
    };
    own_group_enter(schedule);
    if (!maker[schedule->call.kind])
        schedule->failure = vbase_fail(ERR_UNSUPPORTED, "collective %d between two groups", schedule->call.kind);
    else if (schedule->call.root != COLL_ROOT_BESIDE)
        maker[schedule->call.kind](schedule);
}
