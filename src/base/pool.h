/* Pools of objects of one size. Objects keep their address and their index for life; a freed one is reused last-in
 * first-out. Indices are dense from 0 and bounded: an index that came from outside is checked by vbase_pool_at. Each
 * object carries a generation that changes when it is freed, so that a stale handle is noticed.
 *
 * Memory comes in slabs, each twice as big as the one before, that never move and are never given back before
 * vbase_pool_close. Taking and giving need the caller's lock; vbase_pool_at may run beside them in other threads (it
 * says whether the object was live at that moment: keeping it alive is up to the caller). */
#pragma once

#include "base/compiler.h"

#define BASE_POOL_SLABS 24
struct base_pool {
    size_t object_size;     /* as asked for, rounded up to 16 */
    uint32_t first_objects; /* in slab 0, a power of two; slab k holds as many shifted left by k */
    uint32_t maximum;       /* never more than this many */
    uint32_t live;          /* objects taken now */
    uint32_t free_head;     /* index + 1 of the object given last, 0: none */
    _Atomic uint32_t used;  /* indices handed out so far, free ones included */
    char *slab[BASE_POOL_SLABS];
};

/* At most MAXIMUM objects (0: 2^24); nothing is allocated yet. */
VEXPORT void vbase_pool_open(struct base_pool *pool, size_t object_size, uint32_t maximum);
VEXPORT void vbase_pool_close(struct base_pool *pool);

/* An object with undefined content, aligned to 16; NULL when memory or MAXIMUM is exhausted. */
VEXPORT void *vbase_pool_take(struct base_pool *pool);
VEXPORT void vbase_pool_give(struct base_pool *pool, void *object);

VEXPORT uint32_t vbase_pool_index(const void *object);
VEXPORT uint32_t vbase_pool_generation(const void *object); /* 1 to 2^16 - 1, changes at every give */

/* The live object with this index and generation, NULL for anything else. */
VEXPORT void *vbase_pool_at(const struct base_pool *pool, uint32_t index, uint32_t generation);

/* The first live object from *INDEX on, which is moved behind it; NULL: no more. */
VEXPORT void *vbase_pool_next(const struct base_pool *pool, uint32_t *index);
