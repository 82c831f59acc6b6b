/* Says whether collectives go through the hall and large messages are copied once: what needs much address space. Two ranks. */
#include "base/counters.h"
#include <mpi.h>
#include <stdio.h>

enum { BYTES = 4 << 20 };

int main(int argc, char **argv)
{
    static char out[BYTES], in[BYTES];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD); /* opens the hall, by messages */
    uint64_t sent = vbase_counters->send_eager, single = vbase_counters->copy_single;
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    bool hall = vbase_counters->send_eager == sent;
    MPI_Sendrecv(out, BYTES, MPI_BYTE, !rank, 0, in, BYTES, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("hall %d, copied once %d\n", hall, vbase_counters->copy_single > single);
    MPI_Finalize();
    return 0;
}
