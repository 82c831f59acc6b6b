/* More ranks than processors: rings, barriers and exchanges of all with all end soon. ranks: 16 tcp: 16 mixed: 6 */
#include "mpi_check.h"

int main(void)
{
    check_init();
    int token = 0, *in = calloc((size_t)size, 4), *out = calloc((size_t)size, 4);
    for (int round = 0; round < 100; round++) {
        if (rank == 0) {
            MPI_Send(&round, 1, MPI_INT, 1 % size, 0, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQUAL(token, round + size - 1);
        } else {
            MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token++;
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            out[i] = rank * 1000 + i + round;
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            CHECK_EQUAL(in[i], i * 1000 + rank + round);
    }
    free(in);
    free(out);
    return check_finalize();
}
