/* coll/desk: payload of a group on one node over desks, in steps: each member puts a part on its desk, all arrive, and
 * each takes its part from the desks of all. That is two copies for each byte, and one switch of the scheduler for as
 * many bytes as a desk holds.
 *
 * Elements of reductions are combined in rank order: the bits are the same on all members. */
#include "coll/hall.h"

struct trade {
    const struct coll_call *call;
    struct meeting *meeting;
    size_t desk;     /* bytes of a desk */
    uint64_t piece;  /* of them for each partner, or of each chunk; reductions: elements */
    uint64_t size;   /* bytes of an element */
    uint64_t count;  /* elements of a reduction; of this rank where each has its own */
    const char *own; /* elements that this rank gives */
    char *out;       /* and where the result goes; NULL: nowhere */
    int64_t *first;  /* where the part of each rank begins among those that each gives */
};

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t steps_of(uint64_t count, uint64_t each) { return (count + each - 1) / each; }

/* What number STEP moves of a block of BYTES. */
static uint64_t part_of(uint64_t bytes, uint64_t each, uint64_t step)
{
    return step * each < bytes ? least(bytes - step * each, each) : 0;
}

/* STEPS times: lay down, arrive, take. */
static int trade(struct trade *trade, uint64_t steps, void (*put)(struct trade *, uint64_t step, char *desk),
                 void (*take)(struct trade *, uint64_t step))
{
    for (uint64_t step = 0; step < steps; step++) {
        char *desk;
        int error = vcoll_meeting_step_begin(trade->meeting, &desk);
        if (error)
            return error;
        put(trade, step, desk);
        error = vcoll_meeting_step_end(trade->meeting, take != NULL);
        if (error)
            return error;
        if (take)
            take(trade, step);
    }
    return OK;
}

static void lay_own(struct trade *trade, uint64_t step, char *desk)
{
    struct type_buffer own = coll_own_block(trade->call);
    (void)vtype_pack_at(&own, step * trade->piece, desk, trade->piece);
}

/* In place the own block is where it belongs. */
static void take_blocks(struct trade *trade, uint64_t step)
{
    const struct coll_call *call = trade->call;
    uint64_t mine = call->kind == COLL_ALLTOALL ? (uint64_t)call->group->rank * trade->piece : 0;
    for (int r = 0; r < call->group->size; r++) {
        struct type_buffer block = coll_block(&call->receive, r);
        if (r != call->group->rank || call->send.base != COLL_IN_PLACE)
            (void)vtype_unpack_at(&block, step * trade->piece, vcoll_meeting_desk(trade->meeting, r) + mine,
                                  trade->piece);
    }
}

static int allgather(struct trade *all)
{
    uint64_t most = 0;
    for (int r = 0; r < all->call->group->size; r++) {
        struct type_buffer block = coll_block(&all->call->receive, r);
        most = type_buffer_bytes(&block) > most ? type_buffer_bytes(&block) : most;
    }
    all->piece = all->desk;
    return trade(all, steps_of(most, all->piece), lay_own, take_blocks);
}

static void lay_each(struct trade *trade, uint64_t step, char *desk)
{
    const struct coll_call *call = trade->call;
    const struct coll_side *side = call->send.base == COLL_IN_PLACE ? &call->receive : &call->send;
    for (int r = 0; r < call->group->size; r++) {
        struct type_buffer block = coll_block(side, r);
        (void)vtype_pack_at(&block, step * trade->piece, desk + (uint64_t)r * trade->piece, trade->piece);
    }
}

static int alltoall(struct trade *all)
{
    all->piece = meeting_desk_share(all->call->group->size);
    return trade(all, steps_of(coll_side_bytes(&all->call->receive), all->piece), lay_each, take_blocks);
}

/* COUNT elements at OFFSET of all desks, combined into OUT. */
static void combine(struct trade *trade, uint64_t offset, char *out, uint64_t count)
{
    if (count == 0)
        return;
    memcpy(out, vcoll_meeting_desk(trade->meeting, 0) + offset, count * trade->size);
    for (int r = 1; r < trade->call->group->size; r++)
        trade->call->reduction.kernel(vcoll_meeting_desk(trade->meeting, r) + offset, out, count);
}

static void lay_chunk(struct trade *trade, uint64_t step, char *desk)
{
    memcpy(desk, trade->own + step * trade->piece * trade->size,
           part_of(trade->count, trade->piece, step) * trade->size);
}

static void combine_chunk(struct trade *trade, uint64_t step)
{
    combine(trade, 0, trade->out + step * trade->piece * trade->size, part_of(trade->count, trade->piece, step));
}

/* Where the part of rank R begins in a chunk of COUNT elements. */
static uint64_t slice(const struct trade *trade, uint64_t count, int r)
{
    return count * (uint64_t)r / (uint64_t)trade->call->group->size;
}

/* Each rank combines a part of each chunk and lays it down with the next chunk: first the chunk, then the part. */
static int reduce_in_slices(struct trade *trade, bool waits)
{
    int rank = trade->call->group->rank, ranks = trade->call->group->size;
    uint64_t chunk = trade->piece = trade->desk * 3 / 4 / trade->size, behind = chunk * trade->size, size = trade->size;
    uint64_t steps = steps_of(trade->count, chunk);
    char *mine = malloc(trade->desk - behind);
    int error = mine ? OK : vbase_fail(ERR_MEMORY, "no memory for a part of a sum");
    uint64_t before = 0; /* elements of the chunk before */
    for (uint64_t step = 0; step <= steps && !error; step++) {
        uint64_t count = part_of(trade->count, chunk, step), begin = slice(trade, before, rank);
        char *desk;
        error = vcoll_meeting_step_begin(trade->meeting, &desk);
        if (error)
            break;
        lay_chunk(trade, step, desk);
        memcpy(desk + behind, mine, (slice(trade, before, rank + 1) - begin) * size);
        error = vcoll_meeting_step_end(trade->meeting, waits || step < steps);
        for (int r = 0; r < ranks && trade->out && step && !error; r++)
            memcpy(trade->out + ((step - 1) * chunk + slice(trade, before, r)) * size,
                   vcoll_meeting_desk(trade->meeting, r) + behind,
                   (slice(trade, before, r + 1) - slice(trade, before, r)) * size);
        begin = slice(trade, count, rank);
        if (!error)
            combine(trade, begin * size, mine, slice(trade, count, rank + 1) - begin);
        before = count;
    }
    free(mine);
    return error;
}

static int reduce(struct trade *all)
{
    const struct coll_call *call = all->call;
    bool mine = call->kind == COLL_ALLREDUCE || call->root == call->group->rank;
    all->count = call->receive.count;
    all->own = coll_own_base(call);
    all->out = mine ? call->receive.base : NULL;
    if (call->group->size > 2 && all->count * all->size > all->desk / 2)
        return reduce_in_slices(all, mine);
    all->piece = all->desk / all->size;
    return trade(all, steps_of(all->count, all->piece), lay_chunk, mine ? combine_chunk : NULL);
}

static void lay_parts(struct trade *trade, uint64_t step, char *desk)
{
    for (int r = 0; r < trade->call->group->size; r++) {
        uint64_t count = part_of((uint64_t)(trade->first[r + 1] - trade->first[r]), trade->piece, step);
        memcpy(desk + (uint64_t)r * trade->piece * trade->size,
               trade->own + ((uint64_t)trade->first[r] + step * trade->piece) * trade->size, count * trade->size);
    }
}

static void combine_mine(struct trade *trade, uint64_t step)
{
    combine(trade, (uint64_t)trade->call->group->rank * trade->piece * trade->size,
            trade->out + step * trade->piece * trade->size, part_of(trade->count, trade->piece, step));
}

static int reduce_scatter(struct trade *all)
{
    const struct coll_call *call = all->call;
    int rank = call->group->rank, ranks = call->group->size;
    bool in_place = call->send.base == COLL_IN_PLACE;
    uint64_t most = 0;
    int64_t *first = malloc(((size_t)ranks + 1) * sizeof *first);
    all->first = first;
    for (int r = 0; first && r < ranks; r++) {
        int64_t count = call->receive.counts ? call->receive.counts[r] : (int64_t)call->receive.count;
        first[r] = r ? first[r] : 0;
        first[r + 1] = first[r] + count;
        most = (uint64_t)count > most ? (uint64_t)count : most;
    }
    all->count = first ? (uint64_t)(first[rank + 1] - first[rank]) : 0;
    all->own = coll_own_base(call);
    /* In place the result lies on what is still to be laid down. */
    all->out = in_place ? malloc(all->count * all->size + 1) : call->receive.base;
    all->piece = meeting_desk_share(ranks) / all->size;
    int error = first && (all->out || !all->count) ? OK : vbase_fail(ERR_MEMORY, "no memory for the parts of a sum");
    if (!error)
        error = trade(all, steps_of(most, all->piece), lay_parts, combine_mine);
    if (in_place && !error)
        memcpy(call->receive.base, all->out, all->count * all->size);
    if (in_place)
        free(all->out);
    free(first);
    return error;
}

int vcoll_desk_run(const struct coll_call *call, struct meeting *meeting)
{
    struct trade all = {.call = call, .meeting = meeting, .desk = meeting_desk_size(meeting->ranks),
                        .size = coll_element_size(call)};
    switch (call->kind) {
    case COLL_ALLTOALL:
        return alltoall(&all);
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        return allgather(&all);
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        return reduce_scatter(&all);
    default:
        return reduce(&all);
    }
}
