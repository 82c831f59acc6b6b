/* Pools of objects of one size. Objects keep their address and their index for life; a freed one is reused last-in
 * first-out. Indices are dense from 0 and bounded: an index that came from outside is checked by vbase_pool_at. Each
 * object carries a generation that changes when it is freed, so that a stale handle is noticed.
 *
 * Memory comes in slabs that are never given back before vbase_pool_close. No locks: the caller holds his own. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/compiler.h"

struct base_pool {
    size_t object_size; /* as asked for, rounded up to 16 */
    uint32_t slab_objects, slabs, used, free_head;
    uint32_t live;    /* objects out now */
    uint32_t maximum; /* never more than this many */
    void **slab;
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

#endif
