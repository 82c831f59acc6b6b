/* Error handlers of the program: called with the communicator and the class, inherited, kept while in use, called by hand;
 * and error classes of the program. everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

#if MPI_VERSION < 5
#define MPI_Remove_error_code(code) MPI_SUCCESS
#endif

static int called, called_code;
static MPI_Comm called_comm;

static void remember(MPI_Comm *comm, int *code, ...)
{
    called++;
    called_code = *code;
    called_comm = *comm;
    *code = MPI_SUCCESS; /* the call fails all the same */
}

int main(void)
{
    MPI_Errhandler handler, other;
    MPI_Comm comm;
    int x = 0;
    check_init();
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &other));
    CHECK(other == MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Comm_create_errhandler(remember, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &other));
    CHECK(other == handler);
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK(handler == MPI_ERRHANDLER_NULL);
    CHECK_OK(MPI_Errhandler_free(&other));

    /* still in use by MPI_COMM_WORLD */
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_EQUAL(called, 1);
    CHECK_EQUAL(class_of(called_code), MPI_ERR_RANK);
    CHECK(called_comm == MPI_COMM_WORLD);

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_CLASS(MPI_Bcast(&x, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
    CHECK_EQUAL(called, 2);
    CHECK(called_comm == comm);
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Bcast(&x, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
    CHECK_EQUAL(called, 2);
    CHECK_OK(MPI_Comm_free(&comm));

    CHECK_OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER));
    CHECK_EQUAL(called, 3);
    CHECK_EQUAL(called_code, MPI_ERR_OTHER);

    int class, code, found, length, flag, *last;
    char text[MPI_MAX_ERROR_STRING];
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE);
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK(code > class);
    CHECK_OK(MPI_Add_error_string(code, "the soup is cold"));
    CHECK_OK(MPI_Error_class(code, &found));
    CHECK_EQUAL(found, class);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK_TEXT(text, "the soup is cold");
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && *last >= code);
    CHECK_OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code));
    CHECK_EQUAL(called_code, code);
    for (int i = 0; i < 20000; i++) { /* a removed number is given again */
        CHECK_OK(MPI_Add_error_code(class, &found));
        CHECK_OK(MPI_Remove_error_code(found));
    }
    return check_finalize();
}
