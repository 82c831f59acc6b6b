/* All send modes, blocking and not; a synchronous send ends only when it is received. everywhere: 2 3 5 8 */
#include "mpi_check.h"

static MPI_Comm world;

typedef int blocking(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int starting(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static const size_t sizes[] = {0, 4, 1000, 20000, 300000};
static unsigned char data[300001];

/* The receiver is ready first: good for ready mode, too. */
static void one(blocking *send, starting *start, size_t bytes)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Barrier(world);
        fill(data, bytes, 3);
        if (send)
            CHECK_OK(send(data, (int)bytes, MPI_BYTE, 1, 1, world));
        else {
            CHECK_OK(start(data, (int)bytes, MPI_BYTE, 1, 1, world, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK(request == MPI_REQUEST_NULL);
        }
    } else {
        memset(data, 0, sizeof data);
        MPI_Irecv(data, sizeof data, MPI_BYTE, 0, 1, world, &request);
        MPI_Barrier(world);
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
        MPI_Issend(data, (int)bytes, MPI_BYTE, 1, 7, world, &request);
        for (int i = 0; i < 1000; i++) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            CHECK_EQUAL(flag, 0);
        }
        MPI_Send(&go, 1, MPI_INT, 1, 8, world);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&go, 1, MPI_INT, 0, 8, world, MPI_STATUS_IGNORE);
        MPI_Recv(data, (int)bytes, MPI_BYTE, 0, 7, world, MPI_STATUS_IGNORE);
    }
}

int main(void)
{
    world = check_init_pairs();
    if (size < 2)
        return check_finalize();
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
