/* Ranks that are in MPI_Finalize while one computes sleep until it comes, and no timer wakes them; a rank that cancels what it
 * sent to one of them is answered. Where the number of ranks is odd all have talked to the one that computes, and wait for its
 * goodbye; else they wait in the fence.
 * ranks: 2 9 tcp: 3 mixed: 4 5 */
#include "mpi_check.h"
#include "base/counters.h"
#include <unistd.h>

#define COMPUTES_US 2000000
#define SLEEPS_MOST (2u * (unsigned)size) /* each peer may wake it twice; a timer of 100 ms would add twenty */
#define CANCEL_MOST 3 /* its frames wake */

int main(void)
{
    static char large[1 << 20];
    check_init();
    if (size % 2) {
        int word = 0;
        for (int i = 1; i < size && rank == 0; i++)
            CHECK_OK(MPI_Recv(&word, 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 1; i < size && rank == 0; i++)
            CHECK_OK(MPI_Send(&word, 1, MPI_INT, i, 2, MPI_COMM_WORLD));
        if (rank > 0)
            CHECK_OK(MPI_Sendrecv(&word, 1, MPI_INT, 0, 1, &word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    if (rank == 0) {
        MPI_Request request;
        MPI_Status status;
        int cancelled = 0;
        usleep(COMPUTES_US);
        CHECK_OK(MPI_Isend(large, sizeof large, MPI_BYTE, size - 1, 7, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Cancel(&request));
        CHECK_OK(MPI_Wait(&request, &status));
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(cancelled);
    }
    uint64_t before = vbase_counters->sleeps;
    int result = check_finalize();
    uint64_t sleeps = vbase_counters->sleeps - before;
    if (rank > 0 && (sleeps < 1 || sleeps > SLEEPS_MOST + (rank == size - 1 ? CANCEL_MOST : 0))) {
        printf("rank %d slept %lu times in MPI_Finalize\n", rank, sleeps);
        return 1;
    }
    return result;
}
