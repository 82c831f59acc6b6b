/* Splitting by what processes share: the memory of their node, a part of the machine that they are bound to, or a
 * process set. A process that may use several units of a kind is in none of them. */
#include "mpi/hints.h"
#include "mpi/session.h"

/* From the whole to its parts: each is a kind of resource by its name in mpi_hw_resource_type. */
enum { BY_NODE, LEVELS = UNITS };
static const struct {
    const char *name;
    enum base_unit unit;
} levels[LEVELS] = {[BY_NODE] = {"mpi_shared_memory", UNIT_BOARD},
                    {"socket", UNIT_SOCKET}, {"numa", UNIT_NUMA}, {"l3cache", UNIT_L3}, {"l2cache", UNIT_L2},
                    {"core", UNIT_CORE}, {"hwthread", UNIT_HWTHREAD}};

#define MASK_WORDS 1024 /* as many processors as Linux can have */

/* What one rank is in, of each level: the number of the unit on its node. */
struct place {
    int node, unit[LEVELS];
};

static void place_find(struct place *place)
{
    static uint64_t mask[MASK_WORDS];
    static struct base_lock lock;
    mpi_lock(&lock);
    vbase_affinity(mask, MASK_WORDS);
    place->node = mpi_process.job->local_ranks[0]; /* names it */
    for (int level = 0; level < LEVELS; level++)
        place->unit[level] =
            vbase_machine_bound(vbase_settings.machine ?: "", levels[level].unit, mask, MASK_WORDS);
    mpi_unlock(&lock);
}

static bool same_unit(const struct place *one, const struct place *two, int level)
{
    return one->unit[level] >= 0 && one->unit[level] == two->unit[level] && one->node == two->node;
}

/* The first level that does not keep all RANKS together; LEVELS: there is none. */
static int level_below(const struct place *all, int ranks)
{
    for (int level = 0; level < LEVELS; level++) {
        int bound = 0, together = 0;
        for (int i = 0; i < ranks; i++) {
            bound += all[i].unit[level] >= 0;
            together += same_unit(&all[0], &all[i], level);
        }
        if (bound > 0 && together < ranks)
            return level;
    }
    return LEVELS;
}

/* The first rank that is in the same unit of LEVEL (-1: of the first that parts them), or MPI_UNDEFINED. A class that
 * was raised. */
static int color_find(const char *call, struct mpi_comm *comm, int level, int *color)
{
    struct place mine, *all = mpi_list_new(comm->coll.size, sizeof *all);
    place_find(&mine);
    struct coll_call gather = {.kind = COLL_ALLGATHER, .group = &comm->coll,
                               .send = {.base = &mine, .count = sizeof mine},
                               .receive = {.base = all, .count = sizeof mine}};
    int error = all ? vcoll_run(&gather) : ERR_MEMORY;
    *color = MPI_UNDEFINED;
    if (!error && level < 0)
        level = level_below(all, comm->coll.size);
    for (int i = comm->coll.size; i-- > 0 && !error && level < LEVELS;)
        if (same_unit(&mine, &all[i], level))
            *color = i;
    mpi_list_free(all);
    return error ? mpi_engine_error(comm, call, error) : MPI_SUCCESS;
}

/* Of a process set: its first rank, where this process is in it. */
static int color_of_set(const char *name)
{
    int size, color = MPI_UNDEFINED, *ranks = mpi_process_set_ranks(name, &size);
    for (int i = 0; ranks && i < size; i++)
        if (ranks[i] == mpi_process.job->rank)
            color = ranks[0];
    free(ranks);
    return color;
}

/* LEVELS: none has that name. */
static int level_named(const char *name)
{
    int level = 0;
    while (level < LEVELS && !(name && strcmp(name, levels[level].name) == 0))
        level++;
    return level;
}

static int comm_split_type(const char *call, struct mpi_comm *comm, int type, int key, MPI_Info info, MPI_Comm *out)
{
    const struct mpi_info *hints = info == MPI_INFO_NULL ? NULL : mpi_info_at(info);
    const char *set = type == MPI_COMM_TYPE_RESOURCE_GUIDED ? mpi_info_value(hints, "mpi_pset_name") : NULL;
    int color = MPI_UNDEFINED, error = MPI_SUCCESS, level = LEVELS;
    switch (type) {
    case MPI_COMM_TYPE_SHARED:
        level = BY_NODE;
        break;
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        level = level_named(mpi_info_value(hints, "mpi_hw_resource_type"));
        break;
    case MPI_COMM_TYPE_HW_UNGUIDED:
        level = -1;
        break;
    case MPI_UNDEFINED: /* others may want what this rank wants no part of */
        break;
    default:
        return mpi_error(comm, call, MPI_ERR_ARG, "%d is not a split type", type);
    }
    error = color_find(call, comm, level, &color);
    if (set)
        color = color_of_set(set);
    return error ?: mpi_comm_split(call, comm, color, key, out);
}
ENTRY(MPI_Comm_split_type)(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm)
    { return CHECK_WAITS(COMM_OF(comm), GIVEN(newcomm), HINTS(info)) ?:
             mpi_hints_give(NAME, comm_split_type(NAME, mpi_comm_at(comm), type, key, info, newcomm), newcomm, info); }

/* Every kind that this machine has: is this process within one of them? */
static struct mpi_info *resources_info(void)
{
    struct place place;
    struct mpi_info *info = mpi_info_copy(NULL);
    place_find(&place);
    for (int level = 0; info && level < LEVELS; level++)
        if (place.unit[level] != UNIT_ABSENT &&
            mpi_info_put(info, levels[level].name, place.unit[level] == UNIT_NOT_ONE ? "false" : "true")) {
            mpi_drop(info);
            info = NULL;
        }
    return info;
}
ENTRY(MPI_Get_hw_resource_info)(MPI_Info *hw_info)
    { return CHECK(RUNNING, GIVEN(hw_info)) ?: mpi_info_deliver(NULL, NAME, resources_info(), hw_info); }
