/* coll/direct: large payload of a group on one node, straight from the memory of its members.
 *
 *   show      each member shows what it gives, and tells the others how in its block; all arrive
 *   read      each takes what is its own from the memory of the others, without anybody's help
 *   leave     all arrive once more: from then on what was shown may change
 *
 * That is one copy for each byte, where a desk takes two. A reduction reads each operand piece by piece into the cache
 * and combines it there: each member its slice; then the slices are shown and read in the same way.
 *
 * Members read in turn, each beginning with the one behind it, so that not all read from one. A read that fails (memory
 * that the program has given back) is this rank's error; it goes on, because others wait for it. */
#include "coll/hall.h"

struct direct {
    const struct coll_call *call;
    struct meeting *meeting;
    struct msg_share *share;
    struct msg_shown shown;
    void *packed; /* what is shown, where the program's memory has holes or is overwritten meanwhile */
    int error;    /* the first of a read */
};

static void note(struct direct *direct, int error)
{
    if (!direct->error)
        direct->error = error;
}

/* Shows BYTES at BASE, and waits until all show theirs. */
static int show(struct direct *direct, const void *base, uint64_t bytes)
{
    struct meeting *meeting = direct->meeting;
    int error = vmsg_share_show(direct->share, base, bytes, &direct->shown);
    return error ? error : vcoll_meeting_tell(meeting, direct->shown.key, sizeof direct->shown.key);
}

/* Packed: a copy of BUFFER. */
static int show_buffer(struct direct *direct, const struct type_buffer *buffer, bool copy)
{
    uint64_t bytes = type_buffer_bytes(buffer);
    if (!copy && type_buffer_contiguous(buffer))
        return show(direct, buffer->base, bytes);
    direct->packed = malloc(bytes + 1);
    if (!direct->packed) /* the others come, and find nothing that they may read */
        note(direct, vbase_fail(ERR_MEMORY, "no memory for %llu bytes", (unsigned long long)bytes));
    else
        (void)vtype_pack_at(buffer, 0, direct->packed, bytes);
    return show(direct, direct->packed, direct->packed ? bytes : 0);
}

/* Until all have read. */
static int leave(struct direct *direct)
{
    int error = vcoll_meeting_barrier(direct->meeting);
    vmsg_share_hide(&direct->shown);
    free(direct->packed);
    direct->packed = NULL;
    return error;
}

static void read_at(struct direct *direct, int rank, uint64_t offset, void *to, uint64_t bytes)
{
    const uint64_t *key = vcoll_meeting_block(direct->meeting, rank);
    int error = bytes ? vmsg_share_read(direct->share, rank, key, offset, to, bytes) : OK;
    if (unlikely(error))
        note(direct, error);
}

/* The bytes at OFFSET of what RANK shows fill BUFFER. */
static void read_buffer(struct direct *direct, int rank, uint64_t offset, const struct type_buffer *buffer)
{
    uint64_t bytes = type_buffer_bytes(buffer);
    if (type_buffer_contiguous(buffer)) {
        read_at(direct, rank, offset, buffer->base, bytes);
        return;
    }
    char piece[DIRECT_PIECE];
    for (uint64_t at = 0; at < bytes; at += sizeof piece) {
        uint64_t length = bytes - at < sizeof piece ? bytes - at : sizeof piece;
        read_at(direct, rank, offset + at, piece, length);
        (void)vtype_unpack_at(buffer, at, piece, length);
    }
}

/* ---- what is only moved ------------------------------------------------------------------------------------------ */

/* Each member's block comes from OFFSET of what it shows; the own one is OWN, NULL: it is in its place. */
static void read_blocks(struct direct *direct, uint64_t offset, const struct type_buffer *own)
{
    const struct coll_call *call = direct->call;
    int rank = call->group->rank, size = call->group->size;
    for (int i = 1; i < size; i++) {
        struct type_buffer block = coll_block(&call->receive, (rank + i) % size);
        read_buffer(direct, (rank + i) % size, offset, &block);
    }
    struct type_buffer block = coll_block(&call->receive, rank);
    if (own)
        vcoll_buffer_copy(&block, own);
}

static int allgather(struct direct *direct)
{
    const struct coll_call *call = direct->call;
    struct type_buffer own = coll_own_block(call);
    int error = show_buffer(direct, &own, false);
    if (error)
        return error;
    read_blocks(direct, 0, call->send.base == COLL_IN_PLACE ? NULL : &own);
    return leave(direct);
}

static int alltoall(struct direct *direct)
{
    const struct coll_call *call = direct->call;
    bool in_place = call->send.base == COLL_IN_PLACE;
    const struct coll_side *side = in_place ? &call->receive : &call->send;
    int rank = call->group->rank;
    struct type_buffer own = coll_block(side, rank);
    struct type_buffer all = {side->base, side->count * (uint64_t)call->group->size, side->layout};
    int error = show_buffer(direct, &all, in_place);
    if (error)
        return error;
    read_blocks(direct, (uint64_t)rank * type_buffer_bytes(&own), in_place ? NULL : &own);
    return leave(direct);
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* COUNT elements from FIRST on of all operands, in the order of the ranks, into OUT, which may lie where OWN does. */
static void combine(struct direct *direct, uint64_t first, uint64_t count, char *out)
{
    const struct coll_call *call = direct->call;
    const char *own = coll_own_base(call);
    uint64_t size = coll_element_size(call), most = DIRECT_PIECE / size, n;
    char sum[DIRECT_PIECE] ALIGNED(64), operand[DIRECT_PIECE] ALIGNED(64);
    for (uint64_t at = 0; at < count; at += n) {
        uint64_t from = (first + at) * size;
        n = count - at < most ? count - at : most;
        for (int r = 0; r < call->group->size; r++) {
            char *to = r ? operand : sum;
            bool mine = r == call->group->rank;
            if (!mine)
                read_at(direct, r, from, to, n * size);
            else if (!r)
                memcpy(sum, own + from, n * size);
            if (r)
                call->reduction.kernel(mine ? own + from : operand, sum, n);
        }
        memcpy(out + at * size, sum, n * size);
    }
}

/* Where the part of rank R begins. */
static uint64_t part_begin(const struct coll_call *call, int r)
{
    if (call->kind == COLL_ALLREDUCE || call->kind == COLL_REDUCE)
        return call->receive.count * (uint64_t)r / (uint64_t)call->group->size;
    if (!call->receive.counts)
        return call->receive.count * (uint64_t)r;
    uint64_t first = 0;
    for (int i = 0; i < r; i++)
        first += (uint64_t)call->receive.counts[i];
    return first;
}

static int reduce_scatter(struct direct *direct)
{
    const struct coll_call *call = direct->call;
    int rank = call->group->rank;
    uint64_t first = part_begin(call, rank), count = part_begin(call, rank + 1) - first, size = coll_element_size(call);
    bool in_place = call->send.base == COLL_IN_PLACE;
    /* in place the result lies on what others still read */
    char *out = in_place ? malloc(count * size + 1) : call->receive.base;
    if (!out)
        note(direct, vbase_fail(ERR_MEMORY, "no memory for the parts of a sum"));
    int error = show(direct, coll_own_base(call), part_begin(call, call->group->size) * size);
    if (!error && out)
        combine(direct, first, count, out);
    error = error ? error : leave(direct);
    if (in_place && out)
        memcpy(call->receive.base, out, count * size);
    if (in_place)
        free(out);
    return error;
}

/* The slices of all into the result, where this rank has one. */
static void read_slices(struct direct *direct, char *result, const char *mine)
{
    const struct coll_call *call = direct->call;
    uint64_t size = coll_element_size(call);
    for (int i = 0; i < call->group->size; i++) {
        int r = (call->group->rank + i) % call->group->size;
        uint64_t first = part_begin(call, r) * size, bytes = part_begin(call, r + 1) * size - first;
        if (i)
            read_at(direct, r, 0, result + first, bytes);
        else if (result + first != mine)
            memcpy(result + first, mine, bytes);
    }
}

static int reduce(struct direct *direct)
{
    const struct coll_call *call = direct->call;
    int rank = call->group->rank;
    uint64_t size = coll_element_size(call);
    uint64_t first = part_begin(call, rank), count = part_begin(call, rank + 1) - first;
    char *result = call->kind == COLL_ALLREDUCE || call->root == rank ? call->receive.base : NULL;
    char *mine = result ? result + first * size : malloc(count * size + 1);
    if (!mine)
        note(direct, vbase_fail(ERR_MEMORY, "no memory for a part of a sum"));
    int error = show(direct, coll_own_base(call), call->receive.count * size);
    if (!error && mine)
        combine(direct, first, count, mine);
    error = error ? error : leave(direct);
    error = error ? error : show(direct, mine, mine ? count * size : 0);
    if (!error && result)
        read_slices(direct, result, mine);
    error = error ? error : leave(direct);
    if (!result)
        free(mine);
    return error;
}

/* ---- the face ---------------------------------------------------------------------------------------------------- */

int vcoll_direct_run(const struct coll_call *call, struct meeting *meeting, struct msg_share *share)
{
    struct direct direct = {.call = call, .meeting = meeting, .share = share};
    int error;
    switch (call->kind) {
    case COLL_ALLTOALL:
        error = alltoall(&direct);
        break;
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        error = allgather(&direct);
        break;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        error = reduce_scatter(&direct);
        break;
    default:
        error = reduce(&direct);
    }
    return error ? error : direct.error;
}
