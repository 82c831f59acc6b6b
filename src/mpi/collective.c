/* Collectives: checks their arguments and gives them to coll. The entries are in bcast.c (barrier, bcast, gather and
 * scatter), exchange.c (allgather, alltoall) and reduce.c; all forms of a call come here with the same structure. */
#include "mpi/collective.h"
#include <stdlib.h>

/* Which sides a rank's arguments must be right on. */
enum side { SIDE_NONE = 0, SIDE_SEND = 1, SIDE_RECEIVE = 2, SIDE_BOTH = 3 };

static const struct {
    uint8_t at_root, elsewhere;           /* enum side; the two are alike where there is no root */
    bool rooted, reduces;
    bool send_arrays, receive_arrays;     /* counts, one for each rank */
    bool displacements, types;
    uint8_t in_place_at_root, in_place_elsewhere; /* which side may be MPI_IN_PLACE */
} rules[COLL_KINDS] = {
    [COLL_BARRIER] = {0},
    [COLL_BCAST] = {.at_root = SIDE_RECEIVE, .elsewhere = SIDE_RECEIVE, .rooted = true},
    [COLL_REDUCE] =
        {.at_root = SIDE_BOTH, .elsewhere = SIDE_SEND, .rooted = true, .reduces = true, .in_place_at_root = SIDE_SEND},
    [COLL_ALLREDUCE] = {.at_root = SIDE_BOTH,
                        .elsewhere = SIDE_BOTH,
                        .reduces = true,
                        .in_place_at_root = SIDE_SEND,
                        .in_place_elsewhere = SIDE_SEND},
    [COLL_SCAN] = {.at_root = SIDE_BOTH,
                   .elsewhere = SIDE_BOTH,
                   .reduces = true,
                   .in_place_at_root = SIDE_SEND,
                   .in_place_elsewhere = SIDE_SEND},
    [COLL_EXSCAN] = {.at_root = SIDE_BOTH,
                     .elsewhere = SIDE_BOTH,
                     .reduces = true,
                     .in_place_at_root = SIDE_SEND,
                     .in_place_elsewhere = SIDE_SEND},
    [COLL_REDUCE_SCATTER] = {.at_root = SIDE_BOTH,
                             .elsewhere = SIDE_BOTH,
                             .reduces = true,
                             .receive_arrays = true,
                             .in_place_at_root = SIDE_SEND,
                             .in_place_elsewhere = SIDE_SEND},
    [COLL_REDUCE_SCATTER_BLOCK] = {.at_root = SIDE_BOTH,
                                   .elsewhere = SIDE_BOTH,
                                   .reduces = true,
                                   .in_place_at_root = SIDE_SEND,
                                   .in_place_elsewhere = SIDE_SEND},
    [COLL_GATHER] = {.at_root = SIDE_BOTH, .elsewhere = SIDE_SEND, .rooted = true, .in_place_at_root = SIDE_SEND},
    [COLL_GATHERV] = {.at_root = SIDE_BOTH,
                      .elsewhere = SIDE_SEND,
                      .rooted = true,
                      .receive_arrays = true,
                      .displacements = true,
                      .in_place_at_root = SIDE_SEND},
    [COLL_SCATTER] = {.at_root = SIDE_BOTH,
                      .elsewhere = SIDE_RECEIVE,
                      .rooted = true,
                      .in_place_at_root = SIDE_RECEIVE},
    [COLL_SCATTERV] = {.at_root = SIDE_BOTH,
                       .elsewhere = SIDE_RECEIVE,
                       .rooted = true,
                       .send_arrays = true,
                       .displacements = true,
                       .in_place_at_root = SIDE_RECEIVE},
    [COLL_ALLGATHER] = {.at_root = SIDE_BOTH,
                        .elsewhere = SIDE_BOTH,
                        .in_place_at_root = SIDE_SEND,
                        .in_place_elsewhere = SIDE_SEND},
    [COLL_ALLGATHERV] = {.at_root = SIDE_BOTH,
                         .elsewhere = SIDE_BOTH,
                         .receive_arrays = true,
                         .displacements = true,
                         .in_place_at_root = SIDE_SEND,
                         .in_place_elsewhere = SIDE_SEND},
    [COLL_ALLTOALL] = {.at_root = SIDE_BOTH,
                       .elsewhere = SIDE_BOTH,
                       .in_place_at_root = SIDE_SEND,
                       .in_place_elsewhere = SIDE_SEND},
    [COLL_ALLTOALLV] = {.at_root = SIDE_BOTH,
                        .elsewhere = SIDE_BOTH,
                        .send_arrays = true,
                        .receive_arrays = true,
                        .displacements = true,
                        .in_place_at_root = SIDE_SEND,
                        .in_place_elsewhere = SIDE_SEND},
    [COLL_ALLTOALLW] = {.at_root = SIDE_BOTH,
                        .elsewhere = SIDE_BOTH,
                        .send_arrays = true,
                        .receive_arrays = true,
                        .displacements = true,
                        .types = true,
                        .in_place_at_root = SIDE_SEND,
                        .in_place_elsewhere = SIDE_SEND},
};

/* A checked call. It lies on the stack for a blocking call, else with the request. */
struct work {
    const struct mpi_collective *c; /* while it is made */
    struct mpi_comm *comm;
    struct coll_call call;
    struct mpi_user_operation operation;
    int64_t *arrays, *next; /* widened arrays; NULL where none was needed */
    bool kept;              /* references on operation's objects are held */
};

static struct mpi_type *check_type(const struct work *work, MPI_Datatype handle, int *error)
{
    struct mpi_type *type = mpi_type_at(handle);
    *error = MPI_SUCCESS;
    if (unlikely(!type))
        *error = mpi_type_wrong(work->comm, work->c->call, handle);
    else if (unlikely(!type->committed))
        *error = mpi_error(work->comm, work->c->call, MPI_ERR_TYPE, "%s is not committed: call MPI_Type_commit",
                           mpi_type_text(type));
    return type;
}

static int no_buffer(const struct work *work, const char *side)
{
    return mpi_error(work->comm, work->c->call, MPI_ERR_BUFFER, "the %s buffer is NULL", side);
}

static int negative_count(const struct work *work, int64_t count)
{
    return mpi_error(work->comm, work->c->call, MPI_ERR_COUNT, "count %lld is negative", (long long)count);
}

/* ---- arrays ----------------------------------------------------------------------------------------------------- */

/* SIZE numbers as 64 bits: the program's own array where it has them already. NULL: no memory. */
static const int64_t *widen(struct work *work, const void *array)
{
    size_t size = (size_t)work->comm->size;
    if (work->c->wide)
        return array;
    if (!work->arrays)
        work->arrays = work->next = malloc(6 * size * sizeof(int64_t));
    if (!work->arrays)
        return NULL;
    int64_t *place = work->next;
    work->next += size;
    for (size_t i = 0; i < size; i++)
        place[i] = ((const int *)array)[i];
    return place;
}

static int fill_types(struct work *work, const struct mpi_side *from, struct coll_side *side)
{
    size_t size = (size_t)work->comm->size;
    if (!work->arrays)
        work->arrays = work->next = malloc(6 * size * sizeof(int64_t));
    if (!work->arrays)
        return mpi_engine_error(work->comm, work->c->call, ERR_MEMORY);
    struct type_layout **layouts = (struct type_layout **)work->next;
    work->next += size;
    for (size_t i = 0; i < size; i++) {
        int error;
        struct mpi_type *type = check_type(work, from->types[i], &error);
        if (error)
            return error;
        layouts[i] = type->layout;
    }
    side->layouts = layouts;
    return MPI_SUCCESS;
}

static int fill_arrays(struct work *work, const struct mpi_side *from, struct coll_side *side, const char *name)
{
    const struct mpi_collective *c = work->c;
    if (!from->counts || (rules[c->kind].displacements && !from->displacements) ||
        (rules[c->kind].types && !from->types))
        return mpi_error(work->comm, c->call, MPI_ERR_ARG, "an array of the %s side is NULL", name);
    side->counts = widen(work, from->counts);
    if (rules[c->kind].displacements)
        side->displacements = widen(work, from->displacements);
    if (!side->counts || (rules[c->kind].displacements && !side->displacements))
        return mpi_engine_error(work->comm, c->call, ERR_MEMORY);
    int64_t sum = 0;
    for (int i = 0; i < work->comm->size; i++) {
        if (side->counts[i] < 0)
            return negative_count(work, side->counts[i]);
        sum |= side->counts[i];
    }
    if (rules[c->kind].types)
        return fill_types(work, from, side);
    return sum > 0 && !from->buffer && side->layout->shape.contiguous && side->layout->shape.size
               ? no_buffer(work, name)
               : MPI_SUCCESS;
}

/* ---- one side --------------------------------------------------------------------------------------------------- */

static int fill_plain(struct work *work, const struct mpi_side *from, struct coll_side *side, const char *name)
{
    uint64_t bytes;
    side->count = (uint64_t)from->count;
    if (unlikely(from->count < 0))
        return negative_count(work, from->count);
    if (unlikely(__builtin_mul_overflow(side->count, side->layout->shape.size, &bytes)))
        return mpi_error(work->comm, work->c->call, MPI_ERR_COUNT, "%lld elements do not fit into 64 bits",
                         (long long)from->count);
    return unlikely(!from->buffer && bytes > 0 && side->layout->shape.contiguous) ? no_buffer(work, name) : MPI_SUCCESS;
}

static int fill(struct work *work, const struct mpi_side *from, struct coll_side *side, bool arrays, const char *name)
{
    int error = MPI_SUCCESS;
    side->base = (void *)from->buffer;
    if (!rules[work->c->kind].types) {
        struct mpi_type *type = check_type(work, from->type, &error);
        if (unlikely(error))
            return error;
        side->layout = type->layout;
    }
    return arrays ? fill_arrays(work, from, side, name) : fill_plain(work, from, side, name);
}

/* MPI_IN_PLACE on a side: allowed or not. */
static int in_place(struct work *work, struct coll_side *side, bool allowed, const char *name)
{
    if (!allowed)
        return mpi_error(work->comm, work->c->call, MPI_ERR_BUFFER, "the %s buffer cannot be MPI_IN_PLACE here", name);
    side->base = COLL_IN_PLACE;
    return MPI_SUCCESS;
}

/* Reductions have one type and count for both sides; only the buffers differ. */
static int fill_reduction(struct work *work, int significant, int may_be_in_place)
{
    const struct mpi_collective *c = work->c;
    struct coll_side *send = &work->call.send, *receive = &work->call.receive;
    struct mpi_side described = c->receive;
    bool receives = significant & SIDE_RECEIVE;
    if (receives && c->receive.buffer == MPI_IN_PLACE)
        return in_place(work, receive, false, "receive");
    if (!receives) /* what is looked at is the send buffer */
        described.buffer = c->send.buffer;
    int error = fill(work, &described, receive, rules[c->kind].receive_arrays, receives ? "receive" : "send");
    if (error)
        return error;
    receive->base = (void *)c->receive.buffer;
    *send = *receive;
    send->base = (void *)c->send.buffer;
    if (c->send.buffer == MPI_IN_PLACE)
        error = in_place(work, send, may_be_in_place & SIDE_SEND, "send");
    else if (!c->send.buffer && receives && receive->count > 0 && receive->layout->shape.contiguous)
        error = no_buffer(work, "send");
    if (error)
        return error;
    work->operation = (struct mpi_user_operation){mpi_op_at(c->op), mpi_type_at(c->receive.type)};
    if (unlikely(!work->operation.op))
        return mpi_error(work->comm, c->call, MPI_ERR_OP, "%p is not an operation%s", (void *)c->op,
                         c->op == MPI_OP_NULL ? ": MPI_OP_NULL" : ", or was freed");
    return mpi_reduction(work->comm, c->call, &work->operation, &work->call.reduction);
}

static int fill_sides(struct work *work, int significant, int may_be_in_place)
{
    const struct mpi_collective *c = work->c;
    struct coll_side *send = &work->call.send, *receive = &work->call.receive;
    int error = MPI_SUCCESS;
    if (significant & SIDE_SEND) {
        if (c->send.buffer == MPI_IN_PLACE)
            error = in_place(work, send, may_be_in_place & SIDE_SEND, "send");
        else
            error = fill(work, &c->send, send, rules[c->kind].send_arrays, "send");
    }
    if (!error && (significant & SIDE_RECEIVE)) {
        if (c->receive.buffer == MPI_IN_PLACE)
            error = in_place(work, receive, may_be_in_place & SIDE_RECEIVE, "receive");
        else
            error = fill(work, &c->receive, receive, rules[c->kind].receive_arrays, "receive");
    }
    return error;
}

/* Checks the call C and makes coll's out of it in WORK. */
static int make(struct work *work, const struct mpi_collective *c)
{
    char name[64];
    mpi_enter(c->call);
    struct mpi_comm *comm = mpi_comm_at(c->comm);
    if (unlikely(!comm))
        return mpi_comm_wrong(c->call, c->comm);
    work->c = c;
    work->comm = comm;
    work->arrays = NULL;
    work->kept = false;
    work->call = (struct coll_call){.kind = c->kind, .group = &comm->coll, .root = c->root};
    if (unlikely(rules[c->kind].rooted && (unsigned)c->root >= (unsigned)comm->size))
        return mpi_error(comm, c->call, MPI_ERR_ROOT, "root %d is not in %s of %d ranks", c->root,
                         mpi_comm_name(comm, name), comm->size);
    bool root = !rules[c->kind].rooted || c->root == comm->rank;
    int significant = root ? rules[c->kind].at_root : rules[c->kind].elsewhere;
    int may_be_in_place = root ? rules[c->kind].in_place_at_root : rules[c->kind].in_place_elsewhere;
    return rules[c->kind].reduces ? fill_reduction(work, significant, may_be_in_place)
                                  : fill_sides(work, significant, may_be_in_place);
}

/* ---- the three ways --------------------------------------------------------------------------------------------- */

int mpi_collective_run(const struct mpi_collective *c)
{
    struct work work;
    work.arrays = NULL;
    int error = make(&work, c);
    if (likely(!error)) {
        error = vcoll_run(&work.call);
        if (unlikely(error))
            error = mpi_engine_error(work.comm, c->call, error);
    }
    free(work.arrays);
    return error;
}

void mpi_collective_drop(void *extra)
{
    struct work *work = extra;
    if (!work)
        return;
    free(work->arrays);
    if (!work->kept)
        return;
    mpi_op_drop(work->operation.op);
    mpi_type_drop(work->operation.type);
}

/* The schedule with all it needs, in a request that is not started. */
static int make_request(const struct mpi_collective *c, MPI_Request *out, struct mpi_request **request)
{
    struct work *work = malloc(sizeof *work);
    if (!work)
        return mpi_error(NULL, c->call, MPI_ERR_NO_MEM, "no memory for a request");
    work->arrays = NULL;
    int error = make(work, c);
    if (!error && !out)
        error = mpi_error(work->comm, c->call, MPI_ERR_ARG, "request is NULL");
    if (error)
        goto refused;
    struct coll_schedule *schedule;
    error = vcoll_prepare(&work->call, &schedule);
    if (error)
        goto failed;
    *request = mpi_request_take(REQUEST_COLLECTIVE, c->call, work->comm, NULL);
    if (!*request) {
        vcoll_release(schedule);
        error = ERR_MEMORY;
        goto failed;
    }
    if (work->call.reduction.function) {
        work->kept = true;
        mpi_object_keep(work->operation.op);
        if (!mpi_type_predefined(work->operation.type))
            mpi_object_keep(work->operation.type);
    }
    work->c = NULL;
    (*request)->schedule = schedule;
    (*request)->extra = work;
    return MPI_SUCCESS;
failed:
    error = mpi_engine_error(work->comm, c->call, error);
refused:
    free(work->arrays);
    free(work);
    return error;
}

int mpi_collective_start(const struct mpi_collective *c, MPI_Request *out)
{
    struct mpi_request *request;
    int error = make_request(c, out, &request);
    if (error)
        return error;
    error = vcoll_launch(request->schedule, NULL, NULL);
    if (error) {
        error = mpi_engine_error(request->comm, c->call, error);
        mpi_request_give(request);
        return error;
    }
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

int mpi_collective_prepare(const struct mpi_collective *c, MPI_Info info, MPI_Request *out)
{
    struct mpi_request *request;
    mpi_enter(c->call);
    if (!mpi_info_valid(info))
        return mpi_error(NULL, c->call, MPI_ERR_INFO, "%p is not an info object", (void *)info);
    int error = make_request(c, out, &request);
    if (error)
        return error;
    request->persistent = true;
    request->active = false;
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}
