/* Many collectives under way at once, of several kinds and on two communicators, finished in any order; empty ones behind
 * those that wait for a rank; and collectives among point-to-point messages with wildcards: they never meet.
 * ranks: 2 5 tcp: 5 mixed: 6 */
#include "mpi_check.h"

#define K 60

/* Empty ones are over at once, and those before them when the last rank has come. */
static void empty_behind_others(void)
{
    enum { EACH = 16 };
    int sums[EACH], come = 0;
    MPI_Request request[2 * EACH];
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == size - 1)
        MPI_Recv(&come, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = 0; k < EACH; k++)
        CHECK_OK(MPI_Iallreduce(&rank, &sums[k], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[k]));
    for (int k = EACH; k < 2 * EACH; k++)
        CHECK_OK(k % 2 ? MPI_Iallgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD, &request[k])
                       : MPI_Ialltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD, &request[k]));
    if (rank == 0)
        MPI_Send(&come, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD);
    CHECK_OK(MPI_Waitall(2 * EACH, request, MPI_STATUSES_IGNORE));
    for (int k = 0; k < EACH; k++)
        CHECK_EQUAL(sums[k], size * (size - 1) / 2);
}

int main(void)
{
    static int in[K][300], out[K][300];
    MPI_Request request[K], receive;
    MPI_Comm other;
    int got = -1, next, last;
    check_init();
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    empty_behind_others();
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int round = 0; round < 10; round++) {
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive);
        for (int k = 0; k < K; k++) {
            MPI_Comm comm = k % 2 ? other : MPI_COMM_WORLD;
            for (int i = 0; i < 300; i++)
                in[k][i] = rank + k * i;
            if (k % 3 == 0)
                MPI_Iallreduce(in[k], out[k], 300, MPI_INT, MPI_SUM, comm, &request[k]);
            else if (k % 3 == 1)
                MPI_Ibcast(rank == k % size ? in[k] : out[k], 300, MPI_INT, k % size, comm, &request[k]);
            else
                MPI_Ialltoall(in[k], 1, MPI_INT, out[k], 1, MPI_INT, comm, &request[k]);
        }
        MPI_Send(&round, 1, MPI_INT, next, round, MPI_COMM_WORLD);
        for (int k = 0; k < K / 2; k++) /* some backwards, the rest together */
            MPI_Wait(&request[K - 1 - k], MPI_STATUS_IGNORE);
        MPI_Waitall(K, request, MPI_STATUSES_IGNORE);
        MPI_Status status;
        MPI_Wait(&receive, &status);
        CHECK(got == round && status.MPI_SOURCE == last && status.MPI_TAG == round);
        int wrong = 0;
        for (int k = 0; k < K; k++)
            for (int i = 0; i < 300; i++) {
                if (k % 3 == 0)
                    wrong += out[k][i] != size * (size - 1) / 2 + size * k * i;
                else if (k % 3 == 1 && rank != k % size)
                    wrong += out[k][i] != k % size + k * i;
                else if (k % 3 == 2 && i < size)
                    wrong += out[k][i] != i + k * rank;
            }
        CHECK_EQUAL(wrong, 0);
    }
    MPI_Comm_free(&other);
    return check_finalize();
}
