/* Persistent requests of point-to-point communication: made once, started again and again. Those of collectives are
 * made in collective.c and started here. */
#include "mpi/inside.h"

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
    struct mpi_request *request = saved ? mpi_request_take(mpi_message_kind(m, way), m->call, target.comm, NULL) : NULL;
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

#define TAKES(constant, number)                                                                                        \
    constant void *buffer, number count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request
#define MESSAGE &(struct mpi_message){NAME, buffer, count, type, rank, tag, comm}
ENTRIES_OF(MPI_Send_init, MPI_Send_init_c, TAKES, (const, int), (const, MPI_Count), initialize(MESSAGE, WAY_STANDARD, request))
ENTRIES_OF(MPI_Ssend_init, MPI_Ssend_init_c, TAKES, (const, int), (const, MPI_Count), initialize(MESSAGE, WAY_SYNCHRONOUS, request))
ENTRIES_OF(MPI_Rsend_init, MPI_Rsend_init_c, TAKES, (const, int), (const, MPI_Count), initialize(MESSAGE, WAY_STANDARD, request))
ENTRIES_OF(MPI_Bsend_init, MPI_Bsend_init_c, TAKES, (const, int), (const, MPI_Count), initialize(MESSAGE, WAY_BUFFERED, request))
ENTRIES_OF(MPI_Recv_init, MPI_Recv_init_c, TAKES, (, int), (, MPI_Count), initialize(MESSAGE, WAY_RECEIVE, request))

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
