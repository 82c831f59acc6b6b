/* Many collectives under way at once, of several kinds and on two communicators, finished in any order; and collectives
 * among point-to-point messages with wildcards: they never meet. ranks: 2 5 tcp: 5 mixed: 6 */
#include "mpi_check.h"

#define K 60

int main(void)
{
    static int in[K][300], out[K][300];
    MPI_Request request[K], receive;
    MPI_Comm other;
    int got = -1, next, last;
    check_init();
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
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
