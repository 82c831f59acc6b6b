/* Collectives: checks their arguments and gives them to coll. Each has six forms: blocking, non-blocking and
 * persistent, with int and with 64-bit counts; all come to one body with the same structure. What a collective takes is
 * written in mpi.h (MPI_ONE_ONE_ and its like); its row at the end tells what that is, by the entry's own name. */
#include "mpi/check.h"
#include "mpi/collective.h"
#include "mpi/message.h"
#include "mpi/request.h"

/* Which sides of a call a rank's arguments must be right on, and which may be MPI_IN_PLACE. */
enum sides { NO_SIDE = 0, SEND = 1, RECEIVE = 2, BOTH = 3 };
enum { ROOTED = 1, REDUCES = 2, SEND_ARRAYS = 4, RECEIVE_ARRAYS = 8, DISPLACED = 16, TYPED = 32, SEND_BLOCKS = 64,
       RECEIVE_BLOCKS = 128 }; /* blocks: the side has one of COUNT for each rank */
#define ALL_ARRAYS (SEND_ARRAYS | RECEIVE_ARRAYS | DISPLACED)

static const struct rule {
    uint8_t flags, at_root, elsewhere; /* enum sides; all are the root where there is none */
    uint8_t place_at_root, place_elsewhere;
} rules[COLL_KINDS] = {
    [COLL_BARRIER] = {0},
    [COLL_BCAST] = {ROOTED, RECEIVE, RECEIVE, NO_SIDE, NO_SIDE},
    [COLL_REDUCE] = {ROOTED | REDUCES, BOTH, SEND, SEND, NO_SIDE},
    [COLL_ALLREDUCE] = {REDUCES, BOTH, BOTH, SEND, SEND},
    [COLL_SCAN] = {REDUCES, BOTH, BOTH, SEND, SEND},
    [COLL_EXSCAN] = {REDUCES, BOTH, BOTH, SEND, SEND},
    [COLL_REDUCE_SCATTER] = {REDUCES | RECEIVE_ARRAYS, BOTH, BOTH, SEND, SEND},
    [COLL_REDUCE_SCATTER_BLOCK] = {REDUCES, BOTH, BOTH, SEND, SEND},
    [COLL_GATHER] = {ROOTED | RECEIVE_BLOCKS, BOTH, SEND, SEND, NO_SIDE},
    [COLL_GATHERV] = {ROOTED | RECEIVE_ARRAYS | DISPLACED, BOTH, SEND, SEND, NO_SIDE},
    [COLL_SCATTER] = {ROOTED | SEND_BLOCKS, BOTH, RECEIVE, RECEIVE, NO_SIDE},
    [COLL_SCATTERV] = {ROOTED | SEND_ARRAYS | DISPLACED, BOTH, RECEIVE, RECEIVE, NO_SIDE},
    [COLL_ALLGATHER] = {RECEIVE_BLOCKS, BOTH, BOTH, SEND, SEND},
    [COLL_ALLGATHERV] = {RECEIVE_ARRAYS | DISPLACED, BOTH, BOTH, SEND, SEND},
    [COLL_ALLTOALL] = {SEND_BLOCKS | RECEIVE_BLOCKS, BOTH, BOTH, SEND, SEND},
    [COLL_ALLTOALLV] = {ALL_ARRAYS, BOTH, BOTH, SEND, SEND},
    [COLL_ALLTOALLW] = {ALL_ARRAYS | TYPED, BOTH, BOTH, SEND, SEND},
};

#define NEAR_WORDS 96 /* of 16 ranks: a blocking call on fewer needs no memory */
#define LAST_WORDS (6 * 1024) /* of as many ranks as may meet in shared memory: where malloc gives none */
#define NO_ROOM (-1)  /* for arrays: no class; the caller refuses */
#define ALIASED (-2)  /* no class: both buffers are one, which is raised when the call is carried out */

/* A checked call. It lies on the stack for a blocking call, else with the request. */
struct work {
    const char *name;       /* of the MPI call */
    struct mpi_comm *comm;
    int sends, receives;    /* entries of the arrays of each side */
    struct coll_call call;
    struct coll_schedule *schedule; /* of a request */
    struct mpi_call_check *check;   /* of a request that was not prepared, with VIADUCT_CHECK; else NULL */
    struct mpi_user_operation operation;
    int64_t *arrays, *next; /* widened arrays, from malloc; NULL where none was needed */
    int64_t *near;          /* room that is there already; NULL: there is none */
    size_t near_words;
    bool kept;              /* references on operation's objects are held */
    bool aliased;           /* of a request: it ends with that error */
};

/* Those that move little are made where they are called, see collective_perform: what decides there is constant, as
 * the address of their struct mpi_collective is passed to nothing that is not inlined. */

static uint8_t rule_of(const struct work *work) { return rules[work->call.kind].flags; }

/* What the send or receive side of a call is called in a sentence: nothing where there is one only. */
static COLD const char *side_name(const struct work *work, const char *name)
{
    bool two = rules[work->call.kind].at_root == BOTH && !(rule_of(work) & REDUCES);
    return !two ? "" : name[0] == 's' ? "send " : "receive ";
}

MPI_HOT struct mpi_type *type_check(const struct work *work, MPI_Datatype handle, const char *name, int *error)
{
    struct mpi_type *type = mpi_type_at(handle);
    bool right = likely(type != NULL) && likely(type->committed);
    *error = right ? MPI_SUCCESS : mpi_wrong_type(work->comm, work->name, handle, side_name(work, name));
    return type;
}

static COLD int buffer_refuse(const struct work *work, const char *name)
{
    return mpi_error(work->comm, work->name, MPI_ERR_BUFFER, "the %s buffer is NULL", name);
}

/* RANK: whose it is, -1: there is one for all. */
static COLD int count_refuse(const struct work *work, int rank, int64_t count, const char *name)
{
    char whose[32] = "";
    if (rank >= 0)
        snprintf(whose, sizeof whose, " for rank %d", rank);
    return mpi_error(work->comm, work->name, MPI_ERR_COUNT, "%scount %lld%s is negative", side_name(work, name),
                     (long long)count, whose);
}

/* ---- arrays ---- */

static int partners_of(const struct work *work, const struct coll_side *side)
{
    return side == &work->call.send ? work->sends : work->receives;
}

/* Room for an array of 64 bits each; NULL: no memory. */
static int64_t *array_room(struct work *work)
{
    size_t size = (size_t)(work->sends > work->receives ? work->sends : work->receives);
    if (!work->next && work->near && 6 * size <= work->near_words)
        work->next = work->near;
    if (!work->next && !(work->arrays = work->next = malloc(6 * size * sizeof(int64_t) + 1)))
        return NULL;
    int64_t *place = work->next;
    work->next += size;
    return place;
}

/* Numbers as 64 bits. A blocking call uses the program's own array where it has 64 bits already. A request always has a
 * copy: programs free their arrays before it is complete, mpi4py 4.1 among them. NULL: no memory. */
static const int64_t *array_widen(struct work *work, const void *array, int partners, bool wide)
{
    if (wide && work->near)
        return array;
    int64_t *place = array_room(work);
    for (int i = 0; place && i < partners; i++)
        place[i] = wide ? ((const int64_t *)array)[i] : ((const int *)array)[i];
    return place;
}

static int types_fill(struct work *work, const struct mpi_side *from, struct coll_side *side, const char *name)
{
    struct type_layout **layouts = (struct type_layout **)array_room(work);
    if (!layouts)
        return NO_ROOM;
    for (int i = 0; i < partners_of(work, side); i++) {
        int error;
        struct mpi_type *type = type_check(work, from->types[i], name, &error);
        if (error)
            return error;
        layouts[i] = type->layout;
    }
    side->layouts = layouts;
    return MPI_SUCCESS;
}

/* Of reduce_scatter a rank receives its own block alone, unless what it sends lies there, too. */
static bool block_is_own(const struct work *work, const struct mpi_collective *c, int i)
{
    return !(rule_of(work) & REDUCES) || c->send.buffer == MPI_IN_PLACE || i == work->comm->thing.rank;
}

static int arrays_fill(struct work *work, const struct mpi_collective *c, const struct mpi_side *from,
                       struct coll_side *side, const char *name)
{
    bool displaced = rule_of(work) & DISPLACED, typed = rule_of(work) & TYPED;
    int partners = partners_of(work, side);
    if (partners > 0 && (!from->counts || (displaced && !from->displacements) || (typed && !from->types)))
        return mpi_error(work->comm, c->call, MPI_ERR_ARG, "an array of the %s side is NULL", name);
    side->counts = array_widen(work, from->counts, partners, c->wide);
    if (displaced && side->counts)
        side->displacements =
            array_widen(work, from->displacements, partners, c->wide || (c->neighbors && typed));
    if (partners > 0 && (!side->counts || (displaced && !side->displacements)))
        return NO_ROOM;
    for (int i = 0; i < partners; i++)
        if (side->counts[i] < 0)
            return count_refuse(work, i, side->counts[i], name);
    int error = typed ? types_fill(work, from, side, name) : MPI_SUCCESS;
    for (int i = 0; !error && !from->buffer && i < partners; i++) {
        const struct type_layout *layout = typed ? side->layouts[i] : side->layout;
        int64_t displacement = displaced ? side->displacements[i] * (typed ? 1 : layout->shape.extent) : 0;
        if (side->counts[i] > 0 && block_is_own(work, c, i) && layout->shape.size > 0 &&
            !mpi_base_fits(NULL, displacement, layout))
            error = buffer_refuse(work, name);
    }
    return error;
}

/* ---- one side ---- */

MPI_HOT int plain_fill(struct work *work, const struct mpi_side *from, struct coll_side *side, const char *name)
{
    uint64_t bytes;
    side->count = (uint64_t)from->count;
    if (unlikely(from->count < 0))
        return count_refuse(work, -1, from->count, name);
    if (unlikely(__builtin_mul_overflow(side->count, side->layout->shape.size, &bytes)))
        return mpi_error(work->comm, work->name, MPI_ERR_COUNT, "%lld elements do not fit into 64 bits",
                         (long long)from->count);
    /* without an edge nothing lies there */
    bool right = likely(bytes == 0 || mpi_base_fits(from->buffer, 0, side->layout)) || partners_of(work, side) == 0;
    return right ? MPI_SUCCESS : buffer_refuse(work, name);
}

MPI_HOT int side_fill(struct work *work, const struct rule *rule, const struct mpi_collective *c,
                      const struct mpi_side *from, struct coll_side *side, bool arrays, const char *name)
{
    int error = MPI_SUCCESS;
    side->base = (void *)from->buffer;
    if (!(rule->flags & TYPED)) {
        struct mpi_type *type = type_check(work, from->type, name, &error);
        if (unlikely(error))
            return error;
        side->layout = type->layout;
    }
    return arrays ? arrays_fill(work, c, from, side, name) : plain_fill(work, from, side, name);
}

/* MPI_IN_PLACE on a side: allowed or not. */
MPI_HOT int place_fill(struct work *work, struct coll_side *side, bool allowed, const char *name)
{
    if (!allowed)
        return mpi_error(work->comm, work->name, MPI_ERR_BUFFER, "the %s buffer cannot be MPI_IN_PLACE here", name);
    side->base = COLL_IN_PLACE;
    return MPI_SUCCESS;
}

/* ---- buffers that are one ---- */

static COLD int alias_refuse(const struct work *work)
{
    return mpi_error(work->comm, work->name, MPI_ERR_BUFFER,
                     "the send and the receive buffer are the same memory: MPI_IN_PLACE says that");
}

/* Where other ranks cannot see it they count on this one: it does its part as if that were said, and then it is
 * raised. Else all ranks refuse. ALIASED, or a class. */
static COLD int alias_find(struct work *work, int may_be_in_place)
{
    if (!(rule_of(work) & ROOTED) && work->call.kind != COLL_EXSCAN)
        return alias_refuse(work);
    (may_be_in_place & SEND ? &work->call.send : &work->call.receive)->base = COLL_IN_PLACE;
    return ALIASED;
}

/* What this rank sends to itself, or gets from itself, on a side. */
struct own {
    uintptr_t start;
    const struct type_layout *layout;
    bool data;
};
static struct own own_part(const struct work *work, const struct coll_side *side, bool blocks)
{
    int rank = work->comm->thing.rank;
    const struct type_layout *layout = side->layouts ? side->layouts[rank] : side->layout;
    int64_t at = side->displacements ? side->displacements[rank] : blocks ? rank * (int64_t)side->count : 0;
    uint64_t count = side->counts ? (uint64_t)side->counts[rank] : side->count;
    return (struct own){(uintptr_t)side->base + (uint64_t)at * (side->layouts ? 1 : (uint64_t)layout->shape.extent),
                        layout, count > 0 && layout->shape.size > 0};
}

/* Where both sides have one type it is told for certain: the own parts are one, or both buffers begin as one, without
 * displacements. */
static bool is_aliased(const struct work *work)
{
    const struct coll_side *send = &work->call.send, *receive = &work->call.receive;
    if (work->call.between || work->call.edges || send->base == COLL_IN_PLACE || receive->base == COLL_IN_PLACE)
        return false;
    struct own from = own_part(work, send, rule_of(work) & SEND_BLOCKS),
               to = own_part(work, receive, rule_of(work) & RECEIVE_BLOCKS);
    bool one = send->base == receive->base && !(rule_of(work) & DISPLACED);
    return from.data && to.data && from.layout == to.layout && (from.start == to.start || one);
}

/* The sum of an array's counts decides for reduce_scatter. */
static bool side_may_hold_data(const struct work *work, const struct coll_side *side)
{
    int64_t sum = side->counts ? 0 : (int64_t)side->count;
    for (int i = 0; side->counts && i < work->receives; i++)
        sum |= side->counts[i];
    return sum != 0 && side->layout->shape.size > 0;
}

/* Reductions have one type and count for both sides; only the buffers differ. */
MPI_HOT int reduction_fill(struct work *work, const struct rule *rule, const struct mpi_collective *c, int significant,
                           int may_be_in_place)
{
    struct coll_side *send = &work->call.send, *receive = &work->call.receive;
    struct mpi_side described = c->receive;
    bool receives = significant & RECEIVE;
    if (receives && c->receive.buffer == MPI_IN_PLACE)
        return place_fill(work, receive, false, "receive");
    if (!receives) /* what is looked at is the send buffer */
        described.buffer = c->send.buffer;
    int error = side_fill(work, rule, c, &described, receive, rule->flags & RECEIVE_ARRAYS,
                          receives ? "receive" : "send");
    if (error)
        return error;
    receive->base = (void *)c->receive.buffer;
    *send = *receive;
    send->base = (void *)c->send.buffer;
    if (!(significant & SEND))
        ; /* the root beside a group */
    else if (c->send.buffer == MPI_IN_PLACE)
        error = place_fill(work, send, may_be_in_place & SEND, "send");
    else if (!c->send.buffer && receives && side_may_hold_data(work, receive) &&
             !mpi_base_fits(NULL, 0, receive->layout))
        error = buffer_refuse(work, "send");
    else if (unlikely(send->base == receive->base) && receives && own_part(work, receive, false).data)
        error = alias_find(work, may_be_in_place);
    if (error && error != ALIASED)
        return error;
    work->operation = (struct mpi_user_operation){mpi_op_at(c->op), mpi_type_at(c->receive.type)};
    if (unlikely(!work->operation.op))
        return mpi_wrong(work->comm, c->call, &mpi_kind_op, c->op);
    return mpi_reduction(work->comm, c->call, &work->operation, &work->call.reduction) ?: error;
}

/* The side of a call that is WHICH, if this rank needs it. */
MPI_HOT int side_fill_needed(struct work *work, const struct rule *rule, const struct mpi_collective *c,
                             enum sides which, int significant, int may_be_in_place)
{
    bool sends = which == SEND;
    const struct mpi_side *from = sends ? &c->send : &c->receive;
    struct coll_side *side = sends ? &work->call.send : &work->call.receive;
    const char *name = sends ? "send" : "receive";
    if (!(significant & which))
        return MPI_SUCCESS;
    if (from->buffer == MPI_IN_PLACE)
        return place_fill(work, side, may_be_in_place & which, name);
    return side_fill(work, rule, c, from, side, rule->flags & (sends ? SEND_ARRAYS : RECEIVE_ARRAYS), name);
}

/* The root as coll knows it. */
MPI_HOT int root_place(const struct mpi_comm *comm, int root)
{
    return likely(!mpi_comm_is_inter(comm)) ? root
           : root == MPI_ROOT               ? COLL_ROOT_HERE
           : root == MPI_PROC_NULL          ? COLL_ROOT_BESIDE
                                            : root;
}

static COLD int root_refuse(const struct work *work)
{
    char name[64];
    return mpi_error(work->comm, work->name, MPI_ERR_ROOT, "root %d is not in %s of %d ranks", work->call.root,
                     mpi_thing_name(work->comm, name), work->comm->peers);
}

/* Which sides count on this rank, and which of them may be in place; a root that is none is raised. */
MPI_HOT int sides_find(const struct work *work, const struct rule *rule, const struct mpi_collective *c,
                       int *significant, int *may_be_in_place)
{
    struct mpi_comm *comm = work->comm;
    bool inter = work->call.between, rooted = rule->flags & ROOTED,
         is_root = !rooted || c->root == (inter ? MPI_ROOT : comm->thing.rank);
    int at_root = rule->at_root, elsewhere = rule->elsewhere;
    if (unlikely(rooted && (unsigned)c->root >= (unsigned)comm->peers &&
                 !(inter && (c->root == MPI_ROOT || c->root == MPI_PROC_NULL))))
        return root_refuse(work);
    *may_be_in_place = inter || c->neighbors ? NO_SIDE
                       : is_root             ? rule->place_at_root
                                             : rule->place_elsewhere;
    *significant = is_root ? at_root : elsewhere;
    if (inter && is_root && at_root != elsewhere) /* the root has no part of its own */
        *significant &= ~elsewhere;
    if (inter && rooted && c->root == MPI_PROC_NULL)
        *significant = NO_SIDE;
    if (work->call.kind == COLL_EXSCAN && comm->thing.rank == 0 && c->send.buffer != MPI_IN_PLACE)
        *significant = SEND; /* there is nothing before it */
    return MPI_SUCCESS;
}

static COLD int comm_refuse(const struct work *work, int class, const char *what)
{
    char name[64];
    return mpi_error(work->comm, work->name, class, "%s %s", mpi_thing_name(work->comm, name), what);
}

/* With VIADUCT_CHECK: of a call that BLOCKS what the other ranks call is compared. */
static COLD int call_compare(const struct mpi_collective *c, int root, bool blocks)
{
    struct mpi_comm *comm = mpi_checking && blocks ? mpi_comm_at(c->comm) : NULL;
    if (!comm)
        return MPI_SUCCESS;
    struct mpi_payload payload = mpi_payload_of(*c, comm);
    return mpi_check_call(comm, c->call, root, &payload);
}

MPI_HOT int root_of(const struct mpi_collective *c)
{
    return rules[c->kind].flags & ROOTED ? c->root : MPI_CHECK_NO_ROOT;
}

/* Field by field: C itself stays in registers. */
MPI_HOT struct mpi_side side_copy(const struct mpi_side *side)
{
    return (struct mpi_side){.buffer = side->buffer, .count = side->count, .type = side->type, .counts = side->counts,
                             .displacements = side->displacements, .types = side->types};
}
MPI_HOT struct mpi_collective collective_copy(const struct mpi_collective *c)
{
    return (struct mpi_collective){.call = c->call, .kind = c->kind, .comm = c->comm, .root = c->root, .op = c->op,
                               .wide = c->wide, .neighbors = c->neighbors, .send = side_copy(&c->send),
                               .receive = side_copy(&c->receive)};
}

/* Checks the call C and makes coll's out of it in WORK. NO_ROOM: there is no memory for arrays, and none is raised;
 * ALIASED: WORK is complete. */
MPI_HOT int work_fill(struct work *work, const struct mpi_collective *c)
{
    const enum coll_kind kind = c->kind;
    const struct rule *rule = &rules[kind];
    int significant = NO_SIDE, may_be_in_place = NO_SIDE;
    int error = MPI_SUCCESS;
    struct mpi_comm *comm = mpi_comm_at(c->comm);
    if (unlikely(!comm))
        return mpi_wrong(NULL, c->call, &mpi_kind_comm, c->comm);
    work->name = c->call;
    work->comm = comm;
    work->arrays = work->next = NULL;
    work->kept = false;
    work->sends = comm->peers;
    work->receives = kind == COLL_REDUCE_SCATTER ? comm->size : comm->peers;
    work->call.kind = kind; /* field by field: all at once is a loop that takes longer than the rest */
    work->call.form = COLL_ANY;
    work->call.group = &comm->coll;
    work->call.root = root_place(work->comm, c->root);
    work->call.edges = NULL;
    work->call.send = work->call.receive = (struct coll_side){.base = NULL};
    work->call.reduction = (struct type_reduction){.kernel = NULL};
    if (unlikely(c->neighbors && !comm->topology))
        return comm_refuse(work, MPI_ERR_TOPOLOGY, "has no topology");
    if (unlikely(c->neighbors && comm->topology->lopsided)) /* others would wait for what nobody sends */
        return comm_refuse(work, MPI_ERR_TOPOLOGY, "has a graph with an edge that has none back");
    if (c->neighbors) {
        work->sends = comm->topology->outdegree;
        work->receives = comm->topology->indegree;
        work->call.edges = &comm->topology->edges;
    }
    work->call.between = mpi_comm_is_inter(comm) && kind != COLL_BARRIER; /* all wait for all there */
    if (unlikely(work->call.between && (kind == COLL_SCAN || kind == COLL_EXSCAN)))
        return comm_refuse(work, MPI_ERR_COMM, "is an intercommunicator");
    error = sides_find(work, rule, c, &significant, &may_be_in_place);
    if (error || !significant)
        return error;
    if (rule->flags & REDUCES)
        return reduction_fill(work, rule, c, significant, may_be_in_place);
    error = side_fill_needed(work, rule, c, SEND, significant, may_be_in_place);
    error = error ? error : side_fill_needed(work, rule, c, RECEIVE, significant, may_be_in_place);
    return !error && significant == BOTH && is_aliased(work) ? alias_find(work, may_be_in_place) : error;
}

/* A call with a wrong argument has not taken place: it takes no number, not for a comparison either. */
static COLD __attribute__((noinline)) int work_make_watched(struct work *work, struct mpi_collective c, bool blocks)
{
    mpi_enter_watched(c.call);
    int error = work_fill(work, &c);
    bool compares = !error || error == NO_ROOM || error == ALIASED;
    return (compares ? call_compare(&c, root_of(&c), blocks) : MPI_SUCCESS) ?: error;
}

/* The watched one has a copy, so that the address of C is passed to nothing. */
MPI_HOT int work_make(struct work *work, const struct mpi_collective *c, bool blocks)
{
    return likely(mpi_quick()) ? work_fill(work, c) : work_make_watched(work, collective_copy(c), blocks);
}

/* ---- without memory ---- */

static enum coll_form form_of(bool again)
{
    /* one that is checked starts later than here, see COLL_ONCE */
    return again ? COLL_AGAIN : mpi_checking ? COLL_ANY : COLL_ONCE;
}

/* There is no memory: makes the call once more, in that of the stack. One that BLOCKS is carried out from there; of
 * another one the others are told that this rank takes no part. */
static COLD __attribute__((noinline)) int work_refuse(const struct mpi_collective *c, enum coll_form form, bool blocks)
{
    struct work work;
    int64_t near[LAST_WORDS];
    work.near = near;
    work.near_words = LAST_WORDS;
    int error = work_fill(&work, c);
    bool aliased = error == ALIASED;
    if (aliased)
        error = MPI_SUCCESS;
    if (error && error != NO_ROOM)
        return error;
    work.call.form = error ? COLL_ANY : form; /* so many ranks never meet in shared memory */
    if (!error && blocks)
        error = vcoll_run(&work.call);
    else
        error = vcoll_refuse(&work.call);
    if (mpi_checking && form == COLL_ANY && !blocks)
        mpi_check_call_refuse(work.comm);
    free(work.arrays);
    return error ? mpi_engine_error(work.comm, c->call, error) : aliased ? alias_refuse(&work) : MPI_SUCCESS;
}

/* As work_refuse, where there is no memory for a struct work of a call that does not block. */
static COLD __attribute__((noinline)) int work_refuse_unmade(const struct mpi_collective *c, bool again)
{
    if (!mpi_quick())
        mpi_enter_watched(c->call);
    return call_compare(c, root_of(c), again) ?: work_refuse(c, form_of(again), false);
}

/* ---- the three ways ---- */

static COLD int aliased_run(const struct work *work)
{
    int error = vcoll_run(&work->call);
    return error ? mpi_engine_error(work->comm, work->name, error) : alias_refuse(work);
}

MPI_HOT int collective_run_here(const struct mpi_collective *c, int64_t *near)
{
    struct work work;
    work.arrays = NULL;
    work.near = near;
    work.near_words = NEAR_WORDS;
    int error = work_make(&work, c, true);
    if (likely(!error)) {
        error = vcoll_run(&work.call);
        if (unlikely(error))
            error = mpi_engine_error(work.comm, c->call, error);
    } else if (error == ALIASED) {
        error = aliased_run(&work);
    }
    free(work.arrays);
    return error;
}

static int collective_run(const struct mpi_collective *c)
{
    int64_t near[NEAR_WORDS];
    int error = collective_run_here(c, near);
    return unlikely(error == NO_ROOM) ? work_refuse(c, COLL_ANY, true) : error;
}

static bool work_done(struct mpi_request *request)
{
    const struct work *work = request->extra;
    return vcoll_done(work->schedule);
}

static int work_outcome(struct mpi_request *request, MPI_Status *status, bool last)
{
    const struct work *work = request->extra;
    (void)last;
    mpi_status_empty(status);
    int class = mpi_engine_class(vcoll_error(work->schedule));
    return class || !work->aliased ? class : MPI_ERR_BUFFER;
}

static int work_raise(const char *call, struct mpi_request *request, int class)
{
    const struct work *work = request->extra;
    return work->check && mpi_check_call_failed(work->check) ? mpi_check_call_raise(work->check, work->name)
           : work->aliased && class == MPI_ERR_BUFFER        ? alias_refuse(work)
                                                             : mpi_request_failed(call, request, class);
}

static int work_start(const char *call, struct mpi_request *request)
{
    const struct work *work = request->extra;
    int error = work->check ? mpi_check_call_launch(work->check, work->schedule)
                            : vcoll_launch(work->schedule, NULL, NULL);
    return error ? mpi_engine_error(request->comm, call, error) : MPI_SUCCESS;
}

static void work_drop(struct mpi_request *request)
{
    struct work *work = request->extra;
    if (work->check)
        mpi_check_call_drop(work->check);
    vcoll_release(work->schedule);
    free(work->arrays);
    if (!work->kept)
        return;
    mpi_drop(work->operation.op);
    mpi_drop(work->operation.type);
}

static const struct mpi_request_kind collective_request = {
    .done = work_done, .outcome = work_outcome, .raise = work_raise, .start = work_start, .drop = work_drop};

/* ---- with VIADUCT_CHECK: those that do not block start when all ranks have been compared ---- */

static bool checked_done(struct mpi_request *request)
{
    const struct work *work = request->extra;
    return mpi_check_call_done(work->check);
}

static int checked_outcome(struct mpi_request *request, MPI_Status *status, bool last)
{
    const struct work *work = request->extra;
    int class = work_outcome(request, status, last);
    return mpi_check_call_failed(work->check) ? MPI_ERR_OTHER : class;
}

static const struct mpi_request_kind checked_request = {
    .done = checked_done, .outcome = checked_outcome, .raise = work_raise, .start = work_start, .drop = work_drop};

/* The schedule, and with CHECKS the comparison of calls, which has the number before: as that of a call that blocks,
 * which it may meet. Whatever fails, both numbers are taken and the others are told. */
static int work_prepare(struct work *work, const struct mpi_collective *c, bool checks)
{
    uint32_t *number = &work->comm->coll.sequence, first = *number;
    *number = first + checks;
    int error = vcoll_prepare(&work->call, &work->schedule);
    uint32_t next = *number;
    *number = first;
    if (error && checks) {
        mpi_check_call_refuse(work->comm);
    } else if (checks) {
        struct mpi_payload payload = mpi_payload_of(*c, work->comm);
        error = mpi_check_call_prepare(work->comm, c->call, root_of(c), &payload, &work->check);
        if (error) /* of all members: none launches the other one */
            vcoll_release(work->schedule);
    }
    *number = next;
    return error;
}

/* The schedule with all it needs, in a request that is not started. */
static int request_make(const struct mpi_collective *c, bool again, MPI_Request *out, struct mpi_request **request)
{
    bool checks = mpi_checking && !again;
    struct work *work = malloc(sizeof *work);
    if (!work)
        return work_refuse_unmade(c, again);
    work->arrays = NULL;
    work->near = NULL;
    work->check = NULL;
    int error = work_make(work, c, again);
    work->aliased = error == ALIASED;
    if (work->aliased)
        error = MPI_SUCCESS;
    if (!error && !out)
        error = mpi_null(work->comm, c->call, "request");
    if (error)
        goto refused;
    /* before the others count on this rank */
    *request = mpi_request_take(checks ? &checked_request : &collective_request, c->call, work->comm);
    if (!*request) {
        error = NO_ROOM;
        goto refused;
    }
    work->call.form = form_of(again);
    error = work_prepare(work, c, checks);
    if (error)
        goto failed;
    if (work->call.reduction.function) {
        work->kept = true;
        mpi_keep(work->operation.op);
        mpi_keep(work->operation.type);
    }
    (*request)->extra = work;
    return MPI_SUCCESS;
failed:
    error = mpi_engine_error(work->comm, c->call, error);
    (*request)->kind = &mpi_request_null; /* it has no work */
    mpi_request_give(*request);
refused:
    free(work->arrays);
    free(work);
    return error == NO_ROOM ? work_refuse(c, form_of(again), false) : error;
}

static int collective_start(const struct mpi_collective *c, MPI_Request *out)
{
    struct mpi_request *request;
    int error = request_make(c, false, out, &request);
    if (error)
        return error;
    error = work_start(c->call, request);
    if (error) {
        mpi_request_give(request);
        return error;
    }
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

static int collective_prepare(const struct mpi_collective *c, MPI_Info info, MPI_Request *out)
{
    struct mpi_request *request;
    int error = mpi_arguments(c->call, ARGUMENTS(RUNNING, HINTS(info))) ?: request_make(c, true, out, &request);
    if (error)
        return error;
    request->persistent = true;
    request->active = false;
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

/* ---- the forms ---- */

/* How a form carries out a collective, and what it takes for that. */
struct form {
    enum { FORM_RUN, FORM_START, FORM_PREPARE } how;
    MPI_Request *request;
    MPI_Info info;
};

static inline __attribute__((always_inline)) int collective_perform(struct form form, const struct mpi_collective *c)
{
    bool moves_little = c->kind <= COLL_ALLREDUCE;
    return form.how == FORM_RUN     ? (moves_little ? collective_run_here(c, NULL) : collective_run(c))
           : form.how == FORM_START ? collective_start(c, form.request)
                                    : collective_prepare(c, form.info, form.request);
}

#define ALL MPI_Comm comm
#define ROOT int root, MPI_Comm comm
#define STARTED MPI_Request *request
#define PERSISTENT MPI_Info info, MPI_Request *request
#define RUNS const struct form form = {FORM_RUN, NULL, MPI_INFO_NULL}
#define STARTS const struct form form = {FORM_START, request, MPI_INFO_NULL}
#define PREPARES const struct form form = {FORM_PREPARE, request, info}

/* The six forms of a collective, by the macro of its names in mpi.h. They have one body, in which `form` is theirs. */
#define SIX(run, run_c, start, start_c, prepare, prepare_c, takes, whom, ...)                                          \
    ENTRIES(run, run_c, takes, whom, RUNS; __VA_ARGS__)                                                                \
    ENTRIES(start, start_c, takes, (UNWRAPPED whom, STARTED), STARTS; __VA_ARGS__)                                     \
    ENTRIES(prepare, prepare_c, takes, (UNWRAPPED whom, PERSISTENT), PREPARES; __VA_ARGS__)
#define FORMS(...) SIX(__VA_ARGS__)

#define IS(kind, ...) collective_perform(form, &(struct mpi_collective){NAME, kind, comm, __VA_ARGS__})
/* The sides: a count for all partners, an array with one for each (V), and datatypes for each, too (W). */
#define SENDS .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype}
#define SENDS_V .send = {.buffer = sendbuf, .counts = sendcounts, .displacements = sdispls, .type = sendtype}
#define SENDS_W .send = {.buffer = sendbuf, .counts = sendcounts, .displacements = sdispls, .types = sendtypes}
#define RECEIVES .receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype}
#define RECEIVES_V .receive = {.buffer = recvbuf, .counts = recvcounts, .displacements = rdispls, .type = recvtype}
#define RECEIVES_W .receive = {.buffer = recvbuf, .counts = recvcounts, .displacements = rdispls, .types = recvtypes}
#define WIDE_BY(counts) .wide = sizeof *(counts) == sizeof(MPI_Count)

#define BARRIER IS(COLL_BARRIER, 0)
ENTRY(MPI_Barrier)(ALL) { DOING("MPI_Barrier"); RUNS; return BARRIER; }
ENTRY(MPI_Ibarrier)(ALL, STARTED) { DOING("MPI_Ibarrier"); STARTS; return BARRIER; }
ENTRY(MPI_Barrier_init)(ALL, PERSISTENT) { DOING("MPI_Barrier_init"); PREPARES; return BARRIER; }

FORMS(MPI_BCAST_ROW_, MPI_BUFFER_, (ROOT),
      return IS(COLL_BCAST, root, .receive = {.buffer = buffer, .count = count, .type = datatype}))

FORMS(MPI_GATHER_ROW_, MPI_ONE_ONE_, (ROOT), return IS(COLL_GATHER, root, SENDS, RECEIVES))
FORMS(MPI_GATHERV_ROW_, MPI_ONE_MANY_, (ROOT), return IS(COLL_GATHERV, root, WIDE_BY(recvcounts), SENDS, RECEIVES_V))
FORMS(MPI_SCATTER_ROW_, MPI_ONE_ONE_, (ROOT), return IS(COLL_SCATTER, root, SENDS, RECEIVES))
FORMS(MPI_SCATTERV_ROW_, MPI_MANY_ONE_, (ROOT), return IS(COLL_SCATTERV, root, WIDE_BY(sendcounts), SENDS_V, RECEIVES))

FORMS(MPI_ALLGATHER_ROW_, MPI_ONE_ONE_, (ALL), return IS(COLL_ALLGATHER, SENDS, RECEIVES))
FORMS(MPI_ALLGATHERV_ROW_, MPI_ONE_MANY_, (ALL), return IS(COLL_ALLGATHERV, WIDE_BY(recvcounts), SENDS, RECEIVES_V))
FORMS(MPI_ALLTOALL_ROW_, MPI_ONE_ONE_, (ALL), return IS(COLL_ALLTOALL, SENDS, RECEIVES))
FORMS(MPI_ALLTOALLV_ROW_, MPI_MANY_MANY_, (ALL), return IS(COLL_ALLTOALLV, WIDE_BY(sendcounts), SENDS_V, RECEIVES_V))
FORMS(MPI_ALLTOALLW_ROW_, MPI_TYPED_, (ALL), return IS(COLL_ALLTOALLW, WIDE_BY(sendcounts), SENDS_W, RECEIVES_W))

#define ALONG_EDGES(kind, ...) IS(kind, .neighbors = true, __VA_ARGS__)
FORMS(MPI_NEIGHBOR_ALLGATHER_ROW_, MPI_ONE_ONE_, (ALL), return ALONG_EDGES(COLL_ALLGATHER, SENDS, RECEIVES))
FORMS(MPI_NEIGHBOR_ALLGATHERV_ROW_, MPI_ONE_MANY_, (ALL),
      return ALONG_EDGES(COLL_ALLGATHERV, WIDE_BY(recvcounts), SENDS, RECEIVES_V))
FORMS(MPI_NEIGHBOR_ALLTOALL_ROW_, MPI_ONE_ONE_, (ALL), return ALONG_EDGES(COLL_ALLTOALL, SENDS, RECEIVES))
FORMS(MPI_NEIGHBOR_ALLTOALLV_ROW_, MPI_MANY_MANY_, (ALL),
      return ALONG_EDGES(COLL_ALLTOALLV, WIDE_BY(sendcounts), SENDS_V, RECEIVES_V))
FORMS(MPI_NEIGHBOR_ALLTOALLW_ROW_, MPI_TYPED_FAR_, (ALL),
      return ALONG_EDGES(COLL_ALLTOALLW, WIDE_BY(sendcounts), SENDS_W, RECEIVES_W))

#define OPERANDS .op = op, .send = {.buffer = sendbuf}, .receive = {.buffer = recvbuf, .count = count, .type = datatype}
FORMS(MPI_REDUCE_ROW_, MPI_REDUCED_, (ROOT), return IS(COLL_REDUCE, root, OPERANDS))
FORMS(MPI_ALLREDUCE_ROW_, MPI_REDUCED_, (ALL), return IS(COLL_ALLREDUCE, OPERANDS))
FORMS(MPI_SCAN_ROW_, MPI_REDUCED_, (ALL), return IS(COLL_SCAN, OPERANDS))
FORMS(MPI_EXSCAN_ROW_, MPI_REDUCED_, (ALL), return IS(COLL_EXSCAN, OPERANDS))
FORMS(MPI_REDUCE_SCATTER_BLOCK_ROW_, MPI_REDUCED_, (ALL), return IS(COLL_REDUCE_SCATTER_BLOCK, OPERANDS))
FORMS(MPI_REDUCE_SCATTER_ROW_, MPI_SHARED_OUT_, (ALL),
      return IS(COLL_REDUCE_SCATTER, .op = op, WIDE_BY(recvcounts), .send = {.buffer = sendbuf},
                .receive = {.buffer = recvbuf, .counts = recvcounts, .type = datatype}))
