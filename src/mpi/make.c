/* How communicators are made from others: dup, create, split. All of them agree on a number (context.c) and open two
 * contexts with it; no message follows, since the engine keeps what comes for a context that is not open yet. */
#include "mpi/inside.h"
#include <stdlib.h>
#include <string.h>

int mpi_comm_make(const char *call, struct mpi_comm *parent, struct mpi_group *group, struct mpi_comm **out)
{
    struct mpi_agreement *agreement = malloc(sizeof *agreement);
    int error = agreement ? mpi_agreement_start(agreement, parent, group != NULL) : ERR_MEMORY;
    uint32_t id = 0;
    if (!error) {
        error = mpi_agreement_wait(agreement);
        id = agreement->id;
        if (!atomic_load_explicit(&agreement->done, memory_order_acquire))
            agreement = NULL; /* the job is lost: the engine may still write to it, so it is given up */
        else
            mpi_agreement_close(agreement);
    }
    free(agreement);
    *out = !error && group ? mpi_comm_new(parent, group) : NULL;
    if (!error && group)
        error = mpi_comm_open(*out, id);
    return error ? mpi_engine_error(parent, call, error) : MPI_SUCCESS;
}

static void deliver(struct mpi_comm *comm, MPI_Comm *out)
{
    *out = comm ? mpi_object_publish(comm) : MPI_COMM_NULL;
    if (comm)
        mpi_comm_drop(comm);
}

/* ---- dup -------------------------------------------------------------------------------------------------------- */

/* What a duplicate has of its parent beside the group. A class, not raised. */
static int inherit(struct mpi_comm *parent, struct mpi_comm *comm)
{
    if (parent->topology) {
        comm->topology = mpi_topology_copy(parent->topology);
        if (!comm->topology)
            return MPI_ERR_NO_MEM;
    }
    return mpi_attributes_copy(mpi_comm_handle(parent), parent->attributes, &comm->attributes);
}

static int dup(const char *call, MPI_Comm handle, MPI_Info info, MPI_Comm *out)
{
    struct mpi_comm *parent, *comm;
    int error = mpi_arguments(call, ARGUMENTS(COMM_OF(handle, &parent), GIVEN_AS(out, "newcomm"), HINTS(info)));
    if (error)
        return error;
    *out = MPI_COMM_NULL; /* also when it fails: programs look at the handle where they ought to look at the error */
    error = mpi_comm_make(call, parent, parent->group, &comm);
    if (error)
        return error;
    error = inherit(parent, comm);
    if (error) {
        mpi_comm_drop(comm);
        *out = MPI_COMM_NULL;
        return mpi_error(parent, call, error, "the copy function of an attribute failed");
    }
    deliver(comm, out);
    return MPI_SUCCESS;
}

#define DUP MPI_Comm comm, MPI_Comm *out
#define DUP_WITH_INFO MPI_Comm comm, MPI_Info info, MPI_Comm *out
ENTERED(MPI_Comm_dup, (DUP), dup(NAME, comm, MPI_INFO_NULL, out))
ENTERED(MPI_Comm_dup_with_info, (DUP_WITH_INFO), dup(NAME, comm, info, out))

static int idup(const char *call, MPI_Comm handle, MPI_Info info, MPI_Comm *out, MPI_Request *request)
{
    struct mpi_comm *parent;
    int error = mpi_arguments(call, ARGUMENTS(COMM_OF(handle, &parent), GIVEN_AS(out, "newcomm"), HINTS(info), GIVEN(request)));
    if (error)
        return error;
    struct mpi_request *made = mpi_request_take(REQUEST_DUP, call, parent, NULL);
    struct mpi_dup *state = calloc(1, sizeof *state);
    struct mpi_comm *comm = mpi_comm_new(parent, parent->group);
    error = made && state && comm ? mpi_agreement_start(&state->agreement, parent, true) : ERR_MEMORY;
    if (error) {
        free(state);
        if (comm)
            mpi_comm_drop(comm);
        if (made)
            mpi_request_give(made);
        return mpi_engine_error(parent, call, error);
    }
    state->comm = comm;
    state->out = out;
    state->error = inherit(parent, comm); /* told at the end: the others wait for us */
    made->dup = made->extra = state;
    *out = MPI_COMM_NULL;
    *request = mpi_request_publish(made);
    return MPI_SUCCESS;
}

int mpi_dup_finish(struct mpi_request *request)
{
    const struct mpi_dup *state = request->dup;
    mpi_agreement_close(&request->dup->agreement);
    int error = state->agreement.error;
    if (error)
        mpi_comm_drop(state->comm);
    else
        error = mpi_comm_open(state->comm, state->agreement.id);
    if (error)
        return mpi_engine_class(error);
    if (state->error)
        mpi_comm_drop(state->comm);
    else
        deliver(state->comm, state->out);
    return state->error;
}

ENTERED(MPI_Comm_idup, (DUP, MPI_Request *request), idup(NAME, comm, MPI_INFO_NULL, out, request))
ENTERED(MPI_Comm_idup_with_info, (DUP_WITH_INFO, MPI_Request *request), idup(NAME, comm, info, out, request))

/* ---- create ----------------------------------------------------------------------------------------------------- */

/* The members of GROUP must all be in COMM. */
static int check_members(const char *call, struct mpi_comm *comm, const struct mpi_group *group)
{
    for (int i = 0; i < group->size; i++)
        if (mpi_group_find(comm->group, group->world[i]) == MPI_UNDEFINED)
            return mpi_error(comm, call, MPI_ERR_GROUP, "rank %d of the group is not in the communicator", i);
    return MPI_SUCCESS;
}

ENTRY(MPI_Comm_create)(MPI_Comm handle, MPI_Group group_handle, MPI_Comm *newcomm)
{
    struct mpi_comm *parent, *comm;
    struct mpi_group *group;
    DOING("MPI_Comm_create");
    int error = mpi_arguments(NAME, ARGUMENTS(COMM_OF(handle, &parent), GIVEN(newcomm), GROUP_OF(group_handle, &group))) ?:
                check_members(NAME, parent, group) ?:
                mpi_comm_make(NAME, parent, group->rank == MPI_UNDEFINED ? NULL : group, &comm);
    if (!error)
        deliver(comm, newcomm);
    return error;
}

ENTRY(MPI_Comm_create_group)(MPI_Comm handle, MPI_Group group_handle, int tag, MPI_Comm *newcomm)
{
    struct mpi_comm *parent, *comm = NULL;
    struct mpi_group *group;
    uint32_t id;
    DOING("MPI_Comm_create_group");
    int error = mpi_arguments(NAME, ARGUMENTS(COMM_OF(handle, &parent), GIVEN(newcomm), GROUP_OF(group_handle, &group))) ?:
                check_members(NAME, parent, group);
    if (error)
        return error;
    if (tag < 0)
        return mpi_error(parent, NAME, MPI_ERR_TAG, "tag %d is negative", tag);
    if (group->rank != MPI_UNDEFINED) {
        error = mpi_agree_in_group(parent, group, tag, &id);
        if (!error)
            error = mpi_comm_open(comm = mpi_comm_new(parent, group), id);
        if (error)
            return mpi_engine_error(parent, NAME, error);
    }
    deliver(comm, newcomm);
    return MPI_SUCCESS;
}

/* ---- split ------------------------------------------------------------------------------------------------------ */

struct choice { /* of one rank */
    int color, key, rank;
};

static int by_key_then_rank(const void *a, const void *b)
{
    const struct choice *one = a, *two = b;
    if (one->key != two->key)
        return one->key < two->key ? -1 : 1;
    return one->rank - two->rank;
}

/* All ranks' choices; to be freed. NULL: *error is the engine's. */
static struct choice *gather_choices(struct mpi_comm *comm, int color, int key, int *error)
{
    struct choice mine = {color, key, comm->rank}, *all = malloc((size_t)comm->size * sizeof *all);
    if (!all) {
        *error = ERR_MEMORY;
        return NULL;
    }
    struct coll_call call = {.kind = COLL_ALLGATHER,
                             .group = &comm->coll,
                             .send = {.base = &mine, .count = sizeof mine},
                             .receive = {.base = all, .count = sizeof mine}};
    *error = vcoll_run(&call);
    if (!*error)
        return all;
    free(all);
    return NULL;
}

/* The group of those with COLOR, ordered by key. NULL: no memory. */
static struct mpi_group *choose(const struct mpi_comm *comm, struct choice *all, int color)
{
    int n = 0;
    for (int i = 0; i < comm->size; i++)
        if (all[i].color == color)
            all[n++] = all[i];
    qsort(all, (size_t)n, sizeof *all, by_key_then_rank);
    int *world = malloc((size_t)n * sizeof(int));
    for (int i = 0; world && i < n; i++)
        world[i] = comm->group->world[all[i].rank];
    struct mpi_group *group = world ? mpi_group_make(n, world) : NULL;
    free(world);
    return group;
}

static int split(const char *call, struct mpi_comm *parent, int color, int key, MPI_Comm *out)
{
    int error;
    struct choice *all = gather_choices(parent, color, key, &error);
    if (!all)
        return mpi_engine_error(parent, call, error);
    struct mpi_group *group = color == MPI_UNDEFINED ? NULL : choose(parent, all, color);
    free(all);
    if (!group && color != MPI_UNDEFINED)
        return mpi_error(parent, call, MPI_ERR_NO_MEM, "no memory for a group");
    struct mpi_comm *comm;
    error = mpi_comm_make(call, parent, group, &comm);
    if (group)
        mpi_group_drop(group);
    if (!error)
        deliver(comm, out);
    return error;
}

ENTRY(MPI_Comm_split)(MPI_Comm handle, int color, int key, MPI_Comm *out)
{
    struct mpi_comm *parent;
    DOING("MPI_Comm_split");
    int error = mpi_arguments(NAME, ARGUMENTS(COMM_OF(handle, &parent), GIVEN_AS(out, "newcomm")));
    if (error)
        return error;
    if (color < 0 && color != MPI_UNDEFINED)
        return mpi_error(parent, NAME, MPI_ERR_ARG, "color %d is negative and not MPI_UNDEFINED", color);
    return split(NAME, parent, color, key, out);
}

ENTRY(MPI_Comm_split_type)(MPI_Comm handle, int type, int key, MPI_Info info, MPI_Comm *out)
{
    struct mpi_comm *parent;
    DOING("MPI_Comm_split_type");
    int error = mpi_arguments(NAME, ARGUMENTS(COMM_OF(handle, &parent), GIVEN_AS(out, "newcomm"), HINTS(info)));
    if (error)
        return error;
    const char *resource = "";
    switch (type) {
    case MPI_COMM_TYPE_SHARED:
        resource = "mpi_shared_memory";
        break;
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        resource = info == MPI_INFO_NULL ? NULL : mpi_info_value(mpi_info_at(info), "mpi_hw_resource_type");
        break;
    case MPI_COMM_TYPE_HW_UNGUIDED: /* no level below the node is known here */
    case MPI_UNDEFINED:
        break;
    default:
        return mpi_error(parent, NAME, MPI_ERR_ARG, "%d is not a split type", type);
    }
    bool by_node = resource && strcmp(resource, "mpi_shared_memory") == 0; /* its lowest rank names a node */
    return split(NAME, parent, by_node ? mpi_process.job->local_ranks[0] : MPI_UNDEFINED, key, out);
}
