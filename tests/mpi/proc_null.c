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

    /* What is over cannot be cancelled, and may be freed; persistent and buffered sends; both ways at once. */
    int flag = -1;
    CHECK_OK(MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &request[0]));
    CHECK_OK(MPI_Cancel(&request[0]));
    CHECK_OK(MPI_Wait(&request[0], &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(!flag && status.MPI_SOURCE == MPI_PROC_NULL);
    CHECK_OK(MPI_Isend(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request[0]));
    CHECK_OK(MPI_Request_free(&request[0]));
    CHECK_OK(MPI_Bsend_init(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request[0]));
    CHECK_OK(MPI_Ssend_init(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request[1]));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Startall(2, request));
        CHECK_OK(MPI_Waitall(2, request, both));
    }
    CHECK_OK(MPI_Request_free(&request[0]));
    CHECK_OK(MPI_Request_free(&request[1]));
    int next = (rank + 1) % size, last = (rank + size - 1) % size, in = -1;
    CHECK_OK(MPI_Isendrecv(&rank, 1, MPI_INT, next, 2, &data, 1, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &request[0]));
    CHECK_OK(MPI_Isendrecv(&data, 1, MPI_INT, MPI_PROC_NULL, 2, &in, 1, MPI_INT, last, 2, MPI_COMM_WORLD, &request[1]));
    CHECK_OK(MPI_Waitall(2, request, both));
    CHECK(both[0].MPI_SOURCE == MPI_PROC_NULL && both[0].MPI_TAG == MPI_ANY_TAG && count_of(&both[0], MPI_INT) == 0);
    CHECK(both[1].MPI_SOURCE == last && both[1].MPI_TAG == 2 && count_of(&both[1], MPI_INT) == 1);
    CHECK(data == 3 && in == last);
    CHECK_OK(MPI_Isendrecv_replace(&data, 1, MPI_INT, MPI_PROC_NULL, 2, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &request[0]));
    CHECK_OK(MPI_Wait(&request[0], &status));
    CHECK(data == 3 && status.MPI_SOURCE == MPI_PROC_NULL);
    return check_finalize();
}
