/* Rank 0 says one thing to rank 1, who listens; both are done then.
 *   oneway FILE   they meet before, and it is said when FILE is gone */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, word = 42;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            puts("met");
        fflush(stdout);
        while (access(argv[1], F_OK) == 0)
            usleep(10000);
    }
    if (rank == 0)
        MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
