/* More ranks of a node than a desk has lines: collectives over desks divide a desk by the ranks.
 * ranks: 150 presets: release */
#include "mpi_check.h"

int main(void)
{
    check_init();
    int *in = calloc((size_t)size, sizeof *in), *out = calloc((size_t)size, sizeof *out);
    double(*part)[2] = calloc((size_t)size, sizeof *part), sum[2];
    for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < size; i++)
            in[i] = rank * 1000 + i + turn;
        MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            CHECK_EQUAL(out[i], i * 1000 + rank + turn);
        for (int i = 0; i < size; i++)
            part[i][0] = i + turn, part[i][1] = rank;
        MPI_Reduce_scatter_block(part, sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQUAL((int)sum[0], size * (rank + turn));
        CHECK_EQUAL((int)sum[1], size * (size - 1) / 2);
    }
    free(in);
    free(out);
    free(part);
    return check_finalize();
}
