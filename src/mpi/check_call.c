/* VIADUCT_CHECK, collectives that differ: before each one its members reduce notes of what they call, by messages, and
 * all of them learn the first two that differ in the call, in its root, or in the payload where it must be the same on
 * all ranks: its operation, bytes, and the signature of its types. Called by collective.c and by what ends the world.
 *
 * A call that blocks waits for the result first: MPI lets any collective synchronize. One that does not block starts
 * only when the result is there, from progress. Both take the same way, so a call that blocks is told apart from one
 * that does not. */
#include "mpi/check.h"
#include "mpi/comm.h"
#include "mpi/raise.h"
#include "mpi/type.h"

struct note {
    char call[40];
    int32_t rank, root; /* root: MPI_CHECK_NO_ROOT where there is none */
    uint64_t place;     /* see mpi_check_mark */
    struct mpi_payload payload;
};
/* Of ranks that follow each other: the first of those that know most of their payload, and the first that differs from
 * it. */
struct notes {
    struct note first, other;
    int64_t differ;
};

struct mpi_call_check {
    struct notes own, all;
    struct mpi_comm *comm;
    struct coll_schedule *schedule, *then;
    _Atomic int state; /* enum state: written from progress */
};
enum state { CHECK_ASKS, CHECK_PASSED, CHECK_FAILED };

static struct type_layout *notes_layout;

/* Takes what the calls need, so that none needs memory for it. */
void mpi_check_open(void)
{
    mpi_checking = vbase_settings.check &&
                   (notes_layout || vtype_layout_bytes(sizeof(struct notes), 1, &notes_layout) == OK);
    mpi_watching_settle();
}

enum difference { SAME, CALLS, OPERATIONS, LENGTHS, TYPES };

/* 0: nothing; 1: all but the types; 2: all. What one rank lacks is not compared. In this order, of everything at once,
 * so that it does not matter which ranks are compared first. */
static int note_knows(const struct note *note)
{
    const struct mpi_check_data *taken = &note->payload.taken, *given = &note->payload.given;
    if (taken->bytes == MPI_CHECK_ANY_LENGTH || given->bytes == MPI_CHECK_ANY_LENGTH)
        return 0;
    return taken->signature && given->signature ? 2 : 1;
}

static enum difference notes_differ(const struct note *a, const struct note *b)
{
    const struct mpi_payload *p = &a->payload, *q = &b->payload;
    int knows = note_knows(a) < note_knows(b) ? note_knows(a) : note_knows(b);
    if (a->root != b->root || strcmp(a->call, b->call) != 0)
        return CALLS;
    if (knows && p->operation != q->operation)
        return OPERATIONS;
    if (knows && (p->taken.bytes != q->taken.bytes || p->given.bytes != q->given.bytes))
        return LENGTHS;
    if (knows == 2 && (p->taken.signature != q->taken.signature || p->given.signature != q->given.signature))
        return TYPES;
    return SAME;
}

/* LOWER, UPPER: of the lower ranks and of those behind them; the result takes the place of UPPER. */
static void notes_join(void *context, const void *lower, void *upper, size_t count)
{
    (void)context, (void)count;
    struct notes before, behind;
    memcpy(&before, lower, sizeof before); /* neither need be aligned */
    memcpy(&behind, upper, sizeof behind);
    if (!before.differ && notes_differ(&before.first, &behind.first)) {
        before.other = behind.first;
        before.differ = true;
    } else if (!before.differ) {
        if (note_knows(&before.first) < note_knows(&behind.first))
            before.first = behind.first;
        before.other = behind.other;
        before.differ = behind.differ;
    }
    memcpy(upper, &before, sizeof before);
}

/* One element, so that no algorithm cuts it. */
static struct coll_call check_fill(struct mpi_call_check *check, struct mpi_comm *comm, const char *call, int root,
                                   const struct mpi_payload *payload)
{
    size_t length = strlen(call);
    if (length > 2 && strcmp(call + length - 2, "_c") == 0)
        length -= 2; /* the same call with larger counts */
    check->comm = comm;
    check->own = (struct notes){.first = {.rank = comm->thing.rank, .place = mpi_check_mark(mpi_check_caller()),
                                          .root = mpi_comm_is_inter(comm) ? MPI_CHECK_NO_ROOT : root,
                                          .payload = *payload}};
    snprintf(check->own.first.call, sizeof check->own.first.call, "%.*s", (int)length, call);
    return (struct coll_call){.kind = COLL_ALLREDUCE, .group = &comm->coll,
                              .send = {.base = &check->own, .count = 1, .layout = notes_layout},
                              .receive = {.base = &check->all, .count = 1, .layout = notes_layout},
                              .reduction = {.function = notes_join}};
}

/* DATA: the side of its payload that differs. */
static void note_describe(const struct note *note, enum difference difference, const struct mpi_check_data *data,
                          char *text, size_t size)
{
    char place[400], root[128] = "";
    int end = note->root == MPI_CHECK_NO_ROOT ? 0 : snprintf(root, sizeof root, " with root %d", note->root);
    const char *and = end ? " and" : " with";
    char *more = root + end;
    size_t room = sizeof root - (size_t)end;
    if (difference == OPERATIONS)
        snprintf(more, room, "%s %s", and, mpi_operation_text((enum type_operation)note->payload.operation));
    else if (difference == LENGTHS)
        snprintf(more, room, "%s %lld bytes", and, (long long)data->bytes);
    else if (difference == TYPES)
        snprintf(more, room, "%s %lld bytes of %.39s", and, (long long)data->bytes, data->type);
    mpi_check_place(mpi_check_marked(note->place), place);
    snprintf(text, size, "rank %d calls %.39s%s at %s", note->rank, note->call, root,
             basename(place)); /* without the folders both fit into a sentence */
}

static int raise_differ(const struct mpi_call_check *check, const char *call)
{
    static const char *const what[] = {[CALLS] = "call different collectives", [OPERATIONS] = "pass unlike operations",
                                       [LENGTHS] = "pass unlike lengths", [TYPES] = "pass unlike types"};
    char name[64], first[600], other[600];
    const struct note *a = &check->all.first, *b = &check->all.other;
    const struct mpi_payload *p = &a->payload, *q = &b->payload;
    enum difference difference = notes_differ(a, b);
    bool given = p->taken.bytes == q->taken.bytes &&
                 (difference == LENGTHS || p->taken.signature == q->taken.signature);
    note_describe(a, difference, given ? &p->given : &p->taken, first, sizeof first);
    note_describe(b, difference, given ? &q->given : &q->taken, other, sizeof other);
    return mpi_error(check->comm, call, MPI_ERR_OTHER, "the ranks of %s %s: %s, %s", mpi_thing_name(check->comm, name),
                     what[difference], first, other);
}

int mpi_check_call(struct mpi_comm *comm, const char *call, int root, const struct mpi_payload *payload)
{
    struct mpi_call_check check;
    struct coll_call reduction = check_fill(&check, comm, call, root, payload);
    int error = vcoll_run_by_messages(&reduction);
    return error              ? mpi_engine_error(comm, call, error)
           : check.all.differ ? raise_differ(&check, call)
                              : MPI_SUCCESS;
}

/* ---- of a call that does not block ---- */

void mpi_check_call_refuse(struct mpi_comm *comm)
{
    (void)vcoll_refuse(&(struct coll_call){.form = COLL_ANY, .group = &comm->coll});
}

int mpi_check_call_prepare(struct mpi_comm *comm, const char *call, int root, const struct mpi_payload *payload,
                           struct mpi_call_check **out)
{
    struct mpi_call_check *check = calloc(1, sizeof *check);
    if (!check) {
        mpi_check_call_refuse(comm);
        return ERR_MEMORY;
    }
    struct coll_call reduction = check_fill(check, comm, call, root, payload);
    int error = vcoll_prepare(&reduction, &check->schedule);
    if (error)
        free(check);
    else
        *out = check;
    return error;
}

static void check_ended(void *context, int error)
{
    struct mpi_call_check *check = context;
    bool passed = !error && !check->all.differ && vcoll_launch(check->then, NULL, NULL) == OK;
    /* release: the result is seen by the thread that sees the state */
    atomic_store_explicit(&check->state, passed ? CHECK_PASSED : CHECK_FAILED, memory_order_release);
}

int mpi_check_call_launch(struct mpi_call_check *check, struct coll_schedule *then)
{
    check->then = then;
    return vcoll_launch(check->schedule, check_ended, check);
}

bool mpi_check_call_done(const struct mpi_call_check *check)
{
    /* acquire: pairs with the release in check_ended */
    int state = atomic_load_explicit(&check->state, memory_order_acquire);
    return state == CHECK_FAILED || (state == CHECK_PASSED && vcoll_done(check->then));
}

bool mpi_check_call_failed(const struct mpi_call_check *check)
{
    return atomic_load_explicit(&check->state, memory_order_acquire) == CHECK_FAILED;
}

int mpi_check_call_raise(const struct mpi_call_check *check, const char *call)
{
    int error = vcoll_error(check->schedule);
    return check->all.differ && !error ? raise_differ(check, call)
                                       : mpi_engine_error(check->comm, call, error ? error : ERR_STATE);
}

void mpi_check_call_drop(struct mpi_call_check *check)
{
    vcoll_release(check->schedule);
    free(check);
}
