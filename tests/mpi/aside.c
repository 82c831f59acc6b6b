/* Two ranks that have a processor each, as they know from the start, and are on one processor now: they yield to each other, and
 * now and then one sleeps for a moment, as the kernel gives a thread that wakes an idle processor.
 * ranks: 2 */
#include "mpi_check.h"
#include "base/counters.h"
#include "base/topology.h"
#include <sched.h>

enum { EXCHANGES = 50000 }; /* 100 ms and more; the sleeps are 2 ms apart */

int main(int argc, char **argv)
{
    cpu_set_t one;
    char byte = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (vbase_topology()->cpus < 2) {
        MPI_Finalize();
        puts("skip: there is one processor for both ranks");
        return 77;
    }
    int first = sched_getcpu();
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK_EQUAL(sched_setaffinity(0, sizeof(one), &one), 0);
    uint64_t sleeps = vbase_counters->sleeps, all;
    for (int i = 0; i < EXCHANGES; i++)
        MPI_Sendrecv_replace(&byte, 1, MPI_BYTE, !rank, 1, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sleeps = vbase_counters->sleeps - sleeps;
    MPI_Allreduce(&sleeps, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all >= 10);
    MPI_Finalize();
    return check_done();
}
