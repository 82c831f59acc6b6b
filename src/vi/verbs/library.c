/* libibverbs, by dlopen: each function in the version in which it has its present form, so that a library which lacks
 * one is refused in one sentence instead of being called wrongly. */
#include "vi/verbs/ibverbs.h"
#include <dlfcn.h>

static int functions_find(void *handle, struct ibverbs_library *library)
{
#define FIND(name, version, result, parameters)                                                                        \
    {#name, "IBVERBS_" version, offsetof(struct ibverbs_library, name)},
    static const struct {
        const char *name, *version;
        size_t at;
    } function[] = {IBVERBS_FUNCTIONS(FIND)};
#undef FIND
    for (size_t i = 0; i < ARRAY_LENGTH(function); i++) {
        void *found = dlvsym(handle, function[i].name, function[i].version);
        if (!found)
            return vbase_fail(ERR_UNSUPPORTED, "%s has no %s of version %s: it is too old (rdma-core 32 or newer)",
                              IBVERBS_LIBRARY, function[i].name, function[i].version);
        memcpy((char *)library + function[i].at, &found, sizeof(found));
    }
    return OK;
}

int ibverbs_load(const struct ibverbs_library **out)
{
    static struct base_lock lock;
    static struct ibverbs_library library;
    static bool loaded;
    int error = OK;
    base_lock(&lock);
    if (!loaded) {
        void *handle = dlopen(IBVERBS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        error = handle ? functions_find(handle, &library)
                       : vbase_fail(ERR_UNSUPPORTED, "%s (install the package libibverbs1)", dlerror());
        if (!error && library.ibv_fork_init()) /* before any registration; needless where the kernel copies pages */
            LOG_WARN("a child made by fork may take pages from transfers under way: %s", strerror(errno));
        loaded = !error;
    }
    base_unlock(&lock);
    if (!error)
        *out = &library;
    return error;
}
