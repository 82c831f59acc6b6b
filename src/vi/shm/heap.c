/* The blocks that carry eager payload above 48 bytes: classes of blocks in this process' part of the segment, taken by
 * its sends and given back when credit says that the cell of the block was consumed. Nothing of the bookkeeping is
 * shared. All functions are called under heap->lock.
 *
 * A freed block queues up behind all others of its class: a block used again while its lines are still in the
 * receiver's cache must be fetched back line by line. The longer the rotation the better: when it outgrows the caches of
 * the two cores, blocks travel through the cache that they share, which was measured four times as fast. But a long
 * rotation touches much memory, so a class begins with a quarter of a megabyte and doubles after each four rounds:
 * only who sends much holds much. */
#include "vi/shm/shm.h"

#define CLASS_SHIFT 13 /* a block's id: class << 13 | number */
#define FIRST_BYTES (256u << 10)
#define ROUNDS      4u

static void grow(struct shm_class *class, uint32_t id, uint32_t blocks)
{
    for (uint32_t n = class->grown; n < blocks; n++)
        class->free[class->tail++ % class->count] = (uint16_t)(id << CLASS_SHIFT | n);
    class->grown = blocks;
    class->left = blocks < class->count ? blocks * ROUNDS : UINT32_MAX;
}

void shm_heap_open(struct shm_heap *heap, char *base)
{
    static const uint32_t size[SHM_CLASSES] = SHM_BLOCK_SIZES, count[SHM_CLASSES] = SHM_BLOCK_NUMBERS;
    uint16_t *ring = heap->ring;
    uint32_t offset = 0;

    heap->base = base;
    for (uint32_t c = 0; c < SHM_CLASSES; c++) {
        heap->class[c] = (struct shm_class){.size = size[c], .count = count[c], .offset = offset, .free = ring};
        grow(&heap->class[c], c, FIRST_BYTES / size[c] + 1);
        ring += count[c];
        offset += size[c] * count[c];
    }
}

uint32_t shm_heap_offset(const struct shm_heap *heap, uint16_t block)
{
    const struct shm_class *class = &heap->class[block >> CLASS_SHIFT];

    return class->offset + (block & ((1u << CLASS_SHIFT) - 1)) * class->size;
}

void shm_heap_give(struct shm_heap *heap, uint16_t block)
{
    struct shm_class *class = &heap->class[block >> CLASS_SHIFT];

    class->free[class->tail++ % class->count] = block;
}

/* Blocks come back only when somebody looks at the credits: first of the lane that asks, then of all. */
static void harvest_all(struct shm_nic *nic)
{
    for (uint32_t i = 0; i < nic->segment.ranks; i++) {
        struct shm_vi *vi = atomic_load_explicit(&nic->peers[i], memory_order_acquire);
        if (vi && vi->blocks_out > 0)
            shm_lane_harvest(vi);
    }
}

static uint16_t take(struct shm_heap *heap, struct shm_class *class)
{
    uint32_t more = class->grown < class->count / 2 ? class->grown * 2 : class->count;

    if (unlikely(--class->left == 0))
        grow(class, (uint32_t)(class - heap->class), more);
    return class->free[class->head++ % class->count];
}

uint16_t shm_heap_take(struct shm_nic *nic, struct shm_vi *vi, uint32_t length)
{
    struct shm_class *first = nic->heap.class, *end = first + SHM_CLASSES;

    while (first < end && first->size < length)
        first++;
    if (first < end && first->head == first->tail && vi->blocks_out > 0)
        shm_lane_harvest(vi);
    if (first < end && first->head == first->tail)
        harvest_all(nic);
    for (struct shm_class *class = first; class < end; class++)
        if (class->head != class->tail)
            return take(&nic->heap, class);
    return SHM_NO_BLOCK;
}

uint16_t shm_heap_next(const struct shm_heap *heap, uint16_t block)
{
    const struct shm_class *class = &heap->class[block >> CLASS_SHIFT];

    return class->free[class->head % class->count];
}
