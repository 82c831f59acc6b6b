/* All send modes, blocking and not; a synchronous send ends only when it is received. ranks: 2 tcp: 2 */
#include "mpi_check.h"

typedef int blocking(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int starting(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static const size_t sizes[] = {0, 4, 1000, 20000, 300000};
static unsigned char data[300001];

/* The receiver is ready first: good for ready mode, too. */
static void one(blocking *send, starting *start, size_t bytes)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        fill(data, bytes, 3);
        if (send)
            CHECK_OK(send(data, (int)bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
        else {
            CHECK_OK(start(data, (int)bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK(request == MPI_REQUEST_NULL);
        }
    } else {
        memset(data, 0, sizeof data);
        MPI_Irecv(data, sizeof data, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Status status;
        MPI_Wait(&request, &status);
        CHECK_EQUAL(count_of(&status, MPI_BYTE), bytes);
        CHECK_BYTES(data, bytes, 3);
    }
}

static void synchronous(size_t bytes)
{
    MPI_Request request;
    int flag, go = 0;
    if (rank == 0) {
        MPI_Issend(data, (int)bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 1000; i++) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            CHECK_EQUAL(flag, 0);
        }
        MPI_Send(&go, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&go, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, (int)bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(void)
{
    check_init();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        one(MPI_Send, NULL, sizes[i]);
        one(MPI_Ssend, NULL, sizes[i]);
        one(MPI_Rsend, NULL, sizes[i]);
        one(NULL, MPI_Isend, sizes[i]);
        one(NULL, MPI_Issend, sizes[i]);
        one(NULL, MPI_Irsend, sizes[i]);
        synchronous(sizes[i]);
    }
    return check_finalize();
}
