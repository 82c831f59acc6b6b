/* Communicators made from others, and freed. All members agree on a number (context.c) and open two contexts with it;
 * no message follows, since the engine keeps what comes for a context that is not open yet. */
#include "mpi/attribute.h"
#include "mpi/context.h"
#include "mpi/hints.h"
#include "mpi/message.h"
#include "mpi/request.h"

/* Making of a communicator under way; extra of its request. */
struct birth {
    struct mpi_agreement agreement;
    struct mpi_comm *comm; /* opened at the end; NULL: this rank is not in it */
    int error;             /* a class: of copying the attributes */
    MPI_Comm *out;
};

static bool birth_done(struct mpi_request *request)
{
    struct birth *birth = request->extra;
    return mpi_agreement_over(&birth->agreement);
}

/* A class, not raised. */
static int birth_finish(struct birth *birth)
{
    struct mpi_agreement *agreement = &birth->agreement;
    mpi_agreement_close(agreement);
    if (agreement->error)
        mpi_drop(birth->comm);
    else if (birth->comm)
        agreement->error = mpi_comm_open(birth->comm, agreement->id);
    if (agreement->error)
        return mpi_engine_class(agreement->error);
    if (birth->error)
        mpi_comm_drop(birth->comm);
    else if (birth->comm)
        *birth->out = mpi_object_deliver(birth->comm);
    return birth->error;
}

static int birth_outcome(struct mpi_request *request, MPI_Status *status, bool last)
{
    mpi_status_empty(status);
    return last ? birth_finish(request->extra) : MPI_SUCCESS;
}

static int birth_raise(const char *call, struct mpi_request *request, int class)
{
    const struct birth *birth = request->extra;
    return birth->error ? mpi_error(request->comm, call, class, "the copy function of an attribute failed")
                        : mpi_engine_error(request->comm, call, birth->agreement.error);
}

static const struct mpi_request_kind comm_request = {
    .done = birth_done, .outcome = birth_outcome, .raise = birth_raise};

static int agreement_begin(struct mpi_agreement *agreement, const struct mpi_child *child)
{
    return child->bridge  ? mpi_agreement_over_bridge(agreement, child->bridge)
           : child->alone ? mpi_agreement_in_group(agreement, child->group, child->tag)
                          : mpi_agreement_start(agreement, child->parent, child->group != NULL);
}

/* There is no memory even for a request: the others, which wait for this rank, are told; it waits until they know. */
static int birth_refuse(const struct mpi_child *child)
{
    struct mpi_agreement agreement = {.unable = true};
    int error = agreement_begin(&agreement, child) ?: mpi_agreement_await(&agreement);
    return mpi_engine_error(child->parent, child->call, error);
}

/* Starts the making of CHILD. A class that was raised. */
static int birth_start(const struct mpi_child *child, MPI_Comm *out, struct mpi_request **request)
{
    struct mpi_comm *parent = child->parent;
    struct mpi_group *group = child->group;
    *out = MPI_COMM_NULL; /* also when it fails: programs look at the handle where they ought to look at the error */
    struct mpi_request *made = *request =
        mpi_request_take_with(&comm_request, child->call, parent, sizeof(struct birth));
    if (!made)
        return birth_refuse(child);
    struct birth *birth = made->extra;
    bool makes = group && !child->unable;
    struct mpi_comm *comm = makes ? mpi_comm_new(parent, group, child->other ?: group) : NULL;
    birth->agreement.unable = child->unable || (makes && !comm); /* the others wait for this rank */
    int error = agreement_begin(&birth->agreement, child);
    if (error) {
        mpi_drop(comm);
        mpi_request_give(made);
        return mpi_engine_error(parent, child->call, error);
    }
    birth->comm = comm;
    birth->out = out;
    return MPI_SUCCESS;
}

int mpi_comm_make(const struct mpi_child *child, MPI_Comm *out)
{
    struct mpi_request *request;
    int error = birth_start(child, out, &request);
    struct mpi_comm *comm = error ? NULL : ((struct birth *)request->extra)->comm;
    if (comm)
        comm->topology = child->topology;
    else
        free(child->topology);
    return error ?: mpi_request_complete(child->call, request, MPI_STATUS_IGNORE);
}

/* ---- dup ---- */

/* What a duplicate has of its parent beside the group. A class, not raised. */
static int comm_inherit(struct mpi_comm *parent, struct mpi_comm *comm)
{
    if (parent->topology) {
        comm->topology = mpi_topology_copy(parent->topology);
        if (!comm->topology)
            return MPI_ERR_NO_MEM;
    }
    return mpi_attributes_copy(&parent->thing, &comm->thing);
}

static int dup_start(const char *call, struct mpi_comm *parent, MPI_Info info, MPI_Comm *out,
                     struct mpi_request **request)
{
    int error = birth_start(&(struct mpi_child){call, parent, parent->group, parent->other}, out, request);
    if (error)
        return error;
    struct birth *birth = (*request)->extra;
    if (birth->comm) /* what goes wrong is told at the end: the others wait for us */
        birth->error = comm_inherit(parent, birth->comm) ?: mpi_hints_keep(birth->comm, info);
    return MPI_SUCCESS;
}

static int comm_duplicate(const char *call, struct mpi_comm *parent, MPI_Info info, MPI_Comm *out)
{
    struct mpi_request *request;
    return dup_start(call, parent, info, out, &request) ?: mpi_request_complete(call, request, MPI_STATUS_IGNORE);
}

static int comm_idup(const char *call, struct mpi_comm *parent, MPI_Info info, MPI_Comm *out, MPI_Request *handle)
{
    struct mpi_request *request;
    int error = dup_start(call, parent, info, out, &request);
    if (!error)
        *handle = mpi_request_publish(request);
    return error;
}

ENTRY(MPI_Comm_dup)(MPI_Comm comm, MPI_Comm *newcomm)
    { return CHECK_WAITS(COMM_OF(comm), GIVEN(newcomm))
                 ?: comm_duplicate(NAME, mpi_comm_at(comm), MPI_INFO_NULL, newcomm); }
ENTRY(MPI_Comm_dup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return CHECK_WAITS(COMM_OF(comm), GIVEN(newcomm), HINTS(info))
               ?: comm_duplicate(NAME, mpi_comm_at(comm), info, newcomm);
}
ENTRY(MPI_Comm_idup)(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
    { return CHECK_WAITS(COMM_OF(comm), GIVEN(newcomm), GIVEN(request)) ?:
             comm_idup(NAME, mpi_comm_at(comm), MPI_INFO_NULL, newcomm, request); }
ENTRY(MPI_Comm_idup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
    { return CHECK_WAITS(COMM_OF(comm), GIVEN(newcomm), HINTS(info), GIVEN(request)) ?:
             comm_idup(NAME, mpi_comm_at(comm), info, newcomm, request); }

/* ---- create ---- */

static int members_check(const char *call, struct mpi_comm *parent, const struct mpi_group *group)
{
    if (group->size > 0 && group->session != parent->group->session)
        return mpi_error(parent, call, MPI_ERR_GROUP,
                         "the group comes from another session than the communicator, or only one of them from any");
    for (int i = 0; i < group->size; i++)
        if (mpi_group_find(parent->group, group->world[i]) == MPI_UNDEFINED)
            return mpi_error(parent, call, MPI_ERR_GROUP, "rank %d of the group is not in the communicator", i);
    return MPI_SUCCESS;
}

static int comm_create(const char *call, struct mpi_comm *parent, struct mpi_group *group, MPI_Comm *out)
{
    bool member = group->rank != MPI_UNDEFINED;
    int error = members_check(call, parent, group);
    if (error)
        return error;
    if (mpi_comm_is_inter(parent)) /* the members of the other group are the other processes' to know */
        return mpi_comm_split(call, parent, member ? 0 : MPI_UNDEFINED, group->rank, out);
    return mpi_comm_make(&(struct mpi_child){call, parent, member ? group : NULL}, out);
}

/* Threads that call at once have different tags, or different parents. */
static int comm_create_group(const char *call, struct mpi_comm *parent, struct mpi_group *group, int tag, MPI_Comm *out)
{
    char text[MPI_MAX_STRINGTAG_LEN];
    struct mpi_child child = {call, parent, group, .alone = true};
    int error = members_check(call, parent, group);
    *out = MPI_COMM_NULL;
    if (error || group->rank == MPI_UNDEFINED)
        return error;
    snprintf(text, sizeof text, "%u %d", parent->id, tag);
    return mpi_tag_agree(call, &parent->thing, group, &(struct mpi_subject){MAKES_SOME, text, parent, tag}, &child.tag)
               ?: mpi_comm_make(&child, out);
}

#define MEMBERS GIVEN(newcomm), GROUP_OF(group)
ENTRY(MPI_Comm_create)(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
    { return CHECK_WAITS(COMM_OF(comm), MEMBERS) ?:
             comm_create(NAME, mpi_comm_at(comm), mpi_group_at(group), newcomm); }
ENTRY(MPI_Comm_create_group)(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    return CHECK_WAITS(PLAIN_OF(comm), MEMBERS) ?:
           tag < 0 ? mpi_error(mpi_comm_at(comm), NAME, MPI_ERR_TAG, "tag %d is negative", tag)
                   : comm_create_group(NAME, mpi_comm_at(comm), mpi_group_at(group), tag, newcomm);
}

/* ---- split ---- */

struct choice { /* of one rank */
    int color, key, rank;
};

static int choice_order(const void *a, const void *b)
{
    const struct choice *one = a, *two = b;
    if (one->key != two->key)
        return one->key < two->key ? -1 : 1;
    return one->rank - two->rank;
}

/* The choices of all ranks, of both groups; for mpi_list_free. NULL: *error is the engine's. */
static struct choice *choices_gather(struct mpi_comm *comm, int color, int key, int *error)
{
    struct choice mine = {color, key, comm->thing.rank}, *all = mpi_list_new(comm->coll.size, sizeof *all);
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
    mpi_list_free(all);
    return NULL;
}

/* The group of those of OLD with COLOR, ordered by key; ALL are OLD's choices. NULL: no memory. */
static struct mpi_group *color_group(const struct mpi_group *old, struct choice *all, int color)
{
    int n = 0;
    for (int i = 0; i < old->size; i++)
        if (all[i].color == color)
            all[n++] = all[i];
    qsort(all, (size_t)n, sizeof *all, choice_order);
    int *world = malloc((size_t)n * sizeof(int) + 1);
    for (int i = 0; world && i < n; i++)
        world[i] = old->world[all[i].rank];
    struct mpi_group *group = world ? mpi_group_make(n, world, old) : NULL;
    free(world);
    return group;
}

/* Of an intercommunicator: with those of the other group that have the same color. */
int mpi_comm_split(const char *call, struct mpi_comm *parent, int color, int key, MPI_Comm *out)
{
    struct mpi_child child = {call, parent};
    bool inter = mpi_comm_is_inter(parent), is_first = parent->coll.rank < parent->coll.split;
    int error;
    if (color < 0 && color != MPI_UNDEFINED)
        return mpi_error(parent, call, MPI_ERR_ARG, "color %d is negative and not MPI_UNDEFINED", color);
    struct choice *all = choices_gather(parent, color, key, &error);
    if (!all)
        return mpi_engine_error(parent, call, error);
    struct mpi_group *group = NULL, *other = NULL;
    if (color != MPI_UNDEFINED) {
        group = color_group(parent->group, all + (inter && !is_first ? parent->peers : 0), color);
        other = inter ? color_group(parent->other, all + (is_first ? parent->size : 0), color) : NULL;
    }
    mpi_list_free(all);
    child.unable = color != MPI_UNDEFINED && (!group || (inter && !other));
    child.group = other && other->size == 0 ? NULL : group;
    child.other = other;
    error = mpi_comm_make(&child, out);
    mpi_drop(group);
    mpi_drop(other);
    return error;
}

ENTRY(MPI_Comm_split)(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
    { return CHECK_WAITS(COMM_OF(comm), GIVEN(newcomm)) ?:
             mpi_comm_split(NAME, mpi_comm_at(comm), color, key, newcomm); }

/* ---- the end ---- */

static int comm_free(const char *call, MPI_Comm *comm)
{
    struct mpi_comm *old;
    int error = mpi_arguments(call, ARGUMENTS(BEHIND(mpi_kind_comm, comm, &old)));
    if (error)
        return error;
    if (old == mpi_process.world || old == mpi_process.self)
        return mpi_error(old, call, MPI_ERR_COMM, "%s cannot be freed", old->thing.name);
    error = mpi_attributes_delete(&old->thing);
    if (error)
        return mpi_error(old, call, error, "the delete function of an attribute failed");
    error = mpi_buffer_flush(call, &old->thing, &old->buffer);
    if (error)
        return error;
    if (!mpi_object_unpublish(old))
        return mpi_wrong(NULL, call, &mpi_kind_comm, *comm);
    vcoll_group_close(&old->coll); /* all members are here: this is collective */
    mpi_comm_drop(old);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

ENTRY(MPI_Comm_free)(MPI_Comm *comm)
    { DOING("MPI_Comm_free"); return comm_free(NAME, comm); }
ENTRY(MPI_Comm_disconnect)(MPI_Comm *comm)
    { DOING("MPI_Comm_disconnect"); return comm_free(NAME, comm); }
