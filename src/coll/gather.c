/* coll/gather: gather and scatter, which are each other's mirror image, and allgather.
 *
 * Few members or large blocks: straight between root and member. Many small ones: over a tree, whose nodes hold the
 * packed blocks of their subtree in the order of the tree. In the v forms only the root knows the counts: straight. */
#include "coll/make.h"

#define STRAIGHT_MEMBERS 32 /* up to here the root serves everyone himself */

static bool over_tree(const struct coll_schedule *schedule, uint64_t block)
{
    return schedule->size > STRAIGHT_MEMBERS && block <= COLL_SMALL_BLOCK;
}

static bool has_bytes(struct type_buffer buffer) { return type_buffer_bytes(&buffer) > 0; }

/* ---- straight ------------------------------------------------------------------------------------------------------ */

/* Between the root, who has SIDE, and everyone's OWN block. */
static void straight(struct coll_schedule *schedule, int root, struct type_buffer own, const struct coll_side *side,
                     bool gathers)
{
    bool is_root = schedule->rank == root;
    void (*move)(struct coll_schedule *, int, struct type_buffer) = is_root == gathers ? vcoll_receive : vcoll_send;
    if (!is_root && has_bytes(own))
        move(schedule, root, own);
    for (int i = 1; is_root && i < schedule->size; i++) {
        int other = coll_ring(schedule, root, i);
        struct type_buffer block = coll_block(side, other);
        if (has_bytes(block))
            move(schedule, other, block);
        vcoll_window(schedule);
    }
    if (is_root && own.base != COLL_IN_PLACE)
        vcoll_copy(schedule, gathers ? own : coll_block(side, root), gathers ? coll_block(side, root) : own);
}

void vcoll_piece_gather(struct coll_schedule *schedule, int root, struct type_buffer own, const struct coll_side *side)
{
    straight(schedule, root, own, side, true);
    vcoll_round(schedule);
}

/* ---- over a tree --------------------------------------------------------------------------------------------------- */

struct packing { /* of the blocks of a node's subtree: its own first, then those of its children's subtrees */
    struct coll_tree tree;
    int root, node;
    uint64_t block;
    char *memory;
};

static void pack_tree(struct coll_schedule *schedule, struct packing *packing, int root, uint64_t block)
{
    packing->root = root;
    packing->node = coll_ring(schedule, schedule->rank, -root);
    packing->block = block;
    vcoll_tree(&packing->tree, packing->node, schedule->size, coll_radix(block));
    packing->memory = vcoll_memory(schedule, (uint64_t)packing->tree.own_span * block);
}

static struct type_buffer packed(const struct packing *packing, int node, int nodes)
{
    return coll_bytes(packing->memory + (uint64_t)(node - packing->node) * packing->block,
                      (uint64_t)nodes * packing->block);
}

static void gather_tree(struct coll_schedule *schedule, int root, struct type_buffer own, const struct coll_side *side,
                        uint64_t block)
{
    struct packing packing;
    pack_tree(schedule, &packing, root, block);
    const struct coll_tree *tree = &packing.tree;
    for (int i = 0; i < tree->children; i++)
        vcoll_receive(schedule, coll_ring(schedule, tree->child[i], root),
                      packed(&packing, tree->child[i], tree->span[i]));
    if (own.base != COLL_IN_PLACE)
        vcoll_copy(schedule, own, packing.node ? packed(&packing, packing.node, 1) : coll_block(side, root));
    vcoll_round(schedule);
    if (packing.node)
        vcoll_send(schedule, coll_ring(schedule, tree->parent, root),
                   packed(&packing, packing.node, tree->own_span));
    for (int node = 1; packing.node == 0 && node < schedule->size; node++)
        vcoll_copy(schedule, packed(&packing, node, 1), coll_block(side, coll_ring(schedule, root, node)));
    vcoll_round(schedule);
}

static void scatter_tree(struct coll_schedule *schedule, int root, const struct coll_side *side,
                         struct type_buffer own, uint64_t block)
{
    struct packing packing;
    pack_tree(schedule, &packing, root, block);
    const struct coll_tree *tree = &packing.tree;
    for (int node = 1; packing.node == 0 && node < schedule->size; node++)
        vcoll_copy(schedule, coll_block(side, coll_ring(schedule, root, node)), packed(&packing, node, 1));
    if (packing.node) {
        vcoll_receive(schedule, coll_ring(schedule, tree->parent, root),
                      packed(&packing, packing.node, tree->own_span));
        vcoll_round(schedule);
    }
    for (int i = tree->children - 1; i >= 0; i--)
        vcoll_send(schedule, coll_ring(schedule, tree->child[i], root),
                   packed(&packing, tree->child[i], tree->span[i]));
    if (own.base != COLL_IN_PLACE)
        vcoll_copy(schedule, packing.node ? packed(&packing, packing.node, 1) : coll_block(side, root), own);
}

/* ---- the calls ----------------------------------------------------------------------------------------------------- */

static void gather(struct coll_schedule *schedule, int root, struct type_buffer own, const struct coll_side *side,
                   uint64_t block)
{
    if (block == 0)
        return;
    if (over_tree(schedule, block))
        gather_tree(schedule, root, own, side, block);
    else
        vcoll_piece_gather(schedule, root, own, side);
}

void vcoll_make_gather(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    uint64_t block = coll_side_bytes(schedule->rank == call->root ? &call->receive : &call->send);
    if (call->kind == COLL_GATHERV)
        vcoll_piece_gather(schedule, call->root, coll_whole(&call->send), &call->receive);
    else
        gather(schedule, call->root, coll_whole(&call->send), &call->receive, block);
}

void vcoll_make_scatter(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    uint64_t block = coll_side_bytes(schedule->rank == call->root ? &call->send : &call->receive);
    if (call->kind == COLL_SCATTER && block && over_tree(schedule, block))
        scatter_tree(schedule, call->root, &call->send, coll_whole(&call->receive), block);
    else if (call->kind == COLL_SCATTERV || block)
        straight(schedule, call->root, coll_whole(&call->receive), &call->send, false);
}

/* ---- allgather ----------------------------------------------------------------------------------------------------- */

void vcoll_piece_allgather(struct coll_schedule *schedule, struct type_buffer own, const struct coll_side *side)
{
    for (int i = 1; i < schedule->size; i++) {
        int to = coll_ring(schedule, schedule->rank, i), from = coll_ring(schedule, schedule->rank, -i);
        struct type_buffer block = coll_block(side, from);
        if (has_bytes(block))
            vcoll_receive(schedule, from, block);
        if (has_bytes(own))
            vcoll_send(schedule, to, own);
        vcoll_window(schedule);
    }
    vcoll_copy(schedule, own, coll_block(side, schedule->rank));
    vcoll_round(schedule);
}

/* What this rank gives: what it passed, or what lies in its place. */
static struct type_buffer own_block(const struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    return call->send.base == COLL_IN_PLACE ? coll_block(&call->receive, schedule->rank) : coll_whole(&call->send);
}

void vcoll_make_allgather(struct coll_schedule *schedule)
{
    const struct coll_side *side = &schedule->call.receive;
    uint64_t block = coll_side_bytes(side);
    struct type_buffer all = {side->base, side->count * (uint64_t)schedule->size, side->layout};
    if (block == 0)
        return;
    if (block > COLL_SMALL_BLOCK || schedule->size <= 2) {
        vcoll_piece_allgather(schedule, own_block(schedule), side);
        return;
    }
    gather(schedule, 0, own_block(schedule), side, block);
    vcoll_piece_bcast(schedule, 0, all);
}

/* Small blocks: packed on rank 0, handed out in one message, unpacked. PLACE[i]: where block i lies when packed. */
static void allgatherv_packed(struct coll_schedule *schedule, uint64_t total)
{
    const struct coll_side *side = &schedule->call.receive;
    int size = schedule->size;
    uint64_t element = side->layout ? side->layout->shape.size : 1;
    int64_t *numbers = vcoll_memory(schedule, 2 * (uint64_t)size * sizeof *numbers), *place = numbers + size;
    char *memory = vcoll_memory(schedule, total);
    if (schedule->failure)
        return;
    for (int i = 0; i < size; i++) {
        numbers[i] = side->counts[i] * (int64_t)element;
        place[i] = i ? place[i - 1] + numbers[i - 1] : 0;
    }
    struct coll_side packed = {.base = memory, .counts = numbers, .displacements = place};
    vcoll_piece_gather(schedule, 0, own_block(schedule), &packed);
    vcoll_piece_bcast(schedule, 0, coll_bytes(memory, total));
    for (int i = 0; i < size; i++)
        if (i != schedule->rank || schedule->call.send.base != COLL_IN_PLACE)
            vcoll_copy(schedule, coll_block(&packed, i), coll_block(side, i));
}

void vcoll_make_allgatherv(struct coll_schedule *schedule)
{
    const struct coll_side *side = &schedule->call.receive;
    uint64_t total = 0;
    for (int i = 0; i < schedule->size; i++) {
        struct type_buffer block = coll_block(side, i);
        total += type_buffer_bytes(&block);
    }
    if (total == 0)
        return;
    if (schedule->size > 2 && total <= COLL_SMALL_BLOCK * (uint64_t)schedule->size)
        allgatherv_packed(schedule, total);
    else
        vcoll_piece_allgather(schedule, own_block(schedule), side);
}
