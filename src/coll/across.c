/* coll/across: collectives of a group on several nodes. Between nodes each byte goes once for each node, and no more
 * messages than nodes need. In one of two ways:
 *
 *   masters   on each node to one rank, its master; the masters among themselves; from each master to its node
 *   slices    on each node each rank is given a slice (of a sum: all add up theirs); then it exchanges with its likes,
 *             the ranks with the same slice on the other nodes, so that all processors and cards work; then all
 *             slices go to all on each node
 *
 * Allgather and alltoall are in across_all.c. Where there is a root, it is the master of its node. Each way is some
 * schedules in one: a scope (vcoll_scope) says among which ranks the next pieces are. */
#include "coll/make.h"
#include "coll/nodes.h"

#define NO_ROOT (-1)

static const struct coll_nodes *nodes_of(const struct coll_schedule *schedule) { return schedule->call.group->nodes; }

/* ---- scopes ---- */

void vcoll_enter_node(struct coll_schedule *schedule)
{
    const struct coll_nodes *nodes = nodes_of(schedule);
    const int *begin = &nodes->begin[nodes->own];
    vcoll_scope(schedule, nodes->member + begin[0], nodes->place[schedule->call.group->rank], begin[1] - begin[0]);
}

void vcoll_enter_likes(struct coll_schedule *schedule)
{
    const struct coll_nodes *nodes = nodes_of(schedule);
    vcoll_scope(schedule, nodes->like, nodes->own, nodes->count);
}

void vcoll_enter_all(struct coll_schedule *schedule)
{
    const struct coll_group *group = schedule->call.group;
    vcoll_scope(schedule, NULL, group->rank, group->size);
}

/* The place on the own node of its master. */
static int master_place(const struct coll_schedule *schedule, int root)
{
    const struct coll_nodes *nodes = nodes_of(schedule);
    return root != NO_ROOT && nodes->node[root] == nodes->own ? nodes->place[root] : 0;
}

/* False: this rank is none. */
static bool enter_masters(struct coll_schedule *schedule, int root)
{
    const struct coll_nodes *nodes = nodes_of(schedule);
    const int *master = nodes->master;
    if (nodes->place[schedule->call.group->rank] != master_place(schedule, root))
        return false;
    if (root != NO_ROOT && nodes->place[root]) {
        int *with_root = vcoll_memory(schedule, (uint64_t)nodes->count * sizeof *with_root);
        if (!with_root)
            return false;
        memcpy(with_root, master, (size_t)nodes->count * sizeof *with_root);
        with_root[nodes->node[root]] = root;
        master = with_root;
    }
    vcoll_scope(schedule, master, nodes->own, nodes->count);
    return true;
}

/* ---- masters ---- */

/* Among masters over a tree of two: no node sends more than log2 n frames, and each waits twice, where a dissemination
 * waits log2 n times. */
static void barrier_by_masters(struct coll_schedule *schedule)
{
    vcoll_enter_node(schedule);
    vcoll_piece_arrive(schedule, RADIX_OF_BARRIER);
    vcoll_round(schedule);
    if (enter_masters(schedule, NO_ROOT)) {
        vcoll_piece_arrive(schedule, 2);
        vcoll_piece_leave(schedule, 2);
    }
    vcoll_enter_node(schedule);
    vcoll_piece_leave(schedule, RADIX_OF_BARRIER);
}

static void cast_by_masters(struct coll_schedule *schedule, int root, struct type_buffer buffer)
{
    if (enter_masters(schedule, root))
        vcoll_piece_cast(schedule, nodes_of(schedule)->node[root], buffer);
    vcoll_enter_node(schedule);
    if (schedule->size > 1)
        vcoll_piece_cast(schedule, master_place(schedule, root), buffer);
}

static void reduce_by_masters(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    int root = call->root, master = master_place(schedule, root);
    uint64_t count = call->receive.count;
    vcoll_enter_node(schedule);
    void *sum = schedule->rank == master ? vcoll_elements(schedule, count) : NULL;
    vcoll_piece_reduce(schedule, master, coll_own_base(call), sum, count);
    if (enter_masters(schedule, root))
        vcoll_piece_reduce(schedule, nodes_of(schedule)->node[root], sum, call->receive.base, count);
}

static void allreduce_by_masters(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    void *result = call->receive.base;
    uint64_t count = call->receive.count;
    vcoll_enter_node(schedule);
    vcoll_piece_reduce(schedule, 0, coll_own_base(call), result, count);
    if (enter_masters(schedule, NO_ROOT))
        vcoll_piece_sum(schedule, 0, result, count);
    vcoll_enter_node(schedule);
    if (schedule->size > 1)
        vcoll_piece_cast(schedule, 0, coll_whole(&call->receive));
}

/* ---- slices ---- */

static void cast_by_slices(struct coll_schedule *schedule, int root, struct type_buffer buffer)
{
    const struct coll_nodes *nodes = nodes_of(schedule);
    bool mine = schedule->call.group->rank == root, here = nodes->node[root] == nodes->own;
    struct coll_side slices;
    vcoll_enter_node(schedule);
    if (!vcoll_cast_cut(schedule, mine, buffer, &slices))
        return;
    struct type_buffer own = coll_block(&slices, schedule->rank), there = {.base = COLL_IN_PLACE};
    if (here)
        vcoll_piece_scatter(schedule, nodes->place[root], mine ? there : own, &slices);
    vcoll_enter_likes(schedule);
    vcoll_piece_cast(schedule, nodes->node[root], own);
    vcoll_enter_node(schedule);
    vcoll_piece_spread(schedule, here ? nodes->place[root] : NO_ROOT, &slices);
    vcoll_cast_join(schedule, mine, buffer, &slices);
}

static void reduce_by_slices(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    const struct coll_nodes *nodes = nodes_of(schedule);
    int root = call->root;
    struct coll_side slices;
    struct type_buffer own;
    vcoll_enter_node(schedule);
    void *result = call->group->rank == root ? call->receive.base : COLL_ELSEWHERE;
    if (!vcoll_piece_slices(schedule, coll_own_base(call), result, call->receive.count, &slices, &own))
        return;
    vcoll_enter_likes(schedule);
    vcoll_piece_reduce(schedule, nodes->node[root], own.base, own.base, own.count);
    vcoll_enter_node(schedule);
    if (nodes->node[root] == nodes->own)
        vcoll_piece_gather(schedule, nodes->place[root], own, &slices);
}

static void allreduce_by_slices(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    struct coll_side slices;
    struct type_buffer own;
    vcoll_enter_node(schedule);
    int slice = schedule->rank;
    if (!vcoll_piece_slices(schedule, coll_own_base(call), call->receive.base, call->receive.count, &slices, &own))
        return;
    vcoll_enter_likes(schedule);
    vcoll_piece_sum(schedule, slice % schedule->size, own.base, own.count); /* no card serves the roots of all */
    vcoll_enter_node(schedule);
    vcoll_piece_spread(schedule, NO_ROOT, &slices);
}

/* ---- the calls ---- */

/* All know the length. */
static void cast_rest(struct coll_schedule *schedule, int root, struct type_buffer buffer)
{
    enum coll_way way = coll_plan_way(nodes_of(schedule)->plan, COLL_BCAST, type_buffer_bytes(&buffer));
    (way == COLL_SLICES ? cast_by_slices : cast_by_masters)(schedule, root, buffer);
}

/* Its head goes to the masters, and from each to its node. */
static void bcast(struct coll_schedule *schedule)
{
    int root = schedule->call.root;
    struct coll_headed *headed = vcoll_headed_new(schedule, root, coll_whole(&schedule->call.receive), cast_rest);
    if (!headed)
        return;
    if (enter_masters(schedule, root))
        vcoll_headed_tree(schedule, headed, nodes_of(schedule)->node[root]);
    vcoll_enter_node(schedule);
    vcoll_headed_tree(schedule, headed, master_place(schedule, root));
    vcoll_headed_make(schedule, headed);
}

static enum coll_way way_of(const struct coll_call *call)
{
    const struct coll_nodes *nodes = call->group->nodes;
    uint64_t bytes = coll_side_bytes(&call->receive);
    bool sums = call->kind == COLL_REDUCE || call->kind == COLL_ALLREDUCE;
    enum coll_way way = coll_plan_way(nodes->plan, call->kind, call->kind == COLL_BARRIER ? 0 : bytes);
    if (sums && !call->reduction.commutative)
        way = way == COLL_MESSAGE || !nodes->ordered ? COLL_MESSAGE : COLL_MASTERS;
    /* each rank of a node has a slice */
    bool cuts = sums || call->kind == COLL_BCAST;
    return cuts && way == COLL_SLICES && call->receive.count < (uint64_t)nodes->begin[1] ? COLL_MASTERS : way;
}

static bool is_empty(const struct coll_call *call)
{
    return call->kind != COLL_BARRIER && call->kind != COLL_BCAST && coll_side_bytes(&call->receive) == 0;
}

bool vcoll_make_across(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    if (likely(!call->group->nodes) || call->edges || call->between)
        return false;
    enum coll_way way = way_of(call);
    if (way == COLL_MESSAGE || is_empty(call))
        return false;
    static void (*const maker[COLL_KINDS][2])(struct coll_schedule *schedule) = {
        [COLL_BARRIER] = {barrier_by_masters},
        [COLL_BCAST] = {bcast, bcast},
        [COLL_REDUCE] = {reduce_by_masters, reduce_by_slices},
        [COLL_ALLREDUCE] = {allreduce_by_masters, allreduce_by_slices},
        [COLL_ALLGATHER] = {vcoll_allgather_by_masters, vcoll_allgather_by_slices},
        [COLL_ALLTOALL] = {NULL, vcoll_alltoall_by_slices},
    };
    maker[call->kind][way == COLL_SLICES](schedule);
    return true;
}
