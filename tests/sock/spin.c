/* Under a quota of fewer processors than there are nobody polls before sleep; under a larger one, or none, it is tried.
 * The quota is made up, in a mount namespace. */
#include "check.h"
#include "sock/wait.h"
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define GROUPS "/sys/fs/cgroup"
#define WAITS  3000 /* more than there are between two looks at the processors */

static int processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

/* How many of the waits of a new process have polled, none with success. */
static int polled(const char *quota)
{
    int status = 0, ways[2];
    int fd = open(GROUPS "/cpu.max", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), count = 0;
    CHECK(fd >= 0 && write(fd, quota, strlen(quota)) == (ssize_t)strlen(quota) && pipe(ways) == 0);
    close(fd);
    if (fork() == 0) {
        struct sock_spin spin;
        sock_spin_prepare();
        for (int i = 0; i < WAITS; i++) {
            if (!sock_spin_begin(&spin))
                continue;
            (void)sock_spin_on(&spin);
            sock_spin_end(&spin, false);
            count++;
        }
        _exit(write(ways[1], &count, sizeof(count)) == sizeof(count) ? 0 : 1);
    }
    CHECK(read(ways[0], &count, sizeof(count)) == sizeof(count) && wait(&status) > 0 && status == 0);
    close(ways[0]);
    close(ways[1]);
    return count;
}

int main(void)
{
    char quota[64];
    int count = processors();
    if (count < 2 || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", GROUPS, "tmpfs", 0, NULL) != 0) {
        puts("skipped: this needs two processors, and root that may mount");
        return 77;
    }
    CHECK(polled("max 100000\n") > 0);
    CHECK_EQUAL(polled("150000 100000\n"), 0);
    CHECK_EQUAL(polled("50000 100000\n"), 0);
    snprintf(quota, sizeof(quota), "%d 100000\n", count * 100000 - 1);
    CHECK_EQUAL(polled(quota), 0);
    snprintf(quota, sizeof(quota), "%d 100000\n", count * 100000);
    CHECK(polled(quota) > 0);
    return check_done();
}
