/* Units of processors of five made-up machines: a laptop, two sockets with two numa nodes each, cores that share a cache in
 * pairs, one that tells little, and a broken one. */
#include "base/base.h"
#include "check.h"
#include <sys/stat.h>

static char root[200];

static void put(const char *content, const char *format, ...)
{
    char whole[1000];
    va_list list;
    int at = snprintf(whole, sizeof whole, "%s/sys/devices/system/cpu/", root);
    va_start(list, format);
    vsnprintf(whole + at, sizeof whole - (size_t)at, format, list);
    va_end(list);
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
    snprintf(command, sizeof command, "rm -rf %s/sys", root);
    CHECK_EQUAL(system(command), 0);
}

/* CPUS processors; how many processors in a row share one of each (0: not told). */
static void machine(int cpus, int core, int l2, int l3, int numa, int socket)
{
    char text[40];
    clean();
    for (int cpu = 0; cpu < cpus; cpu++) {
        snprintf(text, sizeof text, "%d\n", cpu / (core ? core : 1));
        put(text, "cpu%d/topology/core_id", cpu);
        const struct {
            int width;
            const char *file;
        } lists[] = {{core, "topology/thread_siblings_list"}, {l2, "cache/index2/shared_cpu_list"},
                     {l3, "cache/index3/shared_cpu_list"}};
        for (int i = 0; i < 3; i++) {
            int width = lists[i].width, first = width ? cpu / width * width : 0;
            snprintf(text, sizeof text, width > 1 ? "%d-%d\n" : "%d\n", first, first + width - 1);
            if (width)
                put(text, "cpu%d/%s", cpu, lists[i].file);
        }
        snprintf(text, sizeof text, "%d\n", socket ? cpu / socket : 0);
        if (socket)
            put(text, "cpu%d/topology/physical_package_id", cpu);
        if (numa)
            put("", "cpu%d/node%d/x", cpu, cpu / numa);
    }
}

static int bound(enum base_unit unit, uint64_t mask) { return vbase_machine_bound(root, unit, &mask, 1); }

int main(void)
{
    snprintf(root, sizeof root, "/tmp/viaduct-machine-%d", (int)getpid());
    CHECK_EQUAL(mkdir(root, 0755), 0);

    machine(4, 2, 2, 4, 4, 4); /* a laptop: two cores with two threads */
    CHECK_EQUAL(bound(UNIT_HWTHREAD, 1), 0);
    CHECK_EQUAL(bound(UNIT_HWTHREAD, 3), UNIT_NOT_ONE);
    CHECK_EQUAL(bound(UNIT_CORE, 3), 0);
    CHECK_EQUAL(bound(UNIT_CORE, 12), 2);
    CHECK_EQUAL(bound(UNIT_CORE, 6), UNIT_NOT_ONE);
    CHECK_EQUAL(bound(UNIT_L3, 15), 0);
    CHECK_EQUAL(bound(UNIT_SOCKET, 15), 0);
    CHECK_EQUAL(bound(UNIT_BOARD, 15), 0);

    machine(64, 1, 1, 8, 16, 32); /* two sockets, four numa nodes, eight caches */
    CHECK_EQUAL(bound(UNIT_SOCKET, 0xFFFFFFFF00000000u), 1);
    CHECK_EQUAL(bound(UNIT_SOCKET, 0x100000001u), UNIT_NOT_ONE);
    CHECK_EQUAL(bound(UNIT_NUMA, 0xFFFF000000000000u), 3);
    CHECK_EQUAL(bound(UNIT_NUMA, 0xFFFFFFFFu), UNIT_NOT_ONE);
    CHECK_EQUAL(bound(UNIT_L3, 0xFF00), 8);
    CHECK_EQUAL(bound(UNIT_L2, 0x8000000000000000u), 63);

    machine(8, 1, 2, 0, 8, 8); /* caches of pairs, no larger one */
    CHECK_EQUAL(bound(UNIT_L2, 12), 2);
    CHECK_EQUAL(bound(UNIT_L2, 6), UNIT_NOT_ONE);
    CHECK_EQUAL(bound(UNIT_L3, 1), UNIT_ABSENT);

    machine(2, 0, 0, 0, 0, 0); /* a container that hides nearly all */
    for (enum base_unit unit = UNIT_CORE; unit < UNIT_BOARD; unit++)
        CHECK_EQUAL(bound(unit, 1), UNIT_ABSENT);
    CHECK_EQUAL(bound(UNIT_HWTHREAD, 2), 1);

    clean(); /* nothing, and nonsense */
    CHECK_EQUAL(bound(UNIT_CORE, 1), UNIT_ABSENT);
    put("rubbish\n", "cpu0/topology/thread_siblings_list");
    put("-5\n", "cpu0/topology/physical_package_id");
    CHECK_EQUAL(bound(UNIT_CORE, 1), UNIT_ABSENT);
    CHECK_EQUAL(bound(UNIT_SOCKET, 1), UNIT_ABSENT);
    CHECK_EQUAL(vbase_machine_bound(root, UNIT_CORE, (uint64_t[]){0}, 1), UNIT_ABSENT); /* no processor at all */
    clean();
    rmdir(root);
    return check_done();
}
