/* The blocks that carry eager payload above 48 bytes: classes of blocks in this process' part of the segment, taken by
 * its sends and given back when credit says that the cell of the block was consumed. Nothing of the bookkeeping is
 * shared. All functions are called under heap->lock. A block's name is its class and its place, in lines.
 *
 * In a stream a freed block queues up behind all others of its class: a block used again while its lines are still in the
 * receiver's cache must be fetched back line by line. The longer the rotation the better: when it outgrows the caches of
 * the two cores, blocks travel through the cache that they share, which was measured four times as fast. But a long
 * rotation touches much memory, and a new page costs as much as to send it ten times. So a class begins with an eighth of a
 * megabyte and doubles after each seven rounds (56 where two take turns) until it is as large as both caches, and further
 * when receivers who do not look hold all of it: only who sends much holds much.
 *
 * Classes share the heap by slabs, and one that is not used gives those back that it has grown by. They are in memory, so
 * whoever needs them next doubles after each round: a program pays for its pages once, whatever sizes follow each other.
 *
 * Blocks are taken downwards in memory. The processor reads ahead of who reads: upwards, it would take the first lines of
 * the next block away from the sender while he fills them. */
#include "vi/shm/shm.h"

#include <unistd.h>

#define FIRST    2u /* slabs of each class, always */
#define SHORT    4u /* that rotate of the shortest blocks: more of them gain nothing */
#define ROUNDS   7u /* in a stream; */
#define IN_TURNS 8u /* so many times that where two take turns: they gain less, and new pages, which cost them as much, are a twentieth
                     * of their time then */

enum slab { FRESH, WARM, OWNED }; /* WARM: nobody's, and in memory */

static void adopt(struct shm_heap *heap, uint32_t c, uint32_t slab)
{
    struct shm_class *class = &heap->class[c];
    uint32_t first = slab * (SHM_SLAB / CACHE_LINE);
    for (uint32_t n = class->each; n-- > 0;)
        class->free[class->tail++ & class->mask] = c << SHM_CLASS_SHIFT | (first + n * (class->size / CACHE_LINE));
    heap->slab[slab] = OWNED;
    class->slabs++;
}

/* Slabs of this kind for class C, the highest first; returns how many are still missing. */
static uint32_t collect(struct shm_heap *heap, uint32_t c, enum slab kind, uint32_t wanted)
{
    for (uint32_t slab = SHM_SLABS; slab-- > 0 && wanted > 0;)
        if (heap->slab[slab] == kind) {
            adopt(heap, c, slab);
            wanted--;
        }
    return wanted;
}

/* A class of which nothing was taken since somebody looked last, all of whose blocks are here, keeps the slabs that it began with. */
static void shrink(struct shm_heap *heap, uint32_t c)
{
    struct shm_class *class = &heap->class[c];
    bool idle = class->head == class->seen && class->tail - class->head == class->slabs * class->each;
    class->seen = class->head;
    if (!idle || class->slabs == FIRST)
        return;
    for (; class->head != class->tail; class->head++) {
        uint32_t slab = shm_heap_offset(class->free[class->head & class->mask]) / SHM_SLAB;
        heap->slab[slab] = WARM;
    }
    class->slabs = 0;
    for (uint32_t i = FIRST; i-- > 0;)
        adopt(heap, c, c * FIRST + i);
    class->seen = class->head;
    class->rounds = 0;
    class->left = (int32_t)(class->slabs * class->each * IN_TURNS);
}

/* Class C becomes twice as large, MOST slabs at most, as far as there is memory; what costs no new pages is taken first. */
static COLD void grow(struct shm_heap *heap, uint32_t c, uint32_t most, bool fresh)
{
    struct shm_class *class = &heap->class[c];
    uint32_t room = most - class->slabs, wanted = class->slabs < room ? class->slabs : room;
    for (uint32_t other = 0; other < SHM_CLASSES && wanted > 0; other++)
        if (other != c)
            shrink(heap, other);
    uint32_t before = class->slabs, missing = collect(heap, c, WARM, wanted);
    if (fresh)
        (void)collect(heap, c, FRESH, missing);
    if (class->slabs > before)
        class->rounds = 0;
}

/* Every block was taken once more. */
static COLD void one_round(struct shm_heap *heap, uint32_t c)
{
    struct shm_class *class = &heap->class[c];
    if (class->slabs < class->enough)
        grow(heap, c, class->enough, ++class->rounds >= ROUNDS);
    class->left = class->slabs < class->enough ? (int32_t)(class->slabs * class->each * IN_TURNS) : INT32_MAX;
}

/* Slabs that the own caches of two cores hold. */
static uint32_t cached(void)
{
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 && bytes < SHM_SLAB * SHM_SLABS ? (uint32_t)(2 * bytes / SHM_SLAB + 1) : SHM_SLABS;
}

void shm_heap_open(struct shm_heap *heap, char *base)
{
    static const uint32_t size[SHM_CLASSES] = SHM_BLOCK_SIZES, most[SHM_CLASSES] = SHM_BLOCK_SLABS;
    uint32_t *ring = heap->ring, enough = cached();
    heap->base = base;
    heap->store[true] = (struct shm_store){.turns = true};
    shm_store_nothing(&heap->store[true]); /* new pages say nothing */
    for (uint32_t c = 0; c < SHM_CLASSES; c++) {
        uint32_t each = SHM_SLAB / size[c];
        struct shm_class *class = &heap->class[c];
        *class = (struct shm_class){.size = size[c], .each = each, .most = most[c], .free = ring, .mask = 1};
        class->enough = c == 0 ? SHORT : enough < most[c] ? enough : most[c];
        while (class->mask < most[c] * each)
            class->mask *= 2;
        ring += class->mask--;
        for (uint32_t i = FIRST; i-- > 0;)
            adopt(heap, c, c * FIRST + i);
        class->left = (int32_t)(FIRST * each * IN_TURNS);
    }
}

void shm_heap_give(struct shm_heap *heap, uint32_t block)
{
    struct shm_class *class = &heap->class[block >> SHM_CLASS_SHIFT];
    class->free[class->tail++ & class->mask] = block;
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

static uint32_t take(struct shm_heap *heap, struct shm_class *class, bool turns)
{
    class->left -= turns ? 1 : (int32_t)IN_TURNS;
    if (unlikely(class->left <= 0))
        one_round(heap, (uint32_t)(class - heap->class));
    return class->free[class->head++ & class->mask];
}

uint32_t shm_heap_take(struct shm_nic *nic, struct shm_vi *vi, uint32_t length, bool turns)
{
    struct shm_class *first = nic->heap.class, *end = first + SHM_CLASSES;
    while (first->size < length)
        first++;
    if (unlikely(first->head == first->tail))
        harvest(nic, vi, first);
    for (struct shm_class *class = first; class < end; class++) {
        if (unlikely(class->head == class->tail && class->slabs < class->most))
            grow(&nic->heap, (uint32_t)(class - nic->heap.class), class->most, true);
        if (likely(class->head != class->tail))
            return take(&nic->heap, class, turns);
    }
    return SHM_NO_BLOCK;
}

uint32_t shm_heap_next(const struct shm_heap *heap, uint32_t block)
{
    const struct shm_class *class = &heap->class[block >> SHM_CLASS_SHIFT];
    return class->free[class->head & class->mask];
}
