/* The blocks that carry payload longer than a row: taken by the sends of this process, given back when credit says that
 * the line of the block was consumed. Nothing of the bookkeeping is shared. All functions are called under heap->lock.
 *
 * Memory comes in slabs. Blocks of any length are cut from the present slab, downwards; when it has no room for the
 * next block, the slab that has been free longest becomes the present one. A slab is free again when all its blocks are
 * back. So all lengths share the same pages, and a page is paid for once.
 *
 * Downwards, because the processor reads ahead of a reader: upwards it would take the first lines of the next block
 * away from the sender that fills them. In rotation, because a block whose lines are still in the receiver's cache must
 * be fetched back line by line when it is written again; a rotation that is larger than the caches of the two
 * processors avoids that. But a new page costs as much as sending it ten times. So the pool begins with a few slabs,
 * and doubles when all that is there has been used some times, until it is as large as both caches: new pages are a
 * small share of what any stretch of messages costs. It also grows when messages to other peers hold all of it. */
#include "vi/shm/shm.h"
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* older headers do not have it */
#endif

/* Slabs that the private caches of two processors hold. */
static uint32_t slabs_cached(void)
{
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    uint64_t slabs = bytes > 0 ? 2 * (uint64_t)bytes / SHM_SLAB + 1 : SHM_SLABS;
    slabs = slabs < TUNED(SHM_POOL_FIRST) ? TUNED(SHM_POOL_FIRST) : slabs;
    return slabs < SHM_SLABS ? (uint32_t)slabs : SHM_SLABS;
}

void shm_heap_open(struct shm_heap *heap, char *base)
{
    heap->base = base;
    heap->most = slabs_cached();
    heap->present = SHM_NO_SLAB;
    heap->wanted = TUNED(SHM_POOL_FIRST);
}

static void slab_free(struct shm_heap *heap, uint32_t slab) { heap->free[heap->tail++ % SHM_SLABS] = (uint8_t)slab; }

void shm_heap_give(struct shm_heap *heap, uint32_t slab)
{
    if (--heap->out[slab] == 0 && slab != heap->present)
        slab_free(heap, slab);
}

/* Blocks come back only when credits are read: first those of the lane that asks, then those of all. */
static COLD void blocks_harvest(struct shm_nic *nic, struct shm_vi *vi)
{
    struct shm_heap *heap = &nic->heap;
    if (vi->blocks_out > 0)
        shm_lane_harvest(vi);
    for (uint32_t i = 0; i < nic->segment.ranks && heap->head == heap->tail; i++) {
        struct shm_vi *other = atomic_load_explicit(&nic->peers[i], memory_order_acquire);
        if (other && other->blocks_out > 0)
            shm_lane_harvest(other);
    }
}

/* Another slab becomes the present one; false: none is free, and no more may be had. */
static COLD bool slab_next(struct shm_nic *nic, struct shm_vi *vi)
{
    struct shm_heap *heap = &nic->heap;
    uint32_t left = heap->present;
    if (heap->taken >= TUNED(SHM_POOL_ROUNDS) * heap->wanted) {
        heap->wanted = 2 * heap->wanted < heap->most ? 2 * heap->wanted : heap->most;
        heap->taken = 0;
    }
    bool grow = heap->slabs < heap->wanted;
    if (!grow && heap->head == heap->tail)
        blocks_harvest(nic, vi);
    if (heap->head == heap->tail && vi->blocks_out == 0) /* other peers hold all of it, and may not poll for long */
        grow = heap->slabs < heap->most;
    if (!grow && heap->head == heap->tail && left != SHM_NO_SLAB && heap->out[left] == 0)
        slab_free(heap, left); /* it is the only one that is free */
    if (!grow && heap->head == heap->tail)
        return false;
    bool same = !grow && heap->free[heap->head % SHM_SLABS] == left;
    if (grow) {
        heap->present = SHM_SLABS - 1 - heap->slabs++;
        /* all pages by one call: one by one they cost three times as much. Where the kernel cannot, they come so */
        (void)madvise(heap->base + heap->present * SHM_SLAB, SHM_SLAB, MADV_POPULATE_WRITE);
    } else {
        heap->present = heap->free[heap->head++ % SHM_SLABS];
    }
    heap->at = SHM_SLAB;
    heap->taken += !grow;
    if (left != SHM_NO_SLAB && !same && heap->out[left] == 0)
        slab_free(heap, left);
    return true;
}

static uint32_t room_for(uint32_t length) { return (length + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE; }

uint32_t shm_heap_take(struct shm_nic *nic, struct shm_vi *vi, uint32_t length)
{
    struct shm_heap *heap = &nic->heap;
    uint32_t bytes = room_for(length);
    if (unlikely(heap->present == SHM_NO_SLAB || heap->at < bytes) && !slab_next(nic, vi))
        return SHM_NO_BLOCK;
    heap->at -= bytes;
    heap->out[heap->present]++;
    return heap->present * SHM_SLAB + heap->at;
}

uint32_t shm_heap_next(const struct shm_heap *heap, uint32_t length)
{
    uint32_t bytes = room_for(length), slab = heap->present, at = heap->at;
    if (slab == SHM_NO_SLAB || (at < bytes && heap->head == heap->tail))
        return 0;
    if (at < bytes) {
        slab = heap->free[heap->head % SHM_SLABS];
        at = SHM_SLAB;
    }
    return slab * SHM_SLAB + at - bytes;
}
