/* A rank that waits two seconds in MPI_Recv, in a barrier, or for one of several requests sleeps: it yields for a moment before,
 * and a time-out ends its sleep ten times a second at most. Of the processor's time it takes a small part.
 * waits: 6 ranks: 2 16 */
#include "mpi_check.h"
#include "base/counters.h"
#include <sys/resource.h>
#include <unistd.h>

static double used(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec) * 1e-6;
}

static void wait_for(int how)
{
    int data = 0, index;
    MPI_Request request[2];
    if (rank == 0) {
        usleep(2000000);
        for (int i = 1; how != 1 && i < size; i++)
            MPI_Send(&data, 1, MPI_INT, i, how, MPI_COMM_WORLD);
        if (how == 1)
            MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    double before = used(), start = MPI_Wtime();
    uint64_t yields = vbase_counters->yields, sleeps = vbase_counters->sleeps;
    if (how == 0)
        MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (how == 1)
        MPI_Barrier(MPI_COMM_WORLD);
    if (how == 2) {
        MPI_Irecv(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(&data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request[1]);
        MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
        CHECK_EQUAL(index, 0);
        MPI_Cancel(&request[1]);
        MPI_Request_free(&request[1]);
    }
    double seconds = MPI_Wtime() - start, part = (used() - before) / seconds;
    yields = vbase_counters->yields - yields;
    sleeps = vbase_counters->sleeps - sleeps;
    bool wrong = seconds < 1 || part > 0.1 || yields > 1000 || sleeps == 0 || (double)sleeps > seconds * 12 + 2 * size;
    if (wrong || rank == 1)
        fprintf(stderr, "rank %d in wait %d of %.1f s: %lu yields, %lu sleeps, %.1f %% of a processor\n", rank, how, seconds, yields,
                sleeps, part * 100);
    CHECK(!wrong);
}

int main(void)
{
    check_init();
    for (int how = 0; how < 3; how++) {
        MPI_Barrier(MPI_COMM_WORLD);
        wait_for(how);
    }
    return check_finalize();
}
