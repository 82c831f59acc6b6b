/* coll/tree: parents and children, and what needs nothing but such a tree: barrier and broadcast. A broadcast begins
 * with its head, see head.c. */
#include "coll/make.h"

void vcoll_tree(struct coll_tree *tree, int node, int nodes, int radix)
{
    tree->parent = -1;
    tree->children = 0;
    tree->own_span = nodes - node;
    for (int64_t weight = 1; weight < nodes; weight *= radix) {
        int digit = (int)(node / weight % radix);
        if (digit) {
            tree->parent = node - (int)(digit * weight);
            if (tree->own_span > weight)
                tree->own_span = (int)weight;
            return;
        }
        for (int j = 1; j < radix && node + j * weight < nodes; j++) {
            int child = node + (int)(j * weight), rest = nodes - child;
            tree->child[tree->children] = child;
            tree->span[tree->children++] = rest < weight ? rest : (int)weight;
        }
    }
}

/* ---- barrier ---- */

static const struct type_buffer nothing = {NULL, 0, NULL};

/* Does not end its last round. */
void vcoll_piece_arrive(struct coll_schedule *schedule, int radix)
{
    struct coll_tree tree;
    vcoll_tree(&tree, schedule->rank, schedule->size, radix);
    for (int i = 0; i < tree.children; i++)
        vcoll_receive(schedule, tree.child[i], nothing);
    vcoll_round(schedule);
    if (tree.parent >= 0)
        vcoll_send(schedule, tree.parent, nothing);
}

void vcoll_piece_leave(struct coll_schedule *schedule, int radix)
{
    struct coll_tree tree;
    vcoll_tree(&tree, schedule->rank, schedule->size, radix);
    if (tree.parent >= 0)
        vcoll_receive(schedule, tree.parent, nothing);
    vcoll_round(schedule);
    while (tree.children--)
        vcoll_send(schedule, tree.child[tree.children], nothing);
    vcoll_round(schedule);
}

/* Up a flat tree and down again: 2(n-1) messages. Two ranks just exchange. */
void vcoll_make_barrier(struct coll_schedule *schedule)
{
    if (schedule->size == 2) {
        vcoll_receive(schedule, !schedule->rank, nothing);
        vcoll_send(schedule, !schedule->rank, nothing);
        return;
    }
    vcoll_piece_arrive(schedule, RADIX_OF_BARRIER);
    vcoll_piece_leave(schedule, RADIX_OF_BARRIER);
}

/* ---- broadcast: over a tree; the pieces of large ones by each member to all others ---- */

/* Pieces of at least this size are worth a message to each member. */
#define PIECE 131072

static void over_tree(struct coll_schedule *schedule, int root, struct type_buffer buffer)
{
    struct coll_tree tree;
    vcoll_tree(&tree, coll_ring(schedule, schedule->rank, -root), schedule->size,
               coll_radix(type_buffer_bytes(&buffer)));
    if (tree.parent >= 0) {
        vcoll_receive(schedule, coll_ring(schedule, tree.parent, root), buffer);
        vcoll_round(schedule);
    }
    while (tree.children--) /* the largest subtree first */
        vcoll_send(schedule, coll_ring(schedule, tree.child[tree.children], root), buffer);
    vcoll_round(schedule);
}

/* Cut at cache lines. */
bool vcoll_cast_cut(struct coll_schedule *schedule, bool root, struct type_buffer buffer, struct coll_side *pieces)
{
    uint64_t bytes = type_buffer_bytes(&buffer), size = (uint64_t)schedule->size;
    uint64_t each = (bytes / size + CACHE_LINE) & ~(uint64_t)(CACHE_LINE - 1);
    bool direct = type_buffer_contiguous(&buffer);
    void *packed = direct ? buffer.base : vcoll_memory(schedule, bytes);
    int64_t *counts = vcoll_memory(schedule, 2 * size * sizeof *counts), *place = counts + size;
    if (schedule->failure)
        return false;
    for (uint64_t i = 0; i < size; i++) {
        uint64_t first = each * i < bytes ? each * i : bytes;
        place[i] = (int64_t)first;
        counts[i] = (int64_t)(bytes - first < each ? bytes - first : each);
    }
    if (!direct && root)
        vcoll_copy(schedule, buffer, coll_bytes(packed, bytes));
    *pieces = (struct coll_side){.base = packed, .counts = counts, .displacements = place};
    return true;
}

void vcoll_cast_join(struct coll_schedule *schedule, bool root, struct type_buffer buffer,
                     const struct coll_side *pieces)
{
    if (!type_buffer_contiguous(&buffer) && !root)
        vcoll_copy(schedule, coll_bytes(pieces->base, type_buffer_bytes(&buffer)), buffer);
    vcoll_round(schedule);
}

/* A piece for each rank. */
static void in_pieces(struct coll_schedule *schedule, int root, struct type_buffer buffer)
{
    bool mine = schedule->rank == root;
    struct coll_side pieces;
    if (!vcoll_cast_cut(schedule, mine, buffer, &pieces))
        return;
    struct type_buffer own = coll_block(&pieces, schedule->rank), there = {.base = COLL_IN_PLACE};
    vcoll_piece_scatter(schedule, root, mine ? there : own, &pieces);
    vcoll_piece_spread(schedule, root, &pieces);
    vcoll_cast_join(schedule, mine, buffer, &pieces);
}

void vcoll_piece_cast(struct coll_schedule *schedule, int root, struct type_buffer buffer)
{
    uint64_t bytes = type_buffer_bytes(&buffer);
    if (schedule->size > 2 && bytes / PIECE >= (uint64_t)schedule->size)
        in_pieces(schedule, root, buffer);
    else if (bytes)
        over_tree(schedule, root, buffer);
}

void vcoll_make_bcast(struct coll_schedule *schedule)
{
    int root = schedule->call.root;
    struct coll_headed *headed =
        schedule->size > 1 ? vcoll_headed_new(schedule, root, coll_whole(&schedule->call.receive), vcoll_piece_cast)
                           : NULL;
    if (!headed)
        return;
    vcoll_headed_tree(schedule, headed, root);
    vcoll_headed_make(schedule, headed);
}
