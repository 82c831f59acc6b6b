/* Topology: processors of the affinity mask, cut down by the cgroup's quota (quota.c).
 *
 * Read by the first caller, then a pointer to what never changes. Whatever cannot be read is unknown, never an error:
 * the numbers are advice for waiting. */
#include "base/topology.h"
#include "base/quota.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define CPUS_LIMIT (1 << 20) /* where the search for a large enough mask ends */

static struct base_topology topology;
static pthread_once_t topology_once = PTHREAD_ONCE_INIT;

/* Processors in the mask. The kernel refuses a mask smaller than its own. */
static int read_affinity(void)
{
    for (int cpus = 1024; cpus <= CPUS_LIMIT; cpus *= 4) {
        cpu_set_t *mask = CPU_ALLOC(cpus);
        size_t size = CPU_ALLOC_SIZE(cpus);
        if (!mask)
            return 0;
        int refused = sched_getaffinity(0, size, mask), why = errno, count = refused ? 0 : CPU_COUNT_S(size, mask);
        CPU_FREE(mask);
        if (!refused || why != EINVAL)
            return count;
    }
    return 0;
}

void vbase_affinity(uint64_t *words, int count)
{
    memset(words, 0, (size_t)count * sizeof *words);
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) == 0)
        for (int cpu = 0; cpu < 64 * count && cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &mask))
                words[cpu / 64] |= 1ull << cpu % 64;
}

static void read_all(void)
{
    topology.cpus_online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    topology.cpus_allowed = read_affinity();
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
    pthread_once(&topology_once, read_all);
    return &topology;
}
