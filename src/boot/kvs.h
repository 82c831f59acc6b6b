/* A key-value space in memory: the solo job's own, and what the launcher's server keeps. Copies keys and values. */
#pragma once

#include "base/base.h"

struct boot_kvs { /* start with zeros */
    void *tree;   /* of search.h, by the key */
};

int vboot_kvs_put(struct boot_kvs *kvs, const char *key, const char *value) MUST_CHECK; /* replaces; NULL: takes away */
const char *vboot_kvs_get(const struct boot_kvs *kvs, const char *key); /* NULL; valid until the next put of the key */
void vboot_kvs_close(struct boot_kvs *kvs);
