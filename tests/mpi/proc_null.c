/* Everything with MPI_PROC_NULL ends at once and touches nothing. everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

int main(void)
{
    int data = 3;
    MPI_Status status;
    MPI_Request request[2];
    check_init();
    CHECK_OK(MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Ssend(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Bsend(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    CHECK_EQUAL(data, 3);
    CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQUAL(status.MPI_TAG, MPI_ANY_TAG);
    CHECK_EQUAL(count_of(&status, MPI_INT), 0);
    CHECK_OK(MPI_Isend(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request[0]));
    CHECK_OK(MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request[1]));
    MPI_Status both[2];
    CHECK_OK(MPI_Waitall(2, request, both));
    CHECK_EQUAL(both[1].MPI_SOURCE, MPI_PROC_NULL);
    CHECK_OK(MPI_Recv_init(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request[0]));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Start(&request[0]));
        CHECK_OK(MPI_Wait(&request[0], &status));
        CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    }
    CHECK_OK(MPI_Request_free(&request[0]));
    return check_finalize();
}
