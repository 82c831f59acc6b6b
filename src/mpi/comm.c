/* Communicators: the object, and what can be asked of it. How others are made from it and freed is in comm_create.c. */
#include "mpi/check.h"
#include "mpi/context.h"

/* Both contexts, without their ids. An error of the engine. */
static int contexts_make(struct mpi_comm *comm)
{
    bool inter = mpi_comm_is_inter(comm), is_first = comm->coll.rank < comm->coll.split;
    int *both = !inter     ? NULL
                : is_first ? mpi_groups_join(comm->group, comm->other)
                           : mpi_groups_join(comm->other, comm->group);
    int error = inter && !both ? ERR_MEMORY
                               : vmsg_context_new(comm->other->world, comm->peers,
                                                  inter ? MSG_NO_MEMBER : comm->thing.rank, &comm->context);
    if (!error)
        error = vmsg_context_new(both ?: comm->group->world, comm->coll.size, comm->coll.rank, &comm->coll.context);
    free(both);
    return error;
}

struct mpi_comm *mpi_comm_new(struct mpi_comm *parent, struct mpi_group *group, struct mpi_group *other)
{
    struct mpi_comm *comm = mpi_object_take(&mpi_kind_comm);
    if (!comm)
        return NULL;
    comm->thing.rank = comm->coll.rank = group->rank;
    comm->size = comm->coll.size = group->size;
    comm->peers = other->size;
    mpi_object_keep(group);
    mpi_object_keep(other);
    comm->group = group;
    comm->other = other;
    if (mpi_comm_is_inter(comm)) {
        bool is_first = group->world[0] < other->world[0];
        comm->coll.size += other->size;
        comm->coll.rank += is_first ? 0 : other->size;
        comm->coll.split = is_first ? group->size : other->size;
    }
    comm->thing.errhandler = parent ? parent->thing.errhandler : mpi_errhandler_at(MPI_ERRORS_ARE_FATAL);
    mpi_keep(comm->thing.errhandler);
    if (!contexts_make(comm))
        return comm;
    mpi_comm_drop(comm);
    return NULL;
}

int mpi_comm_peers_open(const struct mpi_comm *comm, uint32_t id, enum mpi_context which, struct msg_context **out)
{
    return vmsg_context_open(mpi_context_id(id, which), comm->other->world, comm->peers,
                             mpi_comm_is_inter(comm) ? MSG_NO_MEMBER : comm->thing.rank, out);
}

int mpi_comm_open(struct mpi_comm *comm, uint32_t id)
{
    comm->id = id;
    comm->numbered = true;
    if (mpi_checking)
        vmsg_context_noted(comm->context);
    int error = vmsg_context_enter(comm->context, mpi_context_id(id, CONTEXT_MESSAGES))
                    ?: vmsg_context_enter(comm->coll.context, mpi_context_id(id, CONTEXT_COLLECTIVES));
    if (error)
        mpi_comm_drop(comm);
    return error;
}

static void comm_end(void *object)
{
    struct mpi_comm *comm = object;
    struct msg_context *context[] = {comm->context, comm->coll.context, comm->hellos};
    bool withdrew = comm->coll.context && vmsg_context_withdrew(comm->coll.context);
    for (size_t i = 0; i < ARRAY_LENGTH(context); i++)
        if (context[i])
            vmsg_context_close(context[i]);
    if (comm->numbered && !withdrew)
        mpi_id_give(comm->id);
    mpi_drop(comm->group);
    mpi_drop(comm->other);
    mpi_drop(comm->thing.errhandler);
    free(comm->thing.name);
    free(comm->topology);
    free(comm->traffic);
    mpi_drop(comm->hints);
}

static void *comm_at(void *handle) { return mpi_comm_at(handle); }
const struct mpi_kind_row mpi_kind_comm = {
    MPI_KIND(KIND_COMM, "communicator", struct mpi_comm, MPI_ERR_COMM, MPI_COMM_NULL), .at = comm_at, .end = comm_end};

static int predefined_open(uint32_t id, int size, const int *world, const char *name, struct mpi_comm *_Atomic *out)
{
    struct mpi_group *group = mpi_group_make(size, world, NULL);
    struct mpi_comm *comm = group ? mpi_comm_new(NULL, group, group) : NULL;
    *out = comm;
    mpi_drop(group);
    int error = comm ? mpi_comm_open(comm, id) : ERR_MEMORY;
    if (error)
        return mpi_engine_class(error);
    return mpi_name_set("MPI_Init", &comm->thing, name);
}

/* ---- lists of what all ranks say ---- */

/* Kept for the one list that finds no memory: a rank that gave up instead would leave the others waiting for its part.
 * Its pages are committed when they are used. */
static void *spare;
static atomic_bool spare_is_taken;

/* A wait asks again after it was told yes: so a thread knows that the list is its own. */
static bool spare_take(void *context)
{
    bool *mine = context;
    /* acquire: pairs with the release in mpi_list_free */
    *mine = *mine || !atomic_exchange_explicit(&spare_is_taken, true, memory_order_acquire);
    return *mine;
}

void *mpi_list_new(int ranks, size_t bytes)
{
    void *list = malloc((size_t)ranks * bytes);
    if (list || ranks > mpi_process.job->size || bytes > MPI_LIST_ITEM)
        return list;
    bool mine = false;
    int error = vmsg_wait_until(spare_take, &mine);
    if (error && mine)
        mpi_list_free(spare);
    return error ? NULL : spare;
}

void mpi_list_free(void *list)
{
    if (list != spare || !list) {
        free(list);
        return;
    }
    /* release: pairs with the acquire in spare_take */
    atomic_store_explicit(&spare_is_taken, false, memory_order_release);
    vmsg_wake(); /* a thread that waits for it */
}

int mpi_comm_worlds_open(void)
{
    const struct boot_job *job = mpi_process.job;
    mpi_file_null.rank = job->rank;
    spare = malloc((size_t)job->size * MPI_LIST_ITEM);
    if (!spare)
        return MPI_ERR_NO_MEM;
    int error = predefined_open(MPI_ID_WORLD, job->size, NULL, "MPI_COMM_WORLD", &mpi_process.world);
    if (!error)
        error = predefined_open(MPI_ID_SELF, 1, &job->rank, "MPI_COMM_SELF", &mpi_process.self);
    if (error) {
        free(spare);
        spare = NULL;
    }
    return error;
}

void mpi_comm_worlds_close(void)
{
    struct mpi_comm *world = mpi_process.world, *self = mpi_process.self;
    mpi_process.self = mpi_process.world = NULL;
    vcoll_group_close(&world->coll);
    mpi_comm_drop(self);
    mpi_comm_drop(world);
    free(spare);
    spare = NULL;
}

struct mpi_topology *mpi_topology_new(int kind, const int length[TOPOLOGY_LISTS], int indegree, int outdegree)
{
    struct mpi_topology *topology;
    size_t numbers = 0, edges = (size_t)indegree + (size_t)outdegree;
    for (int i = 0; i < TOPOLOGY_LISTS; i++)
        numbers += (size_t)length[i];
    topology = calloc(1, sizeof *topology + edges * sizeof(struct coll_edge) + numbers * sizeof(int));
    if (!topology)
        return NULL;
    topology->kind = kind;
    topology->indegree = indegree;
    topology->outdegree = outdegree;
    topology->edges.in = (struct coll_edge *)(topology + 1);
    topology->edges.out = topology->edges.in + indegree;
    int *next = (int *)(topology->edges.in + edges);
    for (int i = 0; i < TOPOLOGY_LISTS; i++) {
        topology->length[i] = length[i];
        topology->list[i] = next;
        next += length[i];
    }
    return topology;
}

struct mpi_topology *mpi_topology_copy(const struct mpi_topology *old)
{
    struct mpi_topology *copy = mpi_topology_new(old->kind, old->length, old->indegree, old->outdegree);
    if (!copy)
        return NULL;
    copy->dimensions = old->dimensions;
    copy->weighted = old->weighted;
    copy->lopsided = old->lopsided;
    copy->edges.ins = old->edges.ins;
    copy->edges.outs = old->edges.outs;
    memcpy(copy->edges.in, old->edges.in, (size_t)old->edges.ins * sizeof *copy->edges.in);
    memcpy(copy->edges.out, old->edges.out, (size_t)old->edges.outs * sizeof *copy->edges.out);
    for (int i = 0; i < TOPOLOGY_LISTS; i++)
        memcpy(copy->list[i], old->list[i], (size_t)old->length[i] * sizeof(int));
    return copy;
}

/* ---- questions ---- */

ENTRY(MPI_Comm_rank)(MPI_Comm comm, int *rank)
    { return CHECK(COMM_OF(comm), GIVEN(rank)) ?: mpi_tell(rank, mpi_comm_at(comm)->thing.rank); }
ENTRY(MPI_Comm_size)(MPI_Comm comm, int *size)
    { return CHECK(COMM_OF(comm), GIVEN(size)) ?: mpi_tell(size, mpi_comm_at(comm)->size); }

ENTRY(MPI_Comm_group)(MPI_Comm comm, MPI_Group *group)
{
    return CHECK(COMM_OF(comm), GIVEN(group)) ?: (*group = mpi_object_publish(mpi_comm_at(comm)->group), MPI_SUCCESS);
}

static int comm_compare(const char *call, struct mpi_comm *one, struct mpi_comm *two, int *result)
{
    int relation = mpi_group_relation(one->group, two->group), other = mpi_group_relation(one->other, two->other);
    if (relation < 0 || other < 0)
        return mpi_error(one, call, MPI_ERR_NO_MEM, "no memory to compare %d ranks", one->size);
    if (mpi_comm_is_inter(one) != mpi_comm_is_inter(two))
        relation = MPI_UNEQUAL;
    if (other > relation) /* the less alike */
        relation = other;
    return mpi_tell(result, relation != MPI_IDENT ? relation : one == two ? MPI_IDENT : MPI_CONGRUENT);
}
ENTRY(MPI_Comm_compare)(MPI_Comm one, MPI_Comm two, int *result)
    { return CHECK(COMM_OF(one), COMM_OF(two), GIVEN(result)) ?:
             comm_compare(NAME, mpi_comm_at(one), mpi_comm_at(two), result); }

ENTRY(MPI_Comm_test_inter)(MPI_Comm comm, int *flag)
    { return CHECK(COMM_OF(comm), GIVEN(flag)) ?: mpi_tell(flag, mpi_comm_is_inter(mpi_comm_at(comm))); }
ENTRY(MPI_Comm_remote_size)(MPI_Comm comm, int *size)
    { return CHECK(INTER_OF(comm), GIVEN(size)) ?: mpi_tell(size, mpi_comm_at(comm)->peers); }
ENTRY(MPI_Comm_remote_group)(MPI_Comm comm, MPI_Group *group)
    { return CHECK(INTER_OF(comm), GIVEN(group)) ?:
             (*group = mpi_object_publish(mpi_comm_at(comm)->other), MPI_SUCCESS); }
/* There are no parents yet. */
ENTRY(MPI_Comm_get_parent)(MPI_Comm *parent)
    { return CHECK(RUNNING, GIVEN(parent)) ?: (*parent = MPI_COMM_NULL, MPI_SUCCESS); }

ENTRY(MPI_Comm_set_name)(MPI_Comm comm, const char *comm_name)
    { return CHECK(COMM_OF(comm), GIVEN(comm_name)) ?: mpi_name_set(NAME, &mpi_comm_at(comm)->thing, comm_name); }

ENTRY(MPI_Comm_get_name)(MPI_Comm handle, char *comm_name, int *resultlen)
{
    struct mpi_comm *comm;
    bool none = handle == MPI_COMM_NULL;
    int error = CHECK(COMM_OF(none ? MPI_COMM_SELF : handle, &comm), GIVEN(comm_name), GIVEN(resultlen));
    if (error)
        return error;
    return mpi_tell(resultlen, snprintf(comm_name, MPI_MAX_OBJECT_NAME, "%s",
                                        none ? "MPI_COMM_NULL" : comm->thing.name ?: ""));
}
