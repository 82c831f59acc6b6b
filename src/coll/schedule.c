/* coll/schedule: steps are collected by a maker, then run round by round.
 *
 * Called by the makers, by run.c, and by msg through the completion callback of each step's request: there is no
 * polling here. `pending` counts the steps of a round that are under way, and one more while the round is being
 * started. The thread that takes it to 0 starts the next round, in a loop, so completions inside of a start never
 * recurse.
 *
 * Deaths: where they do not end the job, a member may wait for another one that lives, but has left the call because it
 * was told of a death. And where a member has no memory others wait for what it, or one behind it, never sends: it
 * withdraws, and they are told. So while a schedule of messages runs, a request waits for either: the guard. Whichever
 * is over last, the steps or the guard, finishes the schedule.
 *
 * Errors: a truncated message, or one of another length than a fork expects, is remembered and the schedule goes on,
 * because other ranks wait for what follows. After any other error nothing more is started, what is under way is
 * cancelled, and the schedule ends when all of it has completed. The first error is the one reported. */
#include "coll/hall.h"

#define WINDOW 64     /* messages under way in one round */
#define FIRST_STEPS 48 /* what a root of 16 ranks needs */

struct coll_memory {
    struct coll_memory *next;
    char data[] ALIGNED(16);
};

/* The schedule released last, kept for the next call: a program of blocking collectives allocates once. */
static _Atomic(struct coll_schedule *) spare;

/* ---- memory ---- */

void *vcoll_memory(struct coll_schedule *schedule, uint64_t bytes)
{
    uint64_t rounded = (bytes + 15) & ~(uint64_t)15;
    if (rounded <= (uint64_t)(schedule->end - schedule->at)) {
        void *place = schedule->at;
        schedule->at += rounded;
        return place;
    }
    bool fits = rounded >= bytes && rounded < SIZE_MAX - sizeof(struct coll_memory);
    struct coll_memory *memory = fits ? malloc(sizeof *memory + (size_t)rounded) : NULL;
    if (!memory) {
        if (!schedule->failure)
            schedule->failure = vbase_fail(ERR_MEMORY, "a collective needs %llu bytes", (unsigned long long)bytes);
        return NULL;
    }
    memory->next = schedule->memory;
    schedule->memory = memory;
    return memory->data;
}

/* The data of COUNT elements reaches from `low` over `span` bytes, seen from the base. Extents may be negative. */
void *vcoll_elements(struct coll_schedule *schedule, uint64_t count)
{
    const struct type_layout *layout = schedule->call.receive.layout;
    if (!layout || count == 0)
        return vcoll_memory(schedule, count);
    const struct type_shape *shape = &layout->shape;
    int64_t further = ((int64_t)count - 1) * shape->extent;
    int64_t low = shape->true_lower_bound + (further < 0 ? further : 0);
    uint64_t span = (uint64_t)shape->true_extent + (uint64_t)(further < 0 ? -further : further);
    char *memory = vcoll_memory(schedule, span + 16);
    if (!memory)
        return NULL;
    /* The base, not the data, is aligned: a user's function may see a struct there. */
    return (char *)(((uintptr_t)memory - (uintptr_t)low + 15) & ~(uintptr_t)15);
}

/* ---- making ---- */

struct coll_schedule *vcoll_schedule_new(const struct coll_call *call)
{
    /* acquire: pairs with the release in vcoll_release, so the block's last use is over */
    struct coll_schedule *schedule = atomic_exchange_explicit(&spare, NULL, memory_order_acquire);
    if (!schedule)
        schedule = malloc(SCHEDULE_BYTES);
    if (!schedule) {
        (void)vbase_fail(ERR_MEMORY, "a schedule needs %d bytes", SCHEDULE_BYTES);
        return NULL;
    }
    memset(schedule, 0, sizeof *schedule);
    schedule->call = *call;
    schedule->rank = call->group->rank;
    schedule->size = call->group->size;
    schedule->at = (char *)schedule + ((sizeof *schedule + 15) & ~(size_t)15);
    schedule->end = (char *)schedule + SCHEDULE_BYTES;
    return schedule;
}

static bool make_room(struct coll_schedule *schedule)
{
    uint32_t room = schedule->room ? 2 * schedule->room : FIRST_STEPS;
    struct coll_step *step = vcoll_memory(schedule, room * sizeof *step);
    if (!step)
        return false;
    if (schedule->steps)
        memcpy(step, schedule->step, schedule->steps * sizeof *step);
    schedule->step = step;
    schedule->room = room;
    return true;
}

static const struct type_buffer nothing;

static void add(struct coll_schedule *schedule, enum coll_step_kind kind, int peer, const struct type_buffer *from,
                const struct type_buffer *to)
{
    if (schedule->failure || (schedule->steps == schedule->room && !make_room(schedule)))
        return;
    struct coll_step *step = &schedule->step[schedule->steps++]; /* field by field: many are made for each call */
    step->kind = (uint8_t)kind;
    step->last = false;
    step->any_length = false;
    step->peer = peer;
    step->from = *from;
    step->to = *to;
    schedule->in_round += kind <= STEP_VISIT;
}

void vcoll_scope(struct coll_schedule *schedule, const int *members, int rank, int size)
{
    schedule->scope = members;
    schedule->rank = rank;
    schedule->size = size;
}

int vcoll_member(const struct coll_schedule *schedule, int rank)
{
    return schedule->scope ? schedule->scope[rank] : schedule->first + rank;
}

void vcoll_send(struct coll_schedule *schedule, int to, struct type_buffer buffer)
{
    add(schedule, STEP_SEND, vcoll_member(schedule, to), &buffer, &nothing);
}

void vcoll_receive(struct coll_schedule *schedule, int from, struct type_buffer buffer)
{
    add(schedule, STEP_RECEIVE, vcoll_member(schedule, from), &nothing, &buffer);
}

void vcoll_receive_any(struct coll_schedule *schedule, int from, struct type_buffer buffer)
{
    vcoll_receive(schedule, from, buffer);
    if (!schedule->failure)
        schedule->step[schedule->steps - 1].any_length = true;
}

void vcoll_fork(struct coll_schedule *schedule, struct coll_fork *fork)
{
    struct type_buffer from = {.base = fork};
    fork->other = NULL;
    vcoll_round(schedule);
    add(schedule, STEP_FORK, 0, &from, &nothing);
    vcoll_round(schedule);
    fork->steps = schedule->steps;
}

void vcoll_fork_end(struct coll_schedule *schedule, struct coll_fork *fork)
{
    vcoll_round(schedule);
    fork->steps = schedule->steps - fork->steps;
}

void vcoll_copy(struct coll_schedule *schedule, struct type_buffer from, struct type_buffer to)
{
    if (type_buffer_bytes(&from) || type_buffer_bytes(&to))
        add(schedule, STEP_COPY, 0, &from, &to);
}

void vcoll_reduce(struct coll_schedule *schedule, const void *in, void *inout, uint64_t count)
{
    struct type_layout *layout = schedule->call.receive.layout;
    struct type_buffer left = {(void *)in, count, layout}, right = {inout, count, layout};
    if (count)
        add(schedule, STEP_REDUCE, 0, &left, &right);
}

void vcoll_visit(struct coll_schedule *schedule, struct coll_visit *visit)
{
    visit->owner = schedule;
    schedule->visit = visit;
    struct type_buffer from = {.layout = schedule->call.send.layout}, to = {.layout = schedule->call.receive.layout};
    add(schedule, STEP_VISIT, 0, &from, &to);
}

void vcoll_round(struct coll_schedule *schedule)
{
    if (schedule->steps == 0)
        return;
    schedule->step[schedule->steps - 1].last = true;
    if (schedule->in_round > schedule->widest)
        schedule->widest = schedule->in_round;
    schedule->in_round = 0;
}

void vcoll_window(struct coll_schedule *schedule)
{
    if (schedule->in_round >= WINDOW)
        vcoll_round(schedule);
}

int vcoll_schedule_seal(struct coll_schedule *schedule)
{
    vcoll_round(schedule);
    schedule->made = schedule->step;
    schedule->made_steps = schedule->steps;
    if (!schedule->failure)
        schedule->request = vcoll_memory(schedule, schedule->widest * sizeof *schedule->request);
    return schedule->failure;
}

/* Layout I of two for each step. Those that a fork has put in the place of others have no layouts of their own. */
static struct type_layout *layout_of(const struct coll_schedule *schedule, uint32_t i)
{
    const struct coll_step *step = &schedule->made[i / 2];
    return i % 2 ? step->to.layout : step->from.layout;
}

void vcoll_schedule_keep(struct coll_schedule *schedule)
{
    schedule->keeps = true;
    for (uint32_t i = 0; i < 2 * schedule->made_steps; i++)
        if (layout_of(schedule, i))
            vtype_layout_keep(layout_of(schedule, i));
}

void vcoll_release(struct coll_schedule *schedule)
{
    for (uint32_t i = 0; schedule->keeps && i < 2 * schedule->made_steps; i++)
        if (layout_of(schedule, i))
            vtype_layout_drop(layout_of(schedule, i));
    if (schedule->visit)
        vcoll_hall_leave(schedule->visit);
    for (struct coll_memory *memory = schedule->memory, *next; memory; memory = next) {
        next = memory->next;
        free(memory);
    }
    /* release: pairs with the acquire in vcoll_schedule_new */
    free(atomic_exchange_explicit(&spare, schedule, memory_order_acq_rel));
}

/* ---- running ---- */

static void cancel_round(struct coll_schedule *schedule)
{
    uint32_t started = atomic_load(&schedule->started); /* seq_cst: see note_error */
    for (uint32_t i = 0; i < started; i++)
        vmsg_cancel(&schedule->request[i]);
}

void vcoll_schedule_note(struct coll_schedule *schedule, int error)
{
    int none = OK;
    /* relaxed: read after `pending` or `state` has ordered it */
    atomic_compare_exchange_strong_explicit(&schedule->error, &none, error, memory_order_relaxed, memory_order_relaxed);
}

/* Keeps the first error; true for the one that ends the schedule: its caller cancels the round. */
static bool note_error(struct coll_schedule *schedule, int error)
{
    vcoll_schedule_note(schedule, error);
    if (error == ERR_TRUNCATED)
        return false;
    /* seq_cst, as in start_round: either the starter sees it when it has started all, or we see what it started */
    return !atomic_exchange(&schedule->over, true);
}

/* The tag of the first start of what has TAG. */
static int tag_first(const struct coll_group *group, int tag)
{
    return group->member ? tag : tag & (int)SEQUENCE_MASK;
}

void vcoll_withdraw(const struct coll_group *group, int tag)
{
    vmsg_withdraw(group->context, group->member, group->size, tag_first(group, tag));
}

/* An error of this rank, in whatever it did. Without memory others would wait for what it does not send. True: it ends
 * the schedule. */
static bool note_own_error(struct coll_schedule *schedule, int error)
{
    bool ends = note_error(schedule, error);
    if (ends && error == ERR_MEMORY && !schedule->visit)
        vcoll_withdraw(schedule->call.group, schedule->tag);
    return ends;
}

uint64_t vcoll_buffer_copy(const struct type_buffer *to, const struct type_buffer *from)
{
    uint64_t given = type_buffer_bytes(from), room = type_buffer_bytes(to), bytes = given < room ? given : room;
    if (from->base == to->base && from->layout == to->layout) {
        /* in place: others may be reading it */
    } else if (type_buffer_contiguous(from) && type_buffer_contiguous(to)) {
        if (bytes && from->base != to->base)
            base_copy(to->base, from->base, bytes);
    } else {
        struct type_cursor source, target;
        vtype_cursor_start(&source, from);
        vtype_cursor_start(&target, to);
        vtype_copy(&target, &source, bytes);
    }
    return given - bytes;
}

static void copy_now(struct coll_schedule *schedule, const struct coll_step *step)
{
    if (vcoll_buffer_copy(&step->to, &step->from))
        note_error(schedule, vbase_fail(ERR_TRUNCATED, "the own part has %llu bytes, its place %llu",
                                        (unsigned long long)type_buffer_bytes(&step->from),
                                        (unsigned long long)type_buffer_bytes(&step->to)));
}

static void reduce_now(const struct type_reduction *reduction, const struct coll_step *step)
{
    if (reduction->function)
        reduction->function(reduction->context, step->from.base, step->to.base, step->to.count);
    else
        reduction->kernel(step->from.base, step->to.base, step->to.count);
}

static void step_completed(struct msg_request *request);

/* Members of a masked group may disagree about it, since no call made it: then one receives less than it expects. */
static void some_came(struct msg_request *request)
{
    struct coll_schedule *schedule = request->owner;
    /* relaxed: `pending` orders it */
    atomic_fetch_sub_explicit(&schedule->lacking, request->result.bytes, memory_order_relaxed);
    step_completed(request);
}

static void pending_end(struct coll_schedule *schedule);

static void visit_go_on(struct msg_request *request)
{
    struct coll_visit *visit = request->owner;
    struct coll_schedule *schedule = visit->owner;
    int error = request->result.error;
    if (!error && !vcoll_visit_advance(visit)) {
        /* Once it waits, another thread may complete it: a count keeps the schedule until this one has looked. Relaxed:
         * the list's lock orders it. */
        atomic_fetch_add_explicit(&schedule->pending, 1, memory_order_relaxed);
        error = vmsg_share_await(visit->hall->share, request, vcoll_visit_ready);
        if (!error && atomic_load(&schedule->over)) /* as in start_round */
            vmsg_cancel(request);
        if (!error) {
            pending_end(schedule);
            return;
        }
        atomic_fetch_sub_explicit(&schedule->pending, 1, memory_order_relaxed);
    }
    request->result.error = error ?: visit->error;
    request->owner = schedule;
    step_completed(request);
}

/* It may be over at once: `pending` counts the starter, too. */
static void start_visit(struct coll_schedule *schedule)
{
    static const struct msg_result fine = {.error = OK};
    struct msg_request *request = schedule->request;
    request->completed = visit_go_on;
    request->owner = schedule->visit;
    vmsg_request_settle(request, &fine);
    if (schedule->call.form == COLL_AGAIN)
        vcoll_visit_start(schedule->visit);
    visit_go_on(request);
}

void vcoll_schedule_end(struct coll_schedule *schedule, int error) { (void)note_error(schedule, error); }

/* The steps that a run goes on with behind a fork that has turned: `schedule->step` is this list from now on. */
static void others_make(struct coll_schedule *schedule, struct coll_fork *fork)
{
    const struct coll_step *step = &schedule->step[schedule->next], *rest = step + 1 + fork->steps;
    uint32_t left = (uint32_t)(schedule->step + schedule->steps - rest), widest = schedule->widest;
    schedule->step = NULL;
    schedule->steps = schedule->room = 0;
    add(schedule, STEP_FORK, 0, &step->from, &step->to);
    vcoll_round(schedule);
    fork->make(schedule, fork);
    vcoll_round(schedule);
    for (; left && !schedule->failure; left--, rest++) {
        add(schedule, STEP_COPY, 0, &rest->from, &rest->to);
        if (!schedule->failure)
            schedule->step[schedule->steps - 1] = *rest;
    }
    if (!schedule->failure && schedule->widest > widest)
        schedule->request = vcoll_memory(schedule, schedule->widest * sizeof *schedule->request);
    if (!schedule->failure) {
        fork->other = schedule->step;
        fork->others = schedule->steps;
    }
}

static void fork_now(struct coll_schedule *schedule, const struct coll_step *step)
{
    struct coll_fork *fork = step->from.base;
    if (likely(!fork->turns(schedule, fork)))
        return;
    if (!fork->other)
        others_make(schedule, fork);
    if (schedule->failure) {
        note_own_error(schedule, schedule->failure);
        return;
    }
    schedule->step = fork->other;
    schedule->steps = fork->others;
    schedule->next = 0; /* the fork itself */
}

/* A send that leaves at once needs no request, and nothing of it is awaited. */
static bool send_at_once(const struct coll_schedule *schedule, const struct coll_step *step)
{
    const struct coll_group *group = schedule->call.group;
    int rank = unlikely(group->member) ? group->member[step->peer] : step->peer;
    return step->kind == STEP_SEND && type_buffer_contiguous(&step->from) &&
           vmsg_send_now(group->context, rank, schedule->tag, step->from.base, type_buffer_bytes(&step->from)) == OK;
}

static int start_message(struct coll_schedule *schedule, const struct coll_step *step, uint32_t index)
{
    struct msg_request *request = &schedule->request[index];
    const struct coll_group *group = schedule->call.group;
    struct msg_where where = {group->context, step->peer, schedule->tag};
    request->completed = step_completed;
    request->owner = schedule;
    if (unlikely(group->member)) {
        where.rank = group->member[step->peer];
        if (step->kind == STEP_RECEIVE && !step->any_length) {
            atomic_fetch_add_explicit(&schedule->lacking, type_buffer_bytes(&step->to), memory_order_relaxed);
            request->completed = some_came;
        }
    }
    return step->kind == STEP_SEND ? vmsg_send_start(request, &where, &step->from, MSG_STANDARD)
                                   : vmsg_recv_start(request, &where, &step->to);
}

static uint32_t messages_of_round(const struct coll_schedule *schedule)
{
    uint32_t messages = 0;
    for (uint32_t i = schedule->next;; i++) {
        messages += schedule->step[i].kind <= STEP_VISIT;
        if (schedule->step[i].last)
            return messages;
    }
}

/* Returns how many counts of `pending` the caller has to give back: its own, and those of messages that are not under
 * way. */
static uint32_t start_round(struct coll_schedule *schedule)
{
    uint32_t messages = messages_of_round(schedule), started = 0;
    atomic_store_explicit(&schedule->started, 0, memory_order_relaxed);
    /* release: a completion that takes the count further down sees the round's fields */
    atomic_store_explicit(&schedule->pending, messages + 1, memory_order_release);
    bool last = false; /* relaxed: what was started is looked at below */
    for (; !last && !atomic_load_explicit(&schedule->over, memory_order_relaxed); schedule->next++) {
        const struct coll_step *step = &schedule->step[schedule->next];
        int error = OK;
        last = step->last;
        if (step->kind == STEP_COPY)
            copy_now(schedule, step);
        else if (step->kind == STEP_REDUCE)
            reduce_now(&schedule->call.reduction, step);
        else if (step->kind == STEP_FORK)
            fork_now(schedule, step);
        else if (step->kind == STEP_VISIT)
            start_visit(schedule), started++;
        else if (!send_at_once(schedule, step) && (error = start_message(schedule, step, started)) == OK)
            started++;
        if (error)
            note_own_error(schedule, error);
    }
    /* seq_cst, both: see note_error */
    atomic_store(&schedule->started, started);
    if (atomic_load(&schedule->over))
        cancel_round(schedule);
    return messages - started + 1;
}

static void finish(struct coll_schedule *schedule)
{
    void (*completed)(void *, int) = schedule->completed;
    void *context = schedule->context;
    int error = atomic_load_explicit(&schedule->error, memory_order_relaxed);
    uint64_t lacking = atomic_load_explicit(&schedule->lacking, memory_order_relaxed);
    if (unlikely(lacking && !error)) {
        error = vbase_fail(ERR_ARGUMENT, "%llu bytes less came than were expected: another member passes less",
                           (unsigned long long)lacking);
        note_error(schedule, error);
    }
    /* release: pairs with the acquire in vcoll_done. The schedule may be released from here on. */
    atomic_store_explicit(&schedule->state, SCHEDULE_DONE, memory_order_release);
    if (completed)
        completed(context, error);
}

static void schedule_ended(struct coll_schedule *schedule)
{
    /* acq_rel: the last one sees what the other one has done */
    if (atomic_fetch_sub_explicit(&schedule->ends, 1, memory_order_acq_rel) == 1)
        finish(schedule);
}

static void steps_ended(struct coll_schedule *schedule)
{
    /* relaxed: nobody else counts the steps, so where it is 2 there is a guard, even if that ends just now */
    if (atomic_load_explicit(&schedule->ends, memory_order_relaxed) > 1 && vmsg_guard_end(&schedule->guard))
        atomic_store_explicit(&schedule->ends, 1, memory_order_relaxed); /* nobody else has to do with it any more */
    schedule_ended(schedule);
}

/* Starts rounds until one does not complete at once. The caller owns the schedule: nothing of it is under way. */
static void run_rounds(struct coll_schedule *schedule)
{
    while (schedule->next < schedule->steps && !atomic_load(&schedule->over)) {
        uint32_t back = start_round(schedule);
        /* acq_rel: what the completed steps wrote is seen by the thread that goes on */
        if (atomic_fetch_sub_explicit(&schedule->pending, back, memory_order_acq_rel) != back)
            return;
    }
    steps_ended(schedule);
}

static void pending_end(struct coll_schedule *schedule)
{
    /* acq_rel: see run_rounds */
    if (atomic_fetch_sub_explicit(&schedule->pending, 1, memory_order_acq_rel) == 1)
        run_rounds(schedule);
}

static void step_completed(struct msg_request *request)
{
    struct coll_schedule *schedule = request->owner;
    if (unlikely(request->result.error) && note_own_error(schedule, request->result.error))
        cancel_round(schedule);
    pending_end(schedule);
}

/* Keeps the round that is under way from ending. False: none is. */
static bool round_hold(struct coll_schedule *schedule)
{
    uint32_t pending = atomic_load_explicit(&schedule->pending, memory_order_relaxed);
    /* acquire: pairs with the release in start_round */
    while (pending && !atomic_compare_exchange_weak_explicit(&schedule->pending, &pending, pending + 1,
                                                             memory_order_acquire, memory_order_relaxed))
        continue;
    return pending;
}

static void guard_ended(struct msg_request *request)
{
    struct coll_schedule *schedule = request->owner;
    /* where no round is under way the thread that starts the next one sees the error first */
    if (note_error(schedule, request->result.error) && round_hold(schedule)) {
        cancel_round(schedule);
        pending_end(schedule);
    }
    schedule_ended(schedule);
}

/* A visit ends by itself. All starts of a schedule have one guard's tag:
 * where one has ended early messages of it may be left, so those behind it end in the same way. */
static int guard_start(struct coll_schedule *schedule)
{
    const struct coll_group *group = schedule->call.group;
    bool guards = !schedule->visit && group->size > 1;
    schedule->guard.completed = guard_ended;
    schedule->guard.owner = schedule;
    atomic_store_explicit(&schedule->ends, guards ? 2 : 1, memory_order_relaxed);
    int error = guards ? vmsg_guard_start(&schedule->guard, group->context, tag_first(group, schedule->tag),
                                          group->member, group->size)
                       : OK;
    if (unlikely(error))
        atomic_store_explicit(&schedule->ends, 1, memory_order_relaxed);
    return error;
}

void vcoll_schedule_start(struct coll_schedule *schedule)
{
    schedule->step = schedule->made;
    schedule->steps = schedule->made_steps;
    schedule->next = 0;
    atomic_store_explicit(&schedule->error, OK, memory_order_relaxed);
    atomic_store_explicit(&schedule->over, false, memory_order_relaxed);
    atomic_store_explicit(&schedule->lacking, 0, memory_order_relaxed);
    atomic_store_explicit(&schedule->state, SCHEDULE_RUNNING, memory_order_relaxed);
    atomic_store_explicit(&schedule->pending, 0, memory_order_relaxed);
    int error = guard_start(schedule);
    if (unlikely(error))
        note_error(schedule, error);
    run_rounds(schedule);
}

void vcoll_schedule_stop(struct coll_schedule *schedule, int error)
{
    note_error(schedule, error);
    cancel_round(schedule);
}
