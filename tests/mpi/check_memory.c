/* With VIADUCT_CHECK a rank has no memory for a collective that does not block: each of its allocations fails in turn. It
 * gets the error, and so do all others; none waits for ever, and the next collectives are compared and right as ever.
 * ranks: 3 tcp: 3 presets: release */
#include "mpi_check.h"
#include <stdbool.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

static int left; /* allocations until one fails; 0: none does */
static bool failed;
static int in[64], out[64 * 64], counts[64], places[64];

static bool fails(void)
{
    bool now = left > 0 && --left == 0;
    failed |= now;
    return now;
}

__attribute__((visibility("default"))) void *malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }
__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(count, bytes);
}

enum { BARRIER, ALLREDUCE, ALLGATHERV, PERSISTENT, CALLS };

/* The N-th allocation of rank 1 on the way to the request fails. */
static int perform(int call, int n)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL, held;
    int error;
    MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &held); /* what the last schedule left is in use */
    left = rank == 1 ? n : 0;
    switch (call) {
    case BARRIER: error = MPI_Ibarrier(world, &request); break;
    case ALLREDUCE: error = MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, world, &request); break;
    case ALLGATHERV: error = MPI_Iallgatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, world, &request); break;
    default: error = MPI_Allreduce_init(in, out, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &request); break;
    }
    left = 0;
    MPI_Request_free(&held);
    if (!error && call == PERSISTENT)
        error = MPI_Start(&request);
    if (error)
        return error;
    error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (call == PERSISTENT)
        MPI_Request_free(&request);
    return error;
}

static bool any_failed(void)
{
    int mine = failed, all;
    CHECK_OK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    return all;
}

static void afterwards(void)
{
    for (int i = 0; i < 9; i++) {
        CHECK_OK(perform(ALLREDUCE, 0));
        CHECK_EQUAL(out[0], size * (size - 1) / 2);
    }
    CHECK_OK(perform(PERSISTENT, 0));
    CHECK_EQUAL(out[0], size * (size - 1) / 2);
}

int main(void)
{
    setenv("VIADUCT_CHECK", "1", 1);
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    in[0] = rank;
    for (int call = 0; call < CALLS; call++)
        CHECK_OK(perform(call, 0)); /* what the first call needs beside it */
    for (int call = 0; call < CALLS; call++) {
        int n = 0;
        for (int error; n++, failed = false, error = perform(call, n), any_failed();) {
            CHECK_CLASS(error, MPI_ERR_NO_MEM);
            if (check_failed)
                fprintf(stderr, "rank %d, call %d, allocation %d\n", rank, call, n);
            afterwards();
        }
        CHECK(n > 2);
    }
    return check_finalize();
}
