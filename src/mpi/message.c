/* Messages: the calls that send and receive, blocking, with a request, and persistent.
 *
 * The blocking calls of standard mode with data in a row, and what they start without waiting, are the hot path of this
 * library: checks, then the engine, without a request where none is needed. Everything else goes the slow way, which
 * also finds out what is wrong. Ready mode is standard mode: the receive is there, and where it is not the message
 * waits like any other. Matched messages (MPI_Mrecv) are in probe.c, both ways at once in sendrecv.c. */
#include "mpi/message.h"
#include "mpi/request.h"

/* What a persistent request needs at each start. */
struct saved {
    struct mpi_message message;
    struct mpi_target target;
    enum mpi_way way;
};

static void message_drop(struct mpi_request *request)
{
    const struct saved *saved = request->extra;
    if (mpi_checking && request->kind->operation)
        mpi_check_ends(&request->operation);
    if (saved)
        mpi_drop(saved->target.type);
}

static int operation_restart(const char *call, struct mpi_request *request)
{
    const struct saved *saved = request->extra;
    int error = mpi_operation_start(&request->operation, &saved->message, &saved->target, saved->way, NULL);
    return error ? mpi_engine_error(request->comm, call, error) : MPI_SUCCESS;
}

static int copy_restart(const char *call, struct mpi_request *request)
{
    const struct saved *saved = request->extra;
    (void)call;
    return mpi_buffered_send(&saved->message, &saved->target);
}

const struct mpi_request_kind mpi_request_send = {SENDS, .start = operation_restart, .drop = message_drop};
const struct mpi_request_kind mpi_request_receive = {RECEIVES, .start = operation_restart, .drop = message_drop};
const struct mpi_request_kind mpi_request_sent = {NO_OPERATION};
const struct mpi_request_kind mpi_request_posted = {RECEIVES};
/* Complete from the start: the attached buffer has the message. */
static const struct mpi_request_kind buffered = {NO_OPERATION, .start = copy_restart, .drop = message_drop};

static const struct mpi_request_kind *kind_of(enum mpi_way way)
{
    return way == WAY_BUFFERED ? &buffered : way == WAY_RECEIVE ? &mpi_request_receive : &mpi_request_send;
}

/* An operation from its start to its end. RESULT of a receive may be NULL. */
static int operation_run(const struct mpi_message *m, const struct mpi_target *target, enum mpi_way way,
                         struct msg_result *result)
{
    struct msg_request operation;
    int error = mpi_operation_start(&operation, m, target, way, NULL) ?: mpi_wait_here(&operation);
    if (result)
        *result = operation.result;
    return error;
}

/* Any message without waiting for it; a class that was raised. By value: see mpi_message_wrong. */
static __attribute__((noinline)) int message_start(struct mpi_message m, enum mpi_way way, MPI_Request *out)
{
    struct mpi_target target;
    int error = mpi_message_check(&m, way == WAY_RECEIVE, &target);
    if (!error && !out)
        error = mpi_null(target.comm, m.call, "request");
    if (!error && way == WAY_BUFFERED)
        error = mpi_buffered_send(&m, &target);
    if (error)
        return error;
    struct mpi_request *request = mpi_request_take(kind_of(way), m.call, target.comm);
    if (!request)
        return mpi_engine_error(target.comm, m.call, ERR_MEMORY);
    request->layout = target.type->flat ? NULL : vtype_layout_keep(target.type->layout);
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
MPI_HOT bool message_is_plain(const struct mpi_message *message, struct plain *plain)
{
    uintptr_t number = mpi_type_number(message->type);
    const struct mpi_type *type =
        likely(number < MPI_PREDEFINED_TYPES) ? &mpi_types[number] : mpi_type_at(message->type);
    plain->comm = mpi_process.world; /* it is there: see mpi_quick */
    if (unlikely(!type || (message->comm != MPI_COMM_WORLD && !(plain->comm = mpi_comm_at(message->comm)))))
        return false;
    plain->bytes = (uint64_t)message->count * type->plain;
    return likely((uint64_t)(message->count | message->tag) <= INT32_MAX) && likely(type->plain) &&
           likely(message->buffer != NULL) && likely((unsigned)message->rank < (unsigned)plain->comm->peers);
}

/* ---- sending ---- */

/* By value: see mpi_message_wrong. */
static __attribute__((noinline)) int message_send(struct mpi_message m, enum mpi_way way)
{
    struct mpi_target target;
    int error = mpi_message_check(&m, false, &target);
    if (error)
        return error;
    if (way == WAY_BUFFERED)
        return mpi_buffered_send(&m, &target);
    if (way == WAY_STANDARD && target.type->flat && !mpi_watching && m.rank != MPI_PROC_NULL)
        error = vmsg_send(target.comm->context, m.rank, m.tag, m.buffer, (uint64_t)m.count * target.type->size);
    else
        error = operation_run(&m, &target, way, NULL);
    return error ? mpi_engine_error(target.comm, m.call, error) : MPI_SUCCESS;
}

MPI_HOT int send_plain(const struct mpi_message *m)
{
    struct plain plain;
    if (unlikely(!mpi_quick() || !message_is_plain(m, &plain)))
        return message_send(*m, WAY_STANDARD);
    int error = vmsg_send(plain.comm->context, m->rank, m->tag, m->buffer, plain.bytes);
    return likely(!error) ? MPI_SUCCESS : mpi_engine_error(plain.comm, m->call, error);
}

#define TO int rank, int tag, MPI_Comm comm
#define MESSAGE &(struct mpi_message){NAME, buf, count, datatype, rank, tag, comm}
ENTRIES(MPI_Send, MPI_Send_c, const MPI_DATA_, (TO), return send_plain(MESSAGE))
ENTRIES(MPI_Rsend, MPI_Rsend_c, const MPI_DATA_, (TO), return send_plain(MESSAGE))
ENTRIES(MPI_Ssend, MPI_Ssend_c, const MPI_DATA_, (TO), return message_send(*MESSAGE, WAY_SYNCHRONOUS))
ENTRIES(MPI_Bsend, MPI_Bsend_c, const MPI_DATA_, (TO), return message_send(*MESSAGE, WAY_BUFFERED))

/* What can leave at once needs no operation, only a handle. */
MPI_HOT int send_start(const struct mpi_message *m, MPI_Request *out)
{
    struct plain plain;
    if (unlikely(!mpi_quick() || !message_is_plain(m, &plain) || !out ||
                 vmsg_send_now(plain.comm->context, m->rank, m->tag, m->buffer, plain.bytes)))
        return message_start(*m, WAY_STANDARD, out);
    struct mpi_request *request = mpi_request_take(&mpi_request_sent, m->call, NULL);
    if (unlikely(!request))
        return mpi_engine_error(NULL, m->call, ERR_MEMORY);
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

#define STARTED TO, MPI_Request *request
ENTRIES(MPI_Isend, MPI_Isend_c, const MPI_DATA_, (STARTED), return send_start(MESSAGE, request))
ENTRIES(MPI_Irsend, MPI_Irsend_c, const MPI_DATA_, (STARTED), return message_start(*MESSAGE, WAY_STANDARD, request))
ENTRIES(MPI_Issend, MPI_Issend_c, const MPI_DATA_, (STARTED), return message_start(*MESSAGE, WAY_SYNCHRONOUS, request))
ENTRIES(MPI_Ibsend, MPI_Ibsend_c, const MPI_DATA_, (STARTED), return message_start(*MESSAGE, WAY_BUFFERED, request))

/* ---- receiving ---- */

MPI_HOT int receive_end(struct mpi_comm *comm, const char *call, int error, const struct msg_result *result,
                        MPI_Status *status)
{
    if (likely(!error) || error == ERR_TRUNCATED)
        mpi_status_result(status, result);
    return likely(!error) ? MPI_SUCCESS : mpi_receive_error(comm, call, error, result);
}

/* By value: see mpi_message_wrong. */
static __attribute__((noinline)) int message_receive(struct mpi_message m, MPI_Status *status)
{
    struct mpi_target target;
    struct msg_result result;
    int error = mpi_message_check(&m, true, &target);
    if (error)
        return error;
    if (target.type->flat && !mpi_checking && m.rank != MPI_PROC_NULL)
        error = vmsg_recv(target.comm->context, mpi_source(m.rank), m.tag == MPI_ANY_TAG ? MSG_ANY_TAG : m.tag,
                          (void *)m.buffer, (uint64_t)m.count * target.type->size, &result);
    else
        error = operation_run(&m, &target, WAY_RECEIVE, &result);
    return receive_end(target.comm, m.call, error, &result, status);
}

MPI_HOT int receive_plain(const struct mpi_message *m, MPI_Status *status)
{
    struct plain plain;
    struct msg_result result;
    if (unlikely(!mpi_quick() || !message_is_plain(m, &plain)))
        return message_receive(*m, status);
    int error = vmsg_recv(plain.comm->context, m->rank, m->tag, (void *)m->buffer, plain.bytes, &result);
    return receive_end(plain.comm, m->call, error, &result, status);
}

#define RECEIVED TO, MPI_Status *status
ENTRIES(MPI_Recv, MPI_Recv_c, MPI_DATA_, (RECEIVED), return receive_plain(MESSAGE, status))

MPI_HOT int receive_start(const struct mpi_message *m, MPI_Request *out)
{
    struct plain plain;
    if (unlikely(!mpi_quick() || !message_is_plain(m, &plain) || !out))
        return message_start(*m, WAY_RECEIVE, out);
    struct mpi_request *request = mpi_request_take(&mpi_request_posted, m->call, plain.comm);
    if (unlikely(!request))
        return mpi_engine_error(plain.comm, m->call, ERR_MEMORY);
    struct msg_where from = {plain.comm->context, m->rank, m->tag};
    struct type_buffer buffer = {(void *)m->buffer, plain.bytes, NULL};
    int error = vmsg_recv_start(&request->operation, &from, &buffer);
    if (unlikely(error)) {
        mpi_request_give(request);
        return mpi_engine_error(plain.comm, m->call, error);
    }
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

ENTRIES(MPI_Irecv, MPI_Irecv_c, MPI_DATA_, (STARTED), return receive_start(MESSAGE, request))

/* ---- persistent requests: made once, started again and again; those of collectives and partitions, too ---- */

static int persistent_make(const struct mpi_message *m, enum mpi_way way, MPI_Request *out)
{
    struct mpi_target target;
    int error = mpi_message_check(m, way == WAY_RECEIVE, &target);
    if (!error && !out)
        error = mpi_null(target.comm, m->call, "request");
    if (error)
        return error;
    struct mpi_request *request = mpi_request_take_with(kind_of(way), m->call, target.comm, sizeof(struct saved));
    if (!request)
        return mpi_engine_error(target.comm, m->call, ERR_MEMORY);
    *(struct saved *)request->extra = (struct saved){*m, target, way};
    mpi_keep(target.type);
    request->persistent = true;
    request->active = false;
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

ENTRIES(MPI_Send_init, MPI_Send_init_c, const MPI_DATA_, (STARTED),
        return persistent_make(MESSAGE, WAY_STANDARD, request))
ENTRIES(MPI_Ssend_init, MPI_Ssend_init_c, const MPI_DATA_, (STARTED),
        return persistent_make(MESSAGE, WAY_SYNCHRONOUS, request))
ENTRIES(MPI_Rsend_init, MPI_Rsend_init_c, const MPI_DATA_, (STARTED),
        return persistent_make(MESSAGE, WAY_STANDARD, request))
ENTRIES(MPI_Bsend_init, MPI_Bsend_init_c, const MPI_DATA_, (STARTED),
        return persistent_make(MESSAGE, WAY_BUFFERED, request))
ENTRIES(MPI_Recv_init, MPI_Recv_init_c, MPI_DATA_, (STARTED), return persistent_make(MESSAGE, WAY_RECEIVE, request))
