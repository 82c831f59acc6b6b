/* Communicators made of groups alone, without a parent. Calls that are under way at once are told apart by the text
 * that the program gives them (question.c). */
#include "mpi/context.h"
#include "mpi/hints.h"
#include "mpi/request.h"
#include "mpi/session.h"

/* UNABLE: this rank has no memory for its part. An error of the engine. */
static int number_agree(struct mpi_group *group, int tag, bool unable, uint32_t *id)
{
    struct mpi_agreement agreement = {.unable = unable};
    int error = mpi_agreement_in_group(&agreement, group, tag) ?: mpi_agreement_await(&agreement);
    *id = agreement.id;
    return error;
}

/* A communicator of GROUP, which errors of THING's handler go to. A class that was raised. */
static int plain_make(const char *call, struct mpi_thing *thing, struct mpi_group *group, enum mpi_purpose purpose,
                      const char *text, struct mpi_comm **out)
{
    uint32_t id;
    int tag, class = mpi_tag_agree(call, thing, group, &(struct mpi_subject){purpose, text}, &tag);
    if (class)
        return class;
    struct mpi_comm *comm = mpi_comm_new(NULL, group, group);
    int error = number_agree(group, tag, !comm, &id);
    if (error) {
        mpi_drop(comm);
        return mpi_engine_error(thing, call, error);
    }
    mpi_drop(comm->thing.errhandler);
    mpi_keep(comm->thing.errhandler = thing->errhandler);
    error = mpi_comm_open(comm, id);
    *out = error ? NULL : comm;
    return error ? mpi_engine_error(thing, call, error) : MPI_SUCCESS;
}

/* What all groups must be: with this process in them. */
static int group_check(const char *call, struct mpi_thing *thing, const struct mpi_group *group, const char *text)
{
    if (!text || strlen(text) >= MPI_MAX_STRINGTAG_LEN)
        return mpi_error(thing, call, MPI_ERR_ARG, "stringtag is %s", text ? "too long" : "NULL");
    if (group->rank == MPI_UNDEFINED)
        return mpi_error(thing, call, MPI_ERR_GROUP, "this process is not in the group of %d ranks", group->size);
    return MPI_SUCCESS;
}

static int comm_from_group(const char *call, struct mpi_thing *thing, struct mpi_group *group, const char *text,
                           MPI_Comm *out)
{
    struct mpi_comm *comm;
    *out = MPI_COMM_NULL;
    if (group->size == 0)
        return MPI_SUCCESS;
    int error = group_check(call, thing, group, text) ?: plain_make(call, thing, group, MAKES_PLAIN, text, &comm);
    if (!error)
        *out = mpi_object_deliver(comm);
    return error;
}

/* The handler that a call was given; it is for communicators. */
static int handler_check(const char *call, MPI_Errhandler handle, struct mpi_thing *thing)
{
    thing->errhandler = mpi_errhandler_at(handle);
    if (thing->errhandler && (mpi_predefined(thing->errhandler) || thing->errhandler->of == KIND_COMM))
        return MPI_SUCCESS;
    return mpi_error(NULL, call, MPI_ERR_ERRHANDLER, "%p is no error handler of communicators", (void *)handle);
}
#define NO_COMM {.rank = mpi_process.job->rank, .name = (char *)"MPI_COMM_NULL"}

ENTRY(MPI_Comm_create_from_group)(MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler,
                                  MPI_Comm *newcomm)
{
    ENTER("MPI_Comm_create_from_group");
    struct mpi_thing none = NO_COMM;
    return handler_check(NAME, errhandler, &none)
               ?: CHECK(RAISED_ON(&none), GROUP_OF(group), HINTS(info), GIVEN(newcomm))
                      ?: mpi_hints_give(NAME, comm_from_group(NAME, &none, mpi_group_at(group), stringtag, newcomm),
                                        newcomm, info);
}

/* The two leaders, in the order of their ranks. NULL: no memory. */
static struct mpi_group *leaders_group(const struct mpi_group *local, int leader, const struct mpi_group *remote,
                                       int remote_leader)
{
    int one = local->world[leader], other = remote->world[remote_leader];
    int world[] = {one < other ? one : other, one < other ? other : one};
    return mpi_group_make(2, world, local);
}

/* At the leader: *PAIR becomes a communicator with the other. A class that was raised. */
static int leaders_meet(const char *call, struct mpi_thing *thing, struct mpi_bridge *bridge, struct mpi_group *local,
                        MPI_Group remote_handle, int remote_leader, const char *text, struct mpi_comm **pair)
{
    const struct mpi_group *remote = mpi_group_at(remote_handle);
    if (!remote)
        return mpi_wrong(thing, call, &mpi_kind_group, remote_handle);
    if ((unsigned)remote_leader >= (unsigned)remote->size)
        return mpi_error(thing, call, MPI_ERR_RANK, "the remote leader %d is not in a group of %d", remote_leader,
                         remote->size);
    if (local->session != remote->session)
        return mpi_error(thing, call, MPI_ERR_GROUP, "the groups come from two sessions");
    if (mpi_group_find(local, remote->world[remote_leader]) != MPI_UNDEFINED)
        return mpi_error(thing, call, MPI_ERR_GROUP, "the remote leader %d is in the local group, too", remote_leader);
    struct mpi_group *group = leaders_group(local, bridge->leader, remote, remote_leader);
    int error = group ? plain_make(call, thing, group, MAKES_LEADERS, text, pair)
                      : mpi_error(thing, call, MPI_ERR_NO_MEM, "no memory for a group of two ranks");
    if (!error)
        bridge->remote = (struct mpi_message){call, NULL, 0, MPI_BYTE, !group->rank, 0, mpi_object_publish(*pair)};
    mpi_drop(group);
    return error;
}

static void comm_forget(struct mpi_comm *comm)
{
    vcoll_group_close(&comm->coll); /* all members are here */
    mpi_comm_drop(comm);
}

static int inter_from_groups(const char *call, struct mpi_thing *thing, struct mpi_group *local, int leader,
                             MPI_Group remote, int remote_leader, const char *text, MPI_Comm *out)
{
    struct mpi_comm *comm = NULL, *pair = NULL;
    *out = MPI_COMM_NULL;
    int error = group_check(call, thing, local, text);
    if (error)
        return error;
    error = plain_make(call, thing, local, MAKES_LOCAL, text, &comm);
    struct mpi_bridge bridge = {call, comm, leader};
    if (leader == local->rank) /* also where its group has failed: the other leader waits for it */
        bridge.failed = leaders_meet(call, thing, &bridge, local, remote, remote_leader, text, &pair);
    if (!error)
        error = mpi_inter_make(&bridge, out);
    else if (pair)
        mpi_bridge_part(&bridge, error);
    if (pair) {
        (void)mpi_object_unpublish(pair);
        mpi_comm_drop(pair); /* the user's reference */
        comm_forget(pair);
    }
    if (comm)
        comm_forget(comm);
    return error;
}

ENTRY(MPI_Intercomm_create_from_groups)(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                        int remote_leader, const char *stringtag, MPI_Info info,
                                        MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
    ENTER("MPI_Intercomm_create_from_groups");
    struct mpi_thing none = NO_COMM;
    return handler_check(NAME, errhandler, &none)
               ?: CHECK(RAISED_ON(&none), GROUP_OF(local_group), HINTS(info), GIVEN(newintercomm))
                      ?: mpi_hints_give(NAME, inter_from_groups(NAME, &none, mpi_group_at(local_group), local_leader,
                                                                remote_group, remote_leader, stringtag, newintercomm),
                                        newintercomm, info);
}
