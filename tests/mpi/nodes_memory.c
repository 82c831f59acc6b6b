/* A rank has no memory for the names of the nodes when a communicator learns them: its collectives go on, without regard
 * to nodes, on all ranks. Where the master of a node has none for what it collects, that call fails, and no other one.
 * ranks: 2 tcp: 3 mixed: 6 presets: release asan */
#include "mpi_check.h"
#include "malloc_next.h"
#include <stdbool.h>
#include <string.h>

static size_t failing; /* the next allocation of so many bytes fails */
static int failed;

#define BLOCK 4000
#define HEAD 16 /* of memory that a schedule takes */
static char given[BLOCK], taken[8 * BLOCK];

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

static int gather_all(MPI_Comm comm)
{
    memset(given, 'a' + rank, BLOCK);
    memset(taken, 0, sizeof taken);
    int error = MPI_Allgather(given, BLOCK, MPI_CHAR, taken, BLOCK, MPI_CHAR, comm);
    for (int i = 0; i < size * BLOCK && !error; i++)
        if (taken[i] != 'a' + i / BLOCK) {
            CHECK_EQUAL(taken[i], 'a' + i / BLOCK);
            break;
        }
    return error;
}

static void without_ring(MPI_Comm comm, int poor)
{
    int before = failed, any;
    failing = rank == poor ? HEAD + (size_t)size * BLOCK : 0;
    int error = gather_all(comm), wrong = error;
    failing = 0;
    if (error)
        CHECK_CLASS(error, MPI_ERR_NO_MEM);
    CHECK(failed == before || error);
    failed = before;
    CHECK_OK(gather_all(comm));
    CHECK_OK(MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, comm));
    CHECK(size < 3 || poor > 0 || any); /* rank 0 is a master */
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
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        CHECK_OK(MPI_Barrier(comm));
        without_ring(comm, poor);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return check_finalize();
}
