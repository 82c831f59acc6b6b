/* Cgroup quotas, version 1 and 2: where the process is, where the hierarchy is mounted, and every parent between.
 *
 * /proc/self/cgroup tells the path in the hierarchy, mountinfo which part of the hierarchy is mounted where: in a
 * container without a cgroup namespace the two begin at different places. A path that lies outside of what is mounted
 * is looked at from the mount point itself. Called once; nothing is kept. */
#include "base/quota.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 4096

struct hierarchy {
    const char *controller;
    int version;
    char path[PATH_SIZE];  /* of this process in the hierarchy */
    char root[PATH_SIZE];  /* the part of it that is mounted */
    char mount[PATH_SIZE]; /* where; "" not found */
};

/* Is WORD one of the words of LIST, which are separated by commas? */
static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = strstr(list, word); p; p = strstr(p + 1, word))
        if ((p == list || p[-1] == ',') && (p[n] == 0 || p[n] == ',' || p[n] == '\n'))
            return true;
    return false;
}

/* One line of /proc/self/cgroup, "4:cpu,cpuacct:/a/b" or "0::/a/b". */
static void read_membership(char *line, struct hierarchy *v1, struct hierarchy *v2)
{
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return;
    *path++ = 0;
    controllers++;
    path[strcspn(path, "\n")] = 0;
    if (*controllers == 0)
        snprintf(v2->path, sizeof(v2->path), "%s", path);
    else if (has_word(controllers, v1->controller))
        snprintf(v1->path, sizeof(v1->path), "%s", path);
}

/* One line of mountinfo: "36 35 98:0 ROOT MOUNT options - TYPE source SUPEROPTIONS". */
static void read_mount(char *line, struct hierarchy *v1, struct hierarchy *v2)
{
    char *tail = strstr(line, " - ");
    if (!tail)
        return;
    *tail = 0;
    struct hierarchy *h = strncmp(tail + 3, "cgroup2 ", 8) == 0 ? v2 : strncmp(tail + 3, "cgroup ", 7) == 0 ? v1 : NULL;
    char *options = strrchr(tail + 3, ' ');
    if (!h || h->mount[0] || (h == v1 && (!options || !has_word(options + 1, v1->controller))))
        return;
    if (sscanf(line, "%*s %*s %*s %4095s %4095s", h->root, h->mount) != 2)
        h->mount[0] = 0;
}

static void each_line(const char *root, const char *path, void (*read)(char *, struct hierarchy *, struct hierarchy *),
                      struct hierarchy h[2])
{
    char whole[PATH_SIZE], *line = NULL;
    size_t size = 0;
    snprintf(whole, sizeof(whole), "%s%s", root, path);
    FILE *file = fopen(whole, "re");
    while (file && getline(&line, &size, file) > 0)
        read(line, &h[0], &h[1]);
    free(line);
    if (file)
        fclose(file);
}

/* One or two numbers of a small file; how many there are. "max" is none. */
static int read_numbers(const char *root, const char *folder, const char *name, double *first, double *second)
{
    char path[3 * PATH_SIZE + 32];
    snprintf(path, sizeof(path), "%s%s/%s", root, folder, name);
    FILE *file = fopen(path, "re");
    int count = file ? fscanf(file, "%lf %lf", first, second) : 0;
    if (file)
        fclose(file);
    return count;
}

static double quota_of(const char *root, const char *folder, int version)
{
    double quota = 0, period = 0, none;
    if (version == 2)
        read_numbers(root, folder, "cpu.max", &quota, &period);
    else if (read_numbers(root, folder, "cpu.cfs_quota_us", &quota, &none) > 0)
        read_numbers(root, folder, "cpu.cfs_period_us", &period, &none);
    return quota > 0 && period > 0 ? quota / period : 0;
}

/* The process's own group; the length of its part up to the mount point. */
static size_t own_folder(const struct hierarchy *h, char folder[2 * PATH_SIZE])
{
    size_t part = strcmp(h->root, "/") == 0 ? 0 : strlen(h->root), mount = strlen(h->mount);
    bool inside = strncmp(h->path, h->root, part) == 0 && (h->path[part] == '/' || h->path[part] == 0) &&
                  !strstr(h->path, "/..");
    snprintf(folder, 2 * PATH_SIZE, "%s%s", h->mount, inside ? h->path + part : "");
    return mount;
}

/* The least quota from the process's own group up to the mount point. */
static double least_quota(const char *root, const struct hierarchy *h)
{
    char folder[2 * PATH_SIZE];
    size_t mount = own_folder(h, folder);
    double least = 0;
    for (;;) {
        double quota = quota_of(root, folder, h->version);
        if (quota > 0 && (least == 0 || quota < least))
            least = quota;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < mount)
            return least;
        *slash = 0;
    }
}

/* Of both versions, for the caller to free. */
static struct hierarchy *find(const char *root, const char *controller)
{
    struct hierarchy *h = calloc(2, sizeof(*h));
    if (!h)
        return NULL;
    h[0].version = 1;
    h[1].version = 2;
    h[0].controller = controller;
    each_line(root, "/proc/self/cgroup", read_membership, h);
    each_line(root, "/proc/self/mountinfo", read_mount, h);
    return h;
}

double vbase_quota(const char *root)
{
    double least = 0;
    struct hierarchy *h = find(root, "cpu");
    for (int i = 0; h && i < 2; i++) {
        double quota = h[i].mount[0] && h[i].path[0] ? least_quota(root, &h[i]) : 0;
        if (quota > 0 && (least == 0 || quota < least))
            least = quota;
    }
    free(h);
    return least;
}

/* The number after NAME in a small file of "name number" lines. */
static bool number_after(const char *folder, const char *file, const char *name, uint64_t *value)
{
    char path[2 * PATH_SIZE + 32], line[256];
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
    static const char *const file[] = {"memory.oom_control", "memory.events"};
    char folder[2 * PATH_SIZE];
    uint64_t kills = 0;
    struct hierarchy *h = find("", "memory");
    bool found = false;
    for (int i = 0; h && i < 2 && !found; i++)
        if (h[i].mount[0] && h[i].path[0] && own_folder(&h[i], folder) > 0)
            found = number_after(folder, file[i], "oom_kill", &kills);
    free(h);
    if (!found && !number_after("/proc", "vmstat", "oom_kill", &kills))
        kills = 0;
    return kills;
}
