/* Communicators made of groups alone, without a parent. Calls that are under way at once are told apart by the text
 * that the program gives them. Agreements on a number of a communicator need a message tag that no other has meanwhile;
 * so member 0 of the group, its leader, gives one: it is asked by all others, compares the whole text, and answers.
 *
 * A question carries a number of its sender's, which is the tag of the answer. Questions of one sender with the same
 * text are in the order of its calls. They come by a receive that is posted while this process leads a group, and are
 * kept until a call wants them. */
#include "mpi/context.h"
#include "mpi/hints.h"
#include "mpi/request.h"
#include "mpi/session.h"

enum purpose { MAKES_PLAIN, MAKES_LOCAL, MAKES_LEADERS }; /* the last two: on the way to an intercommunicator */

struct question {
    uint32_t number, purpose;
    int32_t size;
    uint64_t ranks; /* a hash of them */
    char text[MPI_MAX_STRINGTAG_LEN];
};
struct answer {
    int32_t error; /* a class */
    int32_t tag;
};
#define TAG_QUESTION 0

struct asked {
    struct asked *next;
    struct msg_request request;
    struct question question;
};

/* A call. */
struct making {
    const char *call;
    struct mpi_thing *thing; /* for errors */
    struct mpi_group *group;
    struct question question;
    struct asked *heard; /* of the other members, at the leader */
    int count;
    struct msg_request *answered; /* elsewhere */
};

static struct msg_context *questions, *agreements;
static struct base_lock lock; /* of all below */
static struct asked *unclaimed, **last_unclaimed = &unclaimed, *posted;
static int leading;
static uint32_t numbers;

/* ---- the leader's ---- */

static void question_came(struct msg_request *request);

/* Under the lock. Where there is no memory it is tried again by the next look. */
static void receive_post(void)
{
    struct msg_where from = {questions, MSG_ANY_SOURCE, TAG_QUESTION};
    if (posted || !(posted = malloc(sizeof *posted)))
        return;
    posted->next = NULL;
    posted->request = (struct msg_request){.completed = question_came, .owner = posted};
    struct type_buffer into = {&posted->question, sizeof posted->question, NULL};
    if (vmsg_recv_start(&posted->request, &from, &into)) {
        free(posted);
        posted = NULL;
    }
}

static void question_came(struct msg_request *request)
{
    struct asked *asked = request->owner;
    base_lock(&lock);
    if (posted == asked)
        posted = NULL;
    if (request->result.error) {
        free(asked);
    } else {
        *last_unclaimed = asked;
        last_unclaimed = &asked->next;
    }
    base_unlock(&lock);
}

static bool is_wanted(const struct making *making, const struct asked *asked)
{
    if (asked->question.purpose != making->question.purpose || strcmp(asked->question.text, making->question.text) ||
        mpi_group_find(making->group, asked->request.result.source) == MPI_UNDEFINED)
        return false;
    for (const struct asked *heard = making->heard; heard; heard = heard->next)
        if (heard->request.result.source == asked->request.result.source)
            return false; /* this one is for a later call */
    return true;
}

static bool member_is_dead(const struct mpi_group *group)
{
    bool dead = false;
    if (vmsg_deaths())
        for (int i = 0; i < group->size; i++)
            dead |= vmsg_dead(group->world[i]);
    return dead;
}

static bool all_have_asked(void *context)
{
    struct making *making = context;
    base_lock(&lock);
    for (struct asked **place = &unclaimed, *asked; (asked = *place);) {
        if (!is_wanted(making, asked)) {
            place = &asked->next;
            continue;
        }
        *place = asked->next;
        if (!*place)
            last_unclaimed = place;
        asked->next = making->heard;
        making->heard = asked;
        making->count++;
    }
    bool all = making->count == making->group->size - 1;
    if (!all)
        receive_post();
    base_unlock(&lock);
    return all || member_is_dead(making->group);
}

/* Waits for the questions of all others. An error of the engine. */
static int questions_hear(struct making *making)
{
    base_lock(&lock);
    leading++;
    base_unlock(&lock);
    int error = vmsg_wait_until(all_have_asked, making);
    base_lock(&lock);
    struct asked *over = --leading == 0 ? posted : NULL;
    posted = over ? NULL : posted;
    base_unlock(&lock);
    if (over)
        vmsg_cancel(&over->request);
    if (!error && making->count < making->group->size - 1)
        error = vbase_fail(ERR_PEER_DEAD, "a rank of the group is dead");
    return error;
}

/* No other agreement that is under way has it: a leader has so many tags of its own that they do not come round. */
static int tag_new(void)
{
    uint32_t ranks = (uint32_t)mpi_process.job->size;
    /* relaxed: it is only to be another one */
    uint32_t number = __atomic_fetch_add(&numbers, 1, __ATOMIC_RELAXED) % (INT32_MAX / ranks);
    return (int)(number * ranks + (uint32_t)mpi_process.job->rank);
}

static int questions_compare(const struct making *making)
{
    for (const struct asked *asked = making->heard; asked; asked = asked->next)
        if (asked->question.size != making->question.size || asked->question.ranks != making->question.ranks)
            return mpi_error(making->thing, making->call, MPI_ERR_GROUP,
                             "rank %d of the job calls with another group of %d ranks, this one of %d",
                             asked->request.result.source, asked->question.size, making->question.size);
    return MPI_SUCCESS;
}

/* A class that was raised. */
static int leader_answer(struct making *making, int *tag)
{
    int error = questions_hear(making);
    int class = error ? mpi_engine_error(making->thing, making->call, error) : questions_compare(making);
    struct answer answer = {class, *tag = tag_new()};
    while (making->heard) {
        struct asked *asked = making->heard;
        making->heard = asked->next;
        error = vmsg_send(questions, asked->request.result.source, (int)asked->question.number, &answer, sizeof answer);
        if (error && !class)
            class = mpi_engine_error(making->thing, making->call, error);
        free(asked);
    }
    return class;
}

/* ---- the others' ---- */

static bool answer_is_here(void *context)
{
    const struct making *making = context;
    return vmsg_request_done(making->answered) || member_is_dead(making->group);
}

static int leader_ask(struct making *making, int *tag)
{
    struct answer answer = {0};
    struct question *question = &making->question;
    /* relaxed: it is only to be another one */
    question->number = 1 + __atomic_fetch_add(&numbers, 1, __ATOMIC_RELAXED) % (INT32_MAX - 1);
    struct msg_where from = {questions, making->group->world[0], (int)question->number};
    struct msg_request request = {.completed = NULL};
    struct type_buffer into = {&answer, sizeof answer, NULL};
    making->answered = &request;
    int error = vmsg_recv_start(&request, &from, &into);
    if (!error) {
        int sent = vmsg_send(questions, from.rank, TAG_QUESTION, question,
                             offsetof(struct question, text) + strlen(question->text) + 1);
        if (!sent)
            sent = vmsg_wait_until(answer_is_here, making);
        if (!vmsg_request_done(&request))
            vmsg_cancel(&request);
        error = mpi_wait_here(&request);
        error = sent ? sent : error == ERR_CANCELLED ? vbase_fail(ERR_PEER_DEAD, "a rank of the group is dead") : error;
    }
    if (error)
        return mpi_engine_error(making->thing, making->call, error);
    *tag = answer.tag;
    return answer.error ? mpi_error(making->thing, making->call, answer.error, "rank %d of the job, which leads the "
                                    "group, has failed: %s", from.rank, mpi_class_sentence(answer.error))
                        : MPI_SUCCESS;
}

/* ---- making ---- */

static bool agreement_is_over(void *context)
{
    const struct mpi_agreement *agreement = context;
    /* acquire: pairs with the release of the agreement's end */
    return atomic_load_explicit(&agreement->done, memory_order_acquire);
}

/* An error of the engine. */
static int number_agree(struct mpi_group *group, int tag, uint32_t *id)
{
    struct mpi_agreement agreement = {.error = OK};
    int error = mpi_agreement_in(&agreement, agreements, group, tag);
    if (!error)
        error = vmsg_wait_until(agreement_is_over, &agreement) ?: agreement.error;
    mpi_agreement_close(&agreement);
    *id = agreement.id;
    return error;
}

/* FNV-1a */
static uint64_t ranks_hash(const struct mpi_group *group)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (int i = 0; i < group->size; i++)
        hash = (hash ^ (uint32_t)group->world[i]) * 0x100000001B3u;
    return hash;
}

/* A communicator of GROUP, which errors of THING's handler go to. A class that was raised. */
static int plain_make(const char *call, struct mpi_thing *thing, struct mpi_group *group, enum purpose purpose,
                      const char *text, struct mpi_comm **out)
{
    struct making making = {call, thing, group, {.purpose = purpose, .size = group->size, .ranks = ranks_hash(group)}};
    uint32_t id;
    int tag = 0, error = mpi_world_context_open(MPI_ID_PARTS, CONTEXT_COLLECTIVES, &questions)
                         ?: mpi_world_context_open(MPI_ID_PARTS, CONTEXT_AGREEMENTS, &agreements);
    struct mpi_comm *comm = error ? NULL : mpi_comm_new(NULL, group, group);
    if (!comm)
        return mpi_engine_error(thing, call, error ?: ERR_MEMORY);
    mpi_drop(comm->thing.errhandler);
    mpi_keep(comm->thing.errhandler = thing->errhandler);
    snprintf(making.question.text, sizeof making.question.text, "%s", text);
    int class = group->rank == 0 ? leader_answer(&making, &tag) : leader_ask(&making, &tag);
    error = class ? OK : number_agree(group, tag, &id);
    if (class || error) {
        mpi_comm_drop(comm);
        return class ?: mpi_engine_error(thing, call, error);
    }
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
               ?: CHECK(GROUP_OF(group), HINTS(info), GIVEN(newcomm))
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
    struct mpi_comm *comm, *pair = NULL;
    *out = MPI_COMM_NULL;
    int error = group_check(call, thing, local, text) ?: plain_make(call, thing, local, MAKES_LOCAL, text, &comm);
    if (error)
        return error;
    struct mpi_bridge bridge = {call, comm, leader};
    if (leader == local->rank)
        bridge.failed = leaders_meet(call, thing, &bridge, local, remote, remote_leader, text, &pair);
    error = mpi_inter_make(&bridge, out);
    if (pair) {
        (void)mpi_object_unpublish(pair);
        mpi_comm_drop(pair); /* the user's reference */
        comm_forget(pair);
    }
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
               ?: CHECK(GROUP_OF(local_group), HINTS(info), GIVEN(newintercomm))
                      ?: mpi_hints_give(NAME, inter_from_groups(NAME, &none, mpi_group_at(local_group), local_leader,
                                                                remote_group, remote_leader, stringtag, newintercomm),
                                        newintercomm, info);
}
