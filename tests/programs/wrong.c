/* Does one wrong thing, named by its argument: the job must end with one clear sentence. For tests/mpi/fatal.sh. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, data[4] = {0};
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Request request;
    if (strcmp(what, "before") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Init(&argc, &argv);
    if (strcmp(what, "twice") == 0)
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        if (strcmp(what, "rank") == 0)
            MPI_Send(data, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
        if (strcmp(what, "comm") == 0)
            MPI_Send(data, 1, MPI_INT, 0, 0, MPI_COMM_NULL);
        if (strcmp(what, "request") == 0) {
            MPI_Isend(data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
            MPI_Request copy = request;
            MPI_Recv(data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Wait(&copy, MPI_STATUS_IGNORE);
        }
        if (strcmp(what, "truncate") == 0) {
            MPI_Isend(data, 4, MPI_INT, 1, 9, MPI_COMM_WORLD, &request);
            MPI_Recv(data, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (strcmp(what, "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, 42);
    }
    if (strcmp(what, "root") == 0)
        MPI_Bcast(data, 1, MPI_INT, -1, MPI_COMM_WORLD);
    if (strcmp(what, "after") != 0)
        MPI_Barrier(MPI_COMM_WORLD); /* the others wait here until the job ends */
    MPI_Finalize();
    if (strcmp(what, "after") == 0)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    puts("went on");
    return 0;
}
