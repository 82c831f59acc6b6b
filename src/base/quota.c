/* Cgroup quotas, version 1 and 2: where the process is, and every parent of that.
 *
 * /proc/self/cgroup tells the path in the hierarchy; the hierarchies are mounted where all systems mount them. In a
 * container without a cgroup namespace only a part of the hierarchy is mounted there, and the path has too many leading
 * folders: every tail of it is tried. A file that is missing means no quota. Called once; nothing is kept.
 *
 * The preload of sockets programs has this file as well: nothing is allocated, and no stream of libc is used. */
#include "base/base.h"
#include <fcntl.h>

#define PATH_SIZE 1024 /* of a longer path only the groups that its beginning names are looked at */
#define TEXT_SIZE 8192

/* Where a hierarchy may be mounted; %s is the controller, which version 2 does not name. */
static const struct {
    const char *mount;
    int version;
} hierarchies[] = {{"/sys/fs/cgroup/%s", 1}, {"/sys/fs/cgroup", 2}, {"/sys/fs/cgroup/unified", 2}};

/* The file, as much of it as fits; "" where there is none. */
static void text_read(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH_SIZE + 600];
    size_t there = 0;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC, 0);
    for (ssize_t n; fd >= 0 && (n = read(fd, text + there, size - 1 - there)) > 0;)
        there += (size_t)n;
    text[there] = 0;
    if (fd >= 0)
        close(fd);
}

/* Our path in the hierarchy, of lines "4:cpu,cpuacct:/a/b" (version 1) and "0::/a/b"; "" where there is none. */
static const char *path_find(const char *root, const char *controller, int version, char text[TEXT_SIZE])
{
    const char *path = "";
    text_read(root, "proc/self/cgroup", text, TEXT_SIZE);
    for (char *line = text, *next; line; line = next) {
        if ((next = strchr(line, '\n')))
            *next++ = 0;
        char *controllers = strchr(line, ':'), *found = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!found)
            continue;
        *found++ = 0;
        bool ours = version == 2 ? controllers[1] == 0 : vbase_list_has(controllers + 1, controller);
        if (ours && found[0] == '/') /* "/..": it was moved out of what is mounted */
            path = strncmp(found, "/..", 3) == 0 ? "/" : found;
    }
    return path;
}

/* One or two numbers of a small file, else 0: "max" is none. */
static void numbers_read(const char *folder, const char *name, long *first, long *second)
{
    char text[64], *end;
    text_read(folder, name, text, sizeof(text));
    *first = strtol(text, &end, 10);
    *second = strtol(end, NULL, 10);
}

static void quota_lower(const char *folder, int version, double *least)
{
    long quota, period, none;
    numbers_read(folder, version == 2 ? "cpu.max" : "cpu.cfs_quota_us", &quota, &period);
    if (version == 1 && quota > 0)
        numbers_read(folder, "cpu.cfs_period_us", &period, &none);
    if (quota > 0 && period > 0 && (*least == 0 || (double)quota / (double)period < *least))
        *least = (double)quota / (double)period;
}

double vbase_quota(const char *root)
{
    double least = 0;
    char text[TEXT_SIZE], folder[PATH_SIZE + 512];
    for (size_t i = 0; i < ARRAY_LENGTH(hierarchies); i++) {
        int mount = snprintf(folder, 512, "%s", root);
        mount += snprintf(folder + mount, 512, hierarchies[i].mount, "cpu");
        const char *path = path_find(root, "cpu", hierarchies[i].version, text);
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
    char text[2 * TEXT_SIZE];
    size_t length = strlen(name);
    text_read(folder, file, text, sizeof(text));
    for (const char *line = text, *end; line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (strncmp(line, name, length) != 0 || line[length] != ' ')
            continue;
        *value = strtoull(line + length, NULL, 10);
        return true;
    }
    return false;
}

uint64_t vbase_oom_kills(void)
{
    static const char *const file[] = {[1] = "memory.oom_control", [2] = "memory.events"};
    char text[TEXT_SIZE], folder[PATH_SIZE + 512];
    uint64_t kills = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(hierarchies); i++) {
        int mount = snprintf(folder, 512, hierarchies[i].mount, "memory");
        const char *path = path_find("", "memory", hierarchies[i].version, text);
        for (const char *part = path; part && *part; part = strchr(part + 1, '/')) {
            snprintf(folder + mount, PATH_SIZE, "%s", part);
            if (number_find(folder, file[hierarchies[i].version], "oom_kill", &kills))
                return kills;
        }
    }
    return number_find("/proc", "vmstat", "oom_kill", &kills) ? kills : 0;
}
