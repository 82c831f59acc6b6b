/* burst N: rank 0 sends N windows of 64 messages of 8 bytes, rank 1 answers each window. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, level;
    long word[64] = {0};
    MPI_Request request[64];
    MPI_Init_thread(&argc, &argv, getenv("THREADS") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int n = 0; n < (argc > 1 ? atoi(argv[1]) : 0); n++) {
        for (int i = 0; i < 64; i++)
            if (rank == 0)
                MPI_Isend(&word[i], 8, MPI_BYTE, 1, i, MPI_COMM_WORLD, &request[i]);
            else
                MPI_Irecv(&word[i], 8, MPI_BYTE, 0, i, MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(64, request, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
