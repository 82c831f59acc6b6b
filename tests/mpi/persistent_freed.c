/* A persistent collective outlives the handle of its communicator, also where some ranks start it before they free that
 * and others behind it.
 * ranks: 2 5 tcp: 3 mixed: 6 */
#include "mpi_check.h"

static void start_around(int count, int early)
{
    static int in[20000], out[20000];
    MPI_Comm comm;
    MPI_Request request, once;
    int sum = 0;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Barrier(comm));
    for (int i = 0; i < count; i++)
        in[i] = rank + i, out[i] = -1;
    CHECK_OK(MPI_Allreduce_init(in, out, count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
    CHECK_OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &once));
    if (rank == early)
        CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Comm_free(&comm));
    if (rank != early)
        CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[i], size * i + size * (size - 1) / 2);
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Wait(&once, MPI_STATUS_IGNORE));
    CHECK_EQUAL(sum, size * (size - 1) / 2);
}

int main(void)
{
    check_init();
    for (int early = 0; early < size; early++) {
        start_around(1, early);
        start_around(20000, early);
    }
    return check_finalize();
}
