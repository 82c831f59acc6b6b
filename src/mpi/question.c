/* A message tag for the agreement of a group on a number, one that no other agreement has meanwhile: member 0 of the
 * group, its leader, gives it. It is asked by all others, compares what they say of their call, and answers. Calls that
 * are under way at once are told apart by a purpose and a text, compared whole.
 *
 * A question carries a number of its sender's, which is the tag of the answer. Questions of one sender with the same
 * text are in the order of its calls. They come by a receive that is posted while this process leads a group, and are
 * kept until a call wants them. */
#include "mpi/context.h"
#include "mpi/request.h"

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
struct asking {
    const char *call;
    struct mpi_thing *thing; /* for errors */
    struct mpi_group *group;
    const struct mpi_subject *subject;
    struct question question;
    struct asked *heard; /* of the other members, at the leader */
    int count;
    struct msg_request *answered; /* elsewhere */
};

static struct msg_context *questions;
static struct base_lock lock; /* of all below */
static struct asked *unclaimed, **last_unclaimed = &unclaimed, *posted;
static int leading;
static uint32_t numbers;

static int others_await(struct asking *asking, bool (*ready)(void *asking))
{
    const struct mpi_comm *parent = asking->subject->parent;
    struct msg_context *context = parent ? parent->coll.context : questions;
    return vmsg_wait_group(context, parent ? asking->subject->tag : -1, ready, asking);
}

/* ---- the leader's ---- */

static void question_came(struct msg_request *request);

/* Under the lock, which question_came takes, too: that is called from progress alone, with no lock of the engine held,
 * and not from here, also where the question is there already. Where there is no memory the next look tries again. */
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

static bool is_wanted(const struct asking *asking, const struct asked *asked)
{
    if (asked->question.purpose != asking->question.purpose || strcmp(asked->question.text, asking->question.text) ||
        mpi_group_find(asking->group, asked->request.result.source) == MPI_UNDEFINED)
        return false;
    for (const struct asked *heard = asking->heard; heard; heard = heard->next)
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
    struct asking *asking = context;
    base_lock(&lock);
    for (struct asked **place = &unclaimed, *asked; (asked = *place);) {
        if (!is_wanted(asking, asked)) {
            place = &asked->next;
            continue;
        }
        *place = asked->next;
        if (!*place)
            last_unclaimed = place;
        asked->next = asking->heard;
        asking->heard = asked;
        asking->count++;
    }
    bool all = asking->count == asking->group->size - 1;
    if (!all)
        receive_post();
    base_unlock(&lock);
    return all || member_is_dead(asking->group);
}

/* Waits for the questions of all others. An error of the engine. */
static int questions_hear(struct asking *asking)
{
    base_lock(&lock);
    leading++;
    base_unlock(&lock);
    int error = others_await(asking, all_have_asked);
    base_lock(&lock);
    struct asked *over = --leading == 0 ? posted : NULL;
    posted = over ? NULL : posted;
    base_unlock(&lock);
    if (over)
        vmsg_cancel(&over->request);
    if (!error && asking->count < asking->group->size - 1)
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

static int questions_compare(const struct asking *asking)
{
    for (const struct asked *asked = asking->heard; asked; asked = asked->next)
        if (asked->question.size != asking->question.size || asked->question.ranks != asking->question.ranks)
            return mpi_error(asking->thing, asking->call, MPI_ERR_GROUP,
                             "rank %d of the job calls with another group of %d ranks, this one of %d",
                             asked->request.result.source, asked->question.size, asking->question.size);
    return MPI_SUCCESS;
}

/* A class that was raised. */
static int leader_answer(struct asking *asking, int *tag)
{
    int error = questions_hear(asking);
    int class = error ? mpi_engine_error(asking->thing, asking->call, error) : questions_compare(asking);
    struct answer answer = {class, *tag = tag_new()};
    while (asking->heard) {
        struct asked *asked = asking->heard;
        asking->heard = asked->next;
        error = vmsg_send(questions, asked->request.result.source, (int)asked->question.number, &answer, sizeof answer);
        if (error && !class)
            class = mpi_engine_error(asking->thing, asking->call, error);
        free(asked);
    }
    return class;
}

/* ---- the others' ---- */

static bool answer_is_here(void *context)
{
    const struct asking *asking = context;
    return vmsg_request_done(asking->answered) || member_is_dead(asking->group);
}

static int leader_ask(struct asking *asking, int *tag)
{
    struct answer answer = {0};
    struct question *question = &asking->question;
    /* relaxed: it is only to be another one */
    question->number = 1 + __atomic_fetch_add(&numbers, 1, __ATOMIC_RELAXED) % (INT32_MAX - 1);
    struct msg_where from = {questions, asking->group->world[0], (int)question->number};
    struct msg_request request = {.completed = NULL};
    struct type_buffer into = {&answer, sizeof answer, NULL};
    asking->answered = &request;
    int error = vmsg_recv_start(&request, &from, &into);
    if (!error) {
        int sent = vmsg_send(questions, from.rank, TAG_QUESTION, question,
                             offsetof(struct question, text) + strlen(question->text) + 1);
        if (!sent)
            sent = others_await(asking, answer_is_here);
        if (!vmsg_request_done(&request))
            vmsg_cancel(&request);
        error = mpi_wait_here(&request);
        error = sent ? sent : error == ERR_CANCELLED ? vbase_fail(ERR_PEER_DEAD, "a rank of the group is dead") : error;
    }
    if (error)
        return mpi_engine_error(asking->thing, asking->call, error);
    *tag = answer.tag;
    return answer.error ? mpi_error(asking->thing, asking->call, answer.error, "rank %d of the job, which leads the "
                                    "group, has failed: %s", from.rank, mpi_class_sentence(answer.error))
                        : MPI_SUCCESS;
}

/* FNV-1a */
static uint64_t ranks_hash(const struct mpi_group *group)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (int i = 0; i < group->size; i++)
        hash = (hash ^ (uint32_t)group->world[i]) * 0x100000001B3u;
    return hash;
}

int mpi_questions_open(struct msg_context **context)
{
    int error = mpi_world_context_open(MPI_ID_PARTS, CONTEXT_QUESTIONS, &questions);
    *context = questions;
    return error;
}

int mpi_tag_agree(const char *call, struct mpi_thing *thing, struct mpi_group *group, const struct mpi_subject *subject,
                  int *tag)
{
    struct msg_context *context;
    struct asking asking = {call, thing, group, subject,
                            {.purpose = subject->purpose, .size = group->size, .ranks = ranks_hash(group)}};
    int error = mpi_questions_open(&context);
    if (error)
        return mpi_engine_error(thing, call, error);
    snprintf(asking.question.text, sizeof asking.question.text, "%s", subject->text);
    return group->rank == 0 ? leader_answer(&asking, tag) : leader_ask(&asking, tag);
}
