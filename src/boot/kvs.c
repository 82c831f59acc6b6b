/* A key-value space in memory; see kvs.h. An entry is the key, its NUL and the value: it is found by its beginning. */
#include "boot/kvs.h"
#include <search.h>

static int key_compare(const void *left, const void *right) { return strcmp(left, right); }

static void entry_remove(struct boot_kvs *kvs, const char *key)
{
    char **found = tfind(key, &kvs->tree, key_compare), *entry = found ? *found : NULL;
    if (entry)
        tdelete(key, &kvs->tree, key_compare);
    free(entry);
}

int vboot_kvs_put(struct boot_kvs *kvs, const char *key, const char *value)
{
    size_t key_size = strlen(key) + 1, value_size = value ? strlen(value) + 1 : 0;
    char *entry = value ? malloc(key_size + value_size) : NULL, **place = NULL;
    if (!value) {
        entry_remove(kvs, key);
        return OK;
    }
    if (entry) {
        memcpy(entry, key, key_size);
        memcpy(entry + key_size, value, value_size);
        place = tsearch(entry, &kvs->tree, key_compare);
    }
    if (!place) {
        free(entry);
        return vbase_fail(ERR_MEMORY, "no memory for the key %s", key);
    }
    if (*place != entry)
        free(*place);
    *place = entry;
    return OK;
}

const char *vboot_kvs_get(const struct boot_kvs *kvs, const char *key)
{
    char **found = tfind(key, &kvs->tree, key_compare);
    return found ? *found + strlen(key) + 1 : NULL;
}

void vboot_kvs_close(struct boot_kvs *kvs)
{
    tdestroy(kvs->tree, free);
    kvs->tree = NULL;
}
