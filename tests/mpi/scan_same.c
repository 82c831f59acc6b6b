/* A scan has the same bits whether ranks outnumber processors or not; a short one also before all have met, and where
 * it does not block.
 * ranks: 3 5 16 mixed: 6 presets: release */
#include "mpi_check.h"
#include <sched.h>
#include <stdbool.h>

#define MOST 600

static int processors = 2; /* the library counts these at the first meeting of a communicator */
static double in[MOST];

__attribute__((visibility("default"))) int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    (void)pid;
    memset(set, 0, bytes);
    for (int cpu = 0; cpu < processors; cpu++)
        CPU_SET_S((size_t)cpu, bytes, set);
    return 0;
}

static void scan(bool with_own, int values, double *to, MPI_Comm comm)
{
    if (with_own)
        CHECK_OK(MPI_Scan(in, to, values, MPI_DOUBLE, MPI_SUM, comm));
    else
        CHECK_OK(MPI_Exscan(in, to, values, MPI_DOUBLE, MPI_SUM, comm));
}

/* Before all have met, not blocking, and when all has been opened that such calls want. */
static void scan_with(int ranks, bool with_own, int values, double out[3][MOST])
{
    MPI_Comm comm;
    MPI_Request request;
    processors = ranks;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    scan(with_own, values, out[0], comm);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Barrier(comm));
        scan(with_own, values, out[2], comm);
    }
    if (with_own)
        CHECK_OK(MPI_Iscan(in, out[1], values, MPI_DOUBLE, MPI_SUM, comm, &request));
    else
        CHECK_OK(MPI_Iexscan(in, out[1], values, MPI_DOUBLE, MPI_SUM, comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&comm));
}

static void scan_twice(bool with_own, int values)
{
    static double few[3][MOST], many[3][MOST];
    size_t bytes = (size_t)values * sizeof **few;
    scan_with(1, with_own, values, few);
    scan_with(64, with_own, values, many);
    CHECK(!memcmp(few[2], many[2], bytes));
    for (int i = 0; i < 2 && bytes <= 1080; i++) {
        CHECK(!memcmp(few[i], few[2], bytes));
        CHECK(!memcmp(many[i], many[2], bytes));
    }
}

int main(void)
{
    static const int lengths[] = {1, 7, 30, 135, 136, 200, MOST}; /* 135: 1,080 bytes */
    check_init();
    unsigned number = 1u + (unsigned)rank;
    for (int i = 0; i < MOST; i++) {
        number = number * 1664525u + 1013904223u;
        in[i] = (double)(number >> 8) / (number % 3 ? 1 : 1e9);
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        scan_twice(true, lengths[i]);
        scan_twice(false, lengths[i]);
    }
    return check_finalize();
}
