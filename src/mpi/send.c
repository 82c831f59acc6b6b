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
    if (target.type->flat)
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
    int error = mpi_check_send(m, &target);
    if (error || m->rank == MPI_PROC_NULL)
        return error;
    error = send_by_request(*m, target, MSG_SYNCHRONOUS);
    return error ? mpi_engine_error(target.comm, m->call, error) : MPI_SUCCESS;
}

static int buffered(const struct mpi_message *m)
{
    struct mpi_target target;
    int error = mpi_check_send(m, &target);
    if (error || m->rank == MPI_PROC_NULL)
        return error;
    return mpi_buffered_send(m, &target);
}

/* ---- blocking --------------------------------------------------------------------------------------------------- */

int PMPI_Send(const void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm)
{
    DOING("MPI_Send");
    return send(&(struct mpi_message){"MPI_Send", buffer, count, type, rank, tag, comm});
}
int PMPI_Send_c(const void *buffer, MPI_Count count, MPI_Datatype type, int rank, int tag, MPI_Comm comm)
{
    DOING("MPI_Send_c");
    return send(&(struct mpi_message){"MPI_Send_c", buffer, count, type, rank, tag, comm});
}
int PMPI_Ssend(const void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm)
{
    ENTER("MPI_Ssend");
    return synchronous(&(struct mpi_message){"MPI_Ssend", buffer, count, type, rank, tag, comm});
}
int PMPI_Ssend_c(const void *buffer, MPI_Count count, MPI_Datatype type, int rank, int tag, MPI_Comm comm)
{
    ENTER("MPI_Ssend_c");
    return synchronous(&(struct mpi_message){"MPI_Ssend_c", buffer, count, type, rank, tag, comm});
}
int PMPI_Rsend(const void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm)
{
    ENTER("MPI_Rsend");
    return send(&(struct mpi_message){"MPI_Rsend", buffer, count, type, rank, tag, comm});
}
int PMPI_Rsend_c(const void *buffer, MPI_Count count, MPI_Datatype type, int rank, int tag, MPI_Comm comm)
{
    ENTER("MPI_Rsend_c");
    return send(&(struct mpi_message){"MPI_Rsend_c", buffer, count, type, rank, tag, comm});
}
int PMPI_Bsend(const void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm)
{
    ENTER("MPI_Bsend");
    return buffered(&(struct mpi_message){"MPI_Bsend", buffer, count, type, rank, tag, comm});
}
int PMPI_Bsend_c(const void *buffer, MPI_Count count, MPI_Datatype type, int rank, int tag, MPI_Comm comm)
{
    ENTER("MPI_Bsend_c");
    return buffered(&(struct mpi_message){"MPI_Bsend_c", buffer, count, type, rank, tag, comm});
}

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
static __attribute__((noinline)) int start_send(struct mpi_message m, enum msg_mode mode, MPI_Request *out)
{
    struct mpi_target target;
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
    error = likely(request != NULL) ? vmsg_send_start(&request->operation, &to, &buffer, mode) : ERR_MEMORY;
    if (unlikely(error)) {
        if (request)
            mpi_request_give(request);
        return mpi_engine_error(target.comm, m.call, error);
    }
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int start_slowly(struct mpi_message m, MPI_Request *out)
{
    mpi_enter(m.call);
    TRACE(m.call);
    return start_send(m, MSG_STANDARD, out);
}

/* What can leave at once needs no operation, only a handle. */
MPI_HOT int start_quickly(const struct mpi_message *m, MPI_Request *out)
{
    struct mpi_plain plain;
    if (unlikely(!mpi_quick() || !mpi_is_plain(m, &plain) || !out ||
                 vmsg_send_now(plain.comm->context, m->rank, m->tag, m->buffer, plain.bytes)))
        return start_slowly(*m, out);
    struct mpi_request *request = mpi_request_take_short(REQUEST_SENT, m->call, NULL);
    if (unlikely(!request))
        return mpi_engine_error(NULL, m->call, ERR_MEMORY);
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

static int start_buffered(const struct mpi_message *m, MPI_Request *out)
{
    struct mpi_target target;
    int error = mpi_check_send(m, &target);
    if (!error && !out)
        error = no_request(m, target.comm);
    if (!error && m->rank != MPI_PROC_NULL)
        error = mpi_buffered_send(m, &target);
    return error ? error : deliver(m, target.comm, REQUEST_BUFFERED, out);
}

int PMPI_Isend(const void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    DOING("MPI_Isend");
    return start_quickly(&(struct mpi_message){"MPI_Isend", buffer, count, type, rank, tag, comm}, request);
}
int PMPI_Isend_c(const void *buffer, MPI_Count count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    DOING("MPI_Isend_c");
    return start_quickly(&(struct mpi_message){"MPI_Isend_c", buffer, count, type, rank, tag, comm}, request);
}
int PMPI_Issend(const void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    ENTER("MPI_Issend");
    return start_send((struct mpi_message){"MPI_Issend", buffer, count, type, rank, tag, comm}, MSG_SYNCHRONOUS,
                      request);
}
int PMPI_Issend_c(const void *buffer, MPI_Count count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    ENTER("MPI_Issend_c");
    return start_send((struct mpi_message){"MPI_Issend_c", buffer, count, type, rank, tag, comm}, MSG_SYNCHRONOUS,
                      request);
}
int PMPI_Irsend(const void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    ENTER("MPI_Irsend");
    return start_send((struct mpi_message){"MPI_Irsend", buffer, count, type, rank, tag, comm}, MSG_STANDARD, request);
}
int PMPI_Irsend_c(const void *buffer, MPI_Count count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    ENTER("MPI_Irsend_c");
    return start_send((struct mpi_message){"MPI_Irsend_c", buffer, count, type, rank, tag, comm}, MSG_STANDARD,
                      request);
}
int PMPI_Ibsend(const void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    ENTER("MPI_Ibsend");
    return start_buffered(&(struct mpi_message){"MPI_Ibsend", buffer, count, type, rank, tag, comm}, request);
}
int PMPI_Ibsend_c(const void *buffer, MPI_Count count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    ENTER("MPI_Ibsend_c");
    return start_buffered(&(struct mpi_message){"MPI_Ibsend_c", buffer, count, type, rank, tag, comm}, request);
}

ALIAS(MPI_Send);
ALIAS(MPI_Send_c);
ALIAS(MPI_Ssend);
ALIAS(MPI_Ssend_c);
ALIAS(MPI_Rsend);
ALIAS(MPI_Rsend_c);
ALIAS(MPI_Bsend);
ALIAS(MPI_Bsend_c);
ALIAS(MPI_Isend);
ALIAS(MPI_Isend_c);
ALIAS(MPI_Issend);
ALIAS(MPI_Issend_c);
ALIAS(MPI_Irsend);
ALIAS(MPI_Irsend_c);
ALIAS(MPI_Ibsend);
ALIAS(MPI_Ibsend_c);
