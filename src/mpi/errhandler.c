/* Error handlers: the three predefined ones, those of programs, and which communicator has which. Of files there is
 * only MPI_FILE_NULL, whose handler files take over when they are opened. */
#include "mpi/inside.h"

#define PREDEFINED(handle, does) {.object.identity = (uintptr_t)handle, .what = does}
struct mpi_errhandler mpi_errors_are_fatal = PREDEFINED(MPI_ERRORS_ARE_FATAL, HANDLER_FATAL);
struct mpi_errhandler mpi_errors_abort = PREDEFINED(MPI_ERRORS_ABORT, HANDLER_ABORT);
struct mpi_errhandler mpi_errors_return = PREDEFINED(MPI_ERRORS_RETURN, HANDLER_RETURN);
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

/* ---- made and freed --------------------------------------------------------------------------------------------- */

static int create(const char *call, enum mpi_kind of, void (*function)(void *, int *, ...), MPI_Errhandler *handle)
{
    struct mpi_errhandler *handler = mpi_object_take(KIND_ERRHANDLER, sizeof *handler);
    if (!handler)
        return mpi_error(NULL, call, MPI_ERR_NO_MEM, "no memory for an error handler");
    handler->what = HANDLER_FUNCTION;
    handler->of = of;
    handler->function = function;
    *handle = mpi_object_deliver(handler);
    return MPI_SUCCESS;
}

#define MAKES(type) (type *function, MPI_Errhandler *errhandler), (RUNNING, FUNCTION_GIVEN, GIVEN(errhandler))
#define FUNCTION_GIVEN GIVEN_AS((void *)function, "the function")
#define FUNCTION (void (*)(void *, int *, ...))function
CHECKED(MPI_Comm_create_errhandler, MAKES(MPI_Comm_errhandler_function), create(NAME, KIND_COMM, FUNCTION, errhandler))
CHECKED(MPI_File_create_errhandler, MAKES(MPI_File_errhandler_function), create(NAME, KIND_FILE, FUNCTION, errhandler))

CHECKED(MPI_Errhandler_free, (MPI_Errhandler *errhandler), (BEHIND(KIND_ERRHANDLER, errhandler)),
        mpi_free_handle(NAME, KIND_ERRHANDLER, errhandler))

/* ---- set and asked ---------------------------------------------------------------------------------------------- */

static struct mpi_errhandler **handler_of(struct mpi_comm *comm)
{
    return comm == MPI_OF_FILES ? &mpi_file_errhandler : &comm->errhandler;
}

static int set(const char *call, struct mpi_comm *comm, MPI_Errhandler handle)
{
    struct mpi_errhandler *handler = mpi_errhandler_at(handle), *old = *handler_of(comm);
    if (!handler)
        return mpi_wrong(comm, call, KIND_ERRHANDLER, handle);
    bool files = comm == MPI_OF_FILES;
    if (!mpi_predefined(handler) && handler->of != (files ? KIND_FILE : KIND_COMM))
        return mpi_error(comm, call, MPI_ERR_ERRHANDLER, "the error handler is for %s", files ? "communicators" : "files");
    mpi_keep(handler);
    *handler_of(comm) = handler;
    mpi_drop(old);
    return MPI_SUCCESS;
}

static int get(const char *call, struct mpi_comm *comm, MPI_Errhandler *out)
{
    if (!out)
        return mpi_null(comm, call, "errhandler");
    *out = mpi_object_publish(*handler_of(comm));
    return MPI_SUCCESS;
}

#define OF_COMM mpi_comm_at(comm)
CHECKED(MPI_Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handle), (COMM_OF(comm)), set(NAME, OF_COMM, handle))
CHECKED(MPI_Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *handle), (COMM_OF(comm)), get(NAME, OF_COMM, handle))
CHECKED(MPI_Comm_call_errhandler, (MPI_Comm comm, int code), (COMM_OF(comm)), mpi_error_of_program(OF_COMM, NAME, code))

/* Raises that FILE is none, where it is not MPI_FILE_NULL. */
static int wrong_file(const char *call, MPI_File file)
{
    return file == MPI_FILE_NULL ? MPI_SUCCESS
                                 : mpi_error(MPI_OF_FILES, call, MPI_ERR_FILE, "%p is not a file", (void *)file);
}
#define OF_FILE(parameters, ...) parameters, (RUNNING), wrong_file(NAME, file) ?: __VA_ARGS__
CHECKED(MPI_File_set_errhandler, OF_FILE((MPI_File file, MPI_Errhandler handle), set(NAME, MPI_OF_FILES, handle)))
CHECKED(MPI_File_get_errhandler, OF_FILE((MPI_File file, MPI_Errhandler *handle), get(NAME, MPI_OF_FILES, handle)))
CHECKED(MPI_File_call_errhandler, OF_FILE((MPI_File file, int code), mpi_error_of_program(MPI_OF_FILES, NAME, code)))
