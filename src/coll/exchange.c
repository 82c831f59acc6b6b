/* coll/exchange: payload of a group on one node: each rank gives a part to each, or the same to all, and copies or
 * combines what it gets. In one of three ways:
 *
 *   block     what each gives in all fits into its block: as desk, in one round
 *   desk      round by round each lays a piece of its parts on its desk and takes its pieces from the desks of all:
 *             two copies for each byte, and one switch of the scheduler for as many bytes as a desk holds
 *   direct    each shows its memory, its key lying in its block, and takes its parts from the memory of the others
 *             without anybody's help: one copy. In one more round all leave: from then on what was shown may change.
 *
 * What all get of a reduction is made in slices: each rank combines its own one and shows it, or lays it down with the
 * next piece. Elements are combined in the order of the ranks: the bits are the same on all of them.
 *
 * Ranks that read memory begin with the one behind them, so that not all read from one. A read that fails (memory that
 * the program has given back) is this rank's error; it goes on, because others wait for it. */
#include "coll/hall.h"

#define READ_PIECE (32u << 10) /* of an operand that is read, while it is combined in the cache */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t steps_of(uint64_t bytes, uint64_t each) { return (bytes + each - 1) / each; }

/* What is moved in this round of BYTES that go over desks. */
static uint64_t piece_of(const struct coll_visit *visit, uint64_t bytes)
{
    uint64_t at = visit->round * visit->piece;
    return visit->direct ? bytes : at < bytes ? least(bytes - at, visit->piece) : 0;
}

static bool in_place(const struct coll_visit *visit) { return visit->call->send.base == COLL_IN_PLACE; }

static bool scatters(const struct coll_visit *visit)
{
    return visit->call->kind == COLL_REDUCE_SCATTER || visit->call->kind == COLL_REDUCE_SCATTER_BLOCK;
}

/* Where rank R's slice of COUNT elements begins that are made in slices. */
static uint64_t slice(const struct coll_visit *visit, uint64_t count, int r)
{
    return count * (uint64_t)r / (uint64_t)visit->hall->ranks;
}

/* The element where the part of rank R begins. */
static uint64_t part_begin(const struct coll_visit *visit, int r)
{
    const struct coll_side *receive = &visit->call->receive;
    uint64_t first = 0;
    if (!scatters(visit))
        return slice(visit, receive->count, r);
    if (!receive->counts)
        return receive->count * (uint64_t)r;
    for (int i = 0; i < r; i++)
        first += (uint64_t)receive->counts[i];
    return first;
}

static uint64_t part_count(const struct coll_visit *visit, int r)
{
    return part_begin(visit, r + 1) - part_begin(visit, r);
}

/* What this rank gives to rank S. */
static struct type_buffer part_given(const struct coll_visit *visit, int s)
{
    const struct coll_call *call = visit->call;
    if (visit->size && visit->same)
        return coll_bytes((void *)(uintptr_t)visit->own, call->receive.count * visit->size);
    if (visit->size)
        return coll_bytes((void *)(uintptr_t)(visit->own + part_begin(visit, s) * visit->size),
                          part_count(visit, s) * visit->size);
    return visit->same ? coll_own_block(call) : coll_block(in_place(visit) ? &call->receive : &call->send, s);
}

/* ---- what the others have laid down ---- */

/* Where RANK lays down what belongs to EPOCH. */
static char *desk_in(const struct coll_visit *visit, int rank, uint64_t epoch)
{
    return visit->laid ? hall_data(visit->track, hall_place(rank, epoch), visit->laid)
                       : hall_desk(visit->hall, rank, epoch);
}

static const char *desk_of(const struct coll_visit *visit, int rank)
{
    return desk_in(visit, rank, visit->track->epoch);
}

/* BYTES at OFFSET of what RANK shows. */
static void shown_read(struct coll_visit *visit, int rank, uint64_t offset, void *to, uint64_t bytes)
{
    uint64_t key[2];
    memcpy(key, hall_data(visit->track, hall_place(rank, visit->track->epoch), sizeof key), sizeof key);
    /* where one has no memory its key is none */
    int error = bytes && visit->error != ERR_MEMORY
                    ? vmsg_share_read(visit->hall->share, rank, key, offset, to, bytes) : OK;
    if (unlikely(error))
        coll_visit_note(visit, error);
}

static void shown_read_buffer(struct coll_visit *visit, int rank, uint64_t offset, const struct type_buffer *buffer)
{
    uint64_t bytes = type_buffer_bytes(buffer);
    if (type_buffer_contiguous(buffer)) {
        shown_read(visit, rank, offset, buffer->base, bytes);
        return;
    }
    char piece[READ_PIECE];
    for (uint64_t at = 0; at < bytes; at += sizeof piece) {
        uint64_t length = least(bytes - at, sizeof piece);
        shown_read(visit, rank, offset + at, piece, length);
        (void)vtype_unpack_at(buffer, at, piece, length);
    }
}

/* BYTES at OFFSET of what RANK gives for a sum; in PIECE where they must be read. */
static const char *operand(struct coll_visit *visit, int rank, uint64_t offset, char *piece, uint64_t bytes)
{
    if (!visit->direct)
        return desk_of(visit, rank) + offset;
    if (rank == visit->hall->rank)
        return visit->own + offset;
    shown_read(visit, rank, offset, piece, bytes);
    return piece;
}

/* COUNT elements at OFFSET of what each gives, into OUT, which may lie where OWN does. */
static void combine(struct coll_visit *visit, uint64_t offset, char *out, uint64_t count)
{
    char sum[READ_PIECE] ALIGNED(64), piece[READ_PIECE] ALIGNED(64);
    uint64_t most = visit->direct ? READ_PIECE / visit->size : count, n;
    for (uint64_t at = 0; at < count && out; at += n) {
        char *to = visit->direct ? sum : out + at * visit->size;
        n = least(count - at, most);
        for (int r = 0; r < visit->operands; r++) {
            const char *from = operand(visit, r, offset + at * visit->size, piece, n * visit->size);
            if (r)
                visit->call->reduction.kernel(from, to, n);
            else
                base_copy(to, from, n * visit->size);
        }
        if (visit->direct)
            base_copy(out + at * visit->size, sum, n * visit->size);
    }
}

/* ---- desks ---- */

static void pieces_lay(struct coll_visit *visit)
{
    char *desk = desk_in(visit, visit->hall->rank, visit->track->epoch + 1);
    for (int s = 0; s < (visit->same ? 1 : visit->hall->ranks); s++) {
        struct type_buffer part = part_given(visit, s);
        (void)vtype_pack_at(&part, visit->round * visit->piece, desk + (uint64_t)s * visit->piece, visit->piece);
    }
}

static uint64_t own_place(const struct coll_visit *visit)
{
    return visit->same ? 0 : (uint64_t)visit->hall->rank * visit->piece;
}

/* In place the own block is where it belongs. */
static void pieces_copy(struct coll_visit *visit)
{
    for (int r = 0; r < visit->hall->ranks; r++) {
        struct type_buffer block = coll_block(&visit->call->receive, r);
        if (r != visit->hall->rank || !in_place(visit))
            (void)vtype_unpack_at(&block, visit->round * visit->piece, desk_of(visit, r) + own_place(visit),
                                  visit->piece);
    }
}

/* In place the sum of the own part was made elsewhere. */
static void sum_end(struct coll_visit *visit)
{
    if (scatters(visit) && visit->round + 1 == visit->rounds && visit->mine && visit->mine != visit->out)
        base_copy(visit->out, visit->mine, visit->count * visit->size);
}

static void pieces_combine(struct coll_visit *visit)
{
    uint64_t bytes = piece_of(visit, visit->count * visit->size);
    combine(visit, own_place(visit), visit->mine ? visit->mine + visit->round * visit->piece : NULL,
            bytes / visit->size);
    sum_end(visit);
}

/* Slices: behind a piece of the operands lie the sums of this rank's slice of the piece before. They are made where
 * they lie: nobody reads the next desk yet, and all have read what was there. */
static void slices_lay(struct coll_visit *visit)
{
    base_copy(hall_desk(visit->hall, visit->hall->rank, visit->track->epoch + 1),
              visit->own + visit->round * visit->piece, piece_of(visit, visit->count * visit->size));
}

static void slices_take(struct coll_visit *visit)
{
    char *next = hall_desk(visit->hall, visit->hall->rank, visit->track->epoch + 1) + visit->piece;
    uint64_t size = visit->size, count = piece_of(visit, visit->count * size) / size;
    uint64_t done = visit->round ? (visit->round - 1) * visit->piece : 0;
    uint64_t before = least(visit->count * size - done, visit->piece) / size;
    int rank = visit->hall->rank;
    for (int r = 0; r < visit->hall->ranks && visit->out && visit->round; r++) {
        uint64_t first = slice(visit, before, r) * size;
        base_copy(visit->out + done + first, desk_of(visit, r) + visit->piece,
                  slice(visit, before, r + 1) * size - first);
    }
    combine(visit, slice(visit, count, rank) * size, next, slice(visit, count, rank + 1) - slice(visit, count, rank));
}

/* ---- memory of the others ---- */

/* Every second round all leave. */
static bool leaves(const struct coll_visit *visit) { return visit->round & 1; }

/* What all give, and then the sums of the slices. */
static void memory_show(struct coll_visit *visit)
{
    struct type_buffer given = visit->gives;
    uint64_t bytes = type_buffer_bytes(&given);
    if (leaves(visit))
        return;
    if (visit->round)
        given = coll_bytes(visit->mine, visit->count * visit->size);
    else if (!visit->size && visit->memory) {
        (void)vtype_pack_at(&given, 0, visit->memory, bytes);
        given = coll_bytes(visit->memory, bytes);
    }
    if (visit->error) /* the others come, and find nothing that they may read */
        given.count = 0;
    memset(visit->shown.key, 0, sizeof visit->shown.key);
    int error = vmsg_share_show(visit->hall->share, given.base, type_buffer_bytes(&given), &visit->shown);
    visit->shows = !error;
    if (error)
        coll_visit_note(visit, error);
    memcpy(hall_data(visit->track, hall_place(visit->hall->rank, visit->track->epoch + 1), sizeof visit->shown.key),
           visit->shown.key, sizeof visit->shown.key);
}

static void blocks_read(struct coll_visit *visit)
{
    int rank = visit->hall->rank, ranks = visit->hall->ranks;
    struct type_buffer own = part_given(visit, rank), block = coll_block(&visit->call->receive, rank);
    uint64_t offset = visit->same ? 0 : (uint64_t)rank * type_buffer_bytes(&own);
    if (!in_place(visit))
        vcoll_buffer_copy(&block, &own);
    for (int i = 1; i < ranks; i++) {
        block = coll_block(&visit->call->receive, (rank + i) % ranks);
        shown_read_buffer(visit, (rank + i) % ranks, offset, &block);
    }
}

static void slices_read(struct coll_visit *visit)
{
    int rank = visit->hall->rank, ranks = visit->hall->ranks;
    for (int i = 1; i < ranks && visit->out; i++) {
        int r = (rank + i) % ranks;
        shown_read(visit, r, 0, visit->out + part_begin(visit, r) * visit->size, part_count(visit, r) * visit->size);
    }
}

static void memory_take(struct coll_visit *visit)
{
    if (leaves(visit)) {
        if (visit->shows)
            vmsg_share_hide(&visit->shown);
        sum_end(visit);
    } else if (!visit->size) {
        blocks_read(visit);
    } else if (visit->round == 0) {
        combine(visit, part_begin(visit, visit->hall->rank) * visit->size, visit->mine, visit->count);
    } else {
        slices_read(visit);
    }
}

/* ---- what each kind of call comes to ---- */

static uint64_t longest_part(const struct coll_visit *visit)
{
    const struct coll_side *receive = &visit->call->receive;
    uint64_t most = receive->counts ? 0 : receive->count;
    for (int r = 0; receive->counts && r < visit->hall->ranks; r++)
        most = (uint64_t)receive->counts[r] > most ? (uint64_t)receive->counts[r] : most;
    return most * (receive->layout ? receive->layout->shape.size : 1);
}

/* A desk holds a piece of MOST bytes; a block whole parts. */
static void pieces_set(struct coll_visit *visit, uint64_t most)
{
    uint64_t longest = longest_part(visit);
    visit->piece = visit->laid ? longest : most;
    visit->rounds = steps_of(longest, visit->piece);
}

static void memory_take_room(struct coll_visit *visit, uint64_t bytes)
{
    visit->memory = malloc(bytes + 1);
    if (!visit->memory)
        coll_visit_note(visit, vbase_fail(ERR_MEMORY, "no memory for %llu bytes", (unsigned long long)bytes));
}

static void moves(struct coll_visit *visit, bool same)
{
    const struct coll_call *call = visit->call;
    const struct coll_side *side = in_place(visit) ? &call->receive : &call->send;
    visit->same = same;
    visit->gives = same ? coll_own_block(call) : coll_whole(side);
    if (!same)
        visit->gives.count *= (uint64_t)visit->hall->ranks;
    if (visit->direct && (!type_buffer_contiguous(&visit->gives) || (!same && in_place(visit))))
        memory_take_room(visit, type_buffer_bytes(&visit->gives));
    pieces_set(visit, same ? hall_desk_size(visit->hall->ranks) : hall_desk_share(visit->hall->ranks));
    visit->lay = pieces_lay;
    visit->take = pieces_copy;
}

/* Each rank has the sum of its part. In place it would lie on what others still read. */
static void sums_parts(struct coll_visit *visit)
{
    visit->count = part_count(visit, visit->hall->rank);
    visit->out = visit->mine = visit->call->receive.base;
    if (in_place(visit)) {
        memory_take_room(visit, visit->count * visit->size);
        visit->mine = visit->memory;
    }
    pieces_set(visit, hall_desk_share(visit->hall->ranks) / visit->size * visit->size);
    visit->lay = pieces_lay;
    visit->take = pieces_combine;
}

/* Each rank has the sum of those before it. */
static void sums_prefix(struct coll_visit *visit)
{
    visit->same = true;
    visit->count = visit->call->receive.count;
    visit->out = visit->mine = visit->call->receive.base;
    visit->piece = hall_desk_size(visit->hall->ranks) / visit->size * visit->size;
    visit->rounds = steps_of(visit->count * visit->size, visit->piece);
    visit->takes = visit->operands ? visit->rounds : 0;
    visit->lay = pieces_lay;
    visit->take = pieces_combine;
}

/* All have all sums, or the root has. */
static void sums_all(struct coll_visit *visit)
{
    const struct coll_call *call = visit->call;
    int rank = visit->hall->rank, ranks = visit->hall->ranks;
    size_t desk = hall_desk_size(ranks);
    bool sliced = ranks > 2 && call->receive.count * visit->size > desk / 2;
    visit->same = true;
    visit->count = visit->direct ? part_count(visit, rank) : call->receive.count;
    visit->out = visit->mine = call->kind == COLL_ALLREDUCE || call->root == rank ? call->receive.base : NULL;
    if (visit->direct && visit->out)
        visit->mine = visit->out + part_begin(visit, rank) * visit->size;
    else if (visit->direct) {
        memory_take_room(visit, visit->count * visit->size);
        visit->mine = visit->memory;
    }
    visit->piece = (sliced ? desk * 3 / 4 : desk) / visit->size * visit->size;
    visit->rounds = steps_of(call->receive.count * visit->size, visit->piece) + sliced;
    visit->takes = visit->out ? visit->rounds : sliced ? visit->rounds - 1 : 0;
    visit->lay = sliced ? slices_lay : pieces_lay;
    visit->take = sliced ? slices_take : pieces_combine;
}

void vcoll_visit_exchanges(struct coll_visit *visit, enum coll_way way)
{
    const struct coll_call *call = visit->call;
    bool sums = true, gathers = call->kind == COLL_ALLGATHER || call->kind == COLL_ALLGATHERV;
    visit->direct = way == COLL_DIRECT;
    visit->laid = way == COLL_BLOCK ? longest_part(visit) * (gathers ? 1 : (uint64_t)visit->hall->ranks) : 0;
    visit->kernel = NULL; /* nobody combines for others */
    visit->same = false;
    visit->takes = UINT64_MAX;
    visit->size = coll_element_size(call);
    visit->operands = coll_operands(visit);
    visit->own = coll_own_base(call);
    visit->gives = coll_bytes((void *)(uintptr_t)visit->own, part_begin(visit, visit->hall->ranks) * visit->size);
    if (call->kind == COLL_ALLREDUCE || call->kind == COLL_REDUCE)
        sums_all(visit);
    else if (coll_is_scan(call->kind))
        sums_prefix(visit);
    else if (scatters(visit))
        sums_parts(visit);
    else {
        visit->size = 0;
        sums = false;
        moves(visit, gathers);
    }
    if (!visit->direct)
        return;
    visit->rounds = sums && !scatters(visit) ? 4 : 2;
    visit->takes = visit->rounds;
    visit->lay = memory_show;
    visit->take = memory_take;
}

void vcoll_visit_end(struct coll_visit *visit)
{
    free(visit->memory);
    visit->memory = NULL;
}
