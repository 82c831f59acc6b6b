/* Units of processors. Most have no number of their own: the first processor of the list that names them is it. */
#include "base/base.h"

#define CPU "%s/sys/devices/system/cpu/cpu%d/"
#define NODES_MOST 1024

static int node_of(const char *root, int cpu)
{
    for (int node = 0; node < NODES_MOST; node++) {
        char path[400];
        snprintf(path, sizeof path, CPU "node%d", root, cpu, node);
        if (access(path, F_OK) == 0)
            return node;
    }
    return -1;
}

int vbase_machine_unit(const char *root, enum base_unit unit, int cpu)
{
    static const char *const files[UNITS] = {[UNIT_HWTHREAD] = CPU "topology/core_id",
                                             [UNIT_CORE] = CPU "topology/thread_siblings_list",
                                             [UNIT_L2] = CPU "cache/index2/shared_cpu_list",
                                             [UNIT_L3] = CPU "cache/index3/shared_cpu_list",
                                             [UNIT_SOCKET] = CPU "topology/physical_package_id"};
    char text[32];
    int number;
    if (unit == UNIT_NUMA)
        return node_of(root, cpu);
    if (unit == UNIT_BOARD)
        return 0;
    if (!vbase_file_read(text, sizeof text, files[unit], root, cpu) || sscanf(text, "%d", &number) != 1 || number < 0)
        return -1;
    return unit == UNIT_HWTHREAD ? cpu : number;
}

int vbase_machine_bound(const char *root, enum base_unit unit, const uint64_t *mask, int words)
{
    int bound = UNIT_ABSENT;
    for (int cpu = 0; cpu < words * 64; cpu++) {
        if (!(mask[cpu / 64] >> cpu % 64 & 1))
            continue;
        int number = vbase_machine_unit(root, unit, cpu);
        if (number < 0)
            return UNIT_ABSENT;
        if (bound >= 0 && bound != number)
            return UNIT_NOT_ONE;
        bound = number;
    }
    return bound;
}
