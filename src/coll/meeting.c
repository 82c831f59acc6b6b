/* Meetings: see meeting.h for the picture and for why no line is reused too early.
 *
 * Called by run.c for small blocking collectives of groups that live on one node. One thread of a process is in a meeting
 * at a time (MPI allows no two collectives of one communicator at once). */
#include "coll/meeting.h"
#include "base/error.h"
#include <string.h>

/* What somebody waits for: a block that has reached an epoch, all blocks of a table, or a broadcast. */
struct expected {
    struct meeting *meeting;
    uint64_t epoch; /* or the number of a broadcast */
    int seen; /* table: ranks before this one have come */
};

static struct meeting_block *block_of(struct meeting *meeting, int rank, uint64_t epoch)
{
    return &meeting->hall->block[2 * rank + (int)(epoch & 1)];
}

static bool result_is_there(void *context)
{
    struct expected *expected = context;
    /* acquire: pairs with the release in publish(), so the data is seen */
    return atomic_load_explicit(&expected->meeting->hall->result.epoch, memory_order_acquire) >= expected->epoch;
}

static bool all_are_there(void *context)
{
    struct expected *expected = context;
    for (; expected->seen < expected->meeting->ranks; expected->seen++) {
        struct meeting_block *block = block_of(expected->meeting, expected->seen, expected->epoch);
        /* acquire: pairs with the release in publish() of that rank */
        if (atomic_load_explicit(&block->epoch, memory_order_acquire) < expected->epoch)
            return false;
    }
    return true;
}

static bool cast_is_there(void *context)
{
    struct expected *expected = context;
    struct meeting_cast *cast = &expected->meeting->hall->cast[expected->epoch % MEETING_CASTS];
    /* acquire: pairs with the release in cast_out(), so the data is seen */
    return atomic_load_explicit(&cast->number, memory_order_acquire) >= expected->epoch;
}

static void publish(struct meeting_block *block, const void *data, size_t bytes, uint64_t epoch)
{
    if (bytes)
        memcpy(block->data, data, bytes);
    /* release: pairs with the acquire of whoever waits for this block */
    atomic_store_explicit(&block->epoch, epoch, memory_order_release);
}

static int await(struct meeting *meeting, bool (*ready)(void *), struct expected *expected)
{
    return ready(expected) ? 0 : meeting->wait(ready, expected);
}

/* Combines the blocks of all ranks in rank order into OUT. The kernel puts its left operand first, so OUT, which holds the
 * ranks before, is the right place only for commutative kernels; the built-in ones all are. */
static void combine(struct meeting *meeting, uint64_t epoch, type_kernel *kernel, void *out, size_t size, size_t count)
{
    memcpy(out, block_of(meeting, 0, epoch)->data, size * count);
    for (int r = 1; r < meeting->ranks; r++)
        kernel(block_of(meeting, r, epoch)->data, out, count);
}

static int meet_in_crowd(struct meeting *meeting, type_kernel *kernel, void *inout, size_t size, size_t count)
{
    struct meeting_hall *hall = meeting->hall;
    uint64_t epoch = ++meeting->epoch, all = epoch * (uint64_t)meeting->ranks;
    unsigned char result[MEETING_DATA] ALIGNED(16);
    if (count)
        publish(block_of(meeting, meeting->rank, epoch), inout, size * count, epoch);
    /* release: what this rank wrote before is seen by the last comer; acquire: the last comer sees it */
    if (atomic_fetch_add_explicit(&hall->arrived, 1, memory_order_acq_rel) + 1 == all) {
        if (count) {
            combine(meeting, epoch, kernel, result, size, count);
            memcpy(inout, result, size * count);
        }
        publish(&hall->result, result, size * count, epoch);
        meeting->wake(meeting->owner);
        return 0;
    }
    struct expected expected = {.meeting = meeting, .epoch = epoch};
    int error = await(meeting, result_is_there, &expected);
    if (!error && count)
        memcpy(inout, hall->result.data, size * count);
    return error;
}

static int meet_at_table(struct meeting *meeting, type_kernel *kernel, void *inout, size_t size, size_t count)
{
    uint64_t epoch = ++meeting->epoch;
    publish(block_of(meeting, meeting->rank, epoch), inout, size * count, epoch);
    meeting->wake(meeting->owner);
    struct expected expected = {.meeting = meeting, .epoch = epoch};
    int error = await(meeting, all_are_there, &expected);
    if (!error && count) {
        unsigned char result[MEETING_DATA] ALIGNED(16);
        combine(meeting, epoch, kernel, result, size, count);
        memcpy(inout, result, size * count);
    }
    return error;
}

int vcoll_meeting_reduce(struct meeting *meeting, type_kernel *kernel, void *inout, size_t size, size_t count)
{
    return meeting->crowd ? meet_in_crowd(meeting, kernel, inout, size, count)
                          : meet_at_table(meeting, kernel, inout, size, count);
}

int vcoll_meeting_barrier(struct meeting *meeting) { return vcoll_meeting_reduce(meeting, NULL, NULL, 0, 0); }

static void cast_out(struct meeting *meeting, const void *data, size_t bytes)
{
    struct meeting_cast *cast = &meeting->hall->cast[meeting->casts % MEETING_CASTS];
    memcpy(cast->data, data, bytes);
    cast->bytes = bytes;
    /* release: pairs with the acquire in cast_is_there() */
    atomic_store_explicit(&cast->number, meeting->casts, memory_order_release);
    meeting->wake(meeting->owner);
}

int vcoll_meeting_bcast(struct meeting *meeting, int root, void *data, size_t bytes)
{
    int error = ++meeting->casts % MEETING_CASTS ? OK : vcoll_meeting_barrier(meeting); /* then all lines were read */
    if (error)
        return error;
    if (root == meeting->rank) {
        cast_out(meeting, data, bytes);
        return OK;
    }
    struct expected expected = {.meeting = meeting, .epoch = meeting->casts};
    error = await(meeting, cast_is_there, &expected);
    if (error)
        return error;
    const struct meeting_cast *cast = &meeting->hall->cast[meeting->casts % MEETING_CASTS];
    uint64_t came = cast->bytes;
    memcpy(data, cast->data, came < bytes ? came : bytes);
    return came <= bytes ? OK : vbase_fail(ERR_TRUNCATED, "%llu bytes came from root %d of a broadcast, there is room for %zu",
                                           (unsigned long long)came, root, bytes);
}
