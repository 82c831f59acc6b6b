/* Topology: this machine makes sense, the affinity mask is obeyed, and cgroup quotas of both versions are found in
 * made-up trees: nested, side by side, in a container without a cgroup namespace, outside of what is mounted, broken. */
#include "base/topology.h"
#include "check.h"
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[200];

static void put(const char *path, const char *content)
{
    char whole[1000];
    snprintf(whole, sizeof(whole), "%s%s", root, path);
    for (char *p = whole + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        if (mkdir(whole, 0755) && errno != EEXIST)
            exit(98);
        *p = '/';
    }
    FILE *file = fopen(whole, "w");
    if (!file)
        exit(97);
    fputs(content, file);
    fclose(file);
}

static void clean(void)
{
    char command[300];
    snprintf(command, sizeof(command), "rm -rf %s/*", root);
    CHECK_EQUAL(system(command), 0);
}

#define NEAR(a, b) CHECK((a) - (b) < 1e-9 && (b) - (a) < 1e-9)

static void version_2(void)
{
    clean();
    NEAR(vbase_quota(root), 0.0); /* nothing there at all */
    put("/proc/self/cgroup", "0::/user.slice/job/rank\n");
    put("/sys/fs/cgroup/user.slice/job/rank/cpu.max", "max 100000\n");
    NEAR(vbase_quota(root), 0.0);
    put("/sys/fs/cgroup/user.slice/job/cpu.max", "250000 100000\n");
    NEAR(vbase_quota(root), 2.5);
    put("/sys/fs/cgroup/user.slice/cpu.max", "50000 100000\n");
    NEAR(vbase_quota(root), 0.5);
    put("/sys/fs/cgroup/user.slice/cpu.max", "400000 100000\n");
    NEAR(vbase_quota(root), 2.5);
    put("/sys/fs/cgroup/cpu.max", "100000 100000\n"); /* the mount itself: a container's own group */
    NEAR(vbase_quota(root), 1.0);
    put("/sys/fs/cgroup/cpu.max", "rubbish\n");
    NEAR(vbase_quota(root), 2.5);
    put("/sys/fs/cgroup/cpu.max", "100000 0\n");
    NEAR(vbase_quota(root), 2.5);
    put("/sys/fs/cgroup/cpu.max", "-5 100000\n");
    NEAR(vbase_quota(root), 2.5);
    put("/sys/fs/cpu.max", "10000 100000\n"); /* above the mount: not a cgroup */
    NEAR(vbase_quota(root), 2.5);
}

static void version_1(void)
{
    clean();
    put("/proc/self/cgroup", "5:memory:/elsewhere\n4:cpuset:/x\n3:cpu,cpuacct:/a/b\n1:name=systemd:/y\n0::/z\n");
    put("/sys/fs/cgroup/cpuset/x/cpu.cfs_quota_us", "10000\n");
    put("/sys/fs/cgroup/cpuset/x/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
    NEAR(vbase_quota(root), 0.0);
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "150000\n");
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "50000\n");
    NEAR(vbase_quota(root), 3.0);
    put("/sys/fs/cgroup/unified/z/cpu.max", "250000 100000\n"); /* a hierarchy of version 2 beside it */
    NEAR(vbase_quota(root), 2.5);
}

/* The path tells the host's hierarchy, but only its part /docker/77 is mounted. */
static void container(void)
{
    clean();
    put("/proc/self/cgroup", "0::/docker/77/inner\n");
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    NEAR(vbase_quota(root), 2.0);
    put("/sys/fs/cgroup/inner/cpu.max", "50000 100000\n");
    NEAR(vbase_quota(root), 0.5);
    put("/proc/self/cgroup", "0::/docker/777\n"); /* not inside /docker/77 although it begins so */
    NEAR(vbase_quota(root), 2.0);
    put("/proc/self/cgroup", "0::/../other\n"); /* moved out of its namespace's root */
    NEAR(vbase_quota(root), 2.0);
}

static void rubbish(void)
{
    static const char *const cgroup[] = {"", "\n", ":", "::", "0:", "0::", "0::relative", "no colon at all"};
    clean();
    for (size_t i = 0; i < ARRAY_LENGTH(cgroup); i++) {
        put("/proc/self/cgroup", cgroup[i]);
        NEAR(vbase_quota(root), 0.0);
    }
}

static void this_machine(void)
{
    const struct base_topology *t = vbase_topology();
    cpu_set_t mask;
    CHECK(t == vbase_topology());
    CHECK(t->cpus_online >= 1 && t->cpus_allowed >= 1 && t->cpus >= 1);
    CHECK(t->cpus <= t->cpus_allowed);
    if (sched_getaffinity(0, sizeof(mask), &mask) == 0)
        CHECK_EQUAL(t->cpus_allowed, CPU_COUNT(&mask));
    CHECK(t->cpus_quota >= 0);
}

static void bound_to_one(void)
{
    pid_t child = fork();
    if (child == 0) { /* before anybody here has read the topology */
        cpu_set_t all, one;
        CHECK_EQUAL(sched_getaffinity(0, sizeof(all), &all), 0);
        CPU_ZERO(&one);
        for (int i = CPU_SETSIZE - 1; i >= 0; i--)
            if (CPU_ISSET(i, &all)) {
                CPU_SET(i, &one);
                break;
            }
        CHECK_EQUAL(sched_setaffinity(0, sizeof(one), &one), 0);
        CHECK_EQUAL(vbase_topology()->cpus_allowed, 1);
        CHECK_EQUAL(vbase_topology()->cpus, 1);
        _exit(check_done());
    }
    int status;
    waitpid(child, &status, 0);
    CHECK_EQUAL(status, 0);
}

int main(void)
{
    check_folder(root);
    bound_to_one();
    this_machine();
    version_2();
    version_1();
    container();
    rubbish();
    clean();
    rmdir(root);
    return check_done();
}
