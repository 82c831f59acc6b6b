/* Error handlers: the three predefined ones, those of programs, and which communicator has which. */
#include "mpi/inside.h"

struct mpi_errhandler mpi_errors_are_fatal = {.what = HANDLER_FATAL};
struct mpi_errhandler mpi_errors_abort = {.what = HANDLER_ABORT};
struct mpi_errhandler mpi_errors_return = {.what = HANDLER_RETURN};

struct mpi_errhandler *mpi_errhandler_at(MPI_Errhandler handle)
{
    if (handle == MPI_ERRORS_ARE_FATAL)
        return &mpi_errors_are_fatal;
    if (handle == MPI_ERRORS_RETURN)
        return &mpi_errors_return;
    if (handle == MPI_ERRORS_ABORT)
        return &mpi_errors_abort;
    return mpi_object_at(KIND_ERRHANDLER, handle, sizeof(struct mpi_errhandler));
}

static bool predefined(const struct mpi_errhandler *handler) { return handler->what != HANDLER_FUNCTION; }

MPI_Errhandler mpi_errhandler_handle(struct mpi_errhandler *handler)
{
    switch (handler->what) {
    case HANDLER_FATAL:
        return MPI_ERRORS_ARE_FATAL;
    case HANDLER_ABORT:
        return MPI_ERRORS_ABORT;
    case HANDLER_RETURN:
        return MPI_ERRORS_RETURN;
    default:
        return mpi_object_publish(handler);
    }
}

void mpi_errhandler_drop(struct mpi_errhandler *handler)
{
    if (!predefined(handler) && mpi_object_drop(handler))
        mpi_object_give(KIND_ERRHANDLER, handler);
}

static int wrong(struct mpi_comm *comm, const char *call, MPI_Errhandler handle)
{
    return mpi_error(comm, call, MPI_ERR_ERRHANDLER, "%p is not an error handler%s", (void *)handle,
                     handle == MPI_ERRHANDLER_NULL ? ": MPI_ERRHANDLER_NULL" : ", or was freed");
}

ENTRY(MPI_Comm_create_errhandler)(MPI_Comm_errhandler_function *function, MPI_Errhandler *handle)
{
    const char *call = "MPI_Comm_create_errhandler";
    mpi_enter(call);
    if (!function || !handle)
        return mpi_null(NULL, call, function ? "errhandler" : "the function");
    struct mpi_errhandler *handler = mpi_object_take(KIND_ERRHANDLER, sizeof *handler);
    if (!handler)
        return mpi_error(NULL, call, MPI_ERR_NO_MEM, "no memory for an error handler");
    handler->what = HANDLER_FUNCTION;
    handler->function = (void (*)(void *, int *, ...))function;
    *handle = mpi_object_publish(handler);
    mpi_errhandler_drop(handler);
    return MPI_SUCCESS;
}

ENTRY(MPI_Errhandler_free)(MPI_Errhandler *handle)
{
    const char *call = "MPI_Errhandler_free";
    mpi_enter(call);
    if (!handle)
        return mpi_null(NULL, call, "errhandler");
    struct mpi_errhandler *handler = mpi_errhandler_at(*handle);
    if (!handler || (!predefined(handler) && !mpi_object_unpublish(handler)))
        return wrong(NULL, call, *handle);
    mpi_errhandler_drop(handler);
    *handle = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

ENTRY(MPI_Comm_set_errhandler)(MPI_Comm handle, MPI_Errhandler errhandler)
{
    const char *call = "MPI_Comm_set_errhandler";
    mpi_enter(call);
    struct mpi_comm *comm = mpi_comm_at(handle);
    if (!comm)
        return mpi_comm_wrong(call, handle);
    struct mpi_errhandler *handler = mpi_errhandler_at(errhandler);
    if (!handler)
        return wrong(comm, call, errhandler);
    if (!predefined(handler))
        mpi_object_keep(handler);
    struct mpi_errhandler *old = comm->errhandler;
    comm->errhandler = handler;
    mpi_errhandler_drop(old);
    return MPI_SUCCESS;
}

ENTRY(MPI_Comm_get_errhandler)(MPI_Comm handle, MPI_Errhandler *errhandler)
{
    struct mpi_comm *comm;
    int error = mpi_find_comm(NAME, handle, errhandler, "errhandler", &comm);
    if (!error)
        *errhandler = mpi_errhandler_handle(comm->errhandler);
    return error;
}
