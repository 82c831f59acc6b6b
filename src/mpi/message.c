/* Messages: the checks of their arguments, their operations with and without a request, and the calls that send and receive.
 *
 * The blocking calls of standard mode with data in a row, and what they start without waiting, are the hot path of the
 * house: checks, then the engine, without a request where one is not needed. Everything else goes the slow way, which also
 * finds out what is wrong. Ready mode is standard mode: the receive is there, and where it is not the message waits like
 * any other. Matched messages (MPI_Mrecv) are in probe.c, both ways at once in sendrecv.c. */
#include "mpi/inside.h"

/* Whose argument it is, in a call that takes them for both sides. */
static const char *side_of(const char *call, bool receive)
{
    return !strstr(call, "endrecv") ? "" : receive ? "receive " : "send ";
}

/* What is wrong, in the order of the arguments a person would look at. */
int mpi_message_wrong(struct mpi_message message, bool receive)
{
    const struct mpi_message *m = &message;
    const char *side = side_of(m->call, receive);
    struct mpi_comm *comm = mpi_comm_at(m->comm);
    uint64_t bytes;
    char name[64];
    if (!comm)
        return mpi_wrong(NULL, m->call, KIND_COMM, m->comm);
    const struct mpi_type *type = mpi_type_at(m->type);
    if (m->count < 0)
        return mpi_error(comm, m->call, MPI_ERR_COUNT, "%scount %lld is negative", side, (long long)m->count);
    if (!type || !type->committed)
        return mpi_wrong_type(comm, m->call, m->type, side);
    bool wildcard = receive && m->rank == MPI_ANY_SOURCE;
    if (m->rank != MPI_PROC_NULL && !wildcard && (unsigned)m->rank >= (unsigned)comm->size)
        return mpi_error(comm, m->call, MPI_ERR_RANK, "%srank %d is not in %s of %d ranks", side, m->rank,
                         mpi_comm_name(comm, name), comm->size);
    if (m->tag < 0 && !(receive && m->tag == MPI_ANY_TAG))
        return mpi_error(comm, m->call, MPI_ERR_TAG, "%stag %d is negative%s", side, m->tag,
                         receive                 ? " and not MPI_ANY_TAG"
                         : m->tag == MPI_ANY_TAG ? ": MPI_ANY_TAG is for receiving"
                                                 : "");
    if (__builtin_mul_overflow((uint64_t)m->count, type->size, &bytes))
        return mpi_error(comm, m->call, MPI_ERR_COUNT, "%lld of %s do not fit into 64 bits", (long long)m->count,
                         mpi_type_text(type));
    return mpi_error(comm, m->call, MPI_ERR_BUFFER, "the %sbuffer of %llu bytes is NULL", side,
                     (unsigned long long)bytes);
}

int mpi_message_check(const struct mpi_message *m, bool receives, struct mpi_target *target)
{
    mpi_enter(m->call);
    TRACE(m->call);
    struct mpi_comm *comm = mpi_comm_at(m->comm);
    struct mpi_type *type = mpi_type_at(m->type);
    *target = (struct mpi_target){comm, type};
    if (unlikely(!comm || !type || !mpi_data_fits(m->buffer, m->count, type) ||
                 (m->tag < 0 && !(receives && m->tag == MPI_ANY_TAG)) ||
                 ((unsigned)m->rank >= (unsigned)comm->size && m->rank != MPI_PROC_NULL &&
                  !(receives && m->rank == MPI_ANY_SOURCE))))
        return mpi_message_wrong(*m, receives);
    return MPI_SUCCESS;
}

/* ---- operations ------------------------------------------------------------------------------------------------- */

int mpi_operation_start(struct msg_request *operation, const struct mpi_message *m, const struct mpi_target *target,
                        enum mpi_way way, const struct type_buffer *data)
{
    struct type_buffer buffer = data ? *data : mpi_buffer((void *)m->buffer, (uint64_t)m->count, target->type);
    struct msg_where where = mpi_where(target->comm, m->rank, m->tag);
    operation->completed = NULL;
    operation->owner = NULL;
    if (unlikely(m->rank == MPI_PROC_NULL)) {
        operation->note = NULL;
        vmsg_request_settle(operation, &(struct msg_result){.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG});
        return OK;
    }
    if (unlikely(mpi_checking))
        mpi_check_starts(operation, m, target, way != WAY_RECEIVE);
    return way == WAY_RECEIVE ? vmsg_recv_start(operation, &where, &buffer)
                              : vmsg_send_start(operation, &where, &buffer, (enum msg_mode)way);
}

/* The same, and waits. RESULT of a receive may be NULL. */
static int operation_run(const struct mpi_message *m, const struct mpi_target *target, enum mpi_way way,
                         struct msg_result *result)
{
    struct msg_request operation;
    int error = mpi_operation_start(&operation, m, target, way, NULL) ?: mpi_wait_here(&operation);
    if (result)
        *result = operation.result;
    return error;
}

int mpi_wait_here(struct msg_request *operation)
{
    int error = vmsg_wait(operation);
    if (likely(vmsg_request_done(operation))) {
        if (unlikely(mpi_checking))
            mpi_check_ends(operation);
        return error;
    }
    vmsg_cancel(operation);
    if (!vmsg_request_done(operation))
        vmsg_wait(operation);
    if (!vmsg_request_done(operation))
        vmsg_abort(1, vbase_error_sentence(error));
    return error;
}

static enum mpi_request_kind kind_of(enum mpi_way way)
{
    return way == WAY_BUFFERED ? REQUEST_BUFFERED : way == WAY_RECEIVE ? REQUEST_RECEIVE : REQUEST_SEND;
}

/* Any message without waiting for it; a class that was raised. By value: see mpi_message_wrong. */
static __attribute__((noinline)) int start_slowly(struct mpi_message m, enum mpi_way way, MPI_Request *out)
{
    struct mpi_target target;
    int error = mpi_message_check(&m, way == WAY_RECEIVE, &target);
    if (!error && !out)
        error = mpi_null(target.comm, m.call, "request");
    if (!error && way == WAY_BUFFERED)
        error = mpi_buffered_send(&m, &target);
    if (error)
        return error;
    struct mpi_request *request =
        mpi_request_take(kind_of(way), m.call, target.comm, target.type->flat ? NULL : target.type->layout);
    if (!request)
        return mpi_engine_error(target.comm, m.call, ERR_MEMORY);
    if (way != WAY_BUFFERED)
        error = mpi_operation_start(&request->operation, &m, &target, way, NULL);
    if (unlikely(error)) {
        mpi_request_give(request);
        return mpi_engine_error(target.comm, m.call, error);
    }
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

/* The usual message: everything about it is right, its data lie in a row, and both ends are ranks. False: something is
 * wrong or unusual, the long way finds out what. */
struct plain {
    struct mpi_comm *comm;
    uint64_t bytes;
};
MPI_HOT bool is_plain(const struct mpi_message *message, struct plain *plain)
{
    uintptr_t number = (uintptr_t)message->type - MPI_FIRST_TYPE;
    const struct mpi_type *type =
        likely(number < MPI_PREDEFINED_TYPES) ? &mpi_types[number] : mpi_type_at(message->type);
    plain->comm = mpi_process.world; /* it is there: see mpi_quick */
    if (unlikely(!type || (message->comm != MPI_COMM_WORLD && !(plain->comm = mpi_comm_at(message->comm)))))
        return false;
    plain->bytes = (uint64_t)message->count * type->plain;
    return likely((uint64_t)(message->count | message->tag) <= INT32_MAX) && likely(type->plain) &&
           likely(message->buffer != NULL) && likely((unsigned)message->rank < (unsigned)plain->comm->size);
}

/* ---- sending ---------------------------------------------------------------------------------------------------- */

/* By value: see mpi_message_wrong. */
static __attribute__((noinline)) int send_slowly(struct mpi_message m, enum mpi_way way)
{
    struct mpi_target target;
    int error = mpi_message_check(&m, false, &target);
    if (error)
        return error;
    if (way == WAY_BUFFERED)
        return mpi_buffered_send(&m, &target);
    if (way == WAY_STANDARD && target.type->flat && !mpi_checking && m.rank != MPI_PROC_NULL)
        error = vmsg_send(target.comm->context, m.rank, m.tag, m.buffer, (uint64_t)m.count * target.type->size);
    else
        error = operation_run(&m, &target, way, NULL);
    return error ? mpi_engine_error(target.comm, m.call, error) : MPI_SUCCESS;
}

MPI_HOT int send(const struct mpi_message *m)
{
    struct plain plain;
    if (unlikely(!mpi_quick() || !is_plain(m, &plain)))
        return send_slowly(*m, WAY_STANDARD);
    int error = vmsg_send(plain.comm->context, m->rank, m->tag, m->buffer, plain.bytes);
    return likely(!error) ? MPI_SUCCESS : mpi_engine_error(plain.comm, m->call, error);
}

#define TO int rank, int tag, MPI_Comm comm
#define MESSAGE &(struct mpi_message){NAME, buf, count, datatype, rank, tag, comm}
ENTRIES(MPI_Send, MPI_Send_c, const MPI_DATA_, (TO), return send(MESSAGE))
ENTRIES(MPI_Rsend, MPI_Rsend_c, const MPI_DATA_, (TO), return send(MESSAGE))
ENTRIES(MPI_Ssend, MPI_Ssend_c, const MPI_DATA_, (TO), return send_slowly(*MESSAGE, WAY_SYNCHRONOUS))
ENTRIES(MPI_Bsend, MPI_Bsend_c, const MPI_DATA_, (TO), return send_slowly(*MESSAGE, WAY_BUFFERED))

/* What can leave at once needs no operation, only a handle. */
MPI_HOT int start_quickly(const struct mpi_message *m, MPI_Request *out)
{
    struct plain plain;
    if (unlikely(!mpi_quick() || !is_plain(m, &plain) || !out ||
                 vmsg_send_now(plain.comm->context, m->rank, m->tag, m->buffer, plain.bytes)))
        return start_slowly(*m, WAY_STANDARD, out);
    struct mpi_request *request = mpi_request_take_short(REQUEST_SENT, m->call, NULL);
    if (unlikely(!request))
        return mpi_engine_error(NULL, m->call, ERR_MEMORY);
    *out = mpi_request_publish_short(request);
    return MPI_SUCCESS;
}

#define STARTED TO, MPI_Request *request
ENTRIES(MPI_Isend, MPI_Isend_c, const MPI_DATA_, (STARTED), return start_quickly(MESSAGE, request))
ENTRIES(MPI_Irsend, MPI_Irsend_c, const MPI_DATA_, (STARTED), return start_slowly(*MESSAGE, WAY_STANDARD, request))
ENTRIES(MPI_Issend, MPI_Issend_c, const MPI_DATA_, (STARTED), return start_slowly(*MESSAGE, WAY_SYNCHRONOUS, request))
ENTRIES(MPI_Ibsend, MPI_Ibsend_c, const MPI_DATA_, (STARTED), return start_slowly(*MESSAGE, WAY_BUFFERED, request))

/* ---- receiving -------------------------------------------------------------------------------------------------- */

int mpi_receive_error(struct mpi_comm *comm, const char *call, int error, const struct msg_result *result)
{
    if (error != ERR_TRUNCATED)
        return mpi_engine_error(comm, call, error);
    return mpi_error(comm, call, MPI_ERR_TRUNCATE,
                     "the message from rank %d with tag %d is longer than the buffer of its receive (%llu bytes)",
                     result->source, result->tag, (unsigned long long)result->bytes);
}

MPI_HOT int received(struct mpi_comm *comm, const char *call, int error, const struct msg_result *result, MPI_Status *status)
{
    if (likely(!error) || error == ERR_TRUNCATED)
        mpi_status_result(status, result);
    return likely(!error) ? MPI_SUCCESS : mpi_receive_error(comm, call, error, result);
}

/* By value: see mpi_message_wrong. */
static __attribute__((noinline)) int receive_slowly(struct mpi_message m, MPI_Status *status)
{
    struct mpi_target target;
    struct msg_result result;
    int error = mpi_message_check(&m, true, &target);
    if (error)
        return error;
    if (target.type->flat && !mpi_checking && m.rank != MPI_PROC_NULL)
        error = vmsg_recv(target.comm->context, m.rank, m.tag == MPI_ANY_TAG ? MSG_ANY_TAG : m.tag, (void *)m.buffer,
                          (uint64_t)m.count * target.type->size, &result);
    else
        error = operation_run(&m, &target, WAY_RECEIVE, &result);
    return received(target.comm, m.call, error, &result, status);
}

MPI_HOT int receive(const struct mpi_message *m, MPI_Status *status)
{
    struct plain plain;
    struct msg_result result;
    if (unlikely(!mpi_quick() || !is_plain(m, &plain)))
        return receive_slowly(*m, status);
    int error = vmsg_recv(plain.comm->context, m->rank, m->tag, (void *)m->buffer, plain.bytes, &result);
    return received(plain.comm, m->call, error, &result, status);
}

#define RECEIVED TO, MPI_Status *status
ENTRIES(MPI_Recv, MPI_Recv_c, MPI_DATA_, (RECEIVED), return receive(MESSAGE, status))

/* A class that was raised. */
MPI_HOT int start_at_once(const struct mpi_message *m, const struct plain *plain,
                                                   struct mpi_request *request)
{
    struct msg_where from = {plain->comm->context, m->rank, m->tag};
    struct type_buffer buffer = {(void *)m->buffer, plain->bytes, NULL};
    int error = request ? vmsg_recv_start(&request->operation, &from, &buffer) : ERR_MEMORY;
    if (likely(!error))
        return MPI_SUCCESS;
    if (request)
        mpi_request_give(request);
    return mpi_engine_error(plain->comm, m->call, error);
}

MPI_HOT int start_receive(const struct mpi_message *m, MPI_Request *out)
{
    struct plain plain;
    if (unlikely(!mpi_quick() || !is_plain(m, &plain) || !out))
        return start_slowly(*m, WAY_RECEIVE, out);
    struct mpi_request *request = mpi_request_take_short(REQUEST_RECEIVE, m->call, plain.comm);
    int error = start_at_once(m, &plain, request);
    if (unlikely(error))
        return error;
    *out = mpi_request_publish_short(request);
    return MPI_SUCCESS;
}

ENTRIES(MPI_Irecv, MPI_Irecv_c, MPI_DATA_, (STARTED), return start_receive(MESSAGE, request))

/* ---- persistent requests: made once, started again and again; those of collectives and partitions, too -------------- */

/* What is needed at each start. */
struct saved {
    struct mpi_message message;
    struct mpi_target target;
};

static int initialize(const struct mpi_message *m, enum mpi_way way, MPI_Request *out)
{
    struct mpi_target target;
    int error = mpi_message_check(m, way == WAY_RECEIVE, &target);
    if (!error && !out)
        error = mpi_null(target.comm, m->call, "request");
    if (error)
        return error;
    struct saved *saved = malloc(sizeof *saved);
    struct mpi_request *request = saved ? mpi_request_take(kind_of(way), m->call, target.comm, NULL) : NULL;
    if (!request) {
        free(saved);
        return mpi_engine_error(target.comm, m->call, ERR_MEMORY);
    }
    *saved = (struct saved){*m, target};
    mpi_keep(target.type);
    request->extra = saved;
    request->persistent = true;
    request->active = false;
    request->way = (uint8_t)way;
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

ENTRIES(MPI_Send_init, MPI_Send_init_c, const MPI_DATA_, (STARTED), return initialize(MESSAGE, WAY_STANDARD, request))
ENTRIES(MPI_Ssend_init, MPI_Ssend_init_c, const MPI_DATA_, (STARTED),
        return initialize(MESSAGE, WAY_SYNCHRONOUS, request))
ENTRIES(MPI_Rsend_init, MPI_Rsend_init_c, const MPI_DATA_, (STARTED), return initialize(MESSAGE, WAY_STANDARD, request))
ENTRIES(MPI_Bsend_init, MPI_Bsend_init_c, const MPI_DATA_, (STARTED), return initialize(MESSAGE, WAY_BUFFERED, request))
ENTRIES(MPI_Recv_init, MPI_Recv_init_c, MPI_DATA_, (STARTED), return initialize(MESSAGE, WAY_RECEIVE, request))

void mpi_saved_drop(struct mpi_request *request)
{
    struct saved *saved = request->extra;
    if (saved)
        mpi_drop(saved->target.type);
}

/* An error of the engine. */
static int launch(struct mpi_request *request)
{
    const struct saved *saved = request->extra;
    switch (request->kind) {
    case REQUEST_SEND:
    case REQUEST_RECEIVE:
        return mpi_operation_start(&request->operation, &saved->message, &saved->target, request->way, NULL);
    case REQUEST_PARTITIONED:
        return mpi_partitioned_start(request);
    case REQUEST_COLLECTIVE:
        return vcoll_launch(request->schedule, NULL, NULL);
    default:
        return OK;
    }
}

static int start(const char *call, MPI_Request handle)
{
    struct mpi_request *request = mpi_request_at(handle);
    if (!request)
        return mpi_wrong(NULL, call, KIND_REQUEST, handle);
    if (!request->persistent || request->active)
        return mpi_error(request->comm, call, MPI_ERR_REQUEST, "the request of %s is %s", request->call,
                         request->persistent ? "active already" : "not persistent");
    if (request->kind == REQUEST_BUFFERED) {
        struct saved *saved = request->extra;
        int error = mpi_buffered_send(&saved->message, &saved->target);
        request->active = !error;
        return error;
    }
    request->active = true;
    int error = launch(request);
    if (!error)
        return MPI_SUCCESS;
    request->active = false;
    return mpi_engine_error(request->comm, call, error);
}

ENTRY(MPI_Start)(MPI_Request *request)
{
    ENTER("MPI_Start");
    return request ? start(NAME, *request) : mpi_null(NULL, NAME, "request");
}

ENTRY(MPI_Startall)(int count, MPI_Request requests[])
{
    ENTER("MPI_Startall");
    if (count < 0 || (count > 0 && !requests))
        return mpi_error(NULL, NAME, count < 0 ? MPI_ERR_COUNT : MPI_ERR_ARG, "%d requests at %p", count,
                         (void *)requests);
    int error = MPI_SUCCESS;
    for (int i = 0; i < count && !error; i++)
        error = start(NAME, requests[i]);
    return error;
}
