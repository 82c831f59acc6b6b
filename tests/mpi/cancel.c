/* A receive that nothing matched can be cancelled; one that matched cannot; a message passes a cancelled receive by.
 * ranks: 2 tcp: 2 */
#include "mpi_check.h"

int main(void)
{
    int a = 0, b = 0, flag;
    MPI_Request request;
    MPI_Status status;
    check_init();
    if (rank == 0) {
        MPI_Irecv(&a, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
        CHECK_OK(MPI_Cancel(&request));
        CHECK_OK(MPI_Wait(&request, &status));
        MPI_Test_cancelled(&status, &flag);
        CHECK_EQUAL(flag, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        b = 9;
        MPI_Send(&b, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&b, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK_EQUAL(flag, 0);
        CHECK_EQUAL(b, 9);
        CHECK_EQUAL(a, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Send(&b, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
        MPI_Send(&b, 0, MPI_INT, 0, 7, MPI_COMM_WORLD);
    } else {
        a = 0;
        MPI_Irecv(&a, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request);
        MPI_Recv(NULL, 0, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the one before has come, too */
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK_EQUAL(flag, 0);
        CHECK_EQUAL(a, 9);
    }
    return check_finalize();
}
