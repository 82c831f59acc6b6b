/* A map from 64-bit keys to pointers: open addressing, grows by doubling, removal by backward shift (no tombstones).
 * NULL is not a value. No locks. */
#pragma once

#include "base/compiler.h"

struct base_map_entry {
    uint64_t key;
    void *value;
};
struct base_map {
    struct base_map_entry *entry;
    uint32_t capacity, count; /* capacity is a power of two, or 0 before the first insertion */
};

VEXPORT void *vbase_map_get(const struct base_map *map, uint64_t key);
VEXPORT int vbase_map_put(struct base_map *map, uint64_t key, void *value) MUST_CHECK; /* replaces; ERR_MEMORY */
VEXPORT void *vbase_map_remove(struct base_map *map, uint64_t key);                     /* the old value or NULL */
VEXPORT void vbase_map_close(struct base_map *map);                                     /* frees; leaves it empty */

VEXPORT uint64_t vbase_hash_bytes(const void *data, size_t length); /* not for keys from outside: no secret in it */
