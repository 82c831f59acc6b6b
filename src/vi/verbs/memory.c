/* The cache of registrations: entries are free, kept, or in use. The one that was not used for longest goes first. An
 * entry is found by its first page, where it is long enough and its pages have not changed (watch.h).
 *
 * Nothing is registered, deregistered, allocated or freed under verbs_watch_lock: what is to go is listed under it. */
#include "vi/verbs/memory.h"
#include "vi/verbs/verbs.h"
#include <sys/resource.h>

#define PAGE 4096ull
#define HUGE (2ull << 20) /* addresses of the device are as ours below it, so that it can use large pages */

/* ---- under the lock ---------------------------------------------------------------------------------------------- */

static struct list *bucket_of(struct verbs_cache *cache, uint64_t start)
{
    return &cache->bucket[start / PAGE % MEMORY_BUCKETS];
}

static struct verbs_memory *memory_find(struct verbs_cache *cache, uint64_t start, uint64_t end, unsigned access)
{
    list_for_each(node, bucket_of(cache, start)) {
        struct verbs_memory *memory = container_of(node, struct verbs_memory, bucket);
        if (memory->watched.start == start && memory->watched.end >= end && !memory->watched.changed &&
            (memory->access & access) == access)
            return memory;
    }
    return NULL;
}

static void cache_leave(struct verbs_cache *cache, struct verbs_memory *memory)
{
    if (list_node_linked(&memory->bucket)) {
        list_remove(&memory->bucket);
        cache->count--;
        cache->bytes -= memory->watched.end - memory->watched.start;
    }
    list_leave(&memory->unused);
    verbs_watch_stop(&memory->watched);
}

static bool cache_is_over(const struct verbs_cache *cache, uint32_t count, uint64_t bytes)
{
    return cache->changes != verbs_watch_changes || cache->count > count || cache->bytes > bytes;
}

/* To GONE: those that nobody uses and that have changed, and the oldest of them until COUNT and BYTES are left. */
static void cache_shrink(struct verbs_cache *cache, uint32_t count, uint64_t bytes, struct list *gone)
{
    if (!cache_is_over(cache, count, bytes))
        return;
    cache->changes = verbs_watch_changes;
    list_for_each(node, &cache->unused) {
        struct verbs_memory *memory = container_of(node, struct verbs_memory, unused);
        if (memory->watched.changed || cache->count > count || cache->bytes > bytes) {
            cache_leave(cache, memory);
            list_append(gone, node);
        }
    }
}

static struct verbs_memory *memory_use(struct verbs_memory *memory)
{
    memory->users++;
    list_leave(&memory->unused);
    return memory;
}

/* ---- not under it ------------------------------------------------------------------------------------------------ */

static void memory_free(const struct verbs_adapter *adapter, struct verbs_memory *memory)
{
    if (memory->mr && adapter->home->library->ibv_dereg_mr(memory->mr))
        LOG_ERROR("memory stays registered: %s", strerror(errno));
    free(memory->own);
    free(memory);
}

/* Until so much is left of what nobody uses; true: some of it went. */
static COLD bool cache_reduce(struct verbs_adapter *adapter, uint32_t count, uint64_t bytes)
{
    struct list gone;
    list_init(&gone);
    base_lock(&verbs_watch_lock);
    cache_shrink(&adapter->cache, count, bytes, &gone);
    base_unlock(&verbs_watch_lock);
    bool some = !list_empty(&gone);
    list_take_each(node, &gone)
        memory_free(adapter, container_of(node, struct verbs_memory, unused));
    return some;
}

/* It may be for reading only, where that is enough. */
static struct ibverbs_mr *pages_register(struct verbs_adapter *adapter, struct verbs_memory *memory, unsigned needed)
{
    const struct ibverbs_library *library = adapter->home->library;
    void *start = (void *)(uintptr_t)memory->watched.start;
    uint64_t length = memory->watched.end - memory->watched.start;
    COUNT(registered);
    memory->access = MEMORY_FULL;
    memory->mr = library->ibv_reg_mr_iova2(adapter->pd, start, length, memory->base, MEMORY_FULL);
    if (!memory->mr && !(needed & IBVERBS_ACCESS_LOCAL_WRITE)) {
        memory->access = IBVERBS_ACCESS_REMOTE_READ;
        memory->mr = library->ibv_reg_mr_iova2(adapter->pd, start, length, memory->base, IBVERBS_ACCESS_REMOTE_READ);
    }
    return memory->mr;
}

static void memory_keep(struct verbs_adapter *adapter, struct verbs_memory *memory)
{
    struct verbs_cache *cache = &adapter->cache;
    base_lock(&verbs_watch_lock);
    list_prepend(bucket_of(cache, memory->watched.start), &memory->bucket);
    cache->count++;
    cache->bytes += memory->watched.end - memory->watched.start;
    base_unlock(&verbs_watch_lock);
    (void)cache_reduce(adapter, TUNED(VERBS_CACHED), cache->most_bytes);
}

static void memory_drop(const struct verbs_adapter *adapter, struct verbs_memory *memory)
{
    base_lock(&verbs_watch_lock);
    verbs_watch_stop(&memory->watched);
    base_unlock(&verbs_watch_lock);
    memory_free(adapter, memory);
}

static int memory_make(struct verbs_adapter *adapter, uint64_t start, uint64_t end, unsigned access, bool keep,
                       struct verbs_memory **out)
{
    struct verbs_memory *memory = calloc(1, sizeof(*memory));
    if (!memory)
        return vbase_fail(ERR_MEMORY, "a region of registered memory");
    memory->watched.start = start;
    memory->watched.end = end;
    memory->base = adapter->iwarp ? start : start % HUGE; /* devices of iWARP may know no other address */
    memory->users = 1;
    keep = keep && verbs_watch_start(&memory->watched);
    if (!pages_register(adapter, memory, access) &&
        (!cache_reduce(adapter, 0, 0) || !pages_register(adapter, memory, access))) {
        int error = vbase_fail_errno(ERR_LIMIT, "%s registers no %llu bytes (ulimit -l tells what may be locked)",
                                     adapter->name, (unsigned long long)(end - start));
        memory_drop(adapter, memory);
        return error;
    }
    if (keep)
        memory_keep(adapter, memory);
    *out = memory;
    return OK;
}

int verbs_memory_take(struct verbs_adapter *adapter, const void *address, uint64_t length, unsigned access,
                      struct verbs_memory **out)
{
    uint64_t start = (uintptr_t)address & ~(PAGE - 1), end = ((uintptr_t)address + length + PAGE - 1) & ~(PAGE - 1);
    bool once = access & MEMORY_ONCE;
    base_lock(&verbs_watch_lock);
    struct verbs_memory *found = once ? NULL : memory_find(&adapter->cache, start, end, access);
    /* Another thread may have unmapped it, and what is there now is not what was registered. */
    bool good = found && verbs_watch_quiet();
    if (good)
        *out = memory_use(found);
    base_unlock(&verbs_watch_lock);
    return good ? OK : memory_make(adapter, start, end, access & ~MEMORY_ONCE, !once && !found, out);
}

void verbs_memory_hold(struct verbs_memory *memory)
{
    base_lock(&verbs_watch_lock);
    memory->users++;
    base_unlock(&verbs_watch_lock);
}

void verbs_memory_give(struct verbs_adapter *adapter, struct verbs_memory *memory)
{
    struct verbs_cache *cache = &adapter->cache;
    base_lock(&verbs_watch_lock);
    bool unused = --memory->users == 0, kept = list_node_linked(&memory->bucket);
    if (unused && kept)
        list_append(&cache->unused, &memory->unused);
    bool over = cache_is_over(cache, TUNED(VERBS_CACHED), cache->most_bytes);
    base_unlock(&verbs_watch_lock);
    if (unlikely(unused && !kept))
        memory_drop(adapter, memory);
    if (unlikely(over))
        (void)cache_reduce(adapter, TUNED(VERBS_CACHED), cache->most_bytes);
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

void verbs_cache_open(struct verbs_cache *cache)
{
    struct rlimit locked;
    cache->most_bytes = (uint64_t)TUNED(VERBS_CACHE) << 20;
    if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur / 2 < cache->most_bytes)
        cache->most_bytes = locked.rlim_cur / 2;
    for (uint32_t i = 0; i < MEMORY_BUCKETS; i++)
        list_init(&cache->bucket[i]);
    list_init(&cache->unused);
    verbs_watch_open();
}

void verbs_cache_close(struct verbs_adapter *adapter)
{
    (void)cache_reduce(adapter, 0, 0);
    verbs_watch_close();
}
