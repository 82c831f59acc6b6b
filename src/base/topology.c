/* Topology: processors of the affinity mask, cut down by the cgroup's quota (quota.c), and the sizes of the caches.
 *
 * Read by the first caller, then a pointer to what never changes. Whatever cannot be read is unknown, never an error:
 * the numbers are advice for waiting and copying. */
#include "base/topology.h"
#include "base/quota.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS_LIMIT (1 << 20) /* where the search for a large enough mask ends */

static struct base_topology topology;
static pthread_once_t topology_once = PTHREAD_ONCE_INIT;

/* Processors in the mask, and the first of them. The kernel refuses a mask smaller than its own. */
static int read_affinity(int *first)
{
    for (int cpus = 1024; cpus <= CPUS_LIMIT; cpus *= 4) {
        cpu_set_t *mask = CPU_ALLOC(cpus);
        size_t size = CPU_ALLOC_SIZE(cpus);
        if (!mask)
            return 0;
        int count = 0, refused = sched_getaffinity(0, size, mask);
        if (!refused) {
            count = CPU_COUNT_S(size, mask);
            for (*first = 0; *first < cpus && !CPU_ISSET_S(*first, size, mask);)
                ++*first;
        }
        int why = errno;
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

static size_t read_number(const char *path, char *unit)
{
    char text[32];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n <= 0)
        return 0;
    text[n] = 0;
    char *end;
    size_t value = strtoull(text, &end, 10);
    *unit = *end;
    return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

static size_t cache_number(int cpu, int index, const char *what, char *unit)
{
    char path[96];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, what);
    return read_number(path, unit);
}

static void read_one_cache(struct base_topology *t, int cpu, int index)
{
    char unit, type = 0;
    size_t size = cache_number(cpu, index, "size", &unit), level = size ? cache_number(cpu, index, "level", &unit) : 0;
    if (level == 1)
        cache_number(cpu, index, "type", &type); /* Data, Instruction or Unified */
    if (level == 1 && type != 'I') {
        t->l1d = size;
        t->line = cache_number(cpu, index, "coherency_line_size", &unit);
    }
    if (level == 2)
        t->l2 = size;
    if (level == 3)
        t->l3 = size;
}

static size_t positive(long value) { return value > 0 ? (size_t)value : 0; }

/* On x86 the C library has asked the processor already when the program was loaded: 3 us for all, where each file of
 * sysfs costs 5 to 15. Its sum for the third level is not to be trusted, so that one comes from sysfs; and all of them
 * where the C library knows nothing. */
static void read_caches(struct base_topology *t, int cpu)
{
    t->line = positive(sysconf(_SC_LEVEL1_DCACHE_LINESIZE));
    t->l1d = positive(sysconf(_SC_LEVEL1_DCACHE_SIZE));
    t->l2 = positive(sysconf(_SC_LEVEL2_CACHE_SIZE));
    for (int i = t->l1d && t->l2 ? 3 : 0; i < 4; i++)
        read_one_cache(t, cpu, i);
    if (t->line < 16 || t->line & (t->line - 1))
        t->line = 64;
}

static void read_all(void)
{
    int first = 0;
    topology.page = (size_t)sysconf(_SC_PAGESIZE);
    topology.cpus_online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    topology.cpus_allowed = read_affinity(&first);
    if (topology.cpus_online < 1)
        topology.cpus_online = 1;
    if (topology.cpus_allowed < 1)
        topology.cpus_allowed = topology.cpus_online;
    topology.cpus_quota = vbase_quota("");
    topology.cpus = topology.cpus_allowed;
    if (topology.cpus_quota > 0 && topology.cpus_quota < topology.cpus)
        topology.cpus = topology.cpus_quota < 1 ? 1 : (int)topology.cpus_quota;
    read_caches(&topology, first);
}

const struct base_topology *vbase_topology(void)
{
    pthread_once(&topology_once, read_all);
    return &topology;
}
