/* A function that is not implemented yet is there, and returns an error with a sentence by the right error handler: that
 * of its communicator. ranks: 1 */
#include "mpi_check.h"

static MPI_Comm handled = MPI_COMM_SELF;
static int calls_of_comm, calls_of_file, last_code;
static void on_comm(MPI_Comm *comm, int *code, ...)
{
    CHECK(*comm == handled);
    calls_of_comm++;
    last_code = *code;
}
static void on_file(MPI_File *file, int *code, ...)
{
    CHECK(*file == MPI_FILE_NULL);
    calls_of_file++;
    last_code = *code;
}

static void check_sentence(const char *name)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_OK(MPI_Error_string(MPI_ERR_UNSUPPORTED_OPERATION, text, &length));
    CHECK(strncmp(text, name, strlen(name)) == 0 && strstr(text, "not implemented yet"));
}

int main(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Errhandler of_comm, of_file, now;
    MPI_File file = MPI_FILE_NULL;
    MPI_Comm spawned;
    MPI_Win window;
    check_init();
    /* files: errors return, unless something else is asked for */
    CHECK_CLASS(MPI_File_open(MPI_COMM_SELF, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_UNSUPPORTED_OPERATION);
    check_sentence("MPI_File_open: ");
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &now));
    CHECK(now == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_File_create_errhandler(on_file, &of_file));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, of_file));
    CHECK_CLASS(MPI_File_open(MPI_COMM_SELF, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQUAL(calls_of_file, 1);
    CHECK_EQUAL(last_code, MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO));
    CHECK_EQUAL(last_code, MPI_ERR_IO);
    /* the rest */
    CHECK_OK(MPI_Comm_create_errhandler(on_comm, &of_comm));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, of_comm));
    CHECK_CLASS(MPI_Lookup_name("service", MPI_INFO_NULL, port), MPI_ERR_UNSUPPORTED_OPERATION);
    check_sentence("MPI_Lookup_name: ");
    CHECK_EQUAL(calls_of_comm, 1);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &handled)); /* with the handler */
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    CHECK_CLASS(MPI_Comm_spawn("x", NULL, 1, MPI_INFO_NULL, 0, handled, &spawned, NULL), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_Comm_spawn_multiple(1, NULL, NULL, NULL, NULL, 0, handled, &spawned, NULL),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, handled, &window), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQUAL(calls_of_comm, 4);
    CHECK_OK(MPI_Comm_free(&handled));
    calls_of_comm = 1;
    handled = MPI_COMM_SELF;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, of_comm));
    /* no communicator: a handler in its place is not called */
    CHECK_CLASS(MPI_Comm_spawn("x", NULL, 1, MPI_INFO_NULL, 0, (MPI_Comm)MPI_ERRORS_ABORT, &spawned, NULL),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQUAL(calls_of_comm, 2);
    /* a handler is of one kind */
    CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_SELF, of_file), MPI_ERR_ERRHANDLER);
    CHECK_EQUAL(calls_of_comm, 3);
    CHECK_CLASS(MPI_File_set_errhandler(MPI_FILE_NULL, of_comm), MPI_ERR_ERRHANDLER);
    CHECK_OK(MPI_Errhandler_free(&of_file));
    CHECK_OK(MPI_Errhandler_free(&of_comm));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    return check_finalize();
}
