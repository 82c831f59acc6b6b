/* The map: linear probing, at most three quarters full.
 *
 * An entry is free when its value is NULL. Removal shifts the entries behind it back to where a search would find them,
 * so a long-lived map does not fill up with removed entries. */
#include "base/base.h"

#define FIRST_CAPACITY 16

static uint64_t key_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return x ^ x >> 32;
}

/* Where the search for KEY ends: its entry or a free one. Ends because a map is never full. */
static uint32_t entry_find(const struct base_map *map, uint64_t key)
{
    uint32_t mask = map->capacity - 1, i = (uint32_t)key_mix(key) & mask;
    while (map->entry[i].value && map->entry[i].key != key)
        i = (i + 1) & mask;
    return i;
}

void *vbase_map_get(const struct base_map *map, uint64_t key)
{
    return map->capacity ? map->entry[entry_find(map, key)].value : NULL;
}

static int map_grow(struct base_map *map)
{
    struct base_map bigger = {.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY, .count = map->count};
    bigger.entry = bigger.capacity ? calloc(bigger.capacity, sizeof(*bigger.entry)) : NULL;
    if (!bigger.entry)
        return vbase_fail(ERR_MEMORY, "a map cannot grow beyond %u entries", map->capacity);
    for (uint32_t i = 0; i < map->capacity; i++)
        if (map->entry[i].value)
            bigger.entry[entry_find(&bigger, map->entry[i].key)] = map->entry[i];
    free(map->entry);
    *map = bigger;
    return OK;
}

int vbase_map_put(struct base_map *map, uint64_t key, void *value)
{
    if (!value)
        return vbase_fail(ERR_ARGUMENT, "a map holds no NULL (key %llu)", (unsigned long long)key);
    if (vbase_map_get(map, key)) {
        map->entry[entry_find(map, key)].value = value;
        return OK;
    }
    if ((uint64_t)(map->count + 1) * 4 > (uint64_t)map->capacity * 3) {
        int status = map_grow(map);
        if (status)
            return status;
    }
    map->entry[entry_find(map, key)] = (struct base_map_entry){key, value};
    map->count++;
    return OK;
}

void *vbase_map_remove(struct base_map *map, uint64_t key)
{
    if (!map->capacity)
        return NULL;
    uint32_t mask = map->capacity - 1, hole = entry_find(map, key);
    void *value = map->entry[hole].value;
    if (!value)
        return NULL;
    map->count--;
    for (uint32_t i = (hole + 1) & mask; map->entry[i].value; i = (i + 1) & mask) {
        uint32_t home = (uint32_t)key_mix(map->entry[i].key) & mask;
        /* an entry may fill the hole unless its home lies behind the hole */
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            map->entry[hole] = map->entry[i];
            hole = i;
        }
    }
    map->entry[hole].value = NULL;
    return value;
}

void vbase_map_close(struct base_map *map)
{
    free(map->entry);
    *map = (struct base_map){0};
}

uint64_t vbase_hash_bytes(const void *data, size_t length)
{
    const unsigned char *byte = data;
    uint64_t hash = key_mix(length + 0x9e3779b97f4a7c15ull);
    for (; length >= 8; byte += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, byte, 8);
        hash = key_mix(hash ^ word);
    }
    uint64_t rest = 0;
    for (size_t i = 0; i < length; i++)
        rest |= (uint64_t)byte[i] << 8 * i;
    return key_mix(hash ^ rest);
}
