/* halo SECONDS: each rank of a ring exchanges 1 KiB with both neighbours, again and again, until so many seconds are over
 * at rank 0; the bytes are checked. Rank 0 prints how many steps there were. "halo - STEPS": so many steps. See
 * tests/tools/report_size.sh, tests/counts/report.sh. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES 1024
#define ROUND 64 /* steps between two looks at the clock */

static int step_do(int rank, int size, int step)
{
    static int in[2][BYTES / sizeof(int)], out[BYTES / sizeof(int)];
    int left = (rank + size - 1) % size, right = (rank + 1) % size, last = BYTES / (int)sizeof(int) - 1;
    MPI_Request request[4];
    out[0] = rank, out[last] = step;
    MPI_Irecv(in[0], BYTES, MPI_BYTE, left, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(in[1], BYTES, MPI_BYTE, right, 2, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(out, BYTES, MPI_BYTE, right, 1, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(out, BYTES, MPI_BYTE, left, 2, MPI_COMM_WORLD, &request[3]);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    return in[0][0] == left && in[1][0] == right && in[0][last] == step && in[1][last] == step;
}

int main(int argc, char **argv)
{
    int rank, size, step = 0, good = 1, steps = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 1);
    for (int more = 1; more && good;) {
        for (int i = 0; i < ROUND && good; i++)
            good = step_do(rank, size, step++);
        more = steps ? step < steps : MPI_Wtime() < end;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (!good)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0)
        printf("%d steps\n", step);
    MPI_Finalize();
    return 0;
}
