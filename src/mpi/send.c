/* Sending. The blocking call of standard mode with data in a row is the hot path of the house: checks, then the engine,
 * without a request. Everything else goes through one. Ready mode is standard mode: the receive is there, and where it
 * is not the message waits like any other. */
#include "mpi/inside.h"

/* The other modes, and data that does not lie in a row. The message by value: see mpi_message_wrong. */
static __attribute__((noinline)) int send_by_request(struct mpi_message m, struct mpi_target target, enum msg_mode mode)
{
    struct msg_request request;
    struct type_buffer buffer = mpi_buffer((void *)m.buffer, (uint64_t)m.count, target.type);
    struct msg_where to = mpi_where(target.comm, m.rank, m.tag);
    request.completed = NULL;
    request.owner = NULL;
    if (mpi_checking)
        mpi_check_starts(&request, &m, &target, true);
    int error = vmsg_send_start(&request, &to, &buffer, mode);
    return error ? error : mpi_wait_here(&request);
}

/* By value: see mpi_message_wrong. */
static __attribute__((noinline)) int send_slowly(struct mpi_message m)
{
    struct mpi_target target;
    mpi_enter(m.call);
    TRACE(m.call);
    int error = mpi_check_send(&m, &target);
    if (error || m.rank == MPI_PROC_NULL)
        return error;
    if (target.type->flat && !mpi_checking)
        error = vmsg_send(target.comm->context, m.rank, m.tag, m.buffer, (uint64_t)m.count * target.type->size);
    else
        error = send_by_request(m, target, MSG_STANDARD);
    return error ? mpi_engine_error(target.comm, m.call, error) : MPI_SUCCESS;
}

MPI_HOT int send(const struct mpi_message *m)
{
    struct mpi_plain plain;
    if (unlikely(!mpi_quick() || !mpi_is_plain(m, &plain)))
        return send_slowly(*m);
    int error = vmsg_send(plain.comm->context, m->rank, m->tag, m->buffer, plain.bytes);
    return likely(!error) ? MPI_SUCCESS : mpi_engine_error(plain.comm, m->call, error);
}

static int synchronous(const struct mpi_message *m)
{
    struct mpi_target target;
    mpi_enter(m->call);
    TRACE(m->call);
    int error = mpi_check_send(m, &target);
    if (error || m->rank == MPI_PROC_NULL)
        return error;
    error = send_by_request(*m, target, MSG_SYNCHRONOUS);
    return error ? mpi_engine_error(target.comm, m->call, error) : MPI_SUCCESS;
}

static int buffered(const struct mpi_message *m)
{
    struct mpi_target target;
    mpi_enter(m->call);
    TRACE(m->call);
    int error = mpi_check_send(m, &target);
    if (error || m->rank == MPI_PROC_NULL)
        return error;
    return mpi_buffered_send(m, &target);
}

/* ---- blocking --------------------------------------------------------------------------------------------------- */

#define SEND(number) const void *buffer, number count, MPI_Datatype type, int rank, int tag, MPI_Comm comm
#define MESSAGE &(struct mpi_message){NAME, buffer, count, type, rank, tag, comm}
ENTRY(MPI_Send)(SEND(int)) { return HERE(), send(MESSAGE); }
ENTRY(MPI_Send_c)(SEND(MPI_Count)) { return HERE(), send(MESSAGE); }
ENTRY(MPI_Rsend)(SEND(int)) { return HERE(), send(MESSAGE); }
ENTRY(MPI_Rsend_c)(SEND(MPI_Count)) { return HERE(), send(MESSAGE); }
ENTRY(MPI_Ssend)(SEND(int)) { return HERE(), synchronous(MESSAGE); }
ENTRY(MPI_Ssend_c)(SEND(MPI_Count)) { return HERE(), synchronous(MESSAGE); }
ENTRY(MPI_Bsend)(SEND(int)) { return HERE(), buffered(MESSAGE); }
ENTRY(MPI_Bsend_c)(SEND(MPI_Count)) { return HERE(), buffered(MESSAGE); }

/* ---- non-blocking ----------------------------------------------------------------------------------------------- */

static int no_request(const struct mpi_message *m, struct mpi_comm *comm)
{
    return mpi_error(comm, m->call, MPI_ERR_ARG, "request is NULL");
}

/* A request that is complete from the start, or without memory an error. */
static int deliver(const struct mpi_message *m, struct mpi_comm *comm, enum mpi_request_kind kind, MPI_Request *out)
{
    struct mpi_request *request = mpi_request_take(kind, m->call, comm, NULL);
    if (!request)
        return mpi_engine_error(comm, m->call, ERR_MEMORY);
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

/* By value: see mpi_message_wrong. */
static __attribute__((noinline)) int start_slowly(struct mpi_message m, enum msg_mode mode, MPI_Request *out)
{
    struct mpi_target target;
    mpi_enter(m.call);
    TRACE(m.call);
    int error = mpi_check_send(&m, &target);
    if (unlikely(error))
        return error;
    if (unlikely(!out))
        return no_request(&m, target.comm);
    if (unlikely(m.rank == MPI_PROC_NULL))
        return deliver(&m, target.comm, REQUEST_NOTHING, out);
    struct type_buffer buffer = mpi_buffer((void *)m.buffer, (uint64_t)m.count, target.type);
    struct msg_where to = mpi_where(target.comm, m.rank, m.tag);
    struct mpi_request *request = mpi_request_take(REQUEST_SEND, m.call, target.comm, buffer.layout);
    if (request && mpi_checking)
        mpi_check_starts(&request->operation, &m, &target, true);
    error = likely(request != NULL) ? vmsg_send_start(&request->operation, &to, &buffer, mode) : ERR_MEMORY;
    if (unlikely(error)) {
        if (request)
            mpi_request_give(request);
        return mpi_engine_error(target.comm, m.call, error);
    }
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

/* What can leave at once needs no operation, only a handle. */
MPI_HOT int start_quickly(const struct mpi_message *m, MPI_Request *out)
{
    struct mpi_plain plain;
    if (unlikely(!mpi_quick() || !mpi_is_plain(m, &plain) || !out ||
                 vmsg_send_now(plain.comm->context, m->rank, m->tag, m->buffer, plain.bytes)))
        return start_slowly(*m, MSG_STANDARD, out);
    struct mpi_request *request = mpi_request_take_short(REQUEST_SENT, m->call, NULL);
    if (unlikely(!request))
        return mpi_engine_error(NULL, m->call, ERR_MEMORY);
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

static int start_buffered(const struct mpi_message *m, MPI_Request *out)
{
    struct mpi_target target;
    mpi_enter(m->call);
    TRACE(m->call);
    int error = mpi_check_send(m, &target);
    if (!error && !out)
        error = no_request(m, target.comm);
    if (!error && m->rank != MPI_PROC_NULL)
        error = mpi_buffered_send(m, &target);
    return error ? error : deliver(m, target.comm, REQUEST_BUFFERED, out);
}

#define START(number) SEND(number), MPI_Request *request
ENTRY(MPI_Isend)(START(int)) { return HERE(), start_quickly(MESSAGE, request); }
ENTRY(MPI_Isend_c)(START(MPI_Count)) { return HERE(), start_quickly(MESSAGE, request); }
ENTRY(MPI_Irsend)(START(int)) { return HERE(), start_slowly(*MESSAGE, MSG_STANDARD, request); }
ENTRY(MPI_Irsend_c)(START(MPI_Count)) { return HERE(), start_slowly(*MESSAGE, MSG_STANDARD, request); }
ENTRY(MPI_Issend)(START(int)) { return HERE(), start_slowly(*MESSAGE, MSG_SYNCHRONOUS, request); }
ENTRY(MPI_Issend_c)(START(MPI_Count)) { return HERE(), start_slowly(*MESSAGE, MSG_SYNCHRONOUS, request); }
ENTRY(MPI_Ibsend)(START(int)) { return HERE(), start_buffered(MESSAGE, request); }
ENTRY(MPI_Ibsend_c)(START(MPI_Count)) { return HERE(), start_buffered(MESSAGE, request); }
