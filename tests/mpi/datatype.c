/* Datatypes: what each constructor describes, byte by byte, sent as itself and received as bytes and the other way round;
 * sizes and extents; pack and unpack. everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

static MPI_Comm world;
#include <stddef.h>

#define ROOM 4096

/* Sends COUNT of TYPE from a patterned field, receives it as bytes, and compares with the bytes at the places of MAP (one
 * element's byte offsets, N of them); then sends bytes back into a clean field. */
static void check_map(MPI_Datatype type, int count, const int *map, int n)
{
    static unsigned char field[ROOM], flat[ROOM], back[ROOM], packed[ROOM];
    int other = size > 1 ? 1 - rank : 0, bytes = -1, position = 0;
    MPI_Aint lower_bound, extent;
    MPI_Status status;
    MPI_Request request;
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_size(type, &bytes));
    CHECK_EQUAL(bytes, n);
    MPI_Type_get_extent(type, &lower_bound, &extent);
    unsigned char *base = field + ROOM / 2;
    fill(field, ROOM, 3);
    memset(flat, 0, ROOM);
    MPI_Isend(base, count, type, other, 1, world, &request);
    CHECK_OK(MPI_Recv(flat, ROOM, MPI_BYTE, other, 1, world, &status));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(count_of(&status, MPI_BYTE), n * count);
    CHECK_EQUAL(count_of(&status, type), n ? count : 0);
    for (int e = 0; e < count; e++)
        for (int i = 0; i < n; i++)
            CHECK_EQUAL(flat[e * n + i], base[e * extent + map[i]]);

    CHECK_OK(MPI_Pack(base, count, type, packed, ROOM, &position, world));
    CHECK_EQUAL(position, n * count);
    CHECK(memcmp(packed, flat, (size_t)(n * count)) == 0);

    memset(back, 0x77, ROOM);
    unsigned char *there = back + ROOM / 2, expected[ROOM];
    MPI_Isend(flat, n * count, MPI_BYTE, other, 2, world, &request);
    CHECK_OK(MPI_Recv(there, count, type, other, 2, world, &status));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(expected, 0x77, ROOM);
    for (int e = 0; e < count; e++)
        for (int i = 0; i < n; i++)
            expected[ROOM / 2 + e * extent + map[i]] = base[e * extent + map[i]];
    CHECK(memcmp(back, expected, ROOM) == 0);

    memset(back, 0x77, ROOM);
    position = 0;
    CHECK_OK(MPI_Unpack(packed, n * count, &position, there, count, type, world));
    CHECK(memcmp(back, expected, ROOM) == 0);
}

static void check_extent(MPI_Datatype type, int lower_bound, int extent, int true_lower_bound, int true_extent)
{
    MPI_Aint a, b;
    CHECK_OK(MPI_Type_get_extent(type, &a, &b));
    CHECK_EQUAL(a, lower_bound);
    CHECK_EQUAL(b, extent);
    CHECK_OK(MPI_Type_get_true_extent(type, &a, &b));
    CHECK_EQUAL(a, true_lower_bound);
    CHECK_EQUAL(b, true_extent);
}

/* Appends LENGTH byte offsets from START. */
static int put(int *map, int n, int start, int length)
{
    for (int i = 0; i < length; i++)
        map[n++] = start + i;
    return n;
}

static void simple(void)
{
    int map[512], n = put(map, 0, 0, 12);
    MPI_Datatype type, other;
    MPI_Type_contiguous(3, MPI_INT, &type);
    check_extent(type, 0, 12, 0, 12);
    check_map(type, 5, map, n);
    MPI_Type_free(&type);

    MPI_Type_vector(3, 2, 4, MPI_SHORT, &type);
    n = put(map, put(map, put(map, 0, 0, 4), 8, 4), 16, 4);
    check_extent(type, 0, 20, 0, 20);
    check_map(type, 4, map, n);
    MPI_Type_create_resized(type, -4, 40, &other);
    check_extent(other, -4, 40, 0, 20);
    check_map(other, 3, map, n);
    MPI_Type_free(&other);
    MPI_Type_dup(type, &other);
    check_map(other, 2, map, n);
    MPI_Type_free(&type);
    check_map(other, 2, map, n); /* outlives what it was made from */
    MPI_Type_free(&other);

    MPI_Type_create_hvector(3, 1, -7, MPI_SHORT, &type); /* backwards, not aligned */
    n = put(map, put(map, put(map, 0, 0, 2), -7, 2), -14, 2);
    check_extent(type, -14, 16, -14, 16);
    check_map(type, 1, map, n);
    MPI_Type_free(&type);
}

static void lists(void)
{
    int map[512], n;
    MPI_Datatype type;
    MPI_Type_indexed(3, (int[]){2, 0, 1}, (int[]){5, 9, -1}, MPI_INT, &type);
    n = put(map, put(map, 0, 20, 8), -4, 4);
    check_map(type, 3, map, n);
    MPI_Type_free(&type);
    MPI_Type_create_hindexed(2, (int[]){1, 3}, (MPI_Aint[]){30, 1}, MPI_SHORT, &type);
    n = put(map, put(map, 0, 30, 2), 1, 6);
    check_map(type, 2, map, n);
    MPI_Type_free(&type);
    MPI_Type_create_indexed_block(3, 2, (int[]){0, 6, 3}, MPI_CHAR, &type);
    n = put(map, put(map, put(map, 0, 0, 2), 6, 2), 3, 2);
    check_map(type, 4, map, n);
    MPI_Type_free(&type);
    MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){8, -8}, MPI_DOUBLE, &type);
    n = put(map, put(map, 0, 8, 8), -8, 8);
    check_map(type, 1, map, n);
    MPI_Type_free(&type);
    MPI_Type_indexed(0, NULL, NULL, MPI_INT, &type);
    check_map(type, 3, map, 0);
    MPI_Type_free(&type);
}

static void structures(void)
{
    struct part {
        char c;
        double d;
        short s[3];
    };
    int map[512], n;
    MPI_Datatype type, nested;
    MPI_Type_create_struct(3, (int[]){1, 1, 3},
                           (MPI_Aint[]){offsetof(struct part, c), offsetof(struct part, d), offsetof(struct part, s)},
                           (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, &type);
    n = put(map, put(map, put(map, 0, 0, 1), 8, 8), 16, 6);
    check_extent(type, 0, sizeof(struct part), 0, 22);
    check_map(type, 6, map, n);
    MPI_Type_vector(2, 1, 2, type, &nested);
    MPI_Type_free(&type);
    n = put(map, n, 48, 1);
    n = put(map, put(map, n, 56, 8), 64, 6);
    check_map(nested, 3, map, n);
    MPI_Type_free(&nested);
    int parts = 0;
    MPI_Type_size(MPI_DOUBLE_INT, &parts);
    CHECK_EQUAL(parts, 12);
    check_extent(MPI_DOUBLE_INT, 0, 16, 0, 12);
    check_map(MPI_DOUBLE_INT, 2, map, put(map, 0, 0, 12));
    check_map(MPI_SHORT_INT, 2, map, put(map, put(map, 0, 0, 2), 4, 4));
}

static void subarrays(void)
{
    int map[512], n = 0;
    MPI_Datatype type;
    MPI_Type_create_subarray(3, (int[]){4, 5, 6}, (int[]){2, 3, 2}, (int[]){1, 2, 3}, MPI_ORDER_C, MPI_SHORT, &type);
    for (int i = 1; i < 3; i++)
        for (int j = 2; j < 5; j++)
            n = put(map, n, ((i * 5 + j) * 6 + 3) * 2, 4);
    check_extent(type, 0, 240, (1 * 5 + 2) * 6 * 2 + 6, ((2 * 5 + 4) * 6 + 5) * 2 - ((1 * 5 + 2) * 6 + 3) * 2);
    check_map(type, 2, map, n);
    MPI_Type_free(&type);
    n = 0;
    MPI_Type_create_subarray(2, (int[]){7, 4}, (int[]){3, 2}, (int[]){2, 1}, MPI_ORDER_FORTRAN, MPI_INT, &type);
    for (int j = 1; j < 3; j++)
        n = put(map, n, (j * 7 + 2) * 4, 12);
    check_map(type, 2, map, n);
    MPI_Type_free(&type);
}

/* Absolute addresses from MPI_BOTTOM. */
static void bottom(void)
{
    int a = 1 + rank, far[100] = {0}, other = size > 1 ? 1 - rank : 0;
    double b = 2.5 + rank;
    MPI_Aint at[3];
    MPI_Datatype type;
    MPI_Request request;
    far[99] = 40 + rank;
    MPI_Get_address(&a, &at[0]);
    MPI_Get_address(&b, &at[1]);
    MPI_Get_address(&far[99], &at[2]);
    MPI_Type_create_struct(3, (int[]){1, 1, 1}, at, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_INT}, &type);
    MPI_Type_commit(&type);
    unsigned char packed[16];
    MPI_Isend(MPI_BOTTOM, 1, type, other, 1, world, &request);
    MPI_Recv(packed, 16, MPI_BYTE, other, 1, world, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(packed, 16, MPI_BYTE, other, 1, world, &request);
    a = 0;
    b = 0;
    far[99] = 0;
    MPI_Recv(MPI_BOTTOM, 1, type, other, 1, world, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(a, 1 + rank);
    CHECK(b == 2.5 + rank);
    CHECK_EQUAL(far[99], 40 + rank);
    MPI_Type_free(&type);
    CHECK_EQUAL(MPI_Aint_diff(MPI_Aint_add(at[0], 24), at[0]), 24);
}

/* A type is freed while messages of it are under way, large ones that do not go at once. */
static void freed(void)
{
    enum { N = 60000 };
    static int out[N * 2], in[N * 2];
    int other = size > 1 ? 1 - rank : 0;
    MPI_Datatype type;
    MPI_Request request[2];
    for (int i = 0; i < N * 2; i++)
        out[i] = rank * 1000000 + i;
    MPI_Type_vector(N, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Irecv(in, 1, type, other, 1, world, &request[0]);
    MPI_Isend(out, 1, type, other, 1, world, &request[1]);
    MPI_Type_free(&type);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    int wrong = 0;
    for (int i = 0; i < N * 2; i++)
        wrong += in[i] != (i % 2 ? 0 : other * 1000000 + i);
    CHECK_EQUAL(wrong, 0);
}

int main(void)
{
    world = check_init_pairs();
    simple();
    lists();
    structures();
    subarrays();
    bottom();
    freed();
    return check_finalize();
}
