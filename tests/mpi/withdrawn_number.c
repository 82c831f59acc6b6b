/* A rank withdraws from a broadcast for want of memory when the root has gone on, and has freed the communicator. The
 * root hears of it too late. No communicator that is made afterwards may take it for its own first broadcast: so the
 * rank never uses that number again. So many are made that they have each number once.
 * ranks: 2 presets: release */
#include "mpi_check.h"
#include <stdbool.h>

void *__libc_malloc(size_t size);

#define SCHEDULE 8192
#define MADE 80000

static bool fails, failed;

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    bool refused = fails && bytes == SCHEDULE;
    failed |= refused;
    return refused ? NULL : __libc_malloc(bytes);
}

/* A blocking one would look first for memory that all share. */
static int broadcast(int *value, MPI_Comm comm)
{
    MPI_Request request;
    int error = MPI_Ibcast(value, 1, MPI_INT, 0, comm, &request);
    return error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void withdraw(void)
{
    MPI_Comm comm;
    MPI_Request held;
    int value = 1, token = 0;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &held); /* what the last schedule left is in use */
    if (rank == 0) {
        CHECK_OK(broadcast(&value, comm));
        CHECK_OK(MPI_Comm_free(&comm));
        MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fails = true;
        CHECK_CLASS(broadcast(&value, comm), MPI_ERR_NO_MEM);
        fails = false;
        CHECK(failed);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    MPI_Request_free(&held);
}

int main(void)
{
    setenv("VIADUCT_COLL", "message", 1);
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Request first; /* what the first call of a communicator needs beside it */
    MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &first);
    MPI_Request_free(&first);
    withdraw();
    for (int i = 0; i < MADE; i++) {
        MPI_Comm comm;
        int value = rank ? -1 : i;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        CHECK_OK(broadcast(&value, comm));
        CHECK_EQUAL(value, i);
        CHECK_OK(MPI_Comm_free(&comm));
        if (check_failed)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return check_finalize();
}
