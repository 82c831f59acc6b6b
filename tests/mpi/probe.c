/* Probe tells source, tag and length before the receive, finds nothing when there is nothing, and takes nothing away.
 * everywhere: 2 3 5 8 */
#include "mpi_check.h"

int main(void)
{
    static const size_t sizes[] = {0, 1, 5000, 70000, 1 << 20};
    static unsigned char data[1 << 20];
    MPI_Status status;
    int flag;
    check_init();
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    CHECK_EQUAL(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (rank == 1) {
            fill(data, sizes[i], i);
            MPI_Send(data, (int)sizes[i], MPI_BYTE, 0, (int)i + 10, MPI_COMM_WORLD);
        } else if (rank == 0) {
            CHECK_OK(MPI_Probe(i % 2 ? 1 : MPI_ANY_SOURCE, i % 3 ? MPI_ANY_TAG : (int)i + 10, MPI_COMM_WORLD, &status));
            CHECK_EQUAL(status.MPI_SOURCE, 1);
            CHECK_EQUAL(status.MPI_TAG, i + 10);
            CHECK_EQUAL(count_of(&status, MPI_BYTE), sizes[i]);
            CHECK_OK(MPI_Iprobe(1, (int)i + 10, MPI_COMM_WORLD, &flag, &status));
            CHECK_EQUAL(flag, 1);
            CHECK_OK(MPI_Iprobe(1, 99, MPI_COMM_WORLD, &flag, &status));
            CHECK_EQUAL(flag, 0);
            CHECK_OK(MPI_Recv(data, (int)sizes[i], MPI_BYTE, status.MPI_SOURCE, (int)i + 10, MPI_COMM_WORLD, &status));
            CHECK_BYTES(data, sizes[i], i);
        }
    }
    CHECK_OK(MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
    CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQUAL(status.MPI_TAG, MPI_ANY_TAG);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    CHECK_EQUAL(flag, 0);
    return check_finalize();
}
