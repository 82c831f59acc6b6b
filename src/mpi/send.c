/* Sending. The blocking call of standard mode with data in a row is the hot path of the house: checks, then the engine,
 * without a request. Everything else goes through one. Ready mode is standard mode: the receive is there, and where it
 * is not the message waits like any other. */
#include "mpi/inside.h"

/* By value: see mpi_message_wrong. */
static __attribute__((noinline)) int send_slowly(struct mpi_message m, enum mpi_way way)
{
    struct mpi_target target;
    int error = mpi_message_check(&m, false, &target);
    if (error || m.rank == MPI_PROC_NULL)
        return error;
    if (way == WAY_BUFFERED)
        return mpi_buffered_send(&m, &target);
    if (way == WAY_STANDARD && target.type->flat && !mpi_checking)
        error = vmsg_send(target.comm->context, m.rank, m.tag, m.buffer, (uint64_t)m.count * target.type->size);
    else
        error = mpi_operation_run(&m, &target, way, NULL);
    return error ? mpi_engine_error(target.comm, m.call, error) : MPI_SUCCESS;
}

MPI_HOT int send(const struct mpi_message *m)
{
    struct mpi_plain plain;
    if (unlikely(!mpi_quick() || !mpi_is_plain(m, &plain)))
        return send_slowly(*m, WAY_STANDARD);
    int error = vmsg_send(plain.comm->context, m->rank, m->tag, m->buffer, plain.bytes);
    return likely(!error) ? MPI_SUCCESS : mpi_engine_error(plain.comm, m->call, error);
}

/* ---- blocking --------------------------------------------------------------------------------------------------- */

#define SEND(number) const void *buffer, number count, MPI_Datatype type, int rank, int tag, MPI_Comm comm
#define MESSAGE &(struct mpi_message){NAME, buffer, count, type, rank, tag, comm}
ENTRIES(MPI_Send, MPI_Send_c, SEND, send(MESSAGE))
ENTRIES(MPI_Rsend, MPI_Rsend_c, SEND, send(MESSAGE))
ENTRIES(MPI_Ssend, MPI_Ssend_c, SEND, send_slowly(*MESSAGE, WAY_SYNCHRONOUS))
ENTRIES(MPI_Bsend, MPI_Bsend_c, SEND, send_slowly(*MESSAGE, WAY_BUFFERED))

/* ---- non-blocking ----------------------------------------------------------------------------------------------- */

/* What can leave at once needs no operation, only a handle. */
MPI_HOT int start_quickly(const struct mpi_message *m, MPI_Request *out)
{
    struct mpi_plain plain;
    if (unlikely(!mpi_quick() || !mpi_is_plain(m, &plain) || !out ||
                 vmsg_send_now(plain.comm->context, m->rank, m->tag, m->buffer, plain.bytes)))
        return mpi_message_start(*m, WAY_STANDARD, out);
    struct mpi_request *request = mpi_request_take_short(REQUEST_SENT, m->call, NULL);
    if (unlikely(!request))
        return mpi_engine_error(NULL, m->call, ERR_MEMORY);
    *out = mpi_request_publish_short(request);
    return MPI_SUCCESS;
}

#define START(number) SEND(number), MPI_Request *request
ENTRIES(MPI_Isend, MPI_Isend_c, START, start_quickly(MESSAGE, request))
ENTRIES(MPI_Irsend, MPI_Irsend_c, START, mpi_message_start(*MESSAGE, WAY_STANDARD, request))
ENTRIES(MPI_Issend, MPI_Issend_c, START, mpi_message_start(*MESSAGE, WAY_SYNCHRONOUS, request))
ENTRIES(MPI_Ibsend, MPI_Ibsend_c, START, mpi_message_start(*MESSAGE, WAY_BUFFERED, request))
