/* The blocks that carry eager payload above 48 bytes: classes of blocks in this process' part of the segment, taken by
 * its sends and given back when credit says that the cell of the block was consumed. Nothing of the bookkeeping is
 * shared. All functions are called under heap->lock. A block's name is its class and its place, in lines.
 *
 * In a stream a freed block queues up behind all others of its class: a block used again while its lines are still in the
 * receiver's cache must be fetched back line by line. The longer the rotation the better: when it outgrows the caches of
 * the two cores, blocks travel through the cache that they share, which was measured four times as fast. But a long
 * rotation touches much memory, so a class begins with a quarter of a megabyte and doubles after each four rounds (sixteen
 * where two take turns), or when receivers who do not look hold all of it: only who sends much holds much.
 *
 * Blocks are taken downwards in memory. The processor reads ahead of who reads: upwards, it would take the first lines of
 * the next block away from the sender while he fills them. */
#include "vi/shm/shm.h"

#define FIRST_BYTES (256u << 10)
#define ROUNDS      4u /* in a stream; */
#define IN_TURNS    4u /* so many times that where two take turns: they gain less, and new pages cost them as much */

static void grow(struct shm_class *class, uint32_t blocks)
{
    for (uint32_t n = blocks; n-- > class->grown;)
        class->free[class->tail++ % class->count] = class->first + n * (class->size / CACHE_LINE);
    class->grown = blocks;
    class->left = blocks < class->count ? (int32_t)(blocks * ROUNDS * IN_TURNS) : INT32_MAX;
}

void shm_heap_open(struct shm_heap *heap, char *base)
{
    static const uint32_t size[SHM_CLASSES] = SHM_BLOCK_SIZES, count[SHM_CLASSES] = SHM_BLOCK_NUMBERS;
    uint32_t *ring = heap->ring, offset = 0;
    heap->base = base;
    for (uint32_t c = 0; c < SHM_CLASSES; c++) {
        uint32_t first = c << SHM_CLASS_SHIFT | offset / CACHE_LINE;
        heap->class[c] = (struct shm_class){.size = size[c], .count = count[c], .first = first, .free = ring};
        grow(&heap->class[c], FIRST_BYTES / size[c] + 1);
        ring += count[c];
        offset += size[c] * count[c];
    }
}

void shm_heap_give(struct shm_heap *heap, uint32_t block)
{
    struct shm_class *class = &heap->class[block >> SHM_CLASS_SHIFT];
    class->free[class->tail++ % class->count] = block;
}

/* Blocks come back only when somebody looks at the credits: first of the lane that asks, then of all. */
static COLD void harvest(struct shm_nic *nic, struct shm_vi *vi, const struct shm_class *class)
{
    if (vi->blocks_out > 0)
        shm_lane_harvest(vi);
    for (uint32_t i = 0; i < nic->segment.ranks && class->head == class->tail; i++) {
        struct shm_vi *other = atomic_load_explicit(&nic->peers[i], memory_order_acquire);
        if (other && other->blocks_out > 0)
            shm_lane_harvest(other);
    }
}

static void double_up(struct shm_class *class)
{
    grow(class, class->grown < class->count / 2 ? class->grown * 2 : class->count);
}

static uint32_t take(struct shm_class *class, bool turns)
{
    class->left -= turns ? 1 : (int32_t)IN_TURNS;
    if (unlikely(class->left <= 0))
        double_up(class);
    return class->free[class->head++ % class->count];
}

uint32_t shm_heap_take(struct shm_nic *nic, struct shm_vi *vi, uint32_t length, bool turns)
{
    struct shm_class *first = nic->heap.class, *end = first + SHM_CLASSES;
    while (first->size < length)
        first++;
    if (unlikely(first->head == first->tail))
        harvest(nic, vi, first);
    for (struct shm_class *class = first; class < end; class++) {
        if (unlikely(class->head == class->tail && class->grown < class->count))
            double_up(class);
        if (likely(class->head != class->tail))
            return take(class, turns);
    }
    return SHM_NO_BLOCK;
}

uint32_t shm_heap_next(const struct shm_heap *heap, uint32_t block)
{
    const struct shm_class *class = &heap->class[block >> SHM_CLASS_SHIFT];
    return class->free[class->head % class->count];
}
