/* Small blocking collectives, many in a row and mixed with large ones, on communicators that come and go: every result is
 * right, nobody hangs, memory does not grow.
 * ranks: 2 3 5 16 tcp: 3 mixed: 6 */
#include "../check.h"
#include <mpi.h>

static int rank, size;

static void rounds(MPI_Comm comm, int n)
{
    int me, members;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &members);
    for (int i = 0; i < n; i++) {
        double mine[7], sum[7];
        long most = me * 10 + i, highest;
        for (int k = 0; k < 7; k++)
            mine[k] = (me + 1) * (k + 1) + i;
        memset(sum, 0, sizeof sum);
        MPI_Allreduce(mine, sum, 7, MPI_DOUBLE, MPI_SUM, comm);
        for (int k = 0; k < 7; k++)
            CHECK(sum[k] == members * (members + 1) / 2 * (k + 1) + members * i);
        MPI_Barrier(comm);
        MPI_Allreduce(&most, &highest, 1, MPI_LONG, MPI_MAX, comm);
        CHECK_EQUAL(highest, (members - 1) * 10 + i);
        if (i % 5 == 0) {
            int large[100], total[100];
            for (int k = 0; k < 100; k++)
                large[k] = me + k;
            MPI_Allreduce(large, total, 100, MPI_INT, MPI_SUM, comm);
            for (int k = 0; k < 100; k++)
                CHECK_EQUAL(total[k], members * (members - 1) / 2 + members * k);
        }
        MPI_Allreduce(MPI_IN_PLACE, mine, 7, MPI_DOUBLE, MPI_MIN, comm);
        for (int k = 0; k < 7; k++)
            CHECK(mine[k] == k + 1 + i);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds(MPI_COMM_WORLD, 200);
    for (int i = 0; i < 60; i++) {
        MPI_Comm other;
        if (i % 2)
            MPI_Comm_dup(MPI_COMM_WORLD, &other);
        else
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &other);
        rounds(other, 4);
        MPI_Comm_free(&other);
    }
    rounds(MPI_COMM_WORLD, 20);
    MPI_Finalize();
    return check_done();
}
