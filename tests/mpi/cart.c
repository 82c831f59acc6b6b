/* Cartesian grids: coordinates, neighbours, slices, and dimensions found for a number of ranks. ranks: 1 6 8 */
#include "mpi_check.h"

static void dims(int n, int count, const int *given, const int *expected)
{
    int found[4];
    memcpy(found, given, (size_t)count * sizeof(int));
    CHECK_OK(MPI_Dims_create(n, count, found));
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(found[i], expected[i]);
}

static void grid(void)
{
    int extent[2] = {size / 2, 2}, periods[2] = {0, 1}, at[2], n, status;
    MPI_Comm cart, row, column;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, extent, periods, 0, &cart));
    MPI_Topo_test(cart, &status);
    CHECK_EQUAL(status, MPI_CART);
    MPI_Cartdim_get(cart, &n);
    CHECK_EQUAL(n, 2);
    int got_extent[2], got_periods[2];
    MPI_Cart_get(cart, 2, got_extent, got_periods, at);
    CHECK(got_extent[0] == extent[0] && got_extent[1] == 2 && !got_periods[0] && got_periods[1]);
    int me, from, to;
    MPI_Comm_rank(cart, &me);
    CHECK_EQUAL(at[0] * 2 + at[1], me);
    for (int r = 0; r < size; r++) {
        int there[2], back;
        MPI_Cart_coords(cart, r, 2, there);
        MPI_Cart_rank(cart, there, &back);
        CHECK_EQUAL(back, r);
        there[1] += 4; /* round */
        MPI_Cart_rank(cart, there, &back);
        CHECK_EQUAL(back, r);
    }
    MPI_Cart_shift(cart, 0, 1, &from, &to);
    CHECK_EQUAL(from, at[0] > 0 ? me - 2 : MPI_PROC_NULL);
    CHECK_EQUAL(to, at[0] < size / 2 - 1 ? me + 2 : MPI_PROC_NULL);
    MPI_Cart_shift(cart, 1, -3, &from, &to);
    CHECK_EQUAL(from, me ^ 1);
    CHECK_EQUAL(to, me ^ 1);
    int got = -1;
    MPI_Cart_shift(cart, 0, 1, &from, &to);
    MPI_Sendrecv(&me, 1, MPI_INT, to, 0, &got, 1, MPI_INT, from, 0, cart, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, at[0] > 0 ? me - 2 : -1);

    MPI_Cart_sub(cart, (int[]){0, 1}, &row);
    MPI_Cart_sub(cart, (int[]){1, 0}, &column);
    MPI_Comm_size(row, &n);
    CHECK_EQUAL(n, 2);
    MPI_Comm_rank(row, &n);
    CHECK_EQUAL(n, at[1]);
    MPI_Comm_size(column, &n);
    CHECK_EQUAL(n, size / 2);
    int sum = 0, down = 0;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, row);
    CHECK_EQUAL(sum, 4 * at[0] + 1);
    MPI_Cart_get(column, 1, got_extent, got_periods, &down);
    CHECK_EQUAL(down, at[0]);
    CHECK_EQUAL(got_periods[0], 0);
    MPI_Comm copy;
    MPI_Comm_dup(cart, &copy);
    MPI_Topo_test(copy, &status);
    CHECK_EQUAL(status, MPI_CART);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Comm_free(&cart);
}

int main(void)
{
    MPI_Comm cart;
    int status, one[] = {1};
    check_init();
    MPI_Topo_test(MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status, MPI_UNDEFINED);
    dims(12, 2, (int[]){0, 0}, (int[]){4, 3});
    dims(16, 4, (int[]){0, 0, 0, 0}, (int[]){2, 2, 2, 2});
    dims(7, 2, (int[]){0, 0}, (int[]){7, 1});
    dims(6, 3, (int[]){0, 3, 0}, (int[]){2, 3, 1});
    dims(36, 3, (int[]){0, 0, 0}, (int[]){4, 3, 3});
    dims(1, 1, (int[]){0}, (int[]){1});
    dims(7488, 3, (int[]){0, 0, 0}, (int[]){26, 18, 16}); /* not 24, 24, 13: the difference counts */
    dims(5040, 3, (int[]){0, 0, 0}, (int[]){21, 16, 15}); /* not 20, 18, 14: of equal ones, that with the larger smallest */
    dims(34425, 3, (int[]){0, 0, 0}, (int[]){51, 27, 25});
    dims(2147483647, 2, (int[]){0, 0}, (int[]){2147483647, 1});
    dims(1396755360, 4, (int[]){0, 0, 0, 0}, (int[]){208, 190, 189, 187});
    int many[40] = {0};
    CHECK_OK(MPI_Dims_create(1 << 30, 40, many));
    for (int i = 0; i < 40; i++)
        CHECK_EQUAL(many[i], i < 30 ? 2 : 1);
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, one, one, 1, &cart)); /* smaller than the world */
    CHECK((cart == MPI_COMM_NULL) == (rank > 0));
    if (rank == 0)
        MPI_Comm_free(&cart);
    if (size > 1)
        grid();
    return check_finalize();
}
