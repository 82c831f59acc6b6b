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
    int error = mpi_message_check(&m, true, &target);
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
        error = mpi_operation_run(&m, &target, WAY_RECEIVE, &result);
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
#define RECEIVED(number) RECEIVE(number), MPI_Status *status
ENTRIES(MPI_Recv, MPI_Recv_c, RECEIVED, receive(MESSAGE, status))

/* The message may be here, or there are threads. A class that was raised. */
static __attribute__((noinline)) int start_at_once(const struct mpi_message *m, const struct mpi_plain *plain,
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

/* A receive whose message is not here yet is only posted. */
MPI_HOT int start_receive(const struct mpi_message *m, MPI_Request *out)
{
    struct mpi_plain plain;
    if (unlikely(!mpi_quick() || !mpi_is_plain(m, &plain) || !out))
        return mpi_message_start(*m, WAY_RECEIVE, out);
    struct mpi_request *request = mpi_request_take_short(REQUEST_RECEIVE, m->call, plain.comm);
    int error = ERR_MEMORY;
    if (likely(request != NULL))
        error = vmsg_recv_now(&request->operation, plain.comm->context, m->rank, m->tag, (void *)m->buffer, plain.bytes);
    if (unlikely(error) && (error = start_at_once(m, &plain, request)))
        return error;
    *out = mpi_request_publish_short(request);
    return MPI_SUCCESS;
}

#define STARTED(number) RECEIVE(number), MPI_Request *request
ENTRIES(MPI_Irecv, MPI_Irecv_c, STARTED, start_receive(MESSAGE, request))
