/* Reductions of a datatype with absolute addresses, at MPI_BOTTOM, in place and not, short and in pieces; blocks that
 * lie beside each other at one base, or at MPI_BOTTOM, are not the same memory; and rank 0 of an exscan has no receive
 * buffer.
 * everywhere: 1 2 3 5 8 */
#include "mpi_check.h"
#include <stdint.h>

#define MOST 64
#define LONG 200000 /* numbers: travel in pieces, or slices */

static int *at, *beside;
static MPI_Datatype number; /* at `at` */
static MPI_Op sum;

static void numbers_add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint low, extent;
    MPI_Type_get_true_extent(*type, &low, &extent);
    const int *from = (const int *)((uintptr_t)in + (uintptr_t)low); /* no pointers until then: they would overflow */
    int *to = (int *)((uintptr_t)inout + (uintptr_t)low);
    for (int i = 0; i < *count; i++)
        to[i] += from[i];
}

static void number_make(void)
{
    MPI_Aint address;
    MPI_Datatype there;
    MPI_Get_address(at, &address);
    MPI_Type_create_hindexed(1, (int[]){1}, &address, MPI_INT, &there);
    MPI_Type_create_resized(there, 0, sizeof(int), &number);
    MPI_Type_commit(&number);
    MPI_Type_free(&there);
}

static void fill_all(int count)
{
    for (int i = 0; i < count; i++)
        at[i] = i + rank;
}

/* The sum of those of RANKS ranks, from number FIRST on. */
static void check_sums(const char *name, int first, int count, int ranks)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += at[i] != (first + i) * ranks + ranks * (ranks - 1) / 2;
    if (wrong)
        fprintf(stderr, "%s of %d numbers\n", name, count);
    CHECK_EQUAL(wrong, 0);
}

static void reductions(int count)
{
    int root = size - 1, each = count / size;
    fill_all(count);
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, count, number, sum, MPI_COMM_WORLD));
    check_sums("allreduce", 0, count, size);
    fill_all(count);
    CHECK_OK(MPI_Reduce(rank == root ? MPI_IN_PLACE : MPI_BOTTOM, MPI_BOTTOM, count, number, sum, root,
                        MPI_COMM_WORLD));
    if (rank == root)
        check_sums("reduce", 0, count, size);
    fill_all(count);
    CHECK_OK(MPI_Scan(MPI_IN_PLACE, MPI_BOTTOM, count, number, sum, MPI_COMM_WORLD));
    check_sums("scan", 0, count, rank + 1);
    fill_all(count);
    CHECK_OK(MPI_Exscan(MPI_IN_PLACE, MPI_BOTTOM, count, number, sum, MPI_COMM_WORLD));
    if (rank > 0)
        check_sums("exscan", 0, count, rank);
    fill_all(count);
    CHECK_OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, MPI_BOTTOM, each, number, sum, MPI_COMM_WORLD));
    check_sums("reduce_scatter_block", rank * each, each, size);
}

/* Rank R's block for this one. */
static void check_blocks(int base)
{
    for (int r = 0; r < size; r++)
        CHECK_EQUAL(beside[r], 100 * r + base);
    memset(beside, 0xAA, MOST * sizeof *beside);
}

static void one_base(void)
{
    int ones[MOST], from[MOST], to[MOST];
    MPI_Datatype types[MOST];
    for (int i = 0; i < MOST; i++)
        at[i] = 100 * rank + i, ones[i] = 1, from[i] = i, to[i] = MOST + i, types[i] = MPI_INT;
    CHECK_OK(MPI_Alltoallv(at, ones, from, MPI_INT, at, ones, to, MPI_INT, MPI_COMM_WORLD));
    check_blocks(rank);
    CHECK_OK(MPI_Allgatherv(at, 1, MPI_INT, at, ones, to, MPI_INT, MPI_COMM_WORLD));
    check_blocks(0);
    for (int i = 0; i < MOST; i++)
        from[i] *= (int)sizeof(int), to[i] *= (int)sizeof(int);
    CHECK_OK(MPI_Alltoallw(at, ones, from, types, at, ones, to, types, MPI_COMM_WORLD));
    check_blocks(rank);
}

static void without_base(void)
{
    MPI_Count ones[MOST];
    MPI_Aint from[MOST], to[MOST];
    MPI_Datatype types[MOST];
    for (int i = 0; i < MOST; i++) {
        ones[i] = 1, types[i] = MPI_INT;
        MPI_Get_address(at + i, &from[i]);
        MPI_Get_address(beside + i, &to[i]);
    }
    CHECK_OK(MPI_Alltoallw_c(MPI_BOTTOM, ones, from, types, MPI_BOTTOM, ones, to, types, MPI_COMM_WORLD));
    check_blocks(rank);
}

static void no_receive_buffer(void)
{
    int one = 1, before = 0;
    MPI_Request request;
    CHECK_OK(MPI_Exscan(&one, rank ? &before : NULL, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQUAL(before, rank);
    CHECK_OK(MPI_Iexscan(&one, rank ? &before : NULL, 1, MPI_INT, sum, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(before, rank);
}

int main(void)
{
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    at = malloc(LONG * sizeof *at);
    beside = at + MOST;
    number_make();
    MPI_Op_create(numbers_add, 1, &sum);
    reductions(16);
    reductions(LONG);
    one_base();
    without_base();
    no_receive_buffer();
    MPI_Op_free(&sum);
    MPI_Type_free(&number);
    free(at);
    return check_finalize();
}
