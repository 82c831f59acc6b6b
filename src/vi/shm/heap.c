/* The blocks that carry eager payload above 48 bytes: four classes in this process' part of the segment, taken by its
 * sends and given back when credit says that the cell of the block was consumed. Nothing of the bookkeeping is shared.
 *
 * All functions are called under heap->lock. A freed block queues up behind all others of its class: reuse of a block
 * whose lines are still hot at the receiver halves the bandwidth, so rotation beats locality here. */
#include "vi/shm/shm.h"

#define CLASS_SHIFT 12 /* a block's id: class << 12 | number */

void shm_heap_open(struct shm_heap *heap, char *base)
{
    static const uint32_t size[SHM_CLASSES] = {SHM_BLOCK_0, SHM_BLOCK_1, SHM_BLOCK_2, SHM_BLOCK_3};
    static const uint32_t count[SHM_CLASSES] = {SHM_COUNT_0, SHM_COUNT_1, SHM_COUNT_2, SHM_COUNT_3};
    uint16_t *ring = heap->ring;
    uint32_t offset = 0;

    heap->base = base;
    for (uint32_t c = 0; c < SHM_CLASSES; c++) {
        heap->class[c] = (struct shm_class){size[c], count[c], offset, 0, count[c], ring};
        for (uint32_t n = 0; n < count[c]; n++)
            ring[n] = (uint16_t)(c << CLASS_SHIFT | n);
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
            return class->free[class->head++ % class->count];
    return SHM_NO_BLOCK;
}

uint16_t shm_heap_next(const struct shm_heap *heap, uint16_t block)
{
    const struct shm_class *class = &heap->class[block >> CLASS_SHIFT];

    return class->free[class->head % class->count];
}
