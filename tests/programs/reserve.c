/* Rank 0 has no memory for more collectives at once than the library keeps room for: its job is lost. With "return" errors
 * are returned: prints each call that does not say so, then ends the job with status 7. Without, the job ends itself. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);

enum { SCHEDULE = 8192, CALLS = 40 };
static size_t lacks; /* allocations of that size fail */

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    return lacks && bytes == lacks ? NULL : __libc_malloc(bytes);
}

static void tell(const char *call, int number, int error)
{
    int class = MPI_SUCCESS;
    if (error)
        MPI_Error_class(error, &class);
    if (class != MPI_ERR_NO_MEM)
        printf("%s %d: class %d\n", call, number, class);
}

int main(int argc, char **argv)
{
    MPI_Request request[CALLS], held[2];
    int rank, one = 1, sum[CALLS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++) /* what the last schedule left is in use */
        MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &held[i]);
    if (rank) /* until the job ends: it takes no part */
        MPI_Recv(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    lacks = SCHEDULE;
    for (int i = 0; i < CALLS; i++)
        tell("MPI_Iallreduce", i, MPI_Iallreduce(&one, &sum[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[i]));
    tell("MPI_Barrier", 0, MPI_Barrier(MPI_COMM_WORLD));
    tell("MPI_Recv", 0, MPI_Recv(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 7);
    return 0;
}
