/* Persistent requests of point-to-point communication: made once, started again and again. Those of collectives are
 * made in collective.c and started here. */
#include "mpi/inside.h"
#include <stdlib.h>

/* What a persistent MPI_Bsend needs at each start; any other only where it is checked. */
struct saved {
    struct mpi_message message;
    struct mpi_target target;
};

static int initialize(const struct mpi_message *m, const struct mpi_target *target, enum mpi_request_kind kind,
                      enum msg_mode mode, MPI_Request *out)
{
    if (!out)
        return mpi_null(target->comm, m->call, "request");
    if (m->rank == MPI_PROC_NULL)
        kind = REQUEST_NOTHING;
    struct mpi_request *request = mpi_request_take(kind, m->call, target->comm, target->type->layout);
    bool saves = kind == REQUEST_BUFFERED || mpi_checking;
    struct saved *saved = request && saves ? malloc(sizeof *saved) : NULL;
    if (!request || (saves && !saved)) {
        if (request)
            mpi_request_give(request);
        return mpi_engine_error(target->comm, m->call, ERR_MEMORY);
    }
    if (saved) {
        *saved = (struct saved){*m, *target};
        if (!mpi_type_predefined(target->type))
            mpi_object_keep(target->type);
        request->extra = saved;
    }
    request->persistent = true;
    request->active = false;
    request->mode = mode;
    request->where = mpi_where(target->comm, m->rank, m->tag);
    request->buffer = mpi_buffer((void *)m->buffer, (uint64_t)m->count, target->type);
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

static int send_init(const struct mpi_message *m, enum mpi_request_kind kind, enum msg_mode mode, MPI_Request *out)
{
    struct mpi_target target;
    mpi_enter(m->call);
    int error = mpi_check_send(m, &target);
    return error ? error : initialize(m, &target, kind, mode, out);
}

static int receive_init(const struct mpi_message *m, MPI_Request *out)
{
    struct mpi_target target;
    mpi_enter(m->call);
    int error = mpi_check_receive(m, &target);
    return error ? error : initialize(m, &target, REQUEST_RECEIVE, MSG_STANDARD, out);
}

#define TAKES(constant, number)                                                                                        \
    constant void *buffer, number count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request
#define MESSAGE &(struct mpi_message){NAME, buffer, count, type, rank, tag, comm}
ENTRY(MPI_Send_init)(TAKES(const, int)) { return send_init(MESSAGE, REQUEST_SEND, MSG_STANDARD, request); }
ENTRY(MPI_Send_init_c)(TAKES(const, MPI_Count)) { return send_init(MESSAGE, REQUEST_SEND, MSG_STANDARD, request); }
ENTRY(MPI_Ssend_init)(TAKES(const, int)) { return send_init(MESSAGE, REQUEST_SEND, MSG_SYNCHRONOUS, request); }
ENTRY(MPI_Ssend_init_c)(TAKES(const, MPI_Count)) { return send_init(MESSAGE, REQUEST_SEND, MSG_SYNCHRONOUS, request); }
ENTRY(MPI_Rsend_init)(TAKES(const, int)) { return send_init(MESSAGE, REQUEST_SEND, MSG_STANDARD, request); }
ENTRY(MPI_Rsend_init_c)(TAKES(const, MPI_Count)) { return send_init(MESSAGE, REQUEST_SEND, MSG_STANDARD, request); }
ENTRY(MPI_Bsend_init)(TAKES(const, int)) { return send_init(MESSAGE, REQUEST_BUFFERED, MSG_STANDARD, request); }
ENTRY(MPI_Bsend_init_c)(TAKES(const, MPI_Count)) { return send_init(MESSAGE, REQUEST_BUFFERED, MSG_STANDARD, request); }
ENTRY(MPI_Recv_init)(TAKES(, int)) { return receive_init(MESSAGE, request); }
ENTRY(MPI_Recv_init_c)(TAKES(, MPI_Count)) { return receive_init(MESSAGE, request); }

void mpi_saved_drop(struct mpi_request *request)
{
    struct saved *saved = request->extra;
    if (saved)
        mpi_type_drop(saved->target.type);
}

static int launch(struct mpi_request *request)
{
    const struct saved *saved = request->extra;
    if (mpi_checking && (request->kind == REQUEST_SEND || request->kind == REQUEST_RECEIVE))
        mpi_check_starts(&request->operation, &saved->message, &saved->target, request->kind == REQUEST_SEND);
    switch (request->kind) {
    case REQUEST_SEND:
        return vmsg_send_start(&request->operation, &request->where, &request->buffer, request->mode);
    case REQUEST_RECEIVE:
        return vmsg_recv_start(&request->operation, &request->where, &request->buffer);
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
        return mpi_request_wrong(call, handle);
    if (!request->persistent || request->active)
        return mpi_error(request->comm, call, MPI_ERR_REQUEST, "the request of %s is %s", request->call,
                         request->persistent ? "active already" : "not persistent");
    request->active = true;
    if (request->kind == REQUEST_BUFFERED) {
        struct saved *saved = request->extra;
        return mpi_buffered_send(&saved->message, &saved->target);
    }
    int error = launch(request);
    if (!error)
        return MPI_SUCCESS;
    request->active = false;
    return mpi_engine_error(request->comm, call, error);
}

ENTRY(MPI_Start)(MPI_Request *request)
{
    ENTER("MPI_Start");
    if (!request)
        return mpi_null(NULL, NAME, "request");
    return start(NAME, *request);
}

ENTRY(MPI_Startall)(int count, MPI_Request requests[])
{
    ENTER("MPI_Startall");
    if (count < 0 || (count > 0 && !requests))
        return mpi_error(NULL, NAME, count < 0 ? MPI_ERR_COUNT : MPI_ERR_ARG, "%d requests at %p", count,
                         (void *)requests);
    for (int i = 0; i < count; i++) {
        int error = start(NAME, requests[i]);
        if (error)
            return error;
    }
    return MPI_SUCCESS;
}
