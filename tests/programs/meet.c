/* Everybody meets everybody: 8 bytes each way, checked. Then rank 0 says how many met.
 *   meet wait        and waits until its standard input ends
 *   meet without N   the others meet first, while rank N stays away from the library */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, failures;

static void meet(int from, int to)
{
    unsigned long long mine = 1000003ull * (unsigned)from + (unsigned)to, got = 0;

    if (rank == from)
        MPI_Send(&mine, 1, MPI_UNSIGNED_LONG_LONG, to, 1, MPI_COMM_WORLD);
    if (rank == to)
        MPI_Recv(&got, 1, MPI_UNSIGNED_LONG_LONG, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    failures += rank == to && got != mine;
}

/* A tournament: in each round a rank meets one other. ONLY -1: all pairs; else those without it. */
static void meet_all(int without)
{
    for (int distance = 1; distance < size; distance++)
        for (int from = 0; from < size; from++) {
            int to = (from + distance) % size;
            if (from != without && to != without)
                meet(from, to);
        }
}

int main(int argc, char **argv)
{
    int without = argc > 2 ? atoi(argv[2]) : -1, all = 0;
    char byte;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == without)
        sleep(2);
    else if (without >= 0) {
        double begun = MPI_Wtime();
        meet_all(without);
        failures += MPI_Wtime() - begun > 1.5; /* nobody waited for him */
    }
    meet_all(-1);
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf(all ? "%d failed\n" : "%d met\n", all ? all : size);
        fflush(stdout);
        while (argc > 1 && strcmp(argv[1], "wait") == 0 && read(0, &byte, 1) > 0)
            ;
    }
    MPI_Finalize();
    return all != 0;
}
