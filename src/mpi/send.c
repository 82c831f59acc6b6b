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
ENTRY(MPI_Send)(SEND(int)) { return HERE(), send(MESSAGE); }
ENTRY(MPI_Send_c)(SEND(MPI_Count)) { return HERE(), send(MESSAGE); }
ENTRY(MPI_Rsend)(SEND(int)) { return HERE(), send(MESSAGE); }
ENTRY(MPI_Rsend_c)(SEND(MPI_Count)) { return HERE(), send(MESSAGE); }
ENTRY(MPI_Ssend)(SEND(int)) { return HERE(), send_slowly(*MESSAGE, WAY_SYNCHRONOUS); }
ENTRY(MPI_Ssend_c)(SEND(MPI_Count)) { return HERE(), send_slowly(*MESSAGE, WAY_SYNCHRONOUS); }
ENTRY(MPI_Bsend)(SEND(int)) { return HERE(), send_slowly(*MESSAGE, WAY_BUFFERED); }
ENTRY(MPI_Bsend_c)(SEND(MPI_Count)) { return HERE(), send_slowly(*MESSAGE, WAY_BUFFERED); }

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
ENTRY(MPI_Isend)(START(int)) { return HERE(), start_quickly(MESSAGE, request); }
ENTRY(MPI_Isend_c)(START(MPI_Count)) { return HERE(), start_quickly(MESSAGE, request); }
ENTRY(MPI_Irsend)(START(int)) { return HERE(), mpi_message_start(*MESSAGE, WAY_STANDARD, request); }
ENTRY(MPI_Irsend_c)(START(MPI_Count)) { return HERE(), mpi_message_start(*MESSAGE, WAY_STANDARD, request); }
ENTRY(MPI_Issend)(START(int)) { return HERE(), mpi_message_start(*MESSAGE, WAY_SYNCHRONOUS, request); }
ENTRY(MPI_Issend_c)(START(MPI_Count)) { return HERE(), mpi_message_start(*MESSAGE, WAY_SYNCHRONOUS, request); }
ENTRY(MPI_Ibsend)(START(int)) { return HERE(), mpi_message_start(*MESSAGE, WAY_BUFFERED, request); }
ENTRY(MPI_Ibsend_c)(START(MPI_Count)) { return HERE(), mpi_message_start(*MESSAGE, WAY_BUFFERED, request); }
