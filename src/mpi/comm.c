/* Communicators: the object, what can be asked of it, how others are made from it, and its end. */
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

/* One more communicator over GROUP (a reference is taken), with PARENT's error handler, that nothing can be sent on yet; NULL:
 * no memory. */
static struct mpi_comm *new_comm(struct mpi_comm *parent, struct mpi_group *group)
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

/* Then with the agreed id: an error of the engine, and COMM is gone, where it cannot be. */
static int open_comm(struct mpi_comm *comm, uint32_t id)
{
    int error = vmsg_context_open(mpi_context_id(id, CONTEXT_MESSAGES), comm->group->world, comm->size, comm->rank, &comm->context);
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
        if (comm->agreements)
            vmsg_context_close(comm->agreements);
        mpi_id_give(comm->id);
    }
    mpi_drop(comm->group);
    mpi_drop(comm->errhandler);
    free(comm->topology);
}

static int open_predefined(uint32_t id, int size, const int *world, const char *name, struct mpi_comm **out)
{
    struct mpi_group *group = mpi_group_make(size, world);
    struct mpi_comm *comm = *out = group ? new_comm(NULL, group) : NULL;
    mpi_drop(group);
    int error = comm ? open_comm(comm, id) : ERR_MEMORY;
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
    return error;
}

void mpi_comm_worlds_close(void)
{
    vcoll_group_close(&mpi_process.world->coll);
    mpi_comm_drop(mpi_process.self);
    mpi_comm_drop(mpi_process.world);
}

/* ---- questions -------------------------------------------------------------------------------------------------- */

ENTRY(MPI_Comm_rank)(MPI_Comm comm, int *rank)
    { return CHECK(COMM_OF(comm), GIVEN(rank)) ?: mpi_tell(rank, mpi_comm_at(comm)->rank); }
ENTRY(MPI_Comm_size)(MPI_Comm comm, int *size)
    { return CHECK(COMM_OF(comm), GIVEN(size)) ?: mpi_tell(size, mpi_comm_at(comm)->size); }

static int compare(const char *call, struct mpi_comm *one, struct mpi_comm *two, int *result)
{
    int relation = mpi_group_relation(one->group, two->group);
    if (relation < 0)
        return mpi_error(one, call, MPI_ERR_NO_MEM, "no memory to compare %d ranks", one->size);
    return mpi_tell(result, relation != MPI_IDENT ? relation : one == two ? MPI_IDENT : MPI_CONGRUENT);
}
ENTRY(MPI_Comm_compare)(MPI_Comm one, MPI_Comm two, int *result)
{
    return CHECK(COMM_OF(one), COMM_OF(two), GIVEN(result)) ?:
           compare(NAME, mpi_comm_at(one), mpi_comm_at(two), result);
}

/* There are no intercommunicators yet, nor parents. */
ENTRY(MPI_Comm_test_inter)(MPI_Comm comm, int *flag) { return CHECK(COMM_OF(comm), GIVEN(flag)) ?: mpi_tell(flag, 0); }
static int not_inter(const char *call, MPI_Comm comm)
{
    return mpi_error(mpi_comm_at(comm), call, MPI_ERR_COMM, "the communicator is no intercommunicator");
}
ENTRY(MPI_Comm_remote_size)(MPI_Comm comm, int *size)
    { return CHECK(COMM_OF(comm)) ?: ((void)size, not_inter(NAME, comm)); }
ENTRY(MPI_Comm_remote_group)(MPI_Comm comm, MPI_Group *group)
    { return CHECK(COMM_OF(comm)) ?: ((void)group, not_inter(NAME, comm)); }
ENTRY(MPI_Comm_get_parent)(MPI_Comm *parent)
    { return CHECK(RUNNING, GIVEN(parent)) ?: (*parent = MPI_COMM_NULL, MPI_SUCCESS); }

static int set_name(struct mpi_comm *comm, const char *name)
{
    snprintf(comm->name, sizeof comm->name, "%s", name);
    return MPI_SUCCESS;
}
ENTRY(MPI_Comm_set_name)(MPI_Comm comm, const char *comm_name)
    { return CHECK(COMM_OF(comm), GIVEN(comm_name)) ?: set_name(mpi_comm_at(comm), comm_name); }

ENTRY(MPI_Comm_get_name)(MPI_Comm handle, char *comm_name, int *resultlen)
{
    struct mpi_comm *comm;
    bool none = handle == MPI_COMM_NULL;
    int error = CHECK(COMM_OF(none ? MPI_COMM_SELF : handle, &comm), GIVEN(comm_name), GIVEN(resultlen));
    if (error)
        return error;
    return mpi_tell(resultlen, snprintf(comm_name, MPI_MAX_OBJECT_NAME, "%s", none ? "MPI_COMM_NULL" : comm->name));
}

/* Hints: none is understood, so none is in use. */
ENTRY(MPI_Comm_set_info)(MPI_Comm comm, MPI_Info info) { return CHECK(COMM_OF(comm), HINTS(info)) ?: MPI_SUCCESS; }
ENTRY(MPI_Comm_get_info)(MPI_Comm comm, MPI_Info *info_used)
{
    return CHECK(COMM_OF(comm), GIVEN(info_used)) ?:
           mpi_info_deliver(mpi_comm_at(comm), NAME, mpi_info_copy(NULL), info_used);
}

/* ---- making from others: all agree on a number (context.c) and open two contexts with it; no message follows, since the
 * engine keeps what comes for a context that is not open yet ------------------------------------------------------- */

/* Starts the making of one over GROUP (NULL: this rank is not in it), which is PARENT's child. A class that was raised. */
static int start(const char *call, struct mpi_comm *parent, struct mpi_group *group, int tag, MPI_Comm *out,
                 struct mpi_request **request)
{
    struct mpi_request *made = *request = mpi_request_take(REQUEST_COMM, call, parent, NULL);
    struct mpi_birth *birth = calloc(1, sizeof *birth);
    struct mpi_comm *comm = group ? new_comm(parent, group) : NULL;
    int error = ERR_MEMORY;
    *out = MPI_COMM_NULL; /* also when it fails: programs look at the handle where they ought to look at the error */
    if (made && birth && (comm || !group))
        error = tag == MPI_ALL_CALL ? mpi_agreement_start(&birth->agreement, parent, group != NULL)
                                    : mpi_agreement_in_group(&birth->agreement, parent, group, tag);
    if (error) {
        free(birth);
        mpi_drop(comm);
        if (made)
            mpi_request_give(made);
        return mpi_engine_error(parent, call, error);
    }
    birth->comm = comm;
    birth->out = out;
    made->birth = made->extra = birth;
    return MPI_SUCCESS;
}

int mpi_birth_finish(struct mpi_request *request)
{
    struct mpi_birth *birth = request->birth;
    struct mpi_agreement *agreement = &birth->agreement;
    mpi_agreement_close(agreement);
    if (agreement->error)
        mpi_drop(birth->comm);
    else if (birth->comm)
        agreement->error = open_comm(birth->comm, agreement->id);
    if (agreement->error)
        return mpi_engine_class(agreement->error);
    if (birth->error)
        mpi_comm_drop(birth->comm);
    else if (birth->comm)
        *birth->out = mpi_object_deliver(birth->comm);
    return birth->error;
}

int mpi_comm_make(const char *call, struct mpi_comm *parent, struct mpi_group *group, int tag, struct mpi_topology *topology,
                  MPI_Comm *out)
{
    struct mpi_request *request;
    int error = start(call, parent, group, tag, out, &request);
    if (error || !group)
        free(topology);
    else
        request->birth->comm->topology = topology;
    return error ?: mpi_request_complete(call, request, MPI_STATUS_IGNORE);
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

static int start_dup(const char *call, struct mpi_comm *parent, MPI_Comm *out, struct mpi_request **request)
{
    int error = start(call, parent, parent->group, MPI_ALL_CALL, out, request);
    if (!error)
        (*request)->birth->error = inherit(parent, (*request)->birth->comm); /* told at the end: the others wait for us */
    return error;
}

static int duplicate(const char *call, struct mpi_comm *parent, MPI_Comm *out)
{
    struct mpi_request *request;
    return start_dup(call, parent, out, &request) ?: mpi_request_complete(call, request, MPI_STATUS_IGNORE);
}

static int idup(const char *call, struct mpi_comm *parent, MPI_Comm *out, MPI_Request *handle)
{
    struct mpi_request *request;
    int error = start_dup(call, parent, out, &request);
    if (!error)
        *handle = mpi_request_publish(request);
    return error;
}

ENTRY(MPI_Comm_dup)(MPI_Comm comm, MPI_Comm *newcomm)
    { return CHECK_WAITS(COMM_OF(comm), GIVEN(newcomm)) ?: duplicate(NAME, mpi_comm_at(comm), newcomm); }
ENTRY(MPI_Comm_dup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
    { return CHECK_WAITS(COMM_OF(comm), GIVEN(newcomm), HINTS(info)) ?: duplicate(NAME, mpi_comm_at(comm), newcomm); }
ENTRY(MPI_Comm_idup)(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return CHECK_WAITS(COMM_OF(comm), GIVEN(newcomm), GIVEN(request)) ?:
           idup(NAME, mpi_comm_at(comm), newcomm, request);
}
ENTRY(MPI_Comm_idup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    return CHECK_WAITS(COMM_OF(comm), GIVEN(newcomm), HINTS(info), GIVEN(request)) ?:
           idup(NAME, mpi_comm_at(comm), newcomm, request);
}

/* ---- create ----------------------------------------------------------------------------------------------------- */

/* For the members of GROUP, who must all be in PARENT. TAG as for mpi_comm_make. */
static int create(const char *call, struct mpi_comm *parent, struct mpi_group *group, int tag, MPI_Comm *out)
{
    bool member = group->rank != MPI_UNDEFINED;
    for (int i = 0; i < group->size; i++)
        if (mpi_group_find(parent->group, group->world[i]) == MPI_UNDEFINED)
            return mpi_error(parent, call, MPI_ERR_GROUP, "rank %d of the group is not in the communicator", i);
    if (member || tag == MPI_ALL_CALL)
        return mpi_comm_make(call, parent, member ? group : NULL, tag, NULL, out);
    *out = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

#define MEMBERS COMM_OF(comm), GIVEN(newcomm), GROUP_OF(group)
ENTRY(MPI_Comm_create)(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
    { return CHECK_WAITS(MEMBERS) ?: create(NAME, mpi_comm_at(comm), mpi_group_at(group), MPI_ALL_CALL, newcomm); }
ENTRY(MPI_Comm_create_group)(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    return CHECK_WAITS(MEMBERS) ?:
           tag < 0 ? mpi_error(mpi_comm_at(comm), NAME, MPI_ERR_TAG, "tag %d is negative", tag) : create(NAME, mpi_comm_at(comm), mpi_group_at(group), tag, newcomm);
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
    if (color < 0 && color != MPI_UNDEFINED)
        return mpi_error(parent, call, MPI_ERR_ARG, "color %d is negative and not MPI_UNDEFINED", color);
    struct choice *all = gather_choices(parent, color, key, &error);
    if (!all)
        return mpi_engine_error(parent, call, error);
    struct mpi_group *group = color == MPI_UNDEFINED ? NULL : choose(parent, all, color);
    free(all);
    if (!group && color != MPI_UNDEFINED)
        return mpi_error(parent, call, MPI_ERR_NO_MEM, "no memory for a group");
    error = mpi_comm_make(call, parent, group, MPI_ALL_CALL, NULL, out);
    mpi_drop(group);
    return error;
}

ENTRY(MPI_Comm_split)(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
    { return CHECK_WAITS(COMM_OF(comm), GIVEN(newcomm)) ?: split(NAME, mpi_comm_at(comm), color, key, newcomm); }

/* By node, or (TYPE says none that is known here) not at all. */
static int split_type(const char *call, struct mpi_comm *comm, int type, int key, MPI_Info info, MPI_Comm *out)
{
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
        return mpi_error(comm, call, MPI_ERR_ARG, "%d is not a split type", type);
    }
    bool by_node = resource && strcmp(resource, "mpi_shared_memory") == 0; /* its lowest rank names a node */
    return split(call, comm, by_node ? mpi_process.job->local_ranks[0] : MPI_UNDEFINED, key, out);
}
ENTRY(MPI_Comm_split_type)(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    return CHECK_WAITS(COMM_OF(comm), GIVEN(newcomm), HINTS(info)) ?:
           split_type(NAME, mpi_comm_at(comm), type, key, info, newcomm);
}

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

ENTRY(MPI_Comm_free)(MPI_Comm *comm)
    { DOING("MPI_Comm_free"); return free_comm(NAME, comm); }
ENTRY(MPI_Comm_disconnect)(MPI_Comm *comm)
    { DOING("MPI_Comm_disconnect"); return free_comm(NAME, comm); }
