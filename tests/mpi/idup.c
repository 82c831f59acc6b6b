/* Non-blocking duplication: several at once, in other orders on other ranks, with collectives between.
 * ranks: 1 2 5 tcp: 5 mixed: 6 */
#include "mpi_check.h"

int main(void)
{
    MPI_Comm base[2], made[4];
    MPI_Request request[4];
    int sum, one = 1;
    check_init();
    MPI_Comm_dup(MPI_COMM_WORLD, &base[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &base[1]);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 4; i++) { /* on each of the two in the same order everywhere, between them not */
            int k = rank % 2 ? i : (i + 2) % 4;
            CHECK_OK(MPI_Comm_idup(base[k / 2], &made[k], &request[k]));
        }
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, base[0]);
        CHECK_EQUAL(sum, size);
        for (int i = 0; i < 4; i++)
            CHECK_OK(MPI_Wait(&request[rank % 2 ? 3 - i : i], MPI_STATUS_IGNORE));
        for (int i = 0; i < 4; i++) {
            int result;
            MPI_Comm_compare(made[i], MPI_COMM_WORLD, &result);
            CHECK_EQUAL(result, MPI_CONGRUENT);
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made[i]);
            CHECK_EQUAL(sum, size);
            MPI_Comm_free(&made[i]);
        }
    }
    MPI_Comm_free(&base[0]);
    MPI_Comm_free(&base[1]);
    return check_finalize();
}
