/* A duplicate that there is no memory for: one error, told once, and no communicator. The program's own calloc says when memory
 * is used up. ranks: 1 2 presets: release */
#include "mpi_check.h"

void *__libc_calloc(size_t count, size_t size);

static int left = -1; /* successful calls until one fails; -1: none does */
static int told, told_class;

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
    if (left == 0) {
        left = -1;
        return NULL;
    }
    left -= left > 0;
    return __libc_calloc(count, bytes);
}

static void count_errors(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    told++;
    told_class = class_of(*code);
}

int main(void)
{
    MPI_Errhandler handler;
    int failed = 0;
    check_init();
    MPI_Comm_create_errhandler(count_errors, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    for (int spared = 0; spared < 8; spared++) { /* every allocation on the way fails once, at all ranks alike */
        MPI_Comm made;
        MPI_Request request = MPI_REQUEST_NULL;
        told = 0;
        left = spared;
        int error = MPI_Comm_idup(MPI_COMM_SELF, &made, &request);
        error = error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
        left = -1;
        CHECK_EQUAL(told, error != MPI_SUCCESS);
        if (error) {
            failed++;
            CHECK_EQUAL(class_of(error), MPI_ERR_NO_MEM);
            CHECK_EQUAL(told_class, MPI_ERR_NO_MEM);
            CHECK(made == MPI_COMM_NULL);
            CHECK(request == MPI_REQUEST_NULL);
        } else {
            MPI_Comm_free(&made);
        }
    }
    CHECK(failed > 0);
    return check_finalize();
}
