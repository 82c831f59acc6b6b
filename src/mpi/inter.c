/* Intercommunicators: two groups that talk to each other. Each is made from a communicator of each group and one that
 * both leaders are in; afterwards it is a communicator like any other, whose messages go to the other group. */
#include "mpi/check.h"
#include "mpi/context.h"
#include "mpi/request.h"

#define PART (MPI_BRIDGE_MOST / (int)sizeof(int)) /* ranks that are told at once */

int mpi_greatest_find(const char *name, struct mpi_comm *comm, int *numbers, uint64_t count)
{
    struct coll_side side = {.base = numbers, .count = count, .layout = mpi_type_at(MPI_INT)->layout};
    struct coll_call call = {.kind = COLL_ALLREDUCE,
                             .group = &comm->coll,
                             .send = {.base = COLL_IN_PLACE},
                             .receive = side,
                             .reduction = {.kernel = vtype_kernel(OPERATION_MAX, ELEMENT_I32), .commutative = true}};
    int error = vcoll_run(&call);
    return error ? mpi_engine_error(comm, name, error) : MPI_SUCCESS;
}

/* All of the local group have named the same leader, which is there. */
static int leaders_compare(struct mpi_bridge *bridge)
{
    struct mpi_comm *local = bridge->local;
    int most[2] = {bridge->leader, ~bridge->leader}; /* the greatest, and the least */
    int error = mpi_greatest_find(bridge->call, local, most, 2);
    if (error)
        return error;
    bridge->parted = most[0] != ~most[1]; /* the other group need not wait for this rank */
    if (most[0] != ~most[1])
        return mpi_error(local, bridge->call, MPI_ERR_RANK, "the leaders differ: rank %d here, %d elsewhere",
                         bridge->leader, bridge->leader == most[0] ? ~most[1] : most[0]);
    if ((unsigned)bridge->leader >= (unsigned)local->size)
        return mpi_error(local, bridge->call, MPI_ERR_RANK, "the leader %d is not in a communicator of %d ranks",
                         bridge->leader, local->size);
    return MPI_SUCCESS;
}

static int leader_tells(const struct mpi_bridge *bridge, void *data, uint64_t bytes)
{
    struct coll_call call = {.kind = COLL_BCAST, .group = &bridge->local->coll, .root = bridge->leader,
                             .receive = {.base = data, .count = bytes}};
    int error = vcoll_run(&call);
    return error ? mpi_engine_error(bridge->local, bridge->call, error) : MPI_SUCCESS;
}

/* At the leader: its arguments are right, and the other leader's fit. */
static void leader_check(struct mpi_bridge *bridge)
{
    struct mpi_target target;
    bridge->failed = bridge->failed ?: mpi_message_check(&bridge->remote, false, &target);
    if (unlikely(mpi_checking && !bridge->failed))
        bridge->failed = mpi_check_leaders(bridge, target.comm);
}

/* BYTES of MINE, of the other group's THEIRS, at the leaders, and then in both groups. A class that was raised. */
static int groups_swap(struct mpi_bridge *bridge, const void *mine, void *theirs, int bytes)
{
    struct mpi_comm *local = bridge->local;
    bool leads = bridge->leader == local->thing.rank;
    int error = OK, class = leads ? bridge->failed : MPI_SUCCESS;
    if (leads && !class && (error = mpi_bridge_swap(bridge, mine, theirs, bytes)))
        class = mpi_engine_error(local, bridge->call, error);
    uint32_t mark = mpi_class_mark(class);
    error = leader_tells(bridge, &mark, sizeof mark);
    class = mpi_class_marked(mark);
    if (!error && class)
        return leads ? class
                     : mpi_error(local, bridge->call, class, "the leader, rank %d, failed: %s", bridge->leader,
                                 mpi_class_sentence(class));
    return error ?: leader_tells(bridge, theirs, (uint64_t)bytes);
}

/* The other group, in parts that need no memory: where there is none for the whole, *OUT is NULL, and this rank goes on
 * for the others. A class that was raised. */
static int remote_find(struct mpi_bridge *bridge, struct mpi_group **out)
{
    struct mpi_comm *local = bridge->local;
    int mine[PART], theirs[PART];
    int size = 0, error = leaders_compare(bridge);
    if (!error && bridge->leader == local->thing.rank)
        leader_check(bridge);
    error = error ?: groups_swap(bridge, &local->size, &size, sizeof size);
    int *world = error ? NULL : calloc((size_t)size + PART, sizeof(int));
    for (int at = 0; !error && (at < local->size || at < size); at += PART) {
        for (int i = 0; i < PART; i++)
            mine[i] = at + i < local->size ? local->group->world[at + i] : -1;
        error = groups_swap(bridge, mine, theirs, sizeof theirs);
        if (!error && world && at < size)
            memcpy(world + at, theirs, sizeof theirs);
    }
    *out = error || !world ? NULL : mpi_group_make(size, world, local->group);
    free(world);
    return error;
}

/* Both groups have no process in common. */
static int groups_check(const struct mpi_bridge *bridge, const struct mpi_group *other)
{
    struct mpi_comm *local = bridge->local;
    if (other->size == 0)
        return mpi_error(local, bridge->call, MPI_ERR_RANK, "the remote leader is MPI_PROC_NULL");
    for (int i = 0; i < other->size; i++)
        if (mpi_group_find(local->group, other->world[i]) != MPI_UNDEFINED)
            return mpi_error(local, bridge->call, MPI_ERR_COMM, "rank %d of the other group is in this one, too", i);
    return MPI_SUCCESS;
}

int mpi_inter_make(struct mpi_bridge *bridge, MPI_Comm *out)
{
    struct mpi_comm *local = bridge->local;
    struct mpi_group *other = NULL;
    int error = remote_find(bridge, &other);
    if (!error && other)
        error = groups_check(bridge, other);
    if (!error)
        error = mpi_comm_make(&(struct mpi_child){bridge->call, local, local->group, other, .bridge = bridge,
                                                  .unable = !other}, out);
    if (bridge->leader == local->thing.rank)
        mpi_bridge_part(bridge, error);
    mpi_drop(other);
    return error;
}

#define REMOTE {NAME, NULL, 0, MPI_BYTE, remote_leader, tag, peer_comm}
#define BRIDGE &(struct mpi_bridge){NAME, mpi_comm_at(comm), local_leader, REMOTE}
ENTRY(MPI_Intercomm_create)(MPI_Comm comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                            MPI_Comm *newcomm)
    { return CHECK_WAITS(PLAIN_OF(comm), GIVEN(newcomm)) ?: mpi_inter_make(BRIDGE, newcomm); }

/* ---- merge ---- */

/* The group that wants to be high comes last; where both want the same, in the order of collectives. */
static int inter_merge(const char *call, struct mpi_comm *comm, int high, MPI_Comm *out)
{
    bool is_first = comm->coll.rank < comm->coll.split;
    int most[4] = {-2, -2, -2, -2}; /* of the own group and of the other: the greatest, and the least */
    int own = is_first ? 0 : 2;
    most[own] = high;
    most[own + 1] = ~high;
    int error = mpi_greatest_find(call, comm, most, 4);
    if (error)
        return error;
    for (int i = 0; i < 4; i += 2)
        if (most[i] != ~most[i + 1])
            return mpi_error(comm, call, MPI_ERR_ARG, "`high` differs within %s group: rank %d has %d",
                             i == own ? "the own" : "the other", comm->thing.rank, high);
    bool own_first = most[0] != most[2] ? !high : is_first;
    int *world = own_first ? mpi_groups_join(comm->group, comm->other) : mpi_groups_join(comm->other, comm->group);
    struct mpi_group *group = world ? mpi_group_make(comm->coll.size, world, comm->group) : NULL;
    free(world);
    error = mpi_comm_make(&(struct mpi_child){call, comm, group, .unable = !group}, out);
    mpi_drop(group);
    return error;
}
ENTRY(MPI_Intercomm_merge)(MPI_Comm comm, int high, MPI_Comm *newcomm)
    { return CHECK_WAITS(INTER_OF(comm), GIVEN(newcomm)) ?: inter_merge(NAME, mpi_comm_at(comm), high != 0, newcomm); }
