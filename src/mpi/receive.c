/* Receiving, blocking and not. Matched messages (MPI_Mrecv) are in probe.c. */
#include "mpi/inside.h"

int mpi_receive_error(struct mpi_comm *comm, const char *call, const struct msg_result *result)
{
    if (result->error != ERR_TRUNCATED)
        return mpi_engine_error(comm, call, result->error);
    return mpi_error(comm, call, MPI_ERR_TRUNCATE,
                     "the message from rank %d with tag %d is longer than the buffer of its receive (%llu bytes)",
                     result->source, result->tag, (unsigned long long)result->bytes);
}

/* By value: see mpi_message_wrong. */
static __attribute__((noinline)) int receive_by_request(struct mpi_message m, struct mpi_target target,
                                                        struct msg_result *result)
{
    struct msg_request request;
    struct type_buffer buffer = mpi_buffer((void *)m.buffer, (uint64_t)m.count, target.type);
    struct msg_where from = mpi_where(target.comm, m.rank, m.tag);
    request.completed = NULL;
    request.owner = NULL;
    if (mpi_checking)
        mpi_check_starts(&request, &m, &target, false);
    int error = vmsg_recv_start(&request, &from, &buffer);
    if (error)
        return error;
    error = mpi_wait_here(&request);
    *result = request.result;
    return error;
}

/* What is wrong, once the message has been received. */
static COLD int receive_failed(struct mpi_comm *comm, const char *call, int error, const struct msg_result *result,
                               MPI_Status *status)
{
    if (error != ERR_TRUNCATED)
        return mpi_engine_error(comm, call, error);
    mpi_status_result(status, result);
    return mpi_receive_error(comm, call, result);
}

/* By value: see mpi_message_wrong. */
static __attribute__((noinline)) int receive_slowly(struct mpi_message m, MPI_Status *status)
{
    struct mpi_target target;
    struct msg_result result = {.error = OK};
    mpi_enter(m.call);
    TRACE(m.call);
    int error = mpi_check_receive(&m, &target);
    if (error)
        return error;
    if (m.rank == MPI_PROC_NULL) {
        mpi_status_proc_null(status);
        return MPI_SUCCESS;
    }
    if (target.type->flat && !mpi_checking)
        error = vmsg_recv(target.comm->context, m.rank, m.tag == MPI_ANY_TAG ? MSG_ANY_TAG : m.tag, (void *)m.buffer,
                          (uint64_t)m.count * target.type->size, &result);
    else
        error = receive_by_request(m, target, &result);
    if (error)
        return receive_failed(target.comm, m.call, error, &result, status);
    mpi_status_result(status, &result);
    return MPI_SUCCESS;
}

MPI_HOT int receive(const struct mpi_message *m, MPI_Status *status)
{
    struct mpi_plain plain;
    struct msg_result result;
    if (unlikely(!mpi_quick() || !mpi_is_plain(m, &plain)))
        return receive_slowly(*m, status);
    int error = vmsg_recv(plain.comm->context, m->rank, m->tag, (void *)m->buffer, plain.bytes, &result);
    if (unlikely(error))
        return receive_failed(plain.comm, m->call, error, &result, status);
    mpi_status_result(status, &result);
    return MPI_SUCCESS;
}

#define RECEIVE(number) void *buffer, number count, MPI_Datatype type, int rank, int tag, MPI_Comm comm
#define MESSAGE &(struct mpi_message){NAME, buffer, count, type, rank, tag, comm}
ENTRY(MPI_Recv)(RECEIVE(int), MPI_Status *status) { return HERE(), receive(MESSAGE, status); }
ENTRY(MPI_Recv_c)(RECEIVE(MPI_Count), MPI_Status *status) { return HERE(), receive(MESSAGE, status); }

static __attribute__((noinline)) int start_slowly(struct mpi_message m, MPI_Request *out)
{
    struct mpi_target target;
    mpi_enter(m.call);
    TRACE(m.call);
    int error = mpi_check_receive(&m, &target);
    if (error)
        return error;
    if (!out)
        return mpi_error(target.comm, m.call, MPI_ERR_ARG, "request is NULL");
    bool nothing = m.rank == MPI_PROC_NULL;
    struct type_buffer buffer = mpi_buffer((void *)m.buffer, (uint64_t)m.count, target.type);
    struct msg_where from = mpi_where(target.comm, m.rank, m.tag);
    struct mpi_request *request =
        mpi_request_take(nothing ? REQUEST_NOTHING : REQUEST_RECEIVE, m.call, target.comm, buffer.layout);
    if (!request)
        return mpi_engine_error(target.comm, m.call, ERR_MEMORY);
    if (mpi_checking && !nothing)
        mpi_check_starts(&request->operation, &m, &target, false);
    error = nothing ? OK : vmsg_recv_start(&request->operation, &from, &buffer);
    if (error) {
        mpi_request_give(request);
        return mpi_engine_error(target.comm, m.call, error);
    }
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

/* A receive whose message is not here yet is only posted. */
MPI_HOT int start_receive(const struct mpi_message *m, MPI_Request *out)
{
    struct mpi_plain plain;
    if (unlikely(!mpi_quick() || !mpi_is_plain(m, &plain) || !out))
        return start_slowly(*m, out);
    struct mpi_request *request = mpi_request_take_short(REQUEST_RECEIVE, m->call, plain.comm);
    if (unlikely(!request ||
                 vmsg_recv_now(&request->operation, plain.comm->context, m->rank, m->tag, (void *)m->buffer, plain.bytes))) {
        if (request)
            mpi_request_give(request);
        return start_slowly(*m, out);
    }
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

ENTRY(MPI_Irecv)(RECEIVE(int), MPI_Request *request) { return HERE(), start_receive(MESSAGE, request); }
ENTRY(MPI_Irecv_c)(RECEIVE(MPI_Count), MPI_Request *request) { return HERE(), start_receive(MESSAGE, request); }
