/* Collectives over desks: see hall.h and meeting.h. Each is a row of steps: everybody lays a part on his desk, all arrive, and
 * everybody takes what is his from the desks of all. Two copies for each byte, and one turn of the scheduler for as many
 * bytes as a desk holds; the ranks are never more than a step apart.
 *
 * Elements of reductions are combined in rank order, each by one rank, or by two alike: the bits are the same everywhere. */
#include "coll/hall.h"
#include <stdlib.h>
#include <string.h>

struct trade {
    const struct coll_call *call;
    struct meeting *meeting;
    size_t desk;     /* bytes of a desk */
    uint64_t piece;  /* of them for each partner, or of each chunk; reductions: elements */
    uint64_t size;   /* bytes of an element */
    uint64_t count;  /* elements of a reduction, of mine where everyone has his own */
    const char *own; /* elements that this rank gives */
    char *out;       /* and where the result goes; NULL: nowhere */
    int64_t *first;  /* where everyone's part begins among those that each gives */
};

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t steps_of(uint64_t count, uint64_t each) { return (count + each - 1) / each; }

/* What number STEP moves of a block of BYTES. */
static uint64_t part_of(uint64_t bytes, uint64_t each, uint64_t step)
{
    return step * each < bytes ? least(bytes - step * each, each) : 0;
}

static void pack(const struct type_buffer *block, uint64_t at, uint64_t bytes, char *to)
{
    struct type_cursor cursor;
    if (bytes == 0)
        return;
    vtype_cursor_start(&cursor, block);
    vtype_cursor_seek(&cursor, at);
    (void)vtype_pack(&cursor, to, bytes);
}

static void unpack(const struct type_buffer *block, uint64_t at, uint64_t bytes, const char *from)
{
    struct type_cursor cursor;
    if (bytes == 0)
        return;
    vtype_cursor_start(&cursor, block);
    vtype_cursor_seek(&cursor, at);
    (void)vtype_unpack(&cursor, from, bytes);
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

/* ---- allgather, alltoall ------------------------------------------------------------------------------------------- */

static void lay_own(struct trade *trade, uint64_t step, char *desk)
{
    const struct coll_call *call = trade->call;
    bool in_place = call->send.base == COLL_IN_PLACE;
    struct type_buffer own = in_place ? coll_block(&call->receive, call->group->rank) : coll_whole(&call->send);
    pack(&own, step * trade->piece, part_of(type_buffer_bytes(&own), trade->piece, step), desk);
}

static void take_all(struct trade *trade, uint64_t step)
{
    const struct coll_call *call = trade->call;
    for (int r = 0; r < call->group->size; r++) {
        struct type_buffer block = coll_block(&call->receive, r);
        if (r != call->group->rank || call->send.base != COLL_IN_PLACE)
            unpack(&block, step * trade->piece, part_of(type_buffer_bytes(&block), trade->piece, step),
                   vcoll_meeting_desk(trade->meeting, r));
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
    return trade(all, steps_of(most, all->piece), lay_own, take_all);
}

static void lay_each(struct trade *trade, uint64_t step, char *desk)
{
    const struct coll_call *call = trade->call;
    const struct coll_side *side = call->send.base == COLL_IN_PLACE ? &call->receive : &call->send;
    for (int r = 0; r < call->group->size; r++) {
        struct type_buffer block = coll_block(side, r);
        pack(&block, step * trade->piece, part_of(type_buffer_bytes(&block), trade->piece, step),
             desk + (uint64_t)r * trade->piece);
    }
}

static void take_mine(struct trade *trade, uint64_t step)
{
    const struct coll_call *call = trade->call;
    for (int r = 0; r < call->group->size; r++) {
        struct type_buffer block = coll_block(&call->receive, r);
        unpack(&block, step * trade->piece, part_of(type_buffer_bytes(&block), trade->piece, step),
               vcoll_meeting_desk(trade->meeting, r) + (uint64_t)call->group->rank * trade->piece);
    }
}

static int alltoall(struct trade *all)
{
    all->piece = all->desk / (unsigned)all->call->group->size / CACHE_LINE * CACHE_LINE;
    return trade(all, steps_of(coll_side_bytes(&all->call->receive), all->piece), lay_each, take_mine);
}

/* ---- reductions ---------------------------------------------------------------------------------------------------- */

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
    memcpy(desk, trade->own + step * trade->piece * trade->size, part_of(trade->count, trade->piece, step) * trade->size);
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

/* Everyone combines a part of each chunk, and lays it down with the next chunk: first the chunk, then behind it the part. */
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
    all->own = call->send.base == COLL_IN_PLACE ? call->receive.base : call->send.base;
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
    all->own = in_place ? call->receive.base : call->send.base;
    /* In place the result lies on what is still to be laid down. */
    all->out = in_place ? malloc(all->count * all->size + 1) : call->receive.base;
    all->piece = all->desk / (unsigned)ranks / all->size;
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
    const struct type_layout *layout = call->receive.layout;
    struct trade all = {.call = call, .meeting = meeting, .desk = meeting_desk_size(meeting->ranks),
                        .size = layout ? layout->shape.size : 1};
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
