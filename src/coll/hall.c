/* coll/hall: blocking collectives of a group on one node, in shared memory (meeting.h).
 *
 * A group gets a hall at its first suitable call and an annex at the third call that needs one, so groups that live for
 * a moment pay little. Suitability depends only on what is the same on all members, and either all members get the
 * memory or none, so all decide alike. Only the root of a broadcast knows its length, and tells it in the hall.
 *
 * What is no barrier, no broadcast and no small reduction goes over desks, in steps: each member puts a part on its
 * desk, all arrive, and each takes its part from the desks of all. That is two copies for each byte, and one switch of
 * the scheduler for as many bytes as a desk holds.
 *
 * Elements of reductions are combined in rank order: the bits are the same on all members. */
#include "coll/make.h"
#include "coll/meeting.h"

#define NONE    UINT32_MAX    /* in coll_group.meetings: there is no hall and never will be; in .needs: no annex */
#define ANNEX_AT 3            /* calls that need one */
#define MASK_WORDS 16         /* 1,024 processors, as vbase_affinity knows them */

struct coll_hall {
    struct msg_share *share, *annex;
    struct meeting meeting;
    uint32_t needs; /* calls that needed the annex, until it was there */
};

static void wake_all(void *share) { vmsg_share_wake_all(share); }

/* More ranks than processors that any of them may use? Decided in the first meeting, so that all know the same. */
static int agree_on_crowd(struct meeting *meeting)
{
    const struct base_topology *topology = vbase_topology();
    uint64_t mask[MASK_WORDS];
    int cpus = 0;
    vbase_affinity(mask, MASK_WORDS);
    meeting->crowd = true;
    int error =
        vcoll_meeting_reduce(meeting, -1, vtype_kernel(OPERATION_BOR, ELEMENT_U64), mask, sizeof *mask, MASK_WORDS);
    if (error)
        return error;
    for (int i = 0; i < MASK_WORDS; i++)
        cpus += __builtin_popcountll(mask[i]);
    if (cpus == 0)
        cpus = topology->cpus_online;
    /* only the rank itself knows its quota, and all must decide alike */
    uint64_t crowd = meeting->ranks > cpus || (topology->cpus_quota > 0 && meeting->ranks > topology->cpus_quota);
    error = vcoll_meeting_reduce(meeting, -1, vtype_kernel(OPERATION_BOR, ELEMENT_U64), &crowd, sizeof crowd, 1);
    meeting->crowd = crowd != 0;
    return error;
}

/* The sequence number gives a tag that no schedule of the group uses. */
static int open_share(struct coll_group *group, size_t bytes, bool willing, struct msg_share **share)
{
    int tag = (int)(group->sequence++ & ((1u << 30) - 1));
    return vmsg_share_open(group->context, tag, bytes, willing, share);
}

static int open_hall(struct coll_group *group)
{
    struct coll_hall *hall = calloc(1, sizeof *hall);
    struct msg_share *share;
    int error = open_share(group, meeting_size(group->size), hall != NULL, &share);
    if (error) {
        free(hall);
        return error;
    }
    hall->share = share;
    hall->meeting = (struct meeting){.hall = vmsg_share_memory(share), .rank = group->rank, .ranks = group->size,
                                     .wait = vmsg_share_wait, .wake = wake_all, .owner = share};
    error = agree_on_crowd(&hall->meeting);
    if (error) { /* the job is lost */
        vmsg_share_close(share);
        free(hall);
        return error;
    }
    group->hall = hall;
    return OK;
}

/* Whether there is an annex, for a call that needs one. */
static bool annex(struct coll_group *group)
{
    struct coll_hall *hall = group->hall;
    if (likely(hall->meeting.annex))
        return true;
    if (hall->needs == NONE || ++hall->needs < ANNEX_AT)
        return false;
    if (open_share(group, meeting_annex_size(group->size), true, &hall->annex) == OK)
        hall->meeting.annex = vmsg_share_memory(hall->annex);
    else
        hall->needs = NONE;
    return hall->meeting.annex != NULL;
}

/* ---- desks ---- */

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

/* Bytes of a desk for each partner: whole lines, unless there are too many partners for that. */
static uint64_t desk_share(int ranks)
{
    uint64_t share = meeting_desk_size(ranks) / (unsigned)ranks;
    return share < CACHE_LINE ? share : share / CACHE_LINE * CACHE_LINE;
}

static int alltoall(struct trade *all)
{
    all->piece = desk_share(all->call->group->size);
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
    all->piece = desk_share(ranks) / all->size;
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

static uint64_t element_size(const struct coll_call *call)
{
    const struct type_layout *layout = call->receive.layout;
    return layout ? layout->shape.size : 1;
}

static int run_over_desks(const struct coll_call *call, struct meeting *meeting)
{
    struct trade all = {.call = call, .meeting = meeting, .desk = meeting_desk_size(meeting->ranks),
                        .size = element_size(call)};
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

/* ---- calls ---- */

#define HALL_RANKS 1024

/* A block for each partner that is worth a message of its own. */
#define HALL_BLOCK (32u << 10)

/* Operations with a kernel are commutative, and their elements are the same everywhere and without holes. */
static bool reduces(const struct coll_call *call)
{
    const struct type_layout *layout = call->receive.layout;
    return call->reduction.kernel && (!layout || (layout->shape.contiguous && layout->shape.size <= 64));
}

static bool suits(const struct coll_call *call)
{
    const struct coll_group *group = call->group;
    if (group->member || call->between || group->size < 2 || group->size > HALL_RANKS || call->root < 0 ||
        call->root >= group->size)
        return false;
    switch (call->kind) {
    case COLL_BARRIER:
    case COLL_BCAST:
        return true;
    case COLL_ALLREDUCE:
    case COLL_REDUCE:
        return reduces(call) && call->receive.count > 0;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        return reduces(call) && element_size(call) <= desk_share(group->size);
    case COLL_ALLTOALL:
        return coll_side_bytes(&call->receive) <= HALL_BLOCK;
    default:
        return call->kind == COLL_ALLGATHER || call->kind == COLL_ALLGATHERV;
    }
}

/* By messages, of the length that the root told: a member that expects another length fails alone. */
static int broadcast_by_messages(const struct coll_call *call, uint64_t total)
{
    struct type_buffer buffer = coll_whole(&call->receive);
    uint64_t bytes = type_buffer_bytes(&buffer);
    if (bytes == total)
        return vcoll_run_by_messages(call);
    struct coll_call other = *call;
    other.receive = (struct coll_side){.base = malloc(total), .count = total};
    int error = other.receive.base
                    ? vcoll_run_by_messages(&other)
                    : vbase_fail(ERR_MEMORY, "no memory for a broadcast of %llu bytes", (unsigned long long)total);
    if (!error)
        (void)vtype_unpack_at(&buffer, 0, other.receive.base, total);
    free(other.receive.base);
    return error ? error : vcoll_meeting_told(call->root, total, bytes);
}

static int broadcast(const struct coll_call *call, struct meeting *meeting)
{
    struct type_buffer buffer = coll_whole(&call->receive);
    uint64_t total;
    int error = vcoll_meeting_bcast(meeting, call->root, &buffer, &total);
    if (error || total <= MEETING_CAST)
        return error;
    if (annex(call->group))
        return vcoll_meeting_bcast_long(meeting, call->root, &buffer, total);
    return broadcast_by_messages(call, total);
}

static int reduce_small(const struct coll_call *call, struct meeting *meeting, size_t bytes)
{
    unsigned char value[MEETING_DATA] ALIGNED(16);
    int root = call->kind == COLL_REDUCE ? call->root : -1;
    memcpy(value, coll_own_base(call), bytes);
    int error = vcoll_meeting_reduce(meeting, root, call->reduction.kernel, value, bytes / call->receive.count,
                                     call->receive.count);
    if (!error && (root < 0 || root == meeting->rank))
        memcpy(call->receive.base, value, bytes);
    return error;
}

static bool is_small_reduction(const struct coll_call *call)
{
    return (call->kind == COLL_ALLREDUCE || call->kind == COLL_REDUCE) &&
           coll_side_bytes(&call->receive) <= MEETING_DATA;
}

bool vcoll_hall_run(const struct coll_call *call, int *error)
{
    struct coll_group *group = call->group;
    if (!suits(call))
        return false;
    if (unlikely(!group->hall)) {
        if (group->meetings == NONE)
            return false;
        if (open_hall(group)) {
            group->meetings = NONE;
            return false;
        }
    }
    struct meeting *meeting = &group->hall->meeting;
    if (call->kind == COLL_BARRIER)
        *error = vcoll_meeting_barrier(meeting);
    else if (call->kind == COLL_BCAST)
        *error = broadcast(call, meeting);
    else if (is_small_reduction(call))
        *error = reduce_small(call, meeting, coll_side_bytes(&call->receive));
    else if (annex(group))
        *error = run_over_desks(call, meeting);
    else
        return false;
    return true;
}

/* All members but the first have left. */
static bool others_left(void *context)
{
    struct meeting *meeting = context;
    /* acquire: pairs with the release of each member that left */
    return atomic_load_explicit(&meeting->hall->left, memory_order_acquire) + 1 == (uint64_t)meeting->ranks;
}

void vcoll_group_close(struct coll_group *group)
{
    struct coll_hall *hall = group->hall;
    group->meetings = 0;
    group->hall = NULL;
    if (!hall)
        return;
    if (group->rank == 0) {
        (void)vmsg_share_wait(others_left, &hall->meeting);
    } else {
        /* release: this rank reads and writes nothing there any more */
        atomic_fetch_add_explicit(&hall->meeting.hall->left, 1, memory_order_release);
        vmsg_share_wake(hall->share, 0);
    }
    vmsg_share_close(hall->annex);
    vmsg_share_close(hall->share);
    free(hall);
}
