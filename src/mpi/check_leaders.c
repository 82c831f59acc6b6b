/* VIADUCT_CHECK, two groups whose leaders do not meet: their tags or peer communicators are not the same, or one has
 * named another process than the leader. Each leader tells the one that it waits for what it calls, by a message that
 * meets any call of a leader, and waits for what the other tells. Called by inter.c before leaders exchange anything
 * else.
 *
 * A process with one thread is in one call, so two leaders that wait for each other in calls that are unlike wait for
 * ever. And if the one that is waited for is in the group of another leader that waits for this process, it is in that
 * call and will not answer. But what was told may be of a call that has failed since. So the other leader is told that
 * this call differs from that one, by its number; if it is in it, it answers in the same way, and both raise what
 * differs. With several threads another one may make the call that is awaited: nothing is judged then. */
#include "mpi/check.h"
#include "mpi/context.h"

#define MEMBERS     200 /* of a larger group the first ones are told */
#define TAG_LEADERS INT32_MAX /* question.c uses those below */

struct leader_note {
    char call[40];
    uint64_t place; /* see mpi_check_mark */
    uint32_t number, differs_from; /* of the call; and of the receiver's, which is another; 0: not known */
    int32_t rank, remote; /* in the job: the sender, and the one that it waits for */
    uint32_t peer;  /* number of the peer communicator */
    int32_t tag, threads, members, member[MEMBERS];
};

struct heard {
    struct heard *next;
    struct msg_request request;
    struct leader_note note;
    uint32_t asked_by; /* the last call that has asked its sender; 0: none */
};

struct told {
    struct msg_request request;
    struct leader_note note;
};

struct meeting {
    struct leader_note own, other;
    bool asks, over, agrees;
};

static struct msg_context *notes; /* question.c's */
static struct base_lock lock; /* of all below */
static struct heard *kept, **last_kept = &kept, *posted;
static int leading;
static uint32_t numbers;

static void note_came(struct msg_request *request)
{
    struct heard *heard = request->owner;
    base_lock(&lock);
    if (posted == heard)
        posted = NULL;
    if (request->result.error) {
        free(heard);
    } else {
        *last_kept = heard;
        last_kept = &heard->next;
    }
    base_unlock(&lock);
}

/* Under the lock. Where there is no memory the next look tries again. */
static void receive_post(void)
{
    struct msg_where from = {notes, MSG_ANY_SOURCE, TAG_LEADERS};
    if (posted || !(posted = calloc(1, sizeof *posted)))
        return;
    posted->request = (struct msg_request){.completed = note_came, .owner = posted};
    struct type_buffer into = {&posted->note, sizeof posted->note, NULL};
    if (vmsg_recv_start(&posted->request, &from, &into)) {
        free(posted);
        posted = NULL;
    }
}

/* Under the lock. */
static void heard_drop(struct heard *heard)
{
    struct heard **place = &kept;
    while (*place != heard)
        place = &(*place)->next;
    *place = heard->next;
    if (!*place)
        last_kept = place;
    free(heard);
}

/* Under the lock: what the sender of NOTE told first of its call. */
static void call_forget(const struct leader_note *note)
{
    struct heard *heard = kept;
    while (heard && (heard->note.rank != note->rank || heard->note.number != note->number || heard->note.differs_from))
        heard = heard->next;
    if (heard)
        heard_drop(heard);
}

static bool has_member(const struct leader_note *note, int rank)
{
    for (int i = 0; i < note->members && i < MEMBERS; i++)
        if (note->member[i] == rank)
            return true;
    return false;
}

/* NOTE, of another call, and OWN wait for each other in vain, if its sender is still in that call. */
static bool is_in_vain(const struct leader_note *own, const struct leader_note *note)
{
    return !own->threads && !note->threads && (note->rank == own->remote || has_member(note, own->remote));
}

/* What a note makes of the meeting, which is not over; under the lock. False: it is for another call, or the first half
 * of an answer. */
static bool note_take(struct meeting *meeting, struct heard *heard)
{
    const struct leader_note *own = &meeting->own, *note = &heard->note;
    if (note->differs_from) {
        meeting->over = note->differs_from == own->number;
        if (meeting->over) {
            meeting->other = *note; /* it is in its call, and knows of ours */
            call_forget(note);
        }
        return true;
    }
    meeting->over = meeting->agrees = note->rank == own->remote && note->peer == own->peer && note->tag == own->tag;
    if (!meeting->over && !meeting->asks && heard->asked_by != own->number && is_in_vain(own, note)) {
        heard->asked_by = own->number;
        meeting->asks = true;
        meeting->other = *note;
    }
    return meeting->agrees;
}

static bool meeting_goes_on(void *context)
{
    struct meeting *meeting = context;
    base_lock(&lock);
    for (struct heard *heard = kept, *next; heard && !meeting->over; heard = next) {
        next = heard->next;
        if (note_take(meeting, heard))
            heard_drop(heard);
    }
    if (!meeting->over)
        receive_post();
    base_unlock(&lock);
    return meeting->over || meeting->asks || vmsg_dead(meeting->own.remote);
}

static void note_went(struct msg_request *request) { free(request->owner); }

/* Without waiting: that process may be in no call of a leader, or have left it. */
static int note_send(int rank, const struct leader_note *note)
{
    struct told *told = malloc(sizeof *told);
    if (!told)
        return vbase_fail(ERR_MEMORY, "what another leader is told");
    told->note = *note;
    told->request = (struct msg_request){.completed = note_went, .owner = told};
    struct msg_where to = {notes, rank, TAG_LEADERS};
    struct type_buffer from = {&told->note, sizeof told->note, NULL};
    int error = vmsg_send_start(&told->request, &to, &from, MSG_STANDARD);
    if (error)
        free(told);
    return error;
}

/* Tells the other leader, which is in call NUMBER or was, that this one's call is another. */
static int note_answer(struct meeting *meeting)
{
    struct leader_note note = meeting->own;
    note.differs_from = meeting->other.number;
    meeting->asks = false;
    return note_send(meeting->other.rank, &note);
}

/* Until the leaders agree, or each knows that the other one's call is another. An error of the engine. */
static int notes_swap(struct meeting *meeting)
{
    int error = note_send(meeting->own.remote, &meeting->own);
    while (!error && !meeting->over) {
        error = vmsg_wait_until(meeting_goes_on, meeting);
        if (!error && !meeting->over && vmsg_dead(meeting->own.remote))
            error = vbase_fail(ERR_PEER_DEAD, "rank %d is dead", meeting->own.remote);
        if (!error && (meeting->asks || (meeting->over && !meeting->agrees)))
            error = note_answer(meeting);
    }
    return error;
}

static void leading_begin(struct meeting *meeting)
{
    base_lock(&lock);
    leading++;
    meeting->own.number = ++numbers;
    base_unlock(&lock);
}

static void leading_end(void)
{
    base_lock(&lock);
    struct heard *over = --leading == 0 ? posted : NULL;
    posted = over ? NULL : posted;
    base_unlock(&lock);
    if (over)
        vmsg_cancel(&over->request);
}

static int differ_raise(const struct mpi_bridge *bridge, const struct meeting *meeting)
{
    char place[400];
    const struct leader_note *own = &meeting->own, *other = &meeting->other;
    mpi_check_place(mpi_check_marked(other->place), place);
    const char *file = basename(place); /* without the folders all fits into a sentence */
    if (other->rank != own->remote)
        return mpi_error(bridge->local, bridge->call, MPI_ERR_RANK,
                         "remote_leader %d is rank %d of the job, which is in the group of rank %d of the job: "
                         "that one waits for this leader, in %.39s at %s",
                         bridge->remote.rank, own->remote, other->rank, other->call, file);
    if (other->remote != own->rank)
        return mpi_error(bridge->local, bridge->call, MPI_ERR_RANK,
                         "remote_leader %d is rank %d of the job, which names rank %d of the job as its remote "
                         "leader, in %.39s at %s", bridge->remote.rank, other->rank, other->remote, other->call, file);
    if (own->peer != other->peer)
        return mpi_error(bridge->local, bridge->call, MPI_ERR_COMM,
                         "peer_comm is communicator %u, but communicator %u at the other leader, rank %d of the job, "
                         "in %.39s at %s", own->peer, other->peer, other->rank, other->call, file);
    return mpi_error(bridge->local, bridge->call, MPI_ERR_TAG,
                     "tag is %d, but %d at the other leader, rank %d of the job, in %.39s at %s", own->tag, other->tag,
                     other->rank, other->call, file);
}

int mpi_check_leaders(const struct mpi_bridge *bridge, const struct mpi_comm *peer)
{
    struct mpi_comm *local = bridge->local;
    struct meeting meeting = {.own = {.place = mpi_check_mark(mpi_check_caller()), .rank = mpi_process.job->rank,
                                      .peer = peer->id, .tag = bridge->remote.tag, .threads = mpi_threads}};
    if (bridge->remote.rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    meeting.own.remote = vmsg_context_world(peer->context, bridge->remote.rank);
    snprintf(meeting.own.call, sizeof meeting.own.call, "%s", bridge->call);
    for (int i = 0; i < local->size && i < MEMBERS; i++)
        meeting.own.member[meeting.own.members++] = local->group->world[i];
    int error = mpi_questions_open(&notes);
    if (!error) {
        leading_begin(&meeting);
        error = notes_swap(&meeting);
        leading_end();
    }
    return error            ? mpi_engine_error(local, bridge->call, error)
           : meeting.agrees ? MPI_SUCCESS
                            : differ_raise(bridge, &meeting);
}
