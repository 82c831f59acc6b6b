/* Partitioned communication. Each partition of the sender is a message of its own, so that it travels when it is ready
 * and can be seen to have arrived; the receiver's partitions are only another division of the same bytes.
 *
 * The parts travel in one context of the whole world. A sender's MPI_Psend_init takes a row of tags there, one for each
 * partition, and tells the receiver with a hello. Hellos have a context of their own beside each communicator's others,
 * where they bear the user's tag and MPI_Precv_init posts a receive for one: so the engine matches the init calls of
 * both sides in their order, as the standard wants it. A receiver that starts before the hello is there posts its
 * receives when it comes, from within progress.
 *
 * Threads: `lock` guards the tags, the contexts, and the meeting of a hello with a start; partitions are given by any
 * thread. */
#include "mpi/context.h"
#include "mpi/message.h"
#include "mpi/request.h"

struct hello {
    uint32_t partitions;
    int32_t first;  /* the tag of the first one */
    uint64_t bytes; /* of one */
};

struct partitioned {
    bool receives, greeted, wanted; /* greeted: the hello is on its way, or awaited; wanted: a receive was started */
    _Atomic bool heard;           /* receiver: the hello is there, or will never come */
    _Atomic bool posted;          /* receiver: since this start */
    int world, source, tag;       /* the other one, in the world and in the communicator; the user's tag */
    struct hello hello, coming;   /* of the sender; what is being received */
    void *base;                   /* our own partitions */
    int partitions;
    MPI_Count count;
    struct mpi_type *type;
    struct msg_request greeting;  /* the hello under way */
    uint32_t started;             /* receiver: parts under way or done */
    _Atomic uint32_t given;       /* sender: partitions on their way, since this start */
    struct msg_request *part;     /* one for each partition of the sender */
    _Atomic bool *ready;          /* sender: which are given */
    char *aside;                  /* receiver: where the sender's partitions hold no whole elements */
    int error;                    /* of the hello, or of starting the receives */
};

static struct base_lock lock;
static struct msg_context *context; /* of the parts; opened at first use */
static int next_tag;

/* ---- the receiver's parts ---- */

static uint64_t partition_bytes(const struct partitioned *p) { return (uint64_t)p->count * p->type->size; }

/* Where part I of the sender goes; what does not fit is cut off, which is an error of its receive. */
static struct type_buffer part_place(const struct partitioned *p, uint32_t i)
{
    uint64_t total = partition_bytes(p) * (uint64_t)p->partitions, start = i * p->hello.bytes;
    uint64_t bytes = start > total ? 0 : total - start < p->hello.bytes ? total - start : p->hello.bytes;
    char *flat = p->aside ? p->aside : p->type->flat ? p->base : NULL;
    if (flat || p->type->size == 0)
        return (struct type_buffer){flat + start, bytes, NULL};
    int64_t offset = (int64_t)(start / p->type->size) * p->type->layout->shape.extent;
    void *place = (void *)((uintptr_t)p->base + (uint64_t)offset);
    return (struct type_buffer){place, bytes / p->type->size, p->type->layout};
}

/* Under the lock. */
static void parts_post(struct partitioned *p)
{
    for (p->started = 0; !p->error && p->started < p->hello.partitions; p->started++) {
        struct type_buffer buffer = part_place(p, p->started);
        struct msg_where from = {context, p->world, p->hello.first + (int)p->started};
        p->error = vmsg_recv_start(&p->part[p->started], &from, &buffer);
        if (p->error)
            break;
    }
    /* release: pairs with the acquire in parts_arrived */
    atomic_store_explicit(&p->posted, true, memory_order_release);
}

/* ---- hellos ---- */

/* A receiver gets its hello. Under the lock. */
static int hello_bind(struct partitioned *p)
{
    uint64_t total = partition_bytes(p) * (uint64_t)p->partitions;
    if (p->greeting.result.error || p->greeting.result.bytes != sizeof p->coming)
        return p->greeting.result.error ? p->greeting.result.error : ERR_PROTOCOL;
    p->hello = p->coming;
    bool whole = p->type->flat || p->type->size == 0 || p->hello.bytes % p->type->size == 0;
    p->part = calloc(p->hello.partitions, sizeof *p->part);
    p->aside = whole ? NULL : malloc(total + 1);
    return p->part && (whole || p->aside) ? OK : ERR_MEMORY;
}

static void hello_heard(struct msg_request *greeting)
{
    struct partitioned *p = greeting->owner;
    mpi_lock(&lock);
    p->error = hello_bind(p);
    if (p->wanted)
        parts_post(p);
    atomic_store_explicit(&p->heard, true, memory_order_release); /* pairs with is_heard: the last look at it */
    mpi_unlock(&lock);
}

static bool is_heard(void *context_)
{
    const struct partitioned *p = context_;
    return atomic_load_explicit(&p->heard, memory_order_acquire); /* pairs with hello_heard */
}

static int hello_await(struct partitioned *p, const struct msg_where *from)
{
    struct type_buffer buffer = {&p->coming, sizeof p->coming, NULL};
    p->greeting.completed = hello_heard;
    p->greeting.owner = p;
    return vmsg_recv_start(&p->greeting, from, &buffer);
}

static int hello_send(struct partitioned *p, const struct msg_where *to)
{
    struct type_buffer buffer = {&p->hello, sizeof p->hello, NULL};
    p->part = calloc((size_t)p->partitions, sizeof *p->part);
    p->ready = calloc((size_t)p->partitions, sizeof *p->ready);
    if (!p->part || !p->ready)
        return ERR_MEMORY;
    mpi_lock(&lock);
    if (next_tag > INT32_MAX - p->partitions)
        next_tag = 0;
    p->hello = (struct hello){(uint32_t)p->partitions, next_tag, partition_bytes(p)};
    next_tag += p->partitions;
    mpi_unlock(&lock);
    return vmsg_send_start(&p->greeting, to, &buffer, MSG_STANDARD);
}

/* ---- starting and finishing ---- */

static int partitioned_start(const char *call, struct mpi_request *request)
{
    struct partitioned *p = request->extra;
    if (!p->receives) {
        for (int i = 0; i < p->partitions; i++)
            atomic_store_explicit(&p->ready[i], false, memory_order_relaxed);
        atomic_store_explicit(&p->given, 0, memory_order_relaxed);
        return MPI_SUCCESS;
    }
    mpi_lock(&lock);
    atomic_store_explicit(&p->posted, false, memory_order_relaxed);
    p->wanted = true;
    if (is_heard(p))
        parts_post(p);
    int error = p->error;
    mpi_unlock(&lock);
    return error ? mpi_engine_error(request->comm, call, error) : MPI_SUCCESS;
}

/* Parts FROM up to TO of the sender are there. */
static bool parts_arrived(const struct partitioned *p, uint32_t from, uint32_t to)
{
    /* acquire: pairs with the release in parts_post */
    if (!atomic_load_explicit(&p->posted, memory_order_acquire))
        return false;
    for (uint32_t i = from; i < to && i < p->started; i++)
        if (!vmsg_request_done(&p->part[i]))
            return false;
    return true;
}

static bool partitioned_done(struct mpi_request *request)
{
    const struct partitioned *p = request->extra;
    if (p->receives)
        return parts_arrived(p, 0, UINT32_MAX); /* the hello is not read before it is known to be there */
    /* acquire: pairs with the release in partition_give */
    if (atomic_load_explicit(&p->given, memory_order_acquire) < (uint32_t)p->partitions)
        return false;
    for (int i = 0; i < p->partitions; i++)
        if (!vmsg_request_done(&p->part[i]))
            return false;
    return true;
}

/* What came aside goes to its place. */
static void aside_unpack(struct partitioned *p)
{
    struct type_buffer buffer = mpi_buffer(p->base, (uint64_t)p->count * (uint64_t)p->partitions, p->type);
    uint64_t there = p->hello.bytes * p->hello.partitions, total = type_buffer_bytes(&buffer);
    (void)vtype_unpack_at(&buffer, 0, p->aside, there < total ? there : total);
}

static int partitioned_outcome(struct mpi_request *request, MPI_Status *status, bool last)
{
    struct partitioned *p = request->extra;
    uint64_t bytes = 0;
    (void)last;
    int error = p->error;
    uint32_t parts = p->receives ? p->started : (uint32_t)p->partitions;
    for (uint32_t i = 0; i < parts; i++) {
        bytes += p->part[i].result.bytes;
        error = error ? error : p->part[i].result.error;
    }
    if (p->receives)
        mpi_status_set(status, p->source, p->tag, bytes);
    else
        mpi_status_empty(status);
    if (p->aside)
        aside_unpack(p);
    return mpi_engine_class(error);
}

static void partitioned_drop(struct mpi_request *request)
{
    struct partitioned *p = request->extra;
    if (p->greeted && !p->receives)
        mpi_wait_here(&p->greeting);
    if (p->greeted && p->receives && !is_heard(p)) {
        vmsg_cancel(&p->greeting);
        if (vmsg_wait_until(is_heard, p) != OK) {
            request->extra = NULL; /* the job is lost, and the engine may still write to it: it is given up */
            return;
        }
    }
    mpi_drop(p->type);
    free(p->part);
    free(p->ready);
    free(p->aside);
}

static const struct mpi_request_kind partitioned_request = {.done = partitioned_done,
                                                            .outcome = partitioned_outcome,
                                                            .start = partitioned_start,
                                                            .drop = partitioned_drop};

/* ---- making ---- */

static int contexts_open(struct mpi_comm *comm)
{
    int error = mpi_world_context_open(MPI_ID_PARTS, CONTEXT_PARTS, &context);
    mpi_lock(&lock);
    if (!error && !comm->hellos)
        error = mpi_comm_peers_open(comm, comm->id, CONTEXT_HELLOS, &comm->hellos);
    mpi_unlock(&lock);
    return error;
}

static int partitioned_make(struct partitioned *p, const struct mpi_message *m, int partitions,
                            const struct mpi_target *target)
{
    p->world = target->comm->other->world[m->rank];
    p->source = m->rank;
    p->tag = m->tag;
    p->base = (void *)m->buffer;
    p->partitions = partitions;
    p->count = m->count;
    p->type = target->type;
    mpi_keep(p->type);
    int error = contexts_open(target->comm);
    if (error)
        return error;
    struct msg_where where = {target->comm->hellos, m->rank, m->tag};
    error = p->receives ? hello_await(p, &where) : hello_send(p, &where);
    p->greeted = !error;
    return error;
}

static int partitioned_check(const struct mpi_message *m, int partitions, MPI_Info info, const MPI_Request *out,
                 struct mpi_target *target)
{
    uint64_t bytes;
    struct mpi_message all = *m; /* a receive has no wildcards either */
    all.count = partitions == 0 && m->count > 0 ? 0 : m->count;
    int error = mpi_message_check(&all, false, target) ?:
                mpi_arguments(m->call, ARGUMENTS(COMM_OF(m->comm), GIVEN_AS(out, "request"), HINTS(info)));
    if (error)
        return error;
    if (partitions < 0 ||
        __builtin_mul_overflow((uint64_t)m->count * target->type->size, (uint64_t)partitions, &bytes))
        return mpi_error(target->comm, m->call, MPI_ERR_ARG, "%d partitions of %lld elements", partitions,
                         (long long)m->count);
    return MPI_SUCCESS;
}

static int partitioned_prepare(const struct mpi_message *m, int partitions, MPI_Info info, bool receives,
                               MPI_Request *out)
{
    struct mpi_target target;
    int error = partitioned_check(m, partitions, info, out, &target);
    if (error)
        return error;
    bool nothing = m->rank == MPI_PROC_NULL;
    struct mpi_request *request = nothing ? mpi_request_take(&mpi_request_null, m->call, target.comm)
                                          : mpi_request_take_with(&partitioned_request, m->call, target.comm,
                                                                  sizeof(struct partitioned));
    if (!request)
        return mpi_engine_error(target.comm, m->call, ERR_MEMORY);
    request->persistent = true;
    request->active = false;
    if (!nothing) {
        struct partitioned *p = request->extra;
        p->receives = receives;
        request->layout = vtype_layout_keep(target.type->layout);
        error = partitioned_make(p, m, partitions, &target);
    }
    if (error) {
        mpi_request_give(request);
        return mpi_engine_error(target.comm, m->call, error);
    }
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

#define WHOM int rank, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request
#define PREPARED(receives)                                                                                             \
    partitioned_prepare(&(struct mpi_message){NAME, buf, count, datatype, rank, tag, comm}, partitions, info,          \
                        receives, request)
ENTRIES(MPI_Psend_init, MPI_Psend_init_c, const MPI_PARTS_, (WHOM), return PREPARED(false))
ENTRIES(MPI_Precv_init, MPI_Precv_init_c, MPI_PARTS_, (WHOM), return PREPARED(true))

/* ---- partitions ---- */

/* The request of a call about a partition. */
static int request_find(const char *call, MPI_Request handle, bool receives, struct mpi_request **request)
{
    int error = mpi_arguments(call, ARGUMENTS(REQUEST_OF(handle, request)));
    if (error)
        return error;
    bool fits = (*request)->kind == &partitioned_request
                    ? ((struct partitioned *)(*request)->extra)->receives == receives
                    : (*request)->kind == &mpi_request_null && (*request)->persistent;
    if (!fits || (!receives && !(*request)->active))
        return mpi_error((*request)->comm, call, MPI_ERR_REQUEST, "the request of %s is %s", (*request)->call,
                         fits ? "not active" : receives ? "no partitioned receive" : "no partitioned send");
    return MPI_SUCCESS;
}

static int partition_give(const char *call, struct mpi_request *request, int partition)
{
    struct partitioned *p = request->extra;
    if (request->kind == &mpi_request_null)
        return MPI_SUCCESS;
    if (partition < 0 || partition >= p->partitions)
        return mpi_error(request->comm, call, MPI_ERR_ARG, "partition %d of %d", partition, p->partitions);
    /* relaxed: the flag only tells a second call from the first */
    if (atomic_exchange_explicit(&p->ready[partition], true, memory_order_relaxed))
        return mpi_error(request->comm, call, MPI_ERR_ARG, "partition %d is marked ready already", partition);
    char *start = (char *)((uintptr_t)p->base + (uint64_t)(partition * p->count * p->type->layout->shape.extent));
    struct type_buffer buffer = mpi_buffer(start, (uint64_t)p->count, p->type);
    struct msg_where to = {context, p->world, p->hello.first + partition};
    int error = vmsg_send_start(&p->part[partition], &to, &buffer, MSG_STANDARD);
    if (error)
        return mpi_engine_error(request->comm, call, error);
    /* release: pairs with the acquire in partitioned_done: a thread that counts it sees the part started */
    if (atomic_fetch_add_explicit(&p->given, 1, memory_order_release) + 1 == (uint32_t)p->partitions && mpi_threads)
        vmsg_wake();
    return MPI_SUCCESS;
}

ENTRY(MPI_Pready)(int partition, MPI_Request handle)
{
    struct mpi_request *request;
    return request_find(NAME, handle, false, &request) ?: partition_give(NAME, request, partition);
}

ENTRY(MPI_Pready_range)(int low, int high, MPI_Request handle)
{
    struct mpi_request *request;
    int error = request_find(NAME, handle, false, &request);
    if (!error && low > high)
        error = mpi_error(request->comm, NAME, MPI_ERR_ARG, "partitions from %d to %d", low, high);
    for (int i = low; !error && i <= high; i++)
        error = partition_give(NAME, request, i);
    return error;
}

ENTRY(MPI_Pready_list)(int length, const int partitions[], MPI_Request handle)
{
    struct mpi_request *request;
    int error = request_find(NAME, handle, false, &request);
    if (!error && (length < 0 || (length > 0 && !partitions)))
        error = mpi_error(request->comm, NAME, MPI_ERR_ARG, "%d partitions at %p", length, (const void *)partitions);
    for (int i = 0; !error && i < length; i++)
        error = partition_give(NAME, request, partitions[i]);
    return error;
}

ENTRY(MPI_Parrived)(MPI_Request handle, int partition, int *flag)
{
    struct mpi_request *request;
    int error = request_find(NAME, handle, true, &request);
    if (error)
        return error;
    if (!flag)
        return mpi_null(request->comm, NAME, "flag");
    *flag = 1;
    if (request->kind == &mpi_request_null || !request->active)
        return MPI_SUCCESS;
    struct partitioned *p = request->extra;
    if (partition < 0 || partition >= p->partitions)
        return mpi_error(request->comm, NAME, MPI_ERR_ARG, "partition %d of %d", partition, p->partitions);
    vmsg_progress();
    /* 0 until the hello is there, and nothing has arrived then */
    uint64_t own = partition_bytes(p), theirs = p->hello.bytes;
    bool all = p->aside || own == 0 || theirs == 0;
    *flag = all ? parts_arrived(p, 0, UINT32_MAX)
                : parts_arrived(p, (uint32_t)((uint64_t)partition * own / theirs),
                          (uint32_t)(((uint64_t)(partition + 1) * own + theirs - 1) / theirs));
    if (*flag && p->aside)
        aside_unpack(p);
    error = *flag ? OK : vmsg_failure();
    return error ? mpi_engine_error(request->comm, NAME, error) : MPI_SUCCESS;
}
