/* A rank has no memory for the names of the nodes when a communicator learns them: its collectives go on, without regard
 * to nodes, on all ranks.
 * ranks: 2 tcp: 3 mixed: 6 presets: release asan */
#include "mpi_check.h"
#include "malloc_next.h"
#include <stdbool.h>

static size_t failing; /* the next allocation of so many bytes fails */
static int failed;

/* before the sanitizer is ready, too */
__attribute__((visibility("default"), no_sanitize("address", "undefined"))) void *malloc(size_t bytes)
{
    bool fails = failing && bytes == failing;
    if (fails) {
        failing = 0;
        failed++;
    }
    return fails ? NULL : malloc_next(bytes);
}

int main(void)
{
    check_init();
    bool one_node = size == 2; /* see above: the others run over tcp, or on three nodes */
    for (int poor = 0; poor < size; poor++) {
        MPI_Comm comm;
        int sum = 0;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        failing = rank == poor ? (size_t)size * sizeof(int32_t) : 0;
        CHECK_OK(MPI_Barrier(comm));
        failing = 0;
        CHECK_EQUAL(failed, one_node || poor < rank ? 0 : 1);
        CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_EQUAL(sum, size * (size - 1) / 2);
        CHECK_OK(MPI_Barrier(comm));
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return check_finalize();
}
