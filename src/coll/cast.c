/* coll/cast: broadcasts in a hall. The root fills slots and goes on; a rank that is late takes many at once. At every
 * eighth slot each rank tells how many it took, and the root reads what the others told. The slot says how long the
 * payload is, whatever the others expect.
 *
 * Called by hall.c for blocking calls. */
#include "coll/hall.h"

#define AHEAD 4 /* the line of the slot behind so many is fetched while this one is written or read */
#define TAKEN 8 /* how many were taken is told and read once in so many */

/* What a rank waits for: a broadcast, or that all have taken enough of them. */
struct expected {
    struct coll_hall *hall;
    uint64_t number;
    int seen; /* ranks before this one have taken */
};

static struct hall_cast *slot_of(struct coll_hall *hall, uint64_t number)
{
    return &hall->memory->cast[number % HALL_CASTS];
}

static bool cast_is_there(void *context)
{
    struct expected *expected = context;
    /* acquire: pairs with the release in fill_end(), so the data is seen */
    return atomic_load_explicit(&slot_of(expected->hall, expected->number)->number, memory_order_acquire) >=
           expected->number;
}

static bool all_have_taken(void *context)
{
    struct expected *expected = context;
    for (; expected->seen < expected->hall->ranks; expected->seen++)
        /* acquire: pairs with the release in taken_tell() of that rank, which has read what is overwritten now */
        if (atomic_load_explicit(&expected->hall->memory->taken[expected->seen].count, memory_order_acquire) <
            expected->number)
            return false;
    return true;
}

static int cast_await(struct coll_hall *hall, bool (*ready)(void *), uint64_t number)
{
    struct expected expected = {.hall = hall, .number = number};
    return vmsg_share_wait(hall->share, ready, &expected);
}

static void taken_tell(struct coll_hall *hall)
{
    /* release: pairs with the acquire in all_have_taken() */
    atomic_store_explicit(&hall->memory->taken[hall->rank].count, hall->casts, memory_order_release);
}

/* What one fills oneself need not be taken. */
static int some_become_free(struct coll_hall *hall)
{
    taken_tell(hall);
    return hall->casts < HALL_CASTS ? OK : cast_await(hall, all_have_taken, hall->casts + TAKEN - HALL_CASTS);
}

/* The next slot, when it is free. */
static inline int fill_begin(struct coll_hall *hall, struct hall_cast **slot)
{
    *slot = slot_of(hall, ++hall->casts);
    __builtin_prefetch(slot_of(hall, hall->casts + AHEAD), 1);
    return likely(hall->casts % TAKEN) ? OK : some_become_free(hall);
}

static inline void fill_end(struct coll_hall *hall, struct hall_cast *slot)
{
    /* release: pairs with the acquire in cast_is_there() */
    atomic_store_explicit(&slot->number, hall->casts, memory_order_release);
    vmsg_share_wake_all(hall->share);
}

static inline int take_begin(struct coll_hall *hall, struct hall_cast **slot)
{
    *slot = slot_of(hall, ++hall->casts);
    /* acquire: as in cast_is_there() */
    if (unlikely(atomic_load_explicit(&(*slot)->number, memory_order_acquire) < hall->casts))
        return cast_await(hall, cast_is_there, hall->casts);
    __builtin_prefetch(slot_of(hall, hall->casts + AHEAD)); /* the root is ahead */
    return OK;
}

static inline void take_end(struct coll_hall *hall)
{
    if (likely(hall->casts % TAKEN))
        return;
    taken_tell(hall);
    vmsg_share_wake_all(hall->share); /* a root may wait for it */
}

int vcoll_cast_told(int root, uint64_t came, uint64_t room)
{
    if (likely(came == room))
        return OK;
    return vbase_fail(came > room ? ERR_TRUNCATED : ERR_ARGUMENT,
                      "%llu bytes came from root %d of a broadcast, there is room for %llu", (unsigned long long)came,
                      root, (unsigned long long)room);
}

int vcoll_cast(struct coll_hall *hall, int root, const struct type_buffer *buffer, uint64_t *total)
{
    uint64_t bytes = type_buffer_bytes(buffer);
    bool mine = root == hall->rank, straight = type_buffer_contiguous(buffer);
    struct hall_cast *slot;
    int error = mine ? fill_begin(hall, &slot) : take_begin(hall, &slot);
    if (error)
        return error;
    if (mine)
        slot->bytes = bytes;
    uint64_t came = *(const volatile uint64_t *)&slot->bytes, moved = came < bytes ? came : bytes;
    *total = came;
    if (came > HALL_CAST)
        moved = 0;
    if (!straight || !hall_copy_word(mine ? (void *)slot->data : buffer->base,
                                     mine ? buffer->base : (void *)slot->data, moved))
        (void)(mine ? vtype_pack_at(buffer, 0, slot->data, moved) : vtype_unpack_at(buffer, 0, slot->data, moved));
    if (mine)
        fill_end(hall, slot);
    else
        take_end(hall);
    return came <= HALL_CAST ? vcoll_cast_told(root, came, bytes) : OK;
}

int vcoll_cast_long(struct coll_hall *hall, int root, const struct type_buffer *buffer, uint64_t total)
{
    bool mine = root == hall->rank;
    uint64_t bytes = type_buffer_bytes(buffer);
    struct type_cursor cursor;
    struct hall_cast *slot;
    vtype_cursor_start(&cursor, buffer);
    for (uint64_t at = 0; at < total; at += HALL_BODY) {
        uint64_t length = total - at < HALL_BODY ? total - at : HALL_BODY;
        int error = mine ? fill_begin(hall, &slot) : take_begin(hall, &slot);
        if (error)
            return error;
        char *body = hall->bodies.memory + hall->casts % HALL_CASTS * HALL_BODY;
        if (mine) {
            (void)vtype_pack(&cursor, body, length);
            fill_end(hall, slot);
        } else {
            (void)vtype_unpack(&cursor, body, length); /* no more than there is room for */
            take_end(hall);
        }
    }
    return vcoll_cast_told(root, total, bytes);
}
