/* A key-value space in memory; see kvs.h. */
#include "boot/kvs.h"

struct entry {
    struct entry *next; /* another key with the same hash */
    char *value;
    char key[];
};

static uint64_t hash_of(const char *key) { return vbase_hash_bytes(key, strlen(key)); }

static struct entry *find(const struct boot_kvs *kvs, const char *key)
{
    struct entry *entry = vbase_map_get(&kvs->map, hash_of(key));
    while (entry && strcmp(entry->key, key) != 0)
        entry = entry->next;
    return entry;
}

int vboot_kvs_put(struct boot_kvs *kvs, const char *key, const char *value)
{
    char *copy = value ? strdup(value) : NULL;
    if (value && !copy)
        return vbase_fail(ERR_MEMORY, "no memory for the value of %s", key);
    struct entry *entry = find(kvs, key);
    if (entry) {
        free(entry->value);
        entry->value = copy;
        return OK;
    }
    size_t size = strlen(key) + 1;
    entry = malloc(sizeof *entry + size);
    if (!entry)
        goto free_copy;
    memcpy(entry->key, key, size);
    entry->value = copy;
    uint64_t hash = hash_of(key);
    entry->next = vbase_map_get(&kvs->map, hash);
    if (vbase_map_put(&kvs->map, hash, entry) != OK)
        goto free_entry;
    return OK;

free_entry:
    free(entry);
free_copy:
    free(copy);
    return vbase_fail(ERR_MEMORY, "no memory for the key %s", key);
}

const char *vboot_kvs_get(const struct boot_kvs *kvs, const char *key)
{
    struct entry *entry = find(kvs, key);
    return entry ? entry->value : NULL;
}

void vboot_kvs_close(struct boot_kvs *kvs)
{
    for (uint32_t i = 0; i < kvs->map.capacity; i++)
        for (struct entry *entry = kvs->map.entry[i].value, *next; entry; entry = next) {
            next = entry->next;
            free(entry->value);
            free(entry);
        }
    vbase_map_close(&kvs->map);
}
