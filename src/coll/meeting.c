/* Meetings: see meeting.h for the picture and for why nothing is reused too early.
 *
 * Called by hall.c for blocking collectives of groups that live on one node. One thread of a process is in a
 * meeting at a time (MPI allows no two collectives of one communicator at once). */
#include "coll/meeting.h"

/* What a rank waits for: all in an epoch, its result, a broadcast, or that all have taken enough of them. */
struct expected {
    struct meeting *meeting;
    uint64_t number;
    int seen; /* ranks before this one have come */
};

static struct meeting_block *block_of(struct meeting *meeting, int rank, uint64_t epoch)
{
    struct meeting_block *first = (struct meeting_block *)(void *)&meeting->hall->taken[meeting->ranks];
    return &first[2 * rank + (int)(epoch & 1)];
}

static bool result_is_there(void *context)
{
    struct expected *expected = context;
    /* acquire: pairs with the release in block_publish(), so the data is seen */
    return atomic_load_explicit(&expected->meeting->hall->result.epoch, memory_order_acquire) >= expected->number;
}

static bool all_have_arrived(void *context)
{
    struct expected *expected = context;
    /* acquire: pairs with the additions in meeting_arrive(), so that what lies on the desks is seen */
    return atomic_load_explicit(&expected->meeting->hall->arrived, memory_order_acquire) >=
           expected->number * (uint64_t)expected->meeting->ranks;
}

static bool all_are_there(void *context)
{
    struct expected *expected = context;
    for (; expected->seen < expected->meeting->ranks; expected->seen++) {
        struct meeting_block *block = block_of(expected->meeting, expected->seen, expected->number);
        /* acquire: pairs with the release in block_publish() of that rank */
        if (atomic_load_explicit(&block->epoch, memory_order_acquire) < expected->number)
            return false;
    }
    return true;
}

static struct meeting_cast *slot_of(struct meeting *meeting, uint64_t number)
{
    return &meeting->hall->cast[number % MEETING_CASTS];
}

static bool cast_is_there(void *context)
{
    struct expected *expected = context;
    /* acquire: pairs with the release in fill(), so the data is seen */
    return atomic_load_explicit(&slot_of(expected->meeting, expected->number)->number, memory_order_acquire) >=
           expected->number;
}

static bool all_have_taken(void *context)
{
    struct expected *expected = context;
    for (; expected->seen < expected->meeting->ranks; expected->seen++)
        /* acquire: pairs with the release in take_end() of that rank, which has read what is overwritten now */
        if (atomic_load_explicit(&expected->meeting->hall->taken[expected->seen].casts, memory_order_acquire) <
            expected->number)
            return false;
    return true;
}

static void block_publish(struct meeting_block *block, const void *data, size_t bytes, uint64_t epoch)
{
    if (bytes)
        memcpy(block->data, data, bytes);
    /* release: pairs with the acquire of each rank that waits for this block */
    atomic_store_explicit(&block->epoch, epoch, memory_order_release);
}

static int meeting_await(struct meeting *meeting, bool (*ready)(void *), uint64_t number)
{
    struct expected expected = {.meeting = meeting, .number = number};
    return ready(&expected) ? OK : meeting->wait(meeting->owner, ready, &expected);
}

/* ---- epochs ---- */

/* Until all have arrived in the epoch that began last. */
static int meeting_settle(struct meeting *meeting)
{
    if (meeting->settled == meeting->epoch)
        return OK;
    int error = meeting_await(meeting, meeting->crowd ? all_have_arrived : all_are_there, meeting->epoch);
    if (!error)
        meeting->settled = meeting->epoch;
    return error;
}

/* Arrives in the epoch that is next, with BYTES in the own block; true: as the last of a crowd. */
static bool meeting_arrive(struct meeting *meeting, const void *data, size_t bytes)
{
    uint64_t epoch = ++meeting->epoch;
    bool last = false;
    if (bytes || !meeting->crowd)
        block_publish(block_of(meeting, meeting->rank, epoch), data, bytes, epoch);
    if (meeting->crowd)
        /* release: what this rank wrote before is seen by the last comer; acquire: the last comer sees it */
        last = atomic_fetch_add_explicit(&meeting->hall->arrived, 1, memory_order_acq_rel) + 1 ==
               epoch * (uint64_t)meeting->ranks;
    return last;
}

/* Combines the blocks of all ranks in rank order into OUT. The kernel puts its left operand first, so OUT, which holds
 * the ranks before, is the right place only for commutative kernels; the built-in ones all are. */
static void blocks_combine(struct meeting *meeting, type_kernel *kernel, void *out, size_t size, size_t count)
{
    memcpy(out, block_of(meeting, 0, meeting->epoch)->data, size * count);
    for (int r = 1; r < meeting->ranks; r++)
        kernel(block_of(meeting, r, meeting->epoch)->data, out, count);
}

static int crowd_reduce(struct meeting *meeting, bool mine, type_kernel *kernel, void *inout, size_t size,
                        size_t count)
{
    unsigned char result[MEETING_DATA] ALIGNED(16);
    if (meeting_arrive(meeting, inout, size * count)) {
        meeting->settled = meeting->epoch;
        blocks_combine(meeting, kernel, result, size, count);
        block_publish(&meeting->hall->result, result, size * count, meeting->epoch);
        meeting->wake(meeting->owner);
        if (mine)
            memcpy(inout, result, size * count);
        return OK;
    }
    if (!mine)
        return OK;
    int error = meeting_await(meeting, result_is_there, meeting->epoch);
    if (error)
        return error;
    meeting->settled = meeting->epoch;
    memcpy(inout, meeting->hall->result.data, size * count);
    return OK;
}

static int table_reduce(struct meeting *meeting, bool mine, type_kernel *kernel, void *inout, size_t size,
                        size_t count)
{
    unsigned char result[MEETING_DATA] ALIGNED(16);
    (void)meeting_arrive(meeting, inout, size * count);
    meeting->wake(meeting->owner);
    int error = mine ? meeting_settle(meeting) : OK;
    if (error || !mine)
        return error;
    blocks_combine(meeting, kernel, result, size, count);
    memcpy(inout, result, size * count);
    return OK;
}

int vcoll_meeting_reduce(struct meeting *meeting, int root, type_kernel *kernel, void *inout, size_t size, size_t count)
{
    bool mine = root < 0 || root == meeting->rank;
    int error = meeting_settle(meeting);
    if (error)
        return error;
    return (meeting->crowd ? crowd_reduce : table_reduce)(meeting, mine, kernel, inout, size, count);
}

/* ---- steps ---- */

static int step_end(struct meeting *meeting, const void *data, size_t bytes, bool waits)
{
    bool last = meeting_arrive(meeting, data, bytes);
    if (last || !meeting->crowd)
        meeting->wake(meeting->owner);
    if (last)
        meeting->settled = meeting->epoch;
    return waits ? meeting_settle(meeting) : OK;
}

int vcoll_meeting_step_end(struct meeting *meeting, bool waits) { return step_end(meeting, NULL, 0, waits); }

int vcoll_meeting_tell(struct meeting *meeting, const void *data, size_t bytes)
{
    int error = meeting_settle(meeting);
    return error ? error : step_end(meeting, data, bytes, true);
}

const void *vcoll_meeting_block(struct meeting *meeting, int rank)
{
    return block_of(meeting, rank, meeting->epoch)->data;
}

int vcoll_meeting_barrier(struct meeting *meeting) { return vcoll_meeting_tell(meeting, NULL, 0); }

static char *desk_of(const struct meeting *meeting, int rank, uint64_t epoch)
{
    return meeting->annex + MEETING_CASTS * MEETING_BODY +
           (2 * (size_t)rank + (epoch & 1)) * meeting_desk_size(meeting->ranks);
}

int vcoll_meeting_step_begin(struct meeting *meeting, char **desk)
{
    *desk = desk_of(meeting, meeting->rank, meeting->epoch + 1);
    return meeting_settle(meeting);
}

const char *vcoll_meeting_desk(const struct meeting *meeting, int rank)
{
    return desk_of(meeting, rank, meeting->epoch);
}

/* ---- broadcasts ---- */

static void taken_tell(struct meeting *meeting)
{
    /* release: pairs with the acquire in all_have_taken() */
    atomic_store_explicit(&meeting->hall->taken[meeting->rank].casts, meeting->casts, memory_order_release);
}

/* The next slot, when it is free. */
static int fill_begin(struct meeting *meeting, struct meeting_cast **slot)
{
    uint64_t number = ++meeting->casts;
    *slot = slot_of(meeting, number);
    taken_tell(meeting); /* what one fills oneself need not be taken */
    if (number % MEETING_TAKEN || number < MEETING_CASTS)
        return OK;
    return meeting_await(meeting, all_have_taken, number + MEETING_TAKEN - MEETING_CASTS);
}

static void fill_end(struct meeting *meeting, struct meeting_cast *slot)
{
    /* release: pairs with the acquire in cast_is_there() */
    atomic_store_explicit(&slot->number, meeting->casts, memory_order_release);
    meeting->wake(meeting->owner);
}

static int take_begin(struct meeting *meeting, struct meeting_cast **slot)
{
    *slot = slot_of(meeting, ++meeting->casts);
    return meeting_await(meeting, cast_is_there, meeting->casts);
}

static void take_end(struct meeting *meeting)
{
    taken_tell(meeting);
    if (meeting->casts % MEETING_TAKEN == 0) /* so much a root may wait for */
        meeting->wake(meeting->owner);
}

int vcoll_meeting_told(int root, uint64_t came, uint64_t room)
{
    if (likely(came == room))
        return OK;
    return vbase_fail(came > room ? ERR_TRUNCATED : ERR_ARGUMENT,
                      "%llu bytes came from root %d of a broadcast, there is room for %llu", (unsigned long long)came,
                      root, (unsigned long long)room);
}

int vcoll_meeting_bcast(struct meeting *meeting, int root, const struct type_buffer *buffer, uint64_t *total)
{
    uint64_t bytes = type_buffer_bytes(buffer);
    bool mine = root == meeting->rank, straight = type_buffer_contiguous(buffer);
    struct meeting_cast *slot;
    int error = mine ? fill_begin(meeting, &slot) : take_begin(meeting, &slot);
    if (error)
        return error;
    if (mine)
        slot->bytes = bytes;
    uint64_t came = *(const volatile uint64_t *)&slot->bytes, moved = came < bytes ? came : bytes;
    *total = came;
    if (came > MEETING_CAST)
        moved = 0;
    if (straight && moved) {
        memcpy(mine ? (void *)slot->data : buffer->base, mine ? buffer->base : (void *)slot->data, moved);
    } else if (moved) {
        (void)(mine ? vtype_pack_at(buffer, 0, slot->data, moved) : vtype_unpack_at(buffer, 0, slot->data, moved));
    }
    if (mine)
        fill_end(meeting, slot);
    else
        take_end(meeting);
    return came <= MEETING_CAST ? vcoll_meeting_told(root, came, bytes) : OK;
}

int vcoll_meeting_bcast_long(struct meeting *meeting, int root, const struct type_buffer *buffer, uint64_t total)
{
    bool mine = root == meeting->rank;
    uint64_t bytes = type_buffer_bytes(buffer);
    struct type_cursor cursor;
    struct meeting_cast *slot;
    vtype_cursor_start(&cursor, buffer);
    for (uint64_t at = 0; at < total; at += MEETING_BODY) {
        uint64_t length = total - at < MEETING_BODY ? total - at : MEETING_BODY;
        int error = mine ? fill_begin(meeting, &slot) : take_begin(meeting, &slot);
        if (error)
            return error;
        char *body = meeting->annex + meeting->casts % MEETING_CASTS * MEETING_BODY;
        if (mine) {
            (void)vtype_pack(&cursor, body, length);
            fill_end(meeting, slot);
        } else {
            (void)vtype_unpack(&cursor, body, length); /* no more than there is room for */
            take_end(meeting);
        }
    }
    return vcoll_meeting_told(root, total, bytes);
}
