/* Error handlers: the three predefined ones, those of programs, and which communicator has which. Of files there is
 * only MPI_FILE_NULL, whose handler files take over when they are opened. */
#include "mpi/inside.h"

struct mpi_errhandler mpi_errors_are_fatal = {.what = HANDLER_FATAL};
struct mpi_errhandler mpi_errors_abort = {.what = HANDLER_ABORT};
struct mpi_errhandler mpi_errors_return = {.what = HANDLER_RETURN};
struct mpi_errhandler *mpi_file_errhandler = &mpi_errors_return;

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

/* ---- made and freed --------------------------------------------------------------------------------------------- */

static int create(const char *call, enum mpi_kind of, void (*function)(void *, int *, ...), MPI_Errhandler *handle)
{
    mpi_enter(call);
    if (!function || !handle)
        return mpi_null(NULL, call, function ? "errhandler" : "the function");
    struct mpi_errhandler *handler = mpi_object_take(KIND_ERRHANDLER, sizeof *handler);
    if (!handler)
        return mpi_error(NULL, call, MPI_ERR_NO_MEM, "no memory for an error handler");
    handler->what = HANDLER_FUNCTION;
    handler->of = of;
    handler->function = function;
    *handle = mpi_object_publish(handler);
    mpi_errhandler_drop(handler);
    return MPI_SUCCESS;
}

ENTRY(MPI_Comm_create_errhandler)(MPI_Comm_errhandler_function *function, MPI_Errhandler *handle)
{
    return create(NAME, KIND_COMM, (void (*)(void *, int *, ...))function, handle);
}
ENTRY(MPI_File_create_errhandler)(MPI_File_errhandler_function *function, MPI_Errhandler *handle)
{
    return create(NAME, KIND_FILE, (void (*)(void *, int *, ...))function, handle);
}

ENTRY(MPI_Errhandler_free)(MPI_Errhandler *handle)
{
    mpi_enter(NAME);
    if (!handle)
        return mpi_null(NULL, NAME, "errhandler");
    struct mpi_errhandler *handler = mpi_errhandler_at(*handle);
    if (!handler || (!predefined(handler) && !mpi_object_unpublish(handler)))
        return mpi_wrong(NULL, NAME, KIND_ERRHANDLER, *handle);
    mpi_errhandler_drop(handler);
    *handle = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

/* ---- set and asked ---------------------------------------------------------------------------------------------- */

/* What has a handler: a communicator, or MPI_FILE_NULL. */
struct owner {
    const char *call;
    struct mpi_comm *comm;          /* NULL: the file */
    struct mpi_errhandler **handler;
    int error;                      /* there is no such thing, and that is raised */
};

static struct owner of_comm(const char *call, MPI_Comm handle)
{
    struct mpi_comm *comm;
    int error = mpi_find_comm(call, handle, call, "", &comm);
    return error ? (struct owner){.error = error} : (struct owner){call, comm, &comm->errhandler, MPI_SUCCESS};
}

static struct owner of_file(const char *call, MPI_File file)
{
    mpi_enter(call);
    if (file != MPI_FILE_NULL)
        return (struct owner){.error = mpi_file_error(call, MPI_ERR_FILE, "%p is not a file", (void *)file)};
    return (struct owner){call, NULL, &mpi_file_errhandler, MPI_SUCCESS};
}

static int set(struct owner owner, MPI_Errhandler handle)
{
    if (owner.error)
        return owner.error;
    struct mpi_errhandler *handler = mpi_errhandler_at(handle), *old = *owner.handler;
    if (!handler)
        return mpi_wrong(owner.comm, owner.call, KIND_ERRHANDLER, handle);
    if (!predefined(handler) && handler->of != (owner.comm ? KIND_COMM : KIND_FILE))
        return mpi_error(owner.comm, owner.call, MPI_ERR_ERRHANDLER, "the error handler is for %s",
                         owner.comm ? "files" : "communicators");
    if (!predefined(handler))
        mpi_object_keep(handler);
    *owner.handler = handler;
    mpi_errhandler_drop(old);
    return MPI_SUCCESS;
}

static int get(struct owner owner, MPI_Errhandler *out)
{
    if (owner.error)
        return owner.error;
    if (!out)
        return owner.comm ? mpi_null(owner.comm, owner.call, "errhandler")
                          : mpi_file_error(owner.call, MPI_ERR_ARG, "errhandler is NULL");
    *out = mpi_errhandler_handle(*owner.handler);
    return MPI_SUCCESS;
}

static int call(struct owner owner, int code)
{
    return owner.error ? owner.error : mpi_error_of_program(owner.comm, owner.call, code);
}

ENTRY(MPI_Comm_set_errhandler)(MPI_Comm comm, MPI_Errhandler handler) { return set(of_comm(NAME, comm), handler); }
ENTRY(MPI_File_set_errhandler)(MPI_File file, MPI_Errhandler handler) { return set(of_file(NAME, file), handler); }
ENTRY(MPI_Comm_get_errhandler)(MPI_Comm comm, MPI_Errhandler *handler) { return get(of_comm(NAME, comm), handler); }
ENTRY(MPI_File_get_errhandler)(MPI_File file, MPI_Errhandler *handler) { return get(of_file(NAME, file), handler); }
ENTRY(MPI_Comm_call_errhandler)(MPI_Comm comm, int code) { return call(of_comm(NAME, comm), code); }
ENTRY(MPI_File_call_errhandler)(MPI_File file, int code) { return call(of_file(NAME, file), code); }
