/* Pools: a header of 16 bytes before each object holds its index, its generation and whether it is taken.
 *
 * An index is cut into slab and place without a division: slabs grow by doubling, so that place + first_objects has the
 * slab's number as its highest bit. Slabs are published by the release store of `used`. */
#include "base/base.h"
#include <assert.h>

/* The address sanitizer is told which objects are taken, so that it finds uses of one that was given back. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(POOL_SANITIZED)
#include <sanitizer/asan_interface.h>
#define forbid(object, size) ASAN_POISON_MEMORY_REGION(object, size)
#define allow(object, size) ASAN_UNPOISON_MEMORY_REGION(object, size)
#else
#define forbid(object, size) ((void)(object))
#define allow(object, size) ((void)(object))
#endif

#define DEFAULT_MAXIMUM (1u << 24)
#define FIRST_SLAB_BYTES 4096
#define GENERATIONS 0xffffu

struct pool_header {
    uint32_t index;
    uint32_t next_free;     /* index + 1, 0: end */
    _Atomic uint32_t state; /* generation * 2 + live, one word: read by vbase_pool_at without the caller's lock */
    uint32_t spare;
};
_Static_assert(sizeof(struct pool_header) == 16, "objects must stay aligned to 16");

static struct pool_header *header_of(const void *object) { return (struct pool_header *)object - 1; }

static uint32_t slab_of(const struct base_pool *pool, uint32_t index)
{
    return (uint32_t)(__builtin_clz(pool->first_objects) - __builtin_clz(index + pool->first_objects));
}

static struct pool_header *header_at(const struct base_pool *pool, uint32_t index)
{
    uint32_t slab = slab_of(pool, index), place = index + pool->first_objects - (pool->first_objects << slab);
    return (struct pool_header *)(pool->slab[slab] + place * (pool->object_size + sizeof(struct pool_header)));
}

void vbase_pool_open(struct base_pool *pool, size_t object_size, uint32_t maximum)
{
    *pool = (struct base_pool){.object_size = (object_size + 15) & ~(size_t)15};
    if (pool->object_size == 0)
        pool->object_size = 16;
    pool->maximum = maximum && maximum < DEFAULT_MAXIMUM ? maximum : DEFAULT_MAXIMUM;
    pool->first_objects = 4;
    while (pool->first_objects * 2 * (pool->object_size + sizeof(struct pool_header)) <= FIRST_SLAB_BYTES)
        pool->first_objects *= 2;
}

void vbase_pool_close(struct base_pool *pool)
{
    for (int i = 0; i < BASE_POOL_SLABS; i++)
        free(pool->slab[i]);
    *pool = (struct base_pool){0};
}

/* The next object that was never taken, NULL when there is no more. */
static struct pool_header *object_make(struct base_pool *pool)
{
    uint32_t index = atomic_load_explicit(&pool->used, memory_order_relaxed); /* written under the caller's lock only */
    if (index >= pool->maximum)
        return NULL;
    uint32_t slab = slab_of(pool, index);
    if (!pool->slab[slab])
        pool->slab[slab] =
            malloc((size_t)(pool->first_objects << slab) * (pool->object_size + sizeof(struct pool_header)));
    if (!pool->slab[slab])
        return NULL;
    struct pool_header *header = header_at(pool, index);
    *header = (struct pool_header){.index = index};
    atomic_init(&header->state, 1u << 1);
    /* release: pairs with the acquire in vbase_pool_at, which then sees the slab and this header */
    atomic_store_explicit(&pool->used, index + 1, memory_order_release);
    return header;
}

void *vbase_pool_take(struct base_pool *pool)
{
    struct pool_header *header;
    if (pool->free_head) {
        header = header_at(pool, pool->free_head - 1);
        pool->free_head = header->next_free;
    } else {
        header = object_make(pool);
        if (!header)
            return NULL;
    }
    /* relaxed: a thread that is given the object learns of it by other means, which order it */
    uint32_t state = atomic_load_explicit(&header->state, memory_order_relaxed);
    atomic_store_explicit(&header->state, state | 1, memory_order_relaxed);
    pool->live++;
    allow(header + 1, pool->object_size);
    return header + 1;
}

void vbase_pool_give(struct base_pool *pool, void *object)
{
    struct pool_header *header = header_of(object);
    uint32_t state = atomic_load_explicit(&header->state, memory_order_relaxed);
    assert(state & 1);
    uint32_t generation = (state >> 1) == GENERATIONS ? 1 : (state >> 1) + 1;
    atomic_store_explicit(&header->state, generation << 1, memory_order_relaxed);
    header->next_free = pool->free_head;
    pool->free_head = header->index + 1;
    pool->live--;
    forbid(object, pool->object_size);
}

uint32_t vbase_pool_index(const void *object) { return header_of(object)->index; }

uint32_t vbase_pool_generation(const void *object)
{
    return atomic_load_explicit(&header_of(object)->state, memory_order_relaxed) >> 1;
}

void *vbase_pool_at(const struct base_pool *pool, uint32_t index, uint32_t generation)
{
    /* acquire: pairs with the release in object_make() */
    if (index >= atomic_load_explicit(&pool->used, memory_order_acquire))
        return NULL;
    struct pool_header *header = header_at(pool, index);
    uint32_t state = atomic_load_explicit(&header->state, memory_order_relaxed);
    return generation <= GENERATIONS && state == (generation << 1 | 1) ? header + 1 : NULL;
}

void *vbase_pool_next(const struct base_pool *pool, uint32_t *index)
{
    /* acquire: pairs with the release in object_make() */
    uint32_t used = atomic_load_explicit(&pool->used, memory_order_acquire);
    while (*index < used) {
        struct pool_header *header = header_at(pool, (*index)++);
        if (atomic_load_explicit(&header->state, memory_order_relaxed) & 1)
            return header + 1;
    }
    return NULL;
}
