/* Where a process stands in the hierarchies of cgroups, and what its groups may use: any files. A quota is a number above 0. */
#include "fuzz.h"
#include "base/base.h"
#include "check.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const folders[] = {"/proc", "/proc/self", "/sys", "/sys/fs", "/sys/fs/cgroup", "/sys/fs/cgroup/cpu",
                                      "/sys/fs/cgroup/a", "/sys/fs/cgroup/cpu/a"};
static const char *const files[] = {"/proc/self/cgroup", "/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/a/cpu.max",
                                    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us",
                                    "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us"};

static void file_write(const char *root, const char *name, const uint8_t *data, size_t size)
{
    char path[300];
    snprintf(path, sizeof path, "%s%s", root, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

static char root[200];

static void root_remove(void)
{
    char path[300];
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        snprintf(path, sizeof path, "%s%s", root, files[i]);
        (void)unlink(path);
    }
    for (size_t i = ARRAY_LENGTH(folders); i > 0; i--) {
        snprintf(path, sizeof path, "%s%s", root, folders[i - 1]);
        (void)rmdir(path);
    }
    (void)rmdir(root);
}

int FUZZ(const uint8_t *data, size_t size)
{
    char path[300];
    if (!*root) {
        check_folder(root);
        for (size_t i = 0; i < ARRAY_LENGTH(folders); i++) {
            snprintf(path, sizeof path, "%s%s", root, folders[i]);
            if (mkdir(path, 0700) != 0)
                abort();
        }
        atexit(root_remove);
    }
    fuzz_begin(data, size);
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) { /* one line of the input each, the first all up to an empty line */
        const uint8_t *end = i ? memchr(fuzz_at, '\n', (size_t)(fuzz_end - fuzz_at))
                               : memmem(fuzz_at, (size_t)(fuzz_end - fuzz_at), "\n\n", 2);
        size_t length = end ? (size_t)(end - fuzz_at) + 1 : (size_t)(fuzz_end - fuzz_at);
        file_write(root, files[i], fuzz_at, length);
        fuzz_at += length + (!i && end);
    }
    CHECK(vbase_quota(root) >= 0);
    if (check_failed)
        abort();
    return 0;
}
