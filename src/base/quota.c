/* Cgroup quotas, version 1 and 2: where the process is, and every parent of that.
 *
 * /proc/self/cgroup tells the path in the hierarchy; the hierarchies are mounted where all systems mount them. In a
 * container without a cgroup namespace only a part of the hierarchy is mounted there, and the path has too many leading
 * folders: every tail of it is tried. A file that is missing means no quota. Called once; nothing is kept. */
#include "base/base.h"

#define PATH_SIZE 4096

/* Where a hierarchy may be mounted; %s is the controller, which version 2 does not name. */
static const struct {
    const char *mount;
    int version;
} hierarchies[] = {{"/sys/fs/cgroup/%s", 1}, {"/sys/fs/cgroup", 2}, {"/sys/fs/cgroup/unified", 2}};

/* Our path in the hierarchy, of lines "4:cpu,cpuacct:/a/b" (version 1) and "0::/a/b"; "" where there is none. */
static void path_find(const char *root, const char *controller, int version, char path[PATH_SIZE])
{
    char whole[PATH_SIZE], *line = NULL;
    size_t size = 0;
    snprintf(whole, sizeof(whole), "%s/proc/self/cgroup", root);
    FILE *file = fopen(whole, "re");
    path[0] = 0;
    while (file && getline(&line, &size, file) > 0) {
        char *controllers = strchr(line, ':'), *found = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!found)
            continue;
        *found++ = 0;
        found[strcspn(found, "\n")] = 0;
        bool ours = version == 2 ? controllers[1] == 0 : vbase_list_has(controllers + 1, controller);
        if (ours && found[0] == '/') /* "/..": it was moved out of what is mounted */
            snprintf(path, PATH_SIZE, "%s", strncmp(found, "/..", 3) == 0 ? "/" : found);
    }
    free(line);
    if (file)
        fclose(file);
}

/* One or two numbers of a small file; how many there are. "max" is none. */
static int numbers_read(const char *folder, const char *name, double *first, double *second)
{
    char text[64];
    return vbase_file_read(text, sizeof(text), "%s/%s", folder, name) ? sscanf(text, "%lf %lf", first, second) : 0;
}

static void quota_lower(const char *folder, int version, double *least)
{
    double quota = 0, period = 0, none;
    if (version == 2)
        numbers_read(folder, "cpu.max", &quota, &period);
    else if (numbers_read(folder, "cpu.cfs_quota_us", &quota, &none) > 0)
        numbers_read(folder, "cpu.cfs_period_us", &period, &none);
    if (quota > 0 && period > 0 && (*least == 0 || quota / period < *least))
        *least = quota / period;
}

double vbase_quota(const char *root)
{
    double least = 0;
    char path[PATH_SIZE], folder[PATH_SIZE + 512];
    for (size_t i = 0; i < ARRAY_LENGTH(hierarchies); i++) {
        int mount = snprintf(folder, 512, "%s", root);
        mount += snprintf(folder + mount, 512, hierarchies[i].mount, "cpu");
        path_find(root, "cpu", hierarchies[i].version, path);
        for (const char *part = path; part && *part; part = strchr(part + 1, '/')) {
            snprintf(folder + mount, PATH_SIZE, "%s", part);
            for (char *slash; (slash = strrchr(folder, '/')) >= folder + mount; *slash = 0)
                quota_lower(folder, hierarchies[i].version, &least);
            quota_lower(folder, hierarchies[i].version, &least);
        }
    }
    return least;
}

/* The number after NAME in a small file of "name number" lines. */
static bool number_find(const char *folder, const char *file, const char *name, uint64_t *value)
{
    char path[PATH_SIZE + 600], line[256];
    size_t length = strlen(name);
    bool found = false;
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    FILE *lines = fopen(path, "re");
    while (lines && !found && fgets(line, sizeof(line), lines))
        if ((found = strncmp(line, name, length) == 0 && line[length] == ' '))
            *value = strtoull(line + length, NULL, 10);
    if (lines)
        fclose(lines);
    return found;
}

uint64_t vbase_oom_kills(void)
{
    static const char *const file[] = {[1] = "memory.oom_control", [2] = "memory.events"};
    char path[PATH_SIZE], folder[PATH_SIZE + 512];
    uint64_t kills = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(hierarchies); i++) {
        int mount = snprintf(folder, 512, hierarchies[i].mount, "memory");
        path_find("", "memory", hierarchies[i].version, path);
        for (const char *part = path; part && *part; part = strchr(part + 1, '/')) {
            snprintf(folder + mount, PATH_SIZE, "%s", part);
            if (number_find(folder, file[hierarchies[i].version], "oom_kill", &kills))
                return kills;
        }
    }
    return number_find("/proc", "vmstat", "oom_kill", &kills) ? kills : 0;
}
