/* A receive that nothing matched can be cancelled; one that matched cannot; a message passes a cancelled receive by.
 * everywhere: 2 3 5 8 */
#include "mpi_check.h"

static MPI_Comm world;

int main(void)
{
    int a = 0, b = 0, flag;
    MPI_Request request;
    MPI_Status status;
    world = check_init_pairs();
    if (size < 2)
        return check_finalize();
    if (rank == 0) {
        MPI_Irecv(&a, 1, MPI_INT, 1, 5, world, &request);
        CHECK_OK(MPI_Cancel(&request));
        CHECK_OK(MPI_Wait(&request, &status));
        MPI_Test_cancelled(&status, &flag);
        CHECK_EQUAL(flag, 1);
    }
    MPI_Barrier(world);
    if (rank == 1) {
        b = 9;
        MPI_Send(&b, 1, MPI_INT, 0, 5, world);
    } else {
        MPI_Recv(&b, 1, MPI_INT, 1, 5, world, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK_EQUAL(flag, 0);
        CHECK_EQUAL(b, 9);
        CHECK_EQUAL(a, 0);
    }
    MPI_Barrier(world);
    if (rank == 1) {
        MPI_Send(&b, 1, MPI_INT, 0, 6, world);
        MPI_Send(&b, 0, MPI_INT, 0, 7, world);
    } else {
        a = 0;
        MPI_Irecv(&a, 1, MPI_INT, 1, 6, world, &request);
        MPI_Recv(NULL, 0, MPI_INT, 1, 7, world, MPI_STATUS_IGNORE); /* the one before has come, too */
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK_EQUAL(flag, 0);
        CHECK_EQUAL(a, 9);
    }
    return check_finalize();
}
