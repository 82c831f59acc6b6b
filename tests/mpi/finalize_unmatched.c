/* Sends whose requests were freed: one that is received late arrives after its sender is in MPI_Finalize; those that
 * nobody receives, which is the program's mistake, do not keep the job from ending. A rank in MPI_Finalize answers a
 * cancel.
 * ranks: 2 3 tcp: 2 3 mixed: 3
 * timeout: 20 */
#include "mpi_check.h"
#include <unistd.h>

#define LARGE 1000000

int main(void)
{
    static unsigned char data[LARGE], found[LARGE];
    MPI_Request request;
    MPI_Message message;
    check_init();
    if (rank == 0) {
        fill(data, LARGE, 5);
        for (int tag = 0; tag < 4; tag++) {
            MPI_Isend(data, tag == 1 ? 100 : LARGE, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        }
        MPI_Isend(data, LARGE, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else if (rank == 1) {
        usleep(200000);
        MPI_Recv(found, LARGE, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(right(found, LARGE, 5), LARGE);
        MPI_Mprobe(0, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE); /* and never received */
    }
    if (rank == 0 && size > 2) { /* rank 2 is in MPI_Finalize already, and never heard of us */
        int cancelled = 0;
        MPI_Status status;
        usleep(100000);
        MPI_Issend(data, 10, MPI_BYTE, 2, 1, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(cancelled);
        MPI_Isend(data, LARGE, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    return check_finalize();
}
