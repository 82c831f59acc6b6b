/* Topology: processors of the affinity mask, cut down by the cgroup's quota (quota.c).
 *
 * Read by the first caller, then a pointer to what never changes. What cannot be read is unknown, never an error: the
 * numbers are hints for waiting. */
#include "base/base.h"
#include <pthread.h>
#include <sched.h>
#include <sys/utsname.h>

static struct base_topology topology;
static pthread_once_t topology_once = PTHREAD_ONCE_INIT;

/* The kernel refuses a mask smaller than its own; so many processors are more than it can be built for. */
#define CPUS_MOST 65536
#define MASK_WORDS (CPUS_MOST / 64)

/* How many processors are in the mask, 0: not known. */
static int affinity_read(uint64_t mask[MASK_WORDS])
{
    memset(mask, 0, CPUS_MOST / 8);
    cpu_set_t *set = (cpu_set_t *)(void *)mask;
    return sched_getaffinity(0, CPUS_MOST / 8, set) == 0 ? CPU_COUNT_S(CPUS_MOST / 8, set) : 0;
}

void vbase_affinity(uint64_t *words, int count)
{
    uint64_t mask[MASK_WORDS];
    affinity_read(mask);
    memcpy(words, mask, (size_t)count * sizeof *words);
}

static void topology_read(void)
{
    uint64_t mask[MASK_WORDS];
    topology.cpus_online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    topology.cpus_allowed = affinity_read(mask);
    if (topology.cpus_online < 1)
        topology.cpus_online = 1;
    if (topology.cpus_allowed < 1)
        topology.cpus_allowed = topology.cpus_online;
    topology.cpus_quota = vbase_quota("");
    topology.cpus = topology.cpus_allowed;
    if (topology.cpus_quota > 0 && topology.cpus_quota < topology.cpus)
        topology.cpus = topology.cpus_quota < 1 ? 1 : (int)topology.cpus_quota;
}

const struct base_topology *vbase_topology(void)
{
    pthread_once(&topology_once, topology_read);
    return &topology;
}

uint64_t vbase_host_identity(void)
{
    char text[512] = "";
    struct utsname name;
    if (!vbase_file_read(text, 65, "/proc/sys/kernel/random/boot_id") && uname(&name) == 0)
        snprintf(text, 256, "%s %s %s", name.nodename, name.release, name.version);
    size_t length = strlen(text);
    ssize_t got = readlink("/proc/self/ns/net", text + length, sizeof(text) - length);
    return vbase_hash_bytes(text, length + (size_t)(got > 0 ? got : 0));
}
