/* Sets of processes. Three are always there: all ranks, this one, and those of its node. Others are named on the
 * command line (mpiexec --pset); our launcher tells them to each rank in its environment. */
#include "mpi/session.h"

enum { SET_WORLD, SET_SELF, SET_NODE, SETS };
static const char *const built_in[SETS] = {"mpi://WORLD", "mpi://SELF", "viaduct://NODE"};

/* One of the launcher's. */
struct named {
    char name[MPI_MAX_PSET_NAME_LEN];
    const char *ranges; /* ended by ';' or the end */
};

/* The next set of the text at *AT; false: there is none. */
static bool named_next(const char **at, struct named *set)
{
    const char *text = *at, *equals = text ? strchr(text, '=') : NULL;
    if (!equals || (size_t)(equals - text) >= sizeof set->name)
        return false;
    memcpy(set->name, text, (size_t)(equals - text));
    set->name[equals - text] = 0;
    set->ranges = equals + 1;
    const char *end = strchr(equals, ';');
    *at = end ? end + 1 : NULL;
    return true;
}

static bool range_next(const char **at, int *first, int *last)
{
    int length = 0;
    if (sscanf(*at, "%d-%d%n", first, last, &length) != 2 || *first < 0 || *last >= mpi_process.job->size)
        return false;
    *at += length + ((*at)[length] == ',');
    return true;
}

/* The ranks of a set of the launcher, written to LIST (NULL: nowhere). How many; *MINE: this one is among them. */
static int ranges_write(const char *ranges, int *list, bool *mine)
{
    int first, last, count = 0;
    while (range_next(&ranges, &first, &last)) {
        *mine |= first <= mpi_process.job->rank && mpi_process.job->rank <= last;
        for (int rank = first; rank <= last; rank++, count++)
            if (list)
                list[count] = rank;
    }
    return count;
}

bool mpi_process_set(int number, char name[MPI_MAX_PSET_NAME_LEN])
{
    struct named set;
    const char *at = vbase_environment(BOOT_SETS_VARIABLE), *found = number < SETS ? built_in[number] : NULL;
    for (int i = SETS; !found && named_next(&at, &set);) {
        bool mine = false;
        (void)ranges_write(set.ranges, NULL, &mine);
        if (mine && i++ == number)
            found = set.name;
    }
    if (found)
        snprintf(name, MPI_MAX_PSET_NAME_LEN, "%s", found);
    return found;
}

static int *ranks_copy(const int *ranks, int size)
{
    int *copy = malloc((size_t)size * sizeof(int));
    for (int i = 0; copy && i < size; i++)
        copy[i] = ranks ? ranks[i] : i;
    return copy;
}

static int *ranks_named(const char *name, int *size)
{
    struct named set;
    bool mine;
    for (const char *at = vbase_environment(BOOT_SETS_VARIABLE); named_next(&at, &set);)
        if (strcmp(name, set.name) == 0) {
            int *list = malloc((size_t)(*size = ranges_write(set.ranges, NULL, &mine)) * sizeof(int) + 1);
            if (list)
                (void)ranges_write(set.ranges, list, &mine);
            return list;
        }
    *size = -1;
    return NULL;
}

int *mpi_process_set_ranks(const char *name, int *size)
{
    const struct boot_job *job = mpi_process.job;
    if (strcasecmp(name, built_in[SET_WORLD]) == 0)
        return ranks_copy(NULL, *size = job->size);
    if (strcasecmp(name, built_in[SET_SELF]) == 0)
        return ranks_copy(&job->rank, *size = 1);
    if (strcasecmp(name, built_in[SET_NODE]) == 0)
        return ranks_copy(job->local_ranks, *size = job->local_count);
    return ranks_named(name, size);
}
