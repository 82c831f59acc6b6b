/* Groups: ordered sets of processes, kept as world ranks. Purely local. Set operations mark world ranks in a scratch
 * table of the world's size, so that they take time of the sizes, not of their product. */
#include "mpi/session.h"

static struct mpi_group group_empty = {.object.identity = (uintptr_t)MPI_GROUP_EMPTY, .size = 0, .rank = MPI_UNDEFINED};

struct mpi_group *mpi_group_at(MPI_Group handle)
{
    if (handle == MPI_GROUP_EMPTY)
        return &group_empty;
    return mpi_object_at(KIND_GROUP, handle, sizeof(struct mpi_group));
}

int mpi_group_find(const struct mpi_group *group, int world)
{
    for (int i = 0; i < group->size; i++)
        if (group->world[i] == world)
            return i;
    return MPI_UNDEFINED;
}

struct mpi_group *mpi_group_make(int size, const int *world, const struct mpi_group *of)
{
    struct mpi_group *group = mpi_object_take(&mpi_kind_group);
    if (!group)
        return NULL;
    group->world = malloc((size_t)size * sizeof(int) + 1);
    if (!group->world) {
        mpi_object_give(group);
        return NULL;
    }
    group->size = size;
    for (int i = 0; i < size; i++)
        group->world[i] = world ? world[i] : i;
    group->rank = mpi_group_find(group, mpi_process.job->rank);
    mpi_keep(group->session = of ? of->session : NULL);
    return group;
}

int *mpi_groups_join(const struct mpi_group *first, const struct mpi_group *last)
{
    int *world = malloc((size_t)(first->size + last->size) * sizeof(int));
    if (world) {
        memcpy(world, first->world, (size_t)first->size * sizeof(int));
        memcpy(world + first->size, last->world, (size_t)last->size * sizeof(int));
    }
    return world;
}

static void *group_at(void *handle) { return mpi_group_at(handle); }
static void group_end(void *object)
{
    struct mpi_group *group = object;
    mpi_drop(group->session);
    free(group->world);
}
const struct mpi_kind_row mpi_kind_group = {
    MPI_KIND(KIND_GROUP, "group", struct mpi_group, MPI_ERR_GROUP, MPI_GROUP_NULL), .at = group_at, .end = group_end};

static int memory_error(const char *call, int size)
{
    return mpi_error(NULL, call, MPI_ERR_NO_MEM, "no memory for a group of %d ranks", size);
}

/* A new group from a list of world ranks, for the user, of the session of OF. */
static int group_deliver(const char *call, const struct mpi_group *of, int size, const int *world, MPI_Group *out)
{
    if (size == 0) {
        *out = MPI_GROUP_EMPTY;
        return MPI_SUCCESS;
    }
    struct mpi_group *group = mpi_group_make(size, world, of);
    if (!group)
        return memory_error(call, size);
    *out = mpi_object_deliver(group);
    return MPI_SUCCESS;
}

/* For each world rank its rank in GROUP, or MPI_UNDEFINED. To be freed. */
static int *group_places(const struct mpi_group *group)
{
    int ranks = mpi_process.job->size;
    int *place = malloc((size_t)ranks * sizeof(int));
    if (!place)
        return NULL;
    for (int i = 0; i < ranks; i++)
        place[i] = MPI_UNDEFINED;
    for (int i = 0; i < group->size; i++)
        place[group->world[i]] = i;
    return place;
}

ENTRY(MPI_Group_free)(MPI_Group *group)
    { return CHECK(BEHIND(mpi_kind_group, group)) ?: mpi_free_handle(NAME, &mpi_kind_group, group); }
ENTRY(MPI_Group_rank)(MPI_Group group, int *rank)
    { return CHECK(GROUP_OF(group), GIVEN(rank)) ?: mpi_tell(rank, mpi_group_at(group)->rank); }
ENTRY(MPI_Group_size)(MPI_Group group, int *size)
    { return CHECK(GROUP_OF(group), GIVEN(size)) ?: mpi_tell(size, mpi_group_at(group)->size); }

int mpi_group_relation(const struct mpi_group *one, const struct mpi_group *two)
{
    if (one->size != two->size)
        return MPI_UNEQUAL;
    if (one->size == 0 || memcmp(one->world, two->world, (size_t)one->size * sizeof(int)) == 0)
        return MPI_IDENT;
    int *place = group_places(one);
    if (!place)
        return -1;
    int common = 0;
    for (int i = 0; i < two->size; i++)
        common += place[two->world[i]] != MPI_UNDEFINED;
    free(place);
    return common == one->size ? MPI_SIMILAR : MPI_UNEQUAL;
}

static int group_compare(const char *call, const struct mpi_group *one, const struct mpi_group *two, int *result)
{
    int relation = mpi_group_relation(one, two);
    return relation < 0 ? memory_error(call, one->size) : mpi_tell(result, relation);
}
ENTRY(MPI_Group_compare)(MPI_Group one, MPI_Group two, int *result)
    { return CHECK(GROUP_OF(one), GROUP_OF(two), GIVEN(result)) ?:
             group_compare(NAME, mpi_group_at(one), mpi_group_at(two), result); }

ENTRY(MPI_Group_translate_ranks)(MPI_Group handle1, int n, const int ranks1[], MPI_Group handle2, int ranks2[])
{
    const struct mpi_group *one, *two;
    int error = CHECK(GROUP_OF(handle1, &one), GROUP_OF(handle2, &two));
    if (error)
        return error;
    if (n < 0 || (n > 0 && (!ranks1 || !ranks2)))
        return mpi_error(NULL, NAME, MPI_ERR_ARG, "%d ranks at %p and %p", n, (const void *)ranks1, (void *)ranks2);
    for (int i = 0; i < n; i++)
        if (ranks1[i] != MPI_PROC_NULL && (unsigned)ranks1[i] >= (unsigned)one->size)
            return mpi_error(NULL, NAME, MPI_ERR_RANK, "rank %d is not in a group of %d", ranks1[i], one->size);
    int *place = group_places(two);
    if (!place)
        return memory_error(NAME, two->size);
    for (int i = 0; i < n; i++)
        ranks2[i] = ranks1[i] == MPI_PROC_NULL ? MPI_PROC_NULL : place[one->world[ranks1[i]]];
    free(place);
    return MPI_SUCCESS;
}

/* Appends those of GROUP whose place is known, or (KNOWN is false) is not, to the COUNT in LIST: how many there are
 * then. */
static int group_filter(const struct mpi_group *group, const int *place, bool known, int *list, int count)
{
    for (int i = 0; i < group->size; i++)
        if ((place[group->world[i]] != MPI_UNDEFINED) == known)
            list[count++] = group->world[i];
    return count;
}

enum set_operation { SET_UNION, SET_INTERSECTION, SET_DIFFERENCE };

static int groups_combine(const char *call, enum set_operation what, const struct mpi_group *one,
                         const struct mpi_group *two, MPI_Group *out)
{
    if (one->session && two->session && one->session != two->session)
        return mpi_error(one->session, call, MPI_ERR_GROUP, "the groups come from two sessions");
    int *place = group_places(what == SET_UNION ? one : two),
        *list = malloc((size_t)(one->size + two->size) * sizeof(int) + 1);
    int error = place && list ? MPI_SUCCESS : memory_error(call, one->size + two->size);
    if (!error) {
        int count = group_filter(one, place, what != SET_DIFFERENCE, list, 0);
        if (what == SET_UNION)
            count = group_filter(two, place, false, list, count);
        error = group_deliver(call, one->session ? one : two, count, list, out);
    }
    free(place);
    free(list);
    return error;
}

#define SETS(name) ENTRY(name)(MPI_Group one, MPI_Group two, MPI_Group *newgroup)
#define SETS_GIVEN GROUP_OF(one), GROUP_OF(two), GIVEN(newgroup)
#define OF_BOTH mpi_group_at(one), mpi_group_at(two), newgroup
SETS(MPI_Group_union) { return CHECK(SETS_GIVEN) ?: groups_combine(NAME, SET_UNION, OF_BOTH); }
SETS(MPI_Group_intersection) { return CHECK(SETS_GIVEN) ?: groups_combine(NAME, SET_INTERSECTION, OF_BOTH); }
SETS(MPI_Group_difference) { return CHECK(SETS_GIVEN) ?: groups_combine(NAME, SET_DIFFERENCE, OF_BOTH); }

/* The N ranks of GROUP that are listed, in that order, or (LEAVE_OUT) all others in their order. */
static int group_choose(const char *call, const struct mpi_group *group, int n, const int *ranks, bool leave_out,
                  MPI_Group *out)
{
    if (n < 0 || (n > 0 && !ranks))
        return mpi_error(NULL, call, MPI_ERR_ARG, "%d ranks at %p", n, (const void *)ranks);
    struct mpi_group none = {.size = 0};
    int *place = group_places(&none), *list = malloc((size_t)group->size * sizeof(int) + 1);
    int error = place && list ? MPI_SUCCESS : memory_error(call, group->size);
    for (int i = 0; i < n && !error; i++) {
        bool there = (unsigned)ranks[i] < (unsigned)group->size;
        if (!there || place[group->world[ranks[i]]] != MPI_UNDEFINED) {
            error = mpi_error(NULL, call, MPI_ERR_RANK, "rank %d %s a group of %d", ranks[i],
                              there ? "is named twice for" : "is not in", group->size);
            break;
        }
        list[i] = group->world[ranks[i]];
        place[list[i]] = i;
    }
    if (!error)
        error = group_deliver(call, group, leave_out ? group_filter(group, place, false, list, 0) : n, list, out);
    free(place);
    free(list);
    return error;
}

#define LISTED(name, list) ENTRY(name)(MPI_Group group, int n, list, MPI_Group *newgroup)
#define FROM_GROUP CHECK(GROUP_OF(group), GIVEN(newgroup))
#define RANKS(leave_out) group_choose(NAME, mpi_group_at(group), n, ranks, leave_out, newgroup)
LISTED(MPI_Group_incl, const int ranks[]) { return FROM_GROUP ?: RANKS(false); }
LISTED(MPI_Group_excl, const int ranks[]) { return FROM_GROUP ?: RANKS(true); }

/* Ranges (first, last, stride) written out; at most LIMIT ranks, -1 if there is anything wrong. */
static int ranges_write(int n, int ranges[][3], int *list, int limit)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int64_t stride = ranges[i][2];
        if (stride == 0)
            return -1;
        for (int64_t r = ranges[i][0]; stride > 0 ? r <= ranges[i][1] : r >= ranges[i][1]; r += stride) {
            if (count == limit || r < 0)
                return -1;
            list[count++] = (int)r;
        }
    }
    return count;
}

static int group_choose_ranges(const char *call, const struct mpi_group *group, int n, int ranges[][3], bool leave_out,
                         MPI_Group *out)
{
    if (n < 0 || (n > 0 && !ranges))
        return mpi_error(NULL, call, MPI_ERR_ARG, "%d ranges at %p", n, (void *)ranges);
    int *list = malloc((size_t)group->size * sizeof(int) + 1);
    if (!list)
        return memory_error(call, group->size);
    int count = ranges_write(n, ranges, list, group->size);
    int error = count < 0 ? mpi_error(NULL, call, MPI_ERR_RANK, "the ranges do not fit a group of %d", group->size)
                          : group_choose(call, group, count, list, leave_out, out);
    free(list);
    return error;
}

#define RANGES(leave_out) group_choose_ranges(NAME, mpi_group_at(group), n, ranges, leave_out, newgroup)
LISTED(MPI_Group_range_incl, int ranges[][3]) { return FROM_GROUP ?: RANGES(false); }
LISTED(MPI_Group_range_excl, int ranges[][3]) { return FROM_GROUP ?: RANGES(true); }
