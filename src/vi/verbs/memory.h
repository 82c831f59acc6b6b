/* Memory registered with an adapter: for one transfer, or kept for later ones as long as its pages are the same. */
#pragma once

#include "vi/verbs/ibverbs.h"
#include "vi/verbs/watch.h"

#define MEMORY_BUCKETS 256u /* by first page */

struct verbs_adapter;

struct verbs_memory {
    struct verbs_watched watched; /* its pages */
    struct list_node bucket;      /* where it is found; in none: it is for one transfer */
    struct list_node unused;      /* cache->unused, while nobody uses it */
    struct ibverbs_mr *mr;
    uint64_t base;                /* what the device calls its start */
    void *own;                    /* its bytes, if they end with it */
    unsigned access;
    uint32_t users;
};

struct verbs_cache { /* of an adapter; under verbs_watch_lock */
    struct list bucket[MEMORY_BUCKETS];
    struct list unused;           /* the one that was not used for longest first */
    uint64_t bytes, most_bytes;
    uint32_t count;
    uint64_t changes;             /* so many have been looked at */
};

#define MEMORY_FULL (IBVERBS_ACCESS_LOCAL_WRITE | IBVERBS_ACCESS_REMOTE_WRITE | IBVERBS_ACCESS_REMOTE_READ)
/* Of an access: not kept, for this memory is freed after the transfer. */
#define MEMORY_ONCE (1u << 31)

void verbs_cache_open(struct verbs_cache *cache);
void verbs_cache_close(struct verbs_adapter *adapter); /* nothing of it is in use */

/* The pages of LENGTH bytes at ADDRESS, not 0. ACCESS: what is needed; it may give more. */
int verbs_memory_take(struct verbs_adapter *adapter, const void *address, uint64_t length, unsigned access,
                      struct verbs_memory **out) MUST_CHECK;
void verbs_memory_hold(struct verbs_memory *memory); /* one more user */
void verbs_memory_give(struct verbs_adapter *adapter, struct verbs_memory *memory);

static inline uint64_t verbs_memory_address(const struct verbs_memory *memory, const void *address)
{
    return memory->base + ((uintptr_t)address - memory->watched.start);
}
