/* Where one rank has no memory for the list of the other group, all ranks of both get the error, and none hangs. The program's own
 * calloc refuses what has the size of that list. ranks: 2 4 presets: release */
#include "mpi_check.h"
#include <stdbool.h>

#define LIST_LEAST 256 /* numbers */

void *__libc_calloc(size_t count, size_t size);
static bool refuse;
static int refused;

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
    if (refuse && bytes == sizeof(int) && count >= LIST_LEAST) {
        refused++;
        return NULL;
    }
    return __libc_calloc(count, bytes);
}

int main(void)
{
    MPI_Comm half, made;
    check_init();
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    for (int unlucky = 0; unlucky < size; unlucky++) {
        refuse = rank == unlucky;
        CHECK_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rank % 2), 5, &made), MPI_ERR_NO_MEM);
        CHECK(made == MPI_COMM_NULL);
        CHECK_EQUAL(refused, rank <= unlucky);
        refuse = false;
        CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rank % 2), 5, &made));
        CHECK_OK(MPI_Comm_free(&made));
    }
    MPI_Comm_free(&half);
    return check_finalize();
}
