/* libibverbs and librdmacm, by dlopen: each function in the version in which it has its present form, so that a library
 * which lacks one is refused in one sentence instead of being called wrongly. */
#include "vi/verbs/rdmacm.h"
#include <dlfcn.h>

struct function {
    const char *name, *version;
    size_t at; /* in the structure of pointers */
};

static int functions_find(const char *path, const char *package, const struct function *function, size_t count,
                          void *library)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return vbase_fail(ERR_UNSUPPORTED, "%s (install the package %s)", dlerror(), package);
    for (size_t i = 0; i < count; i++) {
        void *found = dlvsym(handle, function[i].name, function[i].version);
        if (!found)
            return vbase_fail(ERR_UNSUPPORTED, "%s has no %s of version %s: it is too old (rdma-core 32 or newer)",
                              path, function[i].name, function[i].version);
        memcpy((char *)library + function[i].at, &found, sizeof(found));
    }
    return OK;
}

int ibverbs_load(const struct ibverbs_library **out)
{
#define FIND(name, version, result, parameters)                                                                        \
    {#name, "IBVERBS_" version, offsetof(struct ibverbs_library, name)},
    static const struct function function[] = {IBVERBS_FUNCTIONS(FIND)};
#undef FIND
    static struct base_lock lock;
    static struct ibverbs_library library;
    static bool loaded;
    int error = OK;
    base_lock(&lock);
    if (!loaded) {
        error = functions_find(IBVERBS_LIBRARY, "libibverbs1", function, ARRAY_LENGTH(function), &library);
        if (!error && library.ibv_fork_init()) /* before any registration; needless where the kernel copies pages */
            LOG_WARN("a child made by fork may take pages from transfers under way: %s", strerror(errno));
        loaded = !error;
    }
    base_unlock(&lock);
    if (!error)
        *out = &library;
    return error;
}

int rdmacm_load(const struct rdmacm_library **out)
{
#define FIND(name, version, result, parameters)                                                                        \
    {#name, "RDMACM_" version, offsetof(struct rdmacm_library, name)},
    static const struct function function[] = {RDMACM_FUNCTIONS(FIND)};
#undef FIND
    static struct base_lock lock;
    static struct rdmacm_library library;
    static bool loaded;
    base_lock(&lock);
    int error =
        loaded ? OK : functions_find(RDMACM_LIBRARY, "librdmacm1", function, ARRAY_LENGTH(function), &library);
    loaded = !error;
    base_unlock(&lock);
    if (!error)
        *out = &library;
    return error;
}
