/* Finds libraries that are preloaded into programs: where the installation has them, and where the build has them. */
#include "run/preload.h"
#include <libgen.h>

#ifndef LIBRARY_FROM_BIN
#define LIBRARY_FROM_BIN "../lib"
#endif

int preload_find(const char *name, char path[PATH_MAX])
{
    static const char *const places[] = {"../lib", LIBRARY_FROM_BIN};
    char self[PATH_MAX], there[2 * PATH_MAX];
    snprintf(self, sizeof self, "%s", vbase_self());
    const char *folder = *self ? dirname(self) : ".";
    for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
        snprintf(there, sizeof there, "%s/%s/%s", folder, places[i], name);
        if (!realpath(there, path) || access(path, R_OK) != 0)
            continue;
        if (strpbrk(path, " :")) /* the loader would take them for ends */
            return vbase_fail(ERR_ARGUMENT, "the path %s has a space or a colon, which LD_PRELOAD cannot carry", path);
        return OK;
    }
    return vbase_fail(ERR_NOT_FOUND, "%s is not where this installation has its libraries", name);
}
