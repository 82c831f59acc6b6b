/* beside N: ranks 0 and 1, on one node, exchange N messages of 8 bytes, half of them by blocking calls; rank 2, on another
 * one, is connected to both and has nothing to say. What the exchange cost 0 and 1: "asked the network 12 times, slept 3 times,
 * yielded 40 times, 210 ms". */
#include "base/counters.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void exchange(int rank, int count)
{
    long out = 1, in = 0;
    MPI_Request request[2];
    for (int i = 0; i < count / 2; i++) {
        if (rank == 0)
            MPI_Send(&out, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&in, 8, MPI_BYTE, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(&out, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    for (int i = 0; i < count / 2; i++) {
        MPI_Irecv(&in, 8, MPI_BYTE, !rank, 2, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(&out, 8, MPI_BYTE, !rank, 2, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, level;
    char byte = 0;
    MPI_Init_thread(&argc, &argv, getenv("THREADS") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 && rank == 2; i++)
        MPI_Send(&byte, 1, MPI_BYTE, i, 0, MPI_COMM_WORLD);
    if (rank < 2) {
        MPI_Recv(&byte, 1, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        struct base_counters before = *vbase_counters;
        double start = MPI_Wtime();
        exchange(rank, argc > 1 ? atoi(argv[1]) : 0);
        printf("asked the network %lu times, slept %lu times, yielded %lu times, %.0f ms\n",
               vbase_counters->net_asks + vbase_counters->net_reads - before.net_asks - before.net_reads,
               vbase_counters->sleeps - before.sleeps, vbase_counters->yields - before.yields, (MPI_Wtime() - start) * 1e3);
        MPI_Send(&byte, 1, MPI_BYTE, 2, 3, MPI_COMM_WORLD);
    } else {
        for (int i = 0; i < 2; i++)
            MPI_Recv(&byte, 1, MPI_BYTE, i, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
