/* Ranks that are in MPI_Finalize while one computes sleep until it comes, and do not look at a clock meanwhile; a rank that cancels
 * what it sent to one of them is answered.
 * ranks: 2 9 tcp: 3 */
#include "mpi_check.h"
#include <sys/resource.h>
#include <unistd.h>

#define COMPUTES_US 1000000
#define SLEEPS_MOST 40 /* a timer of 10 ms would be a hundred */

static long sleeps(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw;
}

int main(void)
{
    static char large[1 << 20];
    check_init();
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
    long before = sleeps();
    int result = check_finalize();
    if (rank > 0 && sleeps() - before > SLEEPS_MOST) {
        printf("rank %d slept %ld times in MPI_Finalize\n", rank, sleeps() - before);
        return 1;
    }
    return result;
}
