/* Every _c form of the constructors, of packing and of questions makes and tells what the other form does.
 * ranks: 1 2 3 5 8 */
#include "mpi_check.h"

#define N 3
static unsigned char data[4096];

static void same(const char *what, MPI_Datatype one, MPI_Datatype other)
{
    unsigned char packed[2][2048];
    int at = 0, before = check_failed;
    MPI_Count at_wide = 0, wide[2][4], most;
    MPI_Datatype both[2] = {one, other};
    for (int i = 0; i < 2; i++) {
        MPI_Type_commit(&both[i]);
        CHECK_OK(MPI_Type_get_extent_c(both[i], &wide[i][0], &wide[i][1]));
        CHECK_OK(MPI_Type_get_true_extent_c(both[i], &wide[i][2], &wide[i][3]));
    }
    CHECK(memcmp(wide[0], wide[1], sizeof wide[0]) == 0);
    MPI_Count x[4];
    CHECK_OK(MPI_Type_get_extent_x(other, &x[0], &x[1]));
    CHECK_OK(MPI_Type_get_true_extent_x(other, &x[2], &x[3]));
    CHECK(memcmp(wide[1], x, sizeof x) == 0);
    CHECK_OK(MPI_Type_size_x(one, &x[0]));
    CHECK_OK(MPI_Type_size_c(other, &x[1]));
    CHECK_OK(MPI_Pack_size_c(2, other, MPI_COMM_WORLD, &most));
    CHECK_EQUAL(x[0], x[1]);
    CHECK(most >= 2 * x[0]);
    CHECK_OK(MPI_Pack(data + 2000, 2, one, packed[0], sizeof packed[0], &at, MPI_COMM_WORLD));
    CHECK_OK(MPI_Pack_c(data + 2000, 2, other, packed[1], sizeof packed[1], &at_wide, MPI_COMM_WORLD));
    CHECK_EQUAL(at, 2 * x[0]);
    CHECK_EQUAL(at_wide, at);
    CHECK(memcmp(packed[0], packed[1], (size_t)at) == 0);

    unsigned char back[2][4096] = {{0}, {0}};
    at = 0;
    at_wide = 0;
    CHECK_OK(MPI_Unpack(packed[0], sizeof packed[0], &at, back[0] + 2000, 2, one, MPI_COMM_WORLD));
    CHECK_OK(MPI_Unpack_c(packed[1], sizeof packed[1], &at_wide, back[1] + 2000, 2, other, MPI_COMM_WORLD));
    CHECK_EQUAL(at_wide, at);
    CHECK(memcmp(back[0], back[1], sizeof back[0]) == 0);

    MPI_Aint place = 0, external = 0;
    MPI_Count place_wide = 0, external_wide = 0;
    CHECK_OK(MPI_Pack_external_size("external32", 2, one, &external));
    CHECK_OK(MPI_Pack_external_size_c("external32", 2, other, &external_wide));
    CHECK_EQUAL(external, external_wide);
    CHECK_OK(MPI_Pack_external("external32", data + 2000, 2, one, packed[0], external, &place));
    CHECK_OK(MPI_Pack_external_c("external32", data + 2000, 2, other, packed[1], external_wide, &place_wide));
    CHECK_EQUAL(place, place_wide);
    CHECK(memcmp(packed[0], packed[1], (size_t)place) == 0);
    memset(back[1], 0, sizeof back[1]);
    place_wide = 0;
    CHECK_OK(MPI_Unpack_external_c("external32", packed[1], external_wide, &place_wide, back[1] + 2000, 2, other));
    CHECK(memcmp(back[0], back[1], sizeof back[0]) == 0);
    MPI_Type_free(&both[0]);
    MPI_Type_free(&both[1]);
    if (check_failed != before)
        fprintf(stderr, "that was %s\n", what);
}

int main(void)
{
    MPI_Datatype one, other, wanted;
    int blocks[N] = {2, 1, 3}, ints[N] = {7, 0, 3}, sizes[2] = {6, 5}, parts[2] = {3, 2}, starts[2] = {2, 1};
    MPI_Count blocks_c[N] = {2, 1, 3}, wide[N] = {7, 0, 3}, bytes_c[N] = {40, 0, 12}, sizes_c[2] = {6, 5},
              parts_c[2] = {3, 2}, starts_c[2] = {2, 1};
    MPI_Aint bytes[N] = {40, 0, 12};
    MPI_Datatype types[N] = {MPI_INT, MPI_DOUBLE, MPI_SHORT};
    int distributions[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, by[2] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 1};
    check_init();
    fill(data, sizeof data, 5);
    MPI_Type_contiguous(5, MPI_INT, &one);
    CHECK_OK(MPI_Type_contiguous_c(5, MPI_INT, &other));
    same("contiguous", one, other);
    MPI_Type_vector(4, 2, -3, MPI_INT, &one);
    CHECK_OK(MPI_Type_vector_c(4, 2, -3, MPI_INT, &other));
    same("vector", one, other);
    MPI_Type_create_hvector(4, 2, 13, MPI_SHORT, &one);
    CHECK_OK(MPI_Type_create_hvector_c(4, 2, 13, MPI_SHORT, &other));
    same("hvector", one, other);
    MPI_Type_indexed(N, blocks, ints, MPI_INT, &one);
    CHECK_OK(MPI_Type_indexed_c(N, blocks_c, wide, MPI_INT, &other));
    same("indexed", one, other);
    MPI_Type_create_hindexed(N, blocks, bytes, MPI_SHORT, &one);
    CHECK_OK(MPI_Type_create_hindexed_c(N, blocks_c, bytes_c, MPI_SHORT, &other));
    same("hindexed", one, other);
    MPI_Type_create_indexed_block(N, 2, ints, MPI_INT, &one);
    CHECK_OK(MPI_Type_create_indexed_block_c(N, 2, wide, MPI_INT, &other));
    same("indexed_block", one, other);
    MPI_Type_create_hindexed_block(N, 2, bytes, MPI_SHORT, &one);
    CHECK_OK(MPI_Type_create_hindexed_block_c(N, 2, bytes_c, MPI_SHORT, &other));
    same("hindexed_block", one, other);
    MPI_Type_create_struct(N, blocks, bytes, types, &one);
    CHECK_OK(MPI_Type_create_struct_c(N, blocks_c, bytes_c, types, &other));
    same("struct", one, other);
    MPI_Type_create_resized(MPI_INT, -4, 20, &one);
    CHECK_OK(MPI_Type_create_resized_c(MPI_INT, -4, 20, &other));
    same("resized", one, other);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &one);
    CHECK_OK(MPI_Type_create_subarray_c(2, sizes_c, parts_c, starts_c, MPI_ORDER_FORTRAN, MPI_INT, &other));
    same("subarray", one, other);
    MPI_Type_create_darray(2, 1, 2, sizes, distributions, by, grid, MPI_ORDER_C, MPI_INT, &one);
    CHECK_OK(MPI_Type_create_darray_c(2, 1, 2, sizes_c, distributions, by, grid, MPI_ORDER_C, MPI_INT, &other));
    same("darray", one, other);

    CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &wanted));
    CHECK(wanted == MPI_DOUBLE_INT);
    CHECK_OK(MPI_Type_get_value_index(MPI_INT, MPI_INT, &wanted));
    CHECK(wanted == MPI_2INT);
    CHECK_OK(MPI_Type_get_value_index(MPI_CHAR, MPI_INT, &wanted));
    CHECK(wanted == MPI_DATATYPE_NULL);

    int keyval, value = 3, *found, flag;
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Type_set_attr(MPI_INT, keyval, &value));
    CHECK_OK(MPI_Type_get_attr(MPI_INT, keyval, &found, &flag));
    CHECK(flag && found == &value);
    CHECK_OK(MPI_Type_delete_attr(MPI_INT, keyval));
    CHECK_OK(MPI_Type_get_attr(MPI_INT, keyval, &found, &flag));
    CHECK_EQUAL(flag, 0);
    CHECK_OK(MPI_Type_free_keyval(&keyval));
    return check_finalize();
}
