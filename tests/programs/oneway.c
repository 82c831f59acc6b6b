/* Rank 0 says one thing to rank 1, who listens; both are done then. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, word = 42;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
