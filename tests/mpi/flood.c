/* Ten thousand sends of one tag that nobody receives yet, then another tag that is received first: nothing locks up, and
 * nothing is lost. On a busy machine each of them costs two turns of the scheduler.
 * ranks: 2 tcp: 2 mixed: 6 timeout: 180 */
#include "mpi_check.h"

#define MESSAGES 10000
#define BYTES 1000
static unsigned char data[MESSAGES][BYTES];
static MPI_Request request[MESSAGES];

int main(void)
{
    int last = 0;
    check_init();
    if (rank == 0) {
        for (unsigned i = 0; i < MESSAGES; i++) {
            fill(data[i], BYTES, i);
            MPI_Isend(data[i], BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request[i]);
        }
        last = 42;
        MPI_Send(&last, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(&last, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(last, 42);
        for (unsigned i = 0; i < MESSAGES; i++) {
            MPI_Recv(data[i], BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_BYTES(data[i], BYTES, i);
        }
    }
    return check_finalize();
}
