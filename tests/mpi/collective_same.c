/* The same sum of the same numbers again and again, from a communicator's first call on, has the same bits each time:
 * what a communicator opens on the way does not change in which order operands meet.
 * ranks: 2 3 5 mixed: 6 presets: release */
#include "mpi_check.h"

#define MOST 20000
#define TIMES 5

enum { ALLREDUCE, SCATTER, SCATTER_BLOCK, KINDS };

static double in[6 * MOST], out[2][MOST];

static void sum(int kind, int values, double *to, MPI_Comm comm)
{
    int counts[6];
    for (int r = 0; r < size; r++)
        counts[r] = values;
    switch (kind) {
    case ALLREDUCE: CHECK_OK(MPI_Allreduce(in, to, values, MPI_DOUBLE, MPI_SUM, comm)); break;
    case SCATTER: CHECK_OK(MPI_Reduce_scatter(in, to, counts, MPI_DOUBLE, MPI_SUM, comm)); break;
    default: CHECK_OK(MPI_Reduce_scatter_block(in, to, values, MPI_DOUBLE, MPI_SUM, comm)); break;
    }
}

static void again_and_again(int kind, int values)
{
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    sum(kind, values, out[0], comm);
    for (int i = 1; i < TIMES; i++) {
        sum(kind, values, out[1], comm);
        CHECK(!memcmp(out[0], out[1], (size_t)values * sizeof **out));
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(void)
{
    static const int lengths[] = {1, 30, 200, 1500, 5000, MOST};
    check_init();
    unsigned number = 1u + (unsigned)rank;
    for (int i = 0; i < size * MOST; i++) {
        number = number * 1664525u + 1013904223u;
        in[i] = (double)(number >> 8) / (number % 3 ? 1 : 1e9);
    }
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            again_and_again(kind, lengths[i]);
    return check_finalize();
}
