/* coll/reduce: reduce, allreduce, reduce_scatter, scan and exscan.
 *
 * Order: over a tree operands meet in rank order (starting at the root if the operation is commutative), always with
 * the same brackets for one size of group. Each element of a result is computed on one rank and then handed out, so all
 * ranks see the same bits. Two ranks alone exchange and compute twice, with the same operands in the same places. */
#include "coll/make.h"

/* A node takes its children's values all at once as long as they need no more memory than this. */
#define TOGETHER 65536

static uint64_t bytes_of(const struct coll_schedule *schedule, uint64_t count)
{
    const struct type_layout *layout = schedule->call.receive.layout;
    return layout ? count * layout->shape.size : count;
}

static struct type_buffer part(const struct coll_schedule *schedule, const void *base, uint64_t count)
{
    return coll_part(schedule, base, 0, count);
}

static bool in_place(const struct coll_schedule *schedule) { return schedule->call.send.base == COLL_IN_PLACE; }

static const void *own_value(const struct coll_schedule *schedule) { return coll_own_base(&schedule->call); }

/* ---- over a tree ---- */

/* OWN OP child OP child ..., where each value lands in a buffer of its own and takes the sum so far. The last may land
 * in LAST (NULL: nowhere special). Returns where the sum is. */
static const void *collect(struct coll_schedule *schedule, const struct coll_tree *tree, int top, const void *own,
                           void *last, uint64_t count)
{
    bool together = bytes_of(schedule, count) * (uint64_t)tree->children <= TOGETHER;
    void *landing[ARRAY_LENGTH(tree->child)];
    const void *sum = own;
    for (int i = 0, done = 0; i < tree->children; i++) {
        bool final = i == tree->children - 1;
        landing[i] = final && last ? last : !together && i >= 2 ? landing[i - 2] : vcoll_elements(schedule, count);
        vcoll_receive(schedule, coll_ring(schedule, tree->child[i], top), part(schedule, landing[i], count));
        if (together && !final)
            continue;
        vcoll_round(schedule);
        for (; done <= i; done++) {
            vcoll_reduce(schedule, sum, landing[done], count);
            sum = landing[done];
        }
    }
    return sum;
}

/* See vcoll_piece_reduce. */
static void reduce_over_tree(struct coll_schedule *schedule, int root, const void *own, void *result, uint64_t count)
{
    int rank = schedule->rank, top = schedule->call.reduction.commutative ? root : 0;
    struct coll_tree tree;
    vcoll_tree(&tree, coll_ring(schedule, rank, -top), schedule->size, coll_radix(bytes_of(schedule, count)));
    void *last = rank == root && rank == top && result != own ? result : NULL;
    const void *sum = collect(schedule, &tree, top, own, last, count);
    if (tree.parent >= 0)
        vcoll_send(schedule, coll_ring(schedule, tree.parent, top), part(schedule, sum, count));
    vcoll_round(schedule);
    if (rank == top && rank != root)
        vcoll_send(schedule, root, part(schedule, sum, count));
    if (rank == root && rank != top)
        vcoll_receive(schedule, top, part(schedule, result, count));
    if (rank == root && rank == top && sum != result)
        vcoll_copy(schedule, part(schedule, sum, count), part(schedule, result, count));
    vcoll_round(schedule);
}

/* ---- cut into pieces ---- */

#define PIECE 8192  /* bytes of a piece that is worth a message of its own */
#define CHUNK 65536 /* a piece travels in chunks of this size, so that sums find them in the cache */
#define ABREAST 4   /* chunks that travel to one rank at once */

/* The exchange of parts of all pieces. Item k is chunk k / (size - 1) of the pieces that are exchanged at distance
 * k % (size - 1) + 1; all ranks go through the items in the same order, so no circle of ranks waits for each other. */
struct pieces {
    const void *input;
    const uint64_t *first; /* rank i's piece is elements first[i] to first[i + 1] of INPUT */
    void *sum;             /* of the own piece; holds the own value at first */
    void *landing;         /* 2 * ABREAST chunks: while one handful arrives the one before is summed */
    uint64_t chunk, items; /* elements in a chunk; items in all */
};

/* The part of rank I's piece that item K is about. */
static uint64_t chunk_of(const struct pieces *pieces, int i, uint64_t k, int size, int64_t *offset)
{
    uint64_t length = pieces->first[i + 1] - pieces->first[i], from = k / (uint64_t)(size - 1) * pieces->chunk;
    uint64_t rest = from < length ? length - from : 0;
    *offset = (int64_t)from;
    return rest < pieces->chunk ? rest : pieces->chunk;
}

static struct type_buffer landing(const struct coll_schedule *schedule, const struct pieces *pieces, uint64_t k,
                                  uint64_t count)
{
    return coll_part(schedule, pieces->landing, (int64_t)(k % (2 * ABREAST) * pieces->chunk), count);
}

static void exchange_chunks(struct coll_schedule *schedule, const struct pieces *pieces, uint64_t k)
{
    int rank = schedule->rank, size = schedule->size, distance = (int)(k % (uint64_t)(size - 1)) + 1;
    int to = coll_ring(schedule, rank, distance), from = coll_ring(schedule, rank, -distance);
    int64_t offset;
    uint64_t mine = chunk_of(pieces, rank, k, size, &offset);
    if (mine)
        vcoll_receive(schedule, from, landing(schedule, pieces, k, mine));
    uint64_t theirs = chunk_of(pieces, to, k, size, &offset);
    if (theirs)
        vcoll_send(schedule, to, coll_part(schedule, pieces->input, (int64_t)pieces->first[to] + offset, theirs));
}

static void add_chunk(struct coll_schedule *schedule, const struct pieces *pieces, uint64_t k)
{
    int64_t offset;
    uint64_t count = chunk_of(pieces, schedule->rank, k, schedule->size, &offset);
    vcoll_reduce(schedule, landing(schedule, pieces, k, count).base,
                 coll_part(schedule, pieces->sum, offset, count).base, count);
}

/* For commutative operations: the order starts at the rank itself and goes down the ring. */
static void sum_pieces(struct coll_schedule *schedule, const void *input, const uint64_t *first, void *sum)
{
    struct pieces pieces = {.input = input, .first = first, .sum = sum};
    uint64_t element = bytes_of(schedule, 1), longest = 0, added = 0;
    for (int i = 0; i < schedule->size; i++)
        longest = first[i + 1] - first[i] > longest ? first[i + 1] - first[i] : longest;
    pieces.chunk = element < CHUNK ? CHUNK / element : 1;
    if (pieces.chunk > longest)
        pieces.chunk = longest;
    pieces.items = (longest + pieces.chunk - 1) / pieces.chunk * (uint64_t)(schedule->size - 1);
    pieces.landing = vcoll_elements(schedule, 2 * ABREAST * pieces.chunk);
    for (uint64_t k = 0; k < pieces.items; k++) {
        exchange_chunks(schedule, &pieces, k);
        if (k % ABREAST != ABREAST - 1)
            continue;
        for (; added + ABREAST <= k; added++)
            add_chunk(schedule, &pieces, added);
        vcoll_round(schedule);
    }
    vcoll_round(schedule);
    for (; added < pieces.items; added++)
        add_chunk(schedule, &pieces, added);
    vcoll_round(schedule);
}

/* Where the pieces begin: COUNTS for each rank, or COUNT cut evenly. NULL without memory. */
static uint64_t *cut(struct coll_schedule *schedule, const int64_t *counts, uint64_t count)
{
    uint64_t size = (uint64_t)schedule->size, *first = vcoll_memory(schedule, (size + 1) * sizeof *first);
    if (!first)
        return NULL;
    for (uint64_t i = 0; i <= size; i++)
        if (!counts)
            first[i] = count / size * i + (i < count % size ? i : count % size);
        else
            first[i] = i ? first[i - 1] + (uint64_t)counts[i - 1] : 0;
    return first;
}

/* Counts and displacements of the pieces, for the v forms of gather and allgather. */
static struct coll_side side_of_pieces(struct coll_schedule *schedule, void *base, const uint64_t *first)
{
    int64_t *counts = vcoll_memory(schedule, (uint64_t)schedule->size * sizeof *counts);
    for (int i = 0; counts && i < schedule->size; i++)
        counts[i] = (int64_t)(first[i + 1] - first[i]);
    return (struct coll_side){.base = base, .layout = schedule->call.receive.layout, .counts = counts,
                              .displacements = (const int64_t *)first};
}

static bool cut_it(const struct coll_schedule *schedule, uint64_t count)
{
    return schedule->size > 1 && schedule->call.reduction.commutative && count >= (uint64_t)schedule->size &&
           bytes_of(schedule, count) / PIECE >= (uint64_t)schedule->call.group->size;
}

bool vcoll_piece_slices(struct coll_schedule *schedule, const void *own, void *result, uint64_t count,
                        struct coll_side *slices, struct type_buffer *mine)
{
    uint64_t *first = cut(schedule, NULL, count);
    if (!first)
        return false;
    int64_t begin = (int64_t)first[schedule->rank];
    *slices = side_of_pieces(schedule, result, first);
    *mine = coll_part(schedule, result, begin, first[schedule->rank + 1] - first[schedule->rank]);
    if (result == COLL_ELSEWHERE)
        mine->base = vcoll_elements(schedule, mine->count);
    if (own != result)
        vcoll_copy(schedule, coll_part(schedule, own, begin, mine->count), *mine);
    sum_pieces(schedule, own, first, mine->base);
    return !schedule->failure;
}

/* Each member sums its piece, and all pieces go to ROOT, or to all members (-1). RESULT: as for vcoll_piece_slices. */
static void reduce_in_pieces(struct coll_schedule *schedule, int root, const void *own, void *result, uint64_t count)
{
    struct coll_side pieces;
    struct type_buffer mine;
    if (!vcoll_piece_slices(schedule, own, result, count, &pieces, &mine))
        return;
    if (root < 0)
        vcoll_piece_allgather(schedule, mine, &pieces);
    else
        vcoll_piece_gather(schedule, root, mine, &pieces);
}

/* ---- the calls ---- */

void vcoll_piece_reduce(struct coll_schedule *schedule, int root, const void *own, void *result, uint64_t count)
{
    if (cut_it(schedule, count))
        reduce_in_pieces(schedule, root, own, schedule->rank == root ? result : COLL_ELSEWHERE, count);
    else
        reduce_over_tree(schedule, root, own, result, count);
}

void vcoll_make_reduce(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    if (call->receive.count)
        vcoll_piece_reduce(schedule, call->root, own_value(schedule), call->receive.base, call->receive.count);
}

/* Each computes rank 0's value OP rank 1's. */
static void exchange(struct coll_schedule *schedule, const void *own, void *result, uint64_t count)
{
    bool lower = schedule->rank == 0;
    void *other = lower && own != result ? result : vcoll_elements(schedule, count);
    vcoll_receive(schedule, !schedule->rank, part(schedule, other, count));
    vcoll_send(schedule, !schedule->rank, part(schedule, own, count));
    if (!lower && own != result)
        vcoll_copy(schedule, part(schedule, own, count), part(schedule, result, count));
    vcoll_round(schedule);
    vcoll_reduce(schedule, lower ? own : other, lower ? other : result, count);
    if (lower && other != result)
        vcoll_copy(schedule, part(schedule, other, count), part(schedule, result, count));
}

void vcoll_piece_sum(struct coll_schedule *schedule, int root, void *value, uint64_t count)
{
    if (cut_it(schedule, count)) {
        reduce_in_pieces(schedule, -1, value, value, count);
    } else if (count && schedule->size > 1) {
        reduce_over_tree(schedule, root, value, value, count);
        vcoll_piece_cast(schedule, root, part(schedule, value, count));
    }
}

void vcoll_make_allreduce(struct coll_schedule *schedule)
{
    const void *own = own_value(schedule);
    void *result = schedule->call.receive.base;
    uint64_t count = schedule->call.receive.count;
    if (count == 0)
        return;
    if (cut_it(schedule, count)) {
        reduce_in_pieces(schedule, -1, own, result, count);
    } else if (schedule->size == 2) {
        exchange(schedule, own, result, count);
    } else {
        reduce_over_tree(schedule, 0, own, result, count);
        vcoll_piece_cast(schedule, 0, part(schedule, result, count));
    }
}

/* All sums on rank 0, which deals them out. */
static void reduce_then_scatter(struct coll_schedule *schedule, const uint64_t *first)
{
    int rank = schedule->rank, size = schedule->size;
    uint64_t mine = first[rank + 1] - first[rank];
    void *sums = rank == 0 ? vcoll_elements(schedule, first[size]) : NULL;
    struct coll_side pieces = side_of_pieces(schedule, sums, first);
    reduce_over_tree(schedule, 0, own_value(schedule), sums, first[size]);
    if (!schedule->failure)
        vcoll_piece_scatter(schedule, 0, part(schedule, schedule->call.receive.base, mine), &pieces);
}

void vcoll_make_reduce_scatter(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    bool even = call->kind == COLL_REDUCE_SCATTER_BLOCK;
    uint64_t *first = cut(schedule, even ? NULL : call->receive.counts, call->receive.count * (uint64_t)schedule->size);
    if (!first || first[schedule->size] == 0)
        return;
    if (!cut_it(schedule, first[schedule->size])) {
        reduce_then_scatter(schedule, first);
        return;
    }
    uint64_t mine = first[schedule->rank + 1] - first[schedule->rank];
    struct type_buffer place = part(schedule, call->receive.base, mine);
    /* In place the result lies on what others still have to be sent. */
    void *sum = in_place(schedule) ? vcoll_elements(schedule, mine) : call->receive.base;
    vcoll_copy(schedule, coll_part(schedule, own_value(schedule), (int64_t)first[schedule->rank], mine),
               part(schedule, sum, mine));
    sum_pieces(schedule, own_value(schedule), first, sum);
    if (in_place(schedule))
        vcoll_copy(schedule, part(schedule, sum, mine), place);
}

/* ---- scan and exscan ---- */

struct scan {
    const void *own;
    void *sum;    /* of the ranks up to and with this one */
    void *before; /* of the ranks below this one: exscan's result */
    bool without_own; /* exscan */
    uint64_t count;
};

/* Before the round with distance d a rank holds the sum of the d ranks that end with it; it passes that on d ranks
 * further and puts what comes from d ranks below before its own. */
static void doubling(struct coll_schedule *schedule, const struct scan *scan)
{
    int rank = schedule->rank, size = schedule->size;
    uint64_t count = scan->count;
    struct type_buffer sum = coll_part(schedule, scan->sum, 0, count);
    struct type_buffer from_below = coll_part(schedule, rank ? vcoll_elements(schedule, count) : NULL, 0, count);
    vcoll_copy(schedule, coll_part(schedule, scan->own, 0, count), sum);
    for (int64_t d = 1; d < size; d *= 2) {
        if (rank >= d)
            vcoll_receive(schedule, rank - (int)d, from_below);
        if (rank + d < size)
            vcoll_send(schedule, rank + (int)d, sum);
        vcoll_round(schedule);
        if (rank < d)
            continue;
        if (!scan->without_own || rank + 2 * d < size)
            vcoll_reduce(schedule, from_below.base, scan->sum, count);
        if (scan->without_own && d == 1)
            vcoll_copy(schedule, from_below, coll_part(schedule, scan->before, 0, count));
        else if (scan->without_own)
            vcoll_reduce(schedule, from_below.base, scan->before, count);
    }
}

void vcoll_make_scan(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    struct scan scan = {.own = own_value(schedule), .sum = call->receive.base, .count = call->receive.count};
    if (scan.count == 0)
        return;
    if (call->kind == COLL_EXSCAN) {
        scan.sum = vcoll_elements(schedule, scan.count);
        scan.before = call->receive.base;
        scan.without_own = true;
    }
    doubling(schedule, &scan);
}
