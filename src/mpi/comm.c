/* Communicators: the object, what can be asked of it, and its end. How new ones are made is in make.c. */
#include "mpi/inside.h"

MPI_Comm mpi_comm_handle(struct mpi_comm *comm)
{
    if (comm == mpi_process.world)
        return MPI_COMM_WORLD;
    if (comm == mpi_process.self)
        return MPI_COMM_SELF;
    return (MPI_Comm)comm->object.identity;
}

const char *mpi_comm_name(const struct mpi_comm *comm, char text[64])
{
    if (comm->name[0])
        snprintf(text, 64, "%.63s", comm->name);
    else
        snprintf(text, 64, "communicator %u", comm->id);
    return text;
}

struct mpi_comm *mpi_comm_new(struct mpi_comm *parent, struct mpi_group *group)
{
    struct mpi_comm *comm = mpi_object_take(KIND_COMM, sizeof *comm);
    if (!comm)
        return NULL;
    comm->rank = comm->coll.rank = group->rank;
    comm->size = comm->coll.size = group->size;
    mpi_object_keep(group);
    comm->group = group;
    comm->errhandler = parent ? parent->errhandler : mpi_errhandler_at(MPI_ERRORS_ARE_FATAL);
    mpi_keep(comm->errhandler);
    return comm;
}

int mpi_comm_open(struct mpi_comm *comm, uint32_t id)
{
    int error = ERR_MEMORY;
    if (!comm)
        goto no_comm;
    error = vmsg_context_open(mpi_context_id(id, CONTEXT_MESSAGES), comm->group->world, comm->size, comm->rank, &comm->context);
    if (error)
        goto no_context;
    error = vmsg_context_open(mpi_context_id(id, CONTEXT_COLLECTIVES), comm->group->world, comm->size, comm->rank,
                              &comm->coll.context);
    if (error)
        goto no_collectives;
    if (mpi_checking)
        vmsg_context_noted(comm->context);
    comm->id = id;
    return OK;
no_collectives:
    vmsg_context_close(comm->context);
    comm->context = NULL;
no_context:
    mpi_comm_drop(comm);
no_comm:
    mpi_id_give(id);
    return error;
}

void mpi_comm_end(void *object)
{
    struct mpi_comm *comm = object;
    if (comm->context) {
        vmsg_context_close(comm->context);
        vmsg_context_close(comm->coll.context);
        if (comm->hellos)
            vmsg_context_close(comm->hellos);
        mpi_id_give(comm->id);
    }
    mpi_drop(comm->group);
    mpi_drop(comm->errhandler);
    free(comm->topology);
}

static int open_predefined(uint32_t id, int size, const int *world, const char *name, struct mpi_comm **out)
{
    struct mpi_group *group = mpi_group_make(size, world);
    struct mpi_comm *comm = *out = group ? mpi_comm_new(NULL, group) : NULL;
    mpi_drop(group);
    int error = mpi_comm_open(comm, id);
    if (error)
        return mpi_engine_class(error);
    strcpy(comm->name, name);
    return MPI_SUCCESS;
}

int mpi_comm_worlds_open(void)
{
    const struct boot_job *job = mpi_process.job;
    int error = open_predefined(MPI_ID_WORLD, job->size, NULL, "MPI_COMM_WORLD", &mpi_process.world);
    if (!error)
        error = open_predefined(MPI_ID_SELF, 1, &job->rank, "MPI_COMM_SELF", &mpi_process.self);
    if (!error)
        error = mpi_engine_class(vmsg_context_open(mpi_context_id(MPI_ID_AGREEMENT, CONTEXT_MESSAGES), NULL, job->size,
                                                   job->rank, &mpi_process.agreement));
    return error;
}

void mpi_comm_worlds_close(void)
{
    vcoll_group_close(&mpi_process.world->coll);
    vmsg_context_close(mpi_process.agreement);
    mpi_comm_drop(mpi_process.self);
    mpi_comm_drop(mpi_process.world);
}

/* ---- questions -------------------------------------------------------------------------------------------------- */

CHECKED(MPI_Comm_rank, (MPI_Comm comm, int *rank), (COMM_OF(comm), GIVEN(rank)),
        mpi_tell(rank, mpi_comm_at(comm)->rank))
CHECKED(MPI_Comm_size, (MPI_Comm comm, int *size), (COMM_OF(comm), GIVEN(size)),
        mpi_tell(size, mpi_comm_at(comm)->size))

static int compare(const char *call, struct mpi_comm *one, struct mpi_comm *two, int *result)
{
    int relation = mpi_group_relation(one->group, two->group);
    if (relation < 0)
        return mpi_error(one, call, MPI_ERR_NO_MEM, "no memory to compare %d ranks", one->size);
    return mpi_tell(result, relation != MPI_IDENT ? relation : one == two ? MPI_IDENT : MPI_CONGRUENT);
}
CHECKED(MPI_Comm_compare, (MPI_Comm one, MPI_Comm two, int *result), (COMM_OF(one), COMM_OF(two), GIVEN(result)),
        compare(NAME, mpi_comm_at(one), mpi_comm_at(two), result))

/* There are no intercommunicators yet, nor parents. */
CHECKED(MPI_Comm_test_inter, (MPI_Comm comm, int *flag), (COMM_OF(comm), GIVEN(flag)), mpi_tell(flag, 0))
static int not_inter(const char *call, MPI_Comm comm)
{
    return mpi_error(mpi_comm_at(comm), call, MPI_ERR_COMM, "the communicator is no intercommunicator");
}
CHECKED(MPI_Comm_remote_size, (MPI_Comm comm, int *size), (COMM_OF(comm)), ((void)size, not_inter(NAME, comm)))
CHECKED(MPI_Comm_remote_group, (MPI_Comm comm, MPI_Group *group), (COMM_OF(comm)), ((void)group, not_inter(NAME, comm)))
CHECKED(MPI_Comm_get_parent, (MPI_Comm *parent), (RUNNING, GIVEN(parent)), (*parent = MPI_COMM_NULL, MPI_SUCCESS))

static int set_name(struct mpi_comm *comm, const char *name)
{
    snprintf(comm->name, sizeof comm->name, "%s", name);
    return MPI_SUCCESS;
}
CHECKED(MPI_Comm_set_name, (MPI_Comm comm, const char *comm_name), (COMM_OF(comm), GIVEN(comm_name)),
        set_name(mpi_comm_at(comm), comm_name))

ENTRY(MPI_Comm_get_name)(MPI_Comm handle, char *comm_name, int *resultlen)
{
    struct mpi_comm *comm;
    bool none = handle == MPI_COMM_NULL;
    int error = mpi_arguments(NAME, ARGUMENTS(COMM_OF(none ? MPI_COMM_SELF : handle, &comm), GIVEN(comm_name), GIVEN(resultlen)));
    if (error)
        return error;
    return mpi_tell(resultlen, snprintf(comm_name, MPI_MAX_OBJECT_NAME, "%s", none ? "MPI_COMM_NULL" : comm->name));
}

/* Hints: none is understood, so none is in use. */
CHECKED(MPI_Comm_set_info, (MPI_Comm comm, MPI_Info info), (COMM_OF(comm), HINTS(info)), MPI_SUCCESS)
CHECKED(MPI_Comm_get_info, (MPI_Comm comm, MPI_Info *info_used), (COMM_OF(comm), GIVEN(info_used)),
        mpi_info_deliver(mpi_comm_at(comm), NAME, mpi_info_copy(NULL), info_used))

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static int free_comm(const char *call, MPI_Comm *comm)
{
    struct mpi_comm *old;
    int error = mpi_arguments(call, ARGUMENTS(BEHIND(KIND_COMM, comm, &old)));
    if (error)
        return error;
    if (old == mpi_process.world || old == mpi_process.self)
        return mpi_error(old, call, MPI_ERR_COMM, "%s cannot be freed", old->name);
    error = mpi_attributes_delete(*comm, &old->attributes);
    if (error)
        return mpi_error(old, call, error, "the delete function of an attribute failed");
    error = mpi_buffer_flush(call, old);
    if (error)
        return error;
    if (!mpi_object_unpublish(old))
        return mpi_wrong(NULL, call, KIND_COMM, *comm);
    vcoll_group_close(&old->coll); /* all members are here: this is collective */
    mpi_comm_drop(old);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

ENTERED(MPI_Comm_free, (MPI_Comm *comm), free_comm(NAME, comm))
ENTERED(MPI_Comm_disconnect, (MPI_Comm *comm), free_comm(NAME, comm))
