/* A message longer than its receive: the class MPI_ERR_TRUNCATE, what fits is there, nothing beyond is touched, and the
 * next message comes whole. Waitall tells it in the statuses. everywhere: 2 3 5 8 */
#include "mpi_check.h"

static MPI_Comm world;

static unsigned char data[300001];

static void one(size_t sent, size_t room, int how)
{
    MPI_Status status[2];
    MPI_Request request[2];
    if (rank == 1) {
        fill(data, sent, 1);
        MPI_Isend(data, (int)sent, MPI_BYTE, 0, 1, world, &request[0]);
        int whole = 77;
        MPI_Send(&whole, 1, MPI_INT, 0, 2, world);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        MPI_Barrier(world);
        return;
    }
    int next = 0;
    memset(data, 0xEE, sizeof data);
    if (how == 0) {
        CHECK_CLASS(MPI_Recv(data, (int)room, MPI_BYTE, 1, 1, world, &status[0]), MPI_ERR_TRUNCATE);
        CHECK_OK(MPI_Recv(&next, 1, MPI_INT, 1, 2, world, &status[1]));
    } else {
        MPI_Irecv(data, (int)room, MPI_BYTE, 1, 1, world, &request[0]);
        MPI_Irecv(&next, 1, MPI_INT, 1, 2, world, &request[1]);
        if (how == 1) {
            CHECK_CLASS(MPI_Waitall(2, request, status), MPI_ERR_IN_STATUS);
            CHECK_EQUAL(class_of(status[0].MPI_ERROR), MPI_ERR_TRUNCATE);
            CHECK_EQUAL(status[1].MPI_ERROR, MPI_SUCCESS);
        } else {
            CHECK_CLASS(MPI_Wait(&request[0], &status[0]), MPI_ERR_TRUNCATE);
            CHECK_OK(MPI_Wait(&request[1], &status[1]));
        }
        CHECK(request[0] == MPI_REQUEST_NULL && request[1] == MPI_REQUEST_NULL);
    }
    CHECK_EQUAL(next, 77);
    for (size_t i = room; i < sizeof data; i++)
        if (data[i] != 0xEE) {
            CHECK_EQUAL(i, room + sizeof data);
            break;
        }
    MPI_Barrier(world);
}

int main(void)
{
    world = check_init_pairs();
    if (size < 2)
        return check_finalize();
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int how = 0; how < 3; how++) {
        one(1, 0, how);
        one(100, 99, how);
        one(5000, 10, how);
        one(100000, 99999, how);
        one(300000, 5, how);
    }
    return check_finalize();
}
