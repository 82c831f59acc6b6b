/* A token goes around all ranks and each adds its number; rank 0 checks the sum.   mpiexec -n 5 ./ring [ROUNDS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, rounds;
    long long token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = argc > 1 ? atoi(argv[1]) : 1000;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;

    double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Request sent; /* a ring of one sends to itself: the receive must be able to come second */
            MPI_Isend(&token, 1, MPI_LONG_LONG, next, 0, MPI_COMM_WORLD, &sent);
            long long back;
            MPI_Recv(&back, 1, MPI_LONG_LONG, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
            token = back;
        } else {
            MPI_Recv(&token, 1, MPI_LONG_LONG, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token += rank;
            MPI_Send(&token, 1, MPI_LONG_LONG, next, 0, MPI_COMM_WORLD);
        }
    }
    int wrong = 0;
    if (rank == 0) {
        long long sum = (long long)size * (size - 1) / 2 * rounds;
        wrong = token != sum;
        printf("%d times around %d ranks: %lld, %s; %.2f us a hop\n", rounds, size, token,
               wrong ? "WRONG" : "as it must be", (MPI_Wtime() - start) / rounds / size * 1e6);
    }
    MPI_Finalize();
    return wrong;
}
