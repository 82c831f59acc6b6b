/* Processors of each rank. Nothing is bound unless asked for: the kernel places better than a guess, as long as others
 * may be on the machine.
 *
 * The processors that we may use are cut into units (a core, a socket, two cores, ...) by what the kernel tells in
 * /sys; ranks take them in turn, neighbours first or spread over larger units. More ranks than units begin again at
 * the first. A rank file names the processors of each rank itself. */
#include "run/job.h"

/* What the machine does not tell is as the next smaller or larger unit is. */
static struct run_place place_of(int cpu)
{
    struct run_place place;
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
    const struct run_place *x = a, *y = b;
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
                return vbase_fail(ERR_ARGUMENT, "invalid value '%s' for --cpu-list: expected a list like 0-3,8", text);
            last = first;
        }
        for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE && cpu >= 0; cpu++)
            if (CPU_ISSET(cpu, allowed))
                CPU_SET(cpu, out);
        at += used;
        if (*at && *at++ != ',')
            return vbase_fail(ERR_ARGUMENT, "invalid value '%s' for --cpu-list: expected a list like 0-3,8", text);
    }
    if (CPU_COUNT(out) == 0)
        return vbase_fail(ERR_ARGUMENT, "--cpu-list %s: none of these processors may be used here", text);
    return OK;
}

/* The processors that we may use, by nearness. How many, or an error. */
static int places_read(const struct run_placing *how, struct run_place place[CPU_SETSIZE])
{
    cpu_set_t allowed;
    int places = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) < 0)
        return vbase_fail_errno(ERR_SYSTEM, "sched_getaffinity");
    if (how->cpu_list) {
        cpu_set_t all = allowed;
        int error = cpus_parse(how->cpu_list, &all, &allowed);
        if (error != OK)
            return error;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            place[places++] = place_of(cpu);
    qsort(place, (size_t)places, sizeof *place, by_nearness);
    return places;
}

/* ---- units ---- */

static enum base_unit unit_by(enum run_by by) { return (enum base_unit)(by - BY_HWTHREAD); }

/* Ranks are spread over these; others are taken as they lie. */
static bool is_spread(enum run_by by) { return by >= BY_L2 && by <= BY_SOCKET; }

/* Cuts processors into units of WIDTH each, none of which lies in two units OVER. */
static void units_cut(struct run_binding *binding, const struct run_place *place, int places, enum base_unit unit,
                      enum base_unit over, int width)
{
    int taken = width; /* units in the last one */
    binding->unit = run_zeros((size_t)places, sizeof *binding->unit);
    for (int i = 0; i < places; i++) {
        bool apart = i == 0 || place[i].in[over] != place[i - 1].in[over];
        bool other = apart || place[i].in[unit] != place[i - 1].in[unit];
        if (apart || (other && taken == width)) {
            binding->count -= taken < width;
            struct run_unit *next = &binding->unit[binding->count];
            *next = (struct run_unit){.place = place[i], .at = binding->count++};
            taken = 0;
        }
        taken += other;
        CPU_SET(place[i].in[UNIT_HWTHREAD], &binding->unit[binding->count - 1].cpus);
    }
    binding->count -= taken < width;
}

static int by_turn(const void *a, const void *b)
{
    const struct run_unit *x = a, *y = b;
    return x->turn != y->turn ? x->turn - y->turn : x->at - y->at;
}

/* Puts units in an order: dealt like cards, first one of each larger unit, then the next; or as they lie. */
static void units_deal(struct run_unit *unit, int count, enum run_by by)
{
    for (int i = 0; i < count; i++)
        unit[i].turn = 0;
    qsort(unit, (size_t)count, sizeof *unit, by_turn);
    for (int i = 1; i < count && is_spread(by); i++)
        if (unit[i].place.in[unit_by(by)] == unit[i - 1].place.in[unit_by(by)])
            unit[i].turn = unit[i - 1].turn + 1;
    qsort(unit, (size_t)count, sizeof *unit, by_turn);
}

/* ---- the plan ---- */

static int binding_by_lines(struct run_job *job)
{
    struct run_place place[CPU_SETSIZE];
    int places = places_read(&job->options.placing, place), error = places < 0 ? places : OK;
    job->binding.unit = run_zeros((size_t)job->local + 1, sizeof *job->binding.unit);
    for (int i = 0; i < job->size && error == OK; i++)
        if (job->rank[i].host == job->here)
            error = slots_parse(i < job->options.lines ? job->options.line[i].slots : NULL, place, places,
                                &job->binding.unit[job->binding.count++].cpus);
    return error;
}

/* By which units ranks are bound; asked to spread or to give several, we bind. */
static enum run_by binding_by(const struct run_placing *how)
{
    if (how->bind == BY_CORE || (!how->bind && how->width))
        return how->threads ? BY_HWTHREAD : BY_CORE;
    return how->bind                                         ? how->bind
           : how->map >= BY_HWTHREAD && how->map <= BY_SOCKET ? how->map
           : how->cpu_list                                   ? BY_BOARD
                                                             : BY_NONE;
}

int binding_plan(struct run_job *job)
{
    const struct run_placing *how = &job->options.placing;
    struct run_binding *binding = &job->binding;
    enum run_by to = binding_by(how);
    struct run_place place[CPU_SETSIZE];
    int width = how->width ? how->width : 1;
    if (job->options.lines)
        return binding_by_lines(job);
    if (to == BY_NONE && how->width)
        return vbase_fail(ERR_ARGUMENT, "--bind-to none contradicts %d processors for each rank", width);
    if (to == BY_NONE)
        return OK;
    int places = places_read(how, place);
    if (places < 0)
        return places;
    units_cut(binding, place, places, unit_by(to), is_spread(how->map) ? unit_by(how->map) : UNIT_BOARD, width);
    if (binding->count == 0)
        return vbase_fail(ERR_ARGUMENT, "no rank can have %d units of %s (--bind-to, --map-by): it has %d processors",
                          width, job->host, places);
    units_deal(binding->unit, binding->count, how->map);
    if (how->rank && job->local < binding->count)
        binding->count = job->local;
    if (how->rank)
        units_deal(binding->unit, binding->count, how->rank);
    return OK;
}

const cpu_set_t *binding_of(const struct run_binding *binding, int rank)
{
    return binding->count ? &binding->unit[rank % binding->count].cpus : NULL;
}
