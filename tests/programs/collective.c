/* collective KIND N: N calls of a blocking collective of 8 bytes: barrier, bcast or allreduce. The ranks have met once
 * before, so they have a hall. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char kind = argc > 2 ? argv[1][1] : 0;
    int calls = argc > 2 ? atoi(argv[2]) : 0;
    long value = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < calls; i++)
        if (kind == 'a')
            MPI_Barrier(MPI_COMM_WORLD);
        else if (kind == 'c')
            MPI_Bcast(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        else
            MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
