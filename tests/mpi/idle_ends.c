/* A rank that waits for one that comes late to MPI_Init, to a barrier, and to MPI_Finalize takes 10 ms of the processor at
 * most. It is the processor's time that is judged, so other load does not matter. Make soak waits 10 s each time.
 * waits: 9 ranks: 3 tcp: 3 timeout: 100 presets: release */
#include "mpi_check.h"
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_MS 10
#define SECONDS (getenv("CHECK_SEED") ? 10 : 3)

static double used_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-3;
}

int main(void)
{
    static const char *const name[] = {"MPI_Init", "MPI_Barrier", "MPI_Finalize"};
    const char *number = getenv("PMI_RANK");
    bool late = number && atoi(number) == 0; /* known before MPI_Init */
    for (int i = 0; i < 3; i++) {
        if (late)
            sleep((unsigned)SECONDS);
        double before = used_ms();
        if (i == 0)
            check_init();
        else if (i == 1)
            MPI_Barrier(MPI_COMM_WORLD);
        else
            MPI_Finalize();
        double used = used_ms() - before;
        if (used > MOST_MS || rank == 1)
            fprintf(stderr, "rank %d: %s takes %.1f ms of the processor\n", rank, name[i], used);
        CHECK(used <= MOST_MS);
    }
    CHECK_EQUAL(late, rank == 0);
    return check_done();
}
