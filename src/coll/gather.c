/* coll/gather: gather and its mirror image scatter, allgather, alltoall.
 *
 * Few members or large blocks: directly between root and member. Many small ones: over a tree, whose nodes hold the
 * packed blocks of their subtree in the order of the tree. In the v forms only the root knows the counts: directly. An
 * alltoall of tiny blocks in a larger group joins them (Bruck's algorithm): log n messages, where a block is forwarded
 * once for each bit of its distance. */
#include "coll/make.h"

#define STRAIGHT_MEMBERS 32 /* up to here the root exchanges with each member itself */

static bool tree_pays(const struct coll_schedule *schedule, uint64_t block)
{
    return schedule->size > STRAIGHT_MEMBERS && block <= COLL_SMALL_BLOCK;
}

static bool has_bytes(struct type_buffer buffer) { return type_buffer_bytes(&buffer) > 0; }

/* ---- straight ---- */

/* Between the root's SIDE and the OWN block of each member. */
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

void vcoll_piece_scatter(struct coll_schedule *schedule, int root, struct type_buffer own,
                         const struct coll_side *side)
{
    straight(schedule, root, own, side, false);
    vcoll_round(schedule);
}

/* ---- over a tree ---- */

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

/* Between the root's SIDE and the OWN block of each member. */
static void over_tree(struct coll_schedule *schedule, int root, struct type_buffer own, const struct coll_side *side,
                      uint64_t block, bool gathers)
{
    struct packing packing;
    pack_tree(schedule, &packing, root, block);
    const struct coll_tree *tree = &packing.tree;
    void (*with_child)(struct coll_schedule *, int, struct type_buffer) = gathers ? vcoll_receive : vcoll_send;
    void (*with_parent)(struct coll_schedule *, int, struct type_buffer) = gathers ? vcoll_send : vcoll_receive;
    for (int step = 0; step < 2; step++) {
        bool down = (step == 0) == gathers;
        for (int i = tree->children - 1; down && i >= 0; i--) /* the largest subtree first */
            with_child(schedule, coll_ring(schedule, tree->child[i], root),
                       packed(&packing, tree->child[i], tree->span[i]));
        if (down && own.base != COLL_IN_PLACE) {
            struct type_buffer place = packing.node ? packed(&packing, packing.node, 1) : coll_block(side, root);
            vcoll_copy(schedule, gathers ? own : place, gathers ? place : own);
        }
        if (!down && packing.node)
            with_parent(schedule, coll_ring(schedule, tree->parent, root),
                        packed(&packing, packing.node, tree->own_span));
        for (int node = 1; !down && packing.node == 0 && node < schedule->size; node++) {
            struct type_buffer travels = packed(&packing, node, 1),
                               block_of = coll_block(side, coll_ring(schedule, root, node));
            vcoll_copy(schedule, gathers ? travels : block_of, gathers ? block_of : travels);
        }
        vcoll_round(schedule);
    }
}

/* ---- the calls ---- */

static void gather(struct coll_schedule *schedule, int root, struct type_buffer own, const struct coll_side *side,
                   uint64_t block)
{
    if (block == 0)
        return;
    if (tree_pays(schedule, block))
        over_tree(schedule, root, own, side, block, true);
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
    if (call->kind == COLL_SCATTER && block && tree_pays(schedule, block))
        over_tree(schedule, call->root, coll_whole(&call->receive), &call->send, block, false);
    else if (call->kind == COLL_SCATTERV || block)
        straight(schedule, call->root, coll_whole(&call->receive), &call->send, false);
}

/* ---- allgather ---- */

/* Each member sends to each: OWN to all, or where it is NULL the blocks of FROM; what arrives goes to the blocks of TO.
 * FULL has all already and receives nothing. A window of partners at a time, the next neighbour first, so that the
 * messages do not all go to one rank. */
#define NO_RANK (-1)
static void exchange(struct coll_schedule *schedule, int full, const struct type_buffer *own,
                     const struct coll_side *from, const struct coll_side *to)
{
    for (int i = 1; i < schedule->size; i++) {
        int below = coll_ring(schedule, schedule->rank, -i), above = coll_ring(schedule, schedule->rank, i);
        struct type_buffer in = coll_block(to, below), out = own ? *own : coll_block(from, above);
        if (has_bytes(in) && schedule->rank != full)
            vcoll_receive(schedule, below, in);
        if (has_bytes(out) && above != full)
            vcoll_send(schedule, above, out);
        vcoll_window(schedule);
    }
}

void vcoll_piece_spread(struct coll_schedule *schedule, int full, const struct coll_side *side)
{
    struct type_buffer own = coll_block(side, schedule->rank);
    exchange(schedule, full, &own, NULL, side);
    vcoll_round(schedule);
}

void vcoll_piece_allgather(struct coll_schedule *schedule, struct type_buffer own, const struct coll_side *side)
{
    exchange(schedule, NO_RANK, &own, NULL, side);
    vcoll_copy(schedule, own, coll_block(side, schedule->rank));
    vcoll_round(schedule);
}

void vcoll_make_allgather(struct coll_schedule *schedule)
{
    const struct coll_side *side = &schedule->call.receive;
    uint64_t block = coll_side_bytes(side);
    struct type_buffer all = {side->base, side->count * (uint64_t)schedule->size, side->layout};
    if (block == 0)
        return;
    if (block > COLL_SMALL_BLOCK || schedule->size <= 2) {
        vcoll_piece_allgather(schedule, coll_own_block(&schedule->call), side);
        return;
    }
    gather(schedule, 0, coll_own_block(&schedule->call), side, block);
    vcoll_piece_cast(schedule, 0, all);
}

/* Memory for SIDE's blocks as they travel, one behind the other, but for that of SKIP. False: there is none. */
static bool packed_side(struct coll_schedule *schedule, const struct coll_side *side, int skip,
                        struct coll_side *packed)
{
    int size = schedule->size;
    int64_t *numbers = vcoll_memory(schedule, 2 * (uint64_t)size * sizeof *numbers), *place = numbers + size, total = 0;
    for (int i = 0; numbers && i < size; i++) {
        struct type_buffer block = coll_block(side, i);
        numbers[i] = i == skip ? 0 : (int64_t)type_buffer_bytes(&block);
        place[i] = total;
        total += numbers[i];
    }
    *packed =
        (struct coll_side){.base = vcoll_memory(schedule, (uint64_t)total), .counts = numbers, .displacements = place};
    return !schedule->failure;
}

/* Small blocks: packed on rank 0, handed out in one message, unpacked. */
static void allgatherv_packed(struct coll_schedule *schedule, uint64_t total)
{
    const struct coll_side *side = &schedule->call.receive;
    struct coll_side packed;
    if (!packed_side(schedule, side, -1, &packed))
        return;
    vcoll_piece_gather(schedule, 0, coll_own_block(&schedule->call), &packed);
    vcoll_piece_cast(schedule, 0, coll_bytes(packed.base, total));
    for (int i = 0; i < schedule->size; i++)
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
        vcoll_piece_allgather(schedule, coll_own_block(&schedule->call), side);
}

/* ---- alltoall ---- */

/* In place: what is sent is packed first, as the places are needed for what comes. */
static void directly_in_place(struct coll_schedule *schedule)
{
    const struct coll_side *side = &schedule->call.receive;
    struct coll_side packed;
    if (!packed_side(schedule, side, schedule->rank, &packed))
        return;
    for (int i = 0; i < schedule->size; i++)
        if (i != schedule->rank)
            vcoll_copy(schedule, coll_block(side, i), coll_block(&packed, i));
    exchange(schedule, NO_RANK, NULL, &packed, side);
}

#define COMPANY_BLOCK 64   /* bytes of a block that is joined with others ... */
#define COMPANY_MEMBERS 12 /* ... in groups from this size */

struct company {
    char *block;      /* [i]: first what goes to the rank i above, in the end what came from the rank i below */
    char *out, *in;   /* a round's messages */
    uint64_t bytes;   /* of a block */
};

/* Copies the blocks whose number has BIT set between their places and a message; returns the message's bytes. */
static uint64_t pick(struct coll_schedule *schedule, const struct company *company, int bit, char *message, bool into)
{
    uint64_t at = 0;
    for (int64_t i = bit; i < schedule->size; i += 2 * (int64_t)bit) {
        int64_t run = schedule->size - i < bit ? schedule->size - i : bit;
        struct type_buffer blocks = coll_bytes(company->block + (uint64_t)i * company->bytes,
                                               (uint64_t)run * company->bytes);
        struct type_buffer travelling = coll_bytes(message + at, blocks.count);
        vcoll_copy(schedule, into ? blocks : travelling, into ? travelling : blocks);
        at += blocks.count;
    }
    return at;
}

static void in_company(struct coll_schedule *schedule, const struct coll_side *from, uint64_t bytes)
{
    int rank = schedule->rank, size = schedule->size;
    uint64_t all = (uint64_t)size * bytes;
    struct company company = {vcoll_memory(schedule, all), vcoll_memory(schedule, all), vcoll_memory(schedule, all),
                              bytes};
    if (schedule->failure)
        return;
    for (int i = 1; i < size; i++)
        vcoll_copy(schedule, coll_block(from, coll_ring(schedule, rank, i)),
                   coll_bytes(company.block + (uint64_t)i * bytes, bytes));
    for (int64_t bit = 1; bit < size; bit *= 2) {
        uint64_t length = pick(schedule, &company, (int)bit, company.out, true);
        vcoll_receive(schedule, coll_ring(schedule, rank, -(int)bit), coll_bytes(company.in, length));
        vcoll_send(schedule, coll_ring(schedule, rank, (int)bit), coll_bytes(company.out, length));
        vcoll_round(schedule);
        pick(schedule, &company, (int)bit, company.in, false);
    }
    for (int i = 1; i < size; i++)
        vcoll_copy(schedule, coll_bytes(company.block + (uint64_t)i * bytes, bytes),
                   coll_block(&schedule->call.receive, coll_ring(schedule, rank, -i)));
}

void vcoll_make_alltoall(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    bool in_place = call->send.base == COLL_IN_PLACE;
    bool even = call->kind == COLL_ALLTOALL;
    uint64_t bytes = even ? coll_side_bytes(&call->receive) : 0;
    if (even && bytes == 0)
        return;
    if (even && bytes <= COMPANY_BLOCK && schedule->size >= COMPANY_MEMBERS)
        in_company(schedule, in_place ? &call->receive : &call->send, bytes);
    else if (in_place)
        directly_in_place(schedule);
    else
        exchange(schedule, NO_RANK, NULL, &call->send, &call->receive);
    if (!in_place)
        vcoll_copy(schedule, coll_block(&call->send, schedule->rank), coll_block(&call->receive, schedule->rank));
}
