/* Processors of each rank. Nothing is bound unless asked for: the kernel places better than a guess, as long as others
 * may be on the machine.
 *
 * The processors that we may use are cut into units (a core, a socket, ...) by what the kernel tells in /sys; ranks
 * take them in turn, neighbours first or spread over the sockets. More ranks than units begin again at the first. */
#include "run/job.h"
#include <ctype.h>

struct place { /* of one processor: the number of the unit that it is in, of each kind */
    int in[UNITS];
};

/* What the machine does not tell is as the next smaller or larger unit is. */
static struct place place_of(int cpu)
{
    struct place place;
    int *in = place.in;
    for (enum base_unit unit = 0; unit < UNITS; unit++)
        in[unit] = vbase_machine_unit(vbase_settings.machine ?: "", unit, cpu);
    const int otherwise[UNITS] = {[UNIT_HWTHREAD] = cpu,
                                  [UNIT_CORE] = cpu,
                                  [UNIT_L2] = in[UNIT_CORE] < 0 ? cpu : in[UNIT_CORE],
                                  [UNIT_L3] = in[UNIT_SOCKET] < 0 ? 0 : in[UNIT_SOCKET]};
    for (enum base_unit unit = 0; unit < UNITS; unit++)
        in[unit] = in[unit] < 0 ? otherwise[unit] : in[unit];
    return place;
}

static int by_nearness(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    for (int unit = UNIT_BOARD; unit >= 0; unit--)
        if (x->in[unit] != y->in[unit])
            return x->in[unit] - y->in[unit];
    return 0;
}

/* "0-3,8" of the processors in ALLOWED. */
static int cpus_parse(const char *text, const cpu_set_t *allowed, cpu_set_t *out)
{
    CPU_ZERO(out);
    for (const char *at = text; *at;) {
        int first, last, used = 0;
        if (sscanf(at, "%d-%d%n", &first, &last, &used) != 2 || used == 0) {
            if (sscanf(at, "%d%n", &first, &used) != 1)
                return vbase_fail(ERR_ARGUMENT, "--cpu-list %s: a list like 0-3,8 is understood", text);
            last = first;
        }
        for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE && cpu >= 0; cpu++)
            if (CPU_ISSET(cpu, allowed))
                CPU_SET(cpu, out);
        at += used;
        if (*at && *at++ != ',')
            return vbase_fail(ERR_ARGUMENT, "--cpu-list %s: a list like 0-3,8 is understood", text);
    }
    if (CPU_COUNT(out) == 0)
        return vbase_fail(ERR_ARGUMENT, "--cpu-list %s: none of these processors may be used here", text);
    return OK;
}

static enum base_unit unit_of(const char *name, size_t length)
{
    static const struct {
        const char *name;
        enum base_unit unit;
    } known[] = {
        {"hwthread", UNIT_HWTHREAD}, {"thread", UNIT_HWTHREAD}, {"cpu", UNIT_HWTHREAD},  {"core", UNIT_CORE},
        {"slot", UNIT_CORE},         {"l2", UNIT_L2},           {"l2cache", UNIT_L2},    {"l3", UNIT_L3},
        {"l3cache", UNIT_L3},        {"numa", UNIT_NUMA},       {"socket", UNIT_SOCKET}, {"package", UNIT_SOCKET},
        {"board", UNIT_BOARD},       {"machine", UNIT_BOARD},   {"node", UNIT_BOARD},    {"rr", UNIT_CORE},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (strlen(known[i].name) == length && strncasecmp(known[i].name, name, length) == 0)
            return known[i].unit;
    return UNITS;
}

static int by_turn(const void *a, const void *b)
{
    const struct run_unit *x = a, *y = b;
    return x->turn != y->turn ? x->turn - y->turn : x->group - y->group;
}

/* Cuts processors into units. SPREAD over sockets (numa nodes) deals them like cards: first one of each, then the
 * next. */
static void units_cut(struct run_binding *binding, const struct place *place, int places, enum base_unit unit,
                      enum base_unit spread)
{
    struct run_unit *last = NULL;
    binding->unit = run_zeros((size_t)places, sizeof *binding->unit);
    for (int i = 0; i < places; i++) {
        if (!last || place[i].in[unit] != place[i - 1].in[unit]) {
            struct run_unit *next = &binding->unit[binding->count++];
            next->group = place[i].in[spread];
            next->turn = last && last->group == next->group ? last->turn + 1 : 0;
            last = next;
        }
        CPU_SET(place[i].in[UNIT_HWTHREAD], &last->cpus);
    }
    if (spread == UNIT_SOCKET || spread == UNIT_NUMA)
        qsort(binding->unit, (size_t)binding->count, sizeof *binding->unit, by_turn);
}

/* "core:2": every rank gets two units that follow each other. */
static void units_widen(struct run_binding *binding, int width)
{
    int count = binding->count / width;
    for (int i = 0; i < count; i++) {
        cpu_set_t both = binding->unit[i * width].cpus;
        for (int j = 1; j < width; j++)
            CPU_OR(&both, &both, &binding->unit[i * width + j].cpus);
        binding->unit[i].cpus = both;
    }
    if (count > 0)
        binding->count = count;
}

int binding_plan(struct run_job *job)
{
    const struct run_options *options = &job->options;
    struct run_binding *binding = &job->binding;
    const char *to = options->bind_to ? options->bind_to : options->cpu_list ? "board" : "none";
    cpu_set_t allowed;
    size_t length = strcspn(to, ":");
    if (strncasecmp(to, "none", length) == 0)
        return OK;
    if (sched_getaffinity(0, sizeof allowed, &allowed) < 0)
        return vbase_fail_errno(ERR_SYSTEM, "sched_getaffinity");
    if (options->cpu_list) {
        cpu_set_t all = allowed;
        int error = cpus_parse(options->cpu_list, &all, &allowed);
        if (error != OK)
            return error;
    }
    enum base_unit unit = unit_of(to, length);
    const char *by = options->map_by ? options->map_by : "core";
    enum base_unit spread = unit_of(by, strcspn(by, ":"));
    if (unit == UNITS || spread == UNITS)
        return vbase_fail(ERR_ARGUMENT, "--%s %s: none, hwthread, core, l2, l3, numa, socket or board is understood",
                          unit == UNITS ? "bind-to" : "map-by", unit == UNITS ? to : by);
    static struct place place[CPU_SETSIZE];
    int places = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            place[places++] = place_of(cpu);
    qsort(place, (size_t)places, sizeof *place, by_nearness);
    units_cut(binding, place, places, unit, spread);
    int width = to[length] == ':' && isdigit((unsigned char)to[length + 1]) ? atoi(to + length + 1) : 1;
    if (width > 1)
        units_widen(binding, width);
    return OK;
}

const cpu_set_t *binding_of(const struct run_binding *binding, int rank)
{
    return binding->count ? &binding->unit[rank % binding->count].cpus : NULL;
}

void binding_report(struct run_job *job)
{
    for (int rank = 0; rank < job->size; rank++) {
        if (job->rank[rank].host != job->here)
            continue;
        const cpu_set_t *set = binding_of(&job->binding, job->rank[rank].seat);
        char list[1024];
        size_t used = 0;
        list[0] = 0;
        for (int cpu = 0; set && cpu < CPU_SETSIZE && used < sizeof list - 32; cpu++) {
            int last = cpu;
            if (!CPU_ISSET(cpu, set))
                continue;
            while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
                last++;
            used += (size_t)snprintf(list + used, 32, last > cpu ? "%s%d-%d" : "%s%d", used ? "," : "", cpu, last);
            cpu = last;
        }
        if (set)
            output_line(job, "rank %d on %s is bound to processors %s", rank, job->host, list);
        else
            output_line(job, "rank %d on %s is not bound", rank, job->host);
    }
}
