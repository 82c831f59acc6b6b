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
    int error = vmsg_recv_start(&request, &from, &buffer);
    if (error)
        return error;
    error = mpi_wait_here(&request);
    *result = request.result;
    return error;
}

MPI_HOT int receive(const struct mpi_message *m, MPI_Status *status)
{
    struct mpi_target target;
    struct msg_result result;
    int error = mpi_check_receive(m, &target);
    if (unlikely(error))
        return error;
    if (unlikely(m->rank == MPI_PROC_NULL)) {
        mpi_status_proc_null(status);
        return MPI_SUCCESS;
    }
    if (likely(target.type->flat))
        error = vmsg_recv(target.comm->context, m->rank, m->tag == MPI_ANY_TAG ? MSG_ANY_TAG : m->tag,
                          (void *)m->buffer, (uint64_t)m->count * target.type->size, &result);
    else
        error = receive_by_request(*m, target, &result);
    if (unlikely(error && error != ERR_TRUNCATED))
        return mpi_engine_error(target.comm, m->call, error);
    mpi_status_result(status, &result);
    return likely(!error) ? MPI_SUCCESS : mpi_receive_error(target.comm, m->call, &result);
}

/* By value: see mpi_message_wrong. */
static COLD int receive_slowly(struct mpi_message m, MPI_Status *status)
{
    mpi_enter(m.call);
    TRACE(m.call);
    return receive(&m, status);
}

int PMPI_Recv(void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Status *status)
{
    DOING("MPI_Recv");
    struct mpi_message m = {"MPI_Recv", buffer, count, type, rank, tag, comm};
    return mpi_quick() ? receive(&m, status) : receive_slowly(m, status);
}
int PMPI_Recv_c(void *buffer, MPI_Count count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Status *status)
{
    DOING("MPI_Recv_c");
    struct mpi_message m = {"MPI_Recv_c", buffer, count, type, rank, tag, comm};
    return mpi_quick() ? receive(&m, status) : receive_slowly(m, status);
}

static int start_receive(const struct mpi_message *m, MPI_Request *out)
{
    struct mpi_target target;
    int error = mpi_check_receive(m, &target);
    if (unlikely(error))
        return error;
    if (unlikely(!out))
        return mpi_error(target.comm, m->call, MPI_ERR_ARG, "request is NULL");
    bool nothing = m->rank == MPI_PROC_NULL;
    struct type_buffer buffer = mpi_buffer((void *)m->buffer, (uint64_t)m->count, target.type);
    struct msg_where from = mpi_where(target.comm, m->rank, m->tag);
    struct mpi_request *request =
        mpi_request_take(nothing ? REQUEST_NOTHING : REQUEST_RECEIVE, m->call, target.comm, buffer.layout);
    if (unlikely(!request))
        return mpi_engine_error(target.comm, m->call, ERR_MEMORY);
    error = nothing ? OK : vmsg_recv_start(&request->operation, &from, &buffer);
    if (unlikely(error)) {
        mpi_request_give(request);
        return mpi_engine_error(target.comm, m->call, error);
    }
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

static COLD int start_slowly(struct mpi_message m, MPI_Request *out)
{
    mpi_enter(m.call);
    TRACE(m.call);
    return start_receive(&m, out);
}

int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    DOING("MPI_Irecv");
    struct mpi_message m = {"MPI_Irecv", buffer, count, type, rank, tag, comm};
    return mpi_quick() ? start_receive(&m, request) : start_slowly(m, request);
}
int PMPI_Irecv_c(void *buffer, MPI_Count count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    DOING("MPI_Irecv_c");
    struct mpi_message m = {"MPI_Irecv_c", buffer, count, type, rank, tag, comm};
    return mpi_quick() ? start_receive(&m, request) : start_slowly(m, request);
}

ALIAS(MPI_Recv);
ALIAS(MPI_Recv_c);
ALIAS(MPI_Irecv);
ALIAS(MPI_Irecv_c);
