/* external32: known bytes of known values, sizes of the standard's table, and the way back. everywhere: 1 2 3 5 8 */
#include "mpi_check.h"
#include <stddef.h>

static unsigned char packed[4096];
static MPI_Aint at;

/* Packs one value and looks at its bytes; unpacks it again. */
static void check_value(const void *value, MPI_Datatype type, size_t here, const char *want, MPI_Aint there)
{
    unsigned char back[64];
    MPI_Aint bytes = -1;
    at = 0;
    memset(packed, 0xEE, sizeof packed);
    CHECK_OK(MPI_Pack_external_size("external32", 1, type, &bytes));
    CHECK_EQUAL(bytes, there);
    CHECK_OK(MPI_Pack_external("external32", value, 1, type, packed, sizeof packed, &at));
    CHECK_EQUAL(at, there);
    CHECK(memcmp(packed, want, (size_t)there) == 0);
    CHECK_EQUAL(packed[there], 0xEE);
    at = 0;
    memset(back, 0, sizeof back);
    CHECK_OK(MPI_Unpack_external("external32", packed, sizeof packed, &at, back, 1, type));
    CHECK_EQUAL(at, there);
    CHECK(memcmp(back, value, here) == 0);
}

static void basic_types(void)
{
    long double one_and_half = -1.5L, clean = 0;
    struct {
        double value;
        int index;
    } pair = {2.0, 7};
    memset(&clean, 0, sizeof clean);
    clean = one_and_half;
    check_value(&(int){0x01020304}, MPI_INT, 4, "\1\2\3\4", 4);
    check_value(&(short){-2}, MPI_SHORT, 2, "\xff\xfe", 2);
    check_value(&(char){'x'}, MPI_CHAR, 1, "x", 1);
    check_value(&(long){-3}, MPI_LONG, 8, "\xff\xff\xff\xfd", 4);
    check_value(&(unsigned long){0xFFFFFFFD}, MPI_UNSIGNED_LONG, 8, "\xff\xff\xff\xfd", 4);
    check_value(&(long long){5}, MPI_LONG_LONG_INT, 8, "\0\0\0\0\0\0\0\5", 8);
    check_value(&(MPI_Aint){5}, MPI_AINT, 8, "\0\0\0\0\0\0\0\5", 8);
    check_value(&(float){1.0f}, MPI_FLOAT, 4, "\x3f\x80\0\0", 4);
    check_value(&(double){-2.0}, MPI_DOUBLE, 8, "\xc0\0\0\0\0\0\0\0", 8);
    check_value(&clean, MPI_LONG_DOUBLE, 10, "\xbf\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    check_value((float[]){1.0f, 2.0f}, MPI_C_COMPLEX, 8, "\x3f\x80\0\0\x40\0\0\0", 8);
    check_value(&pair, MPI_DOUBLE_INT, 12, "\x40\0\0\0\0\0\0\0\0\0\0\7", 12);
}

/* A struct with a vector inside, twice, and through arrays that are longer than the data. */
static void derived(void)
{
    struct part {
        char tag;
        short rest[6];
        double value;
    } data[2], back[2];
    MPI_Datatype vector, type, resized;
    MPI_Aint places[] = {0, offsetof(struct part, rest), offsetof(struct part, value)};
    int blocks[] = {1, 1, 1};
    fill(data, sizeof data, 1);
    data[0].value = 0.1, data[1].value = -7e300;
    MPI_Type_vector(3, 1, 2, MPI_SHORT, &vector);
    MPI_Type_create_struct(3, blocks, places, (MPI_Datatype[]){MPI_CHAR, vector, MPI_DOUBLE}, &type);
    MPI_Type_create_resized(type, 0, sizeof(struct part), &resized);
    MPI_Type_commit(&resized);
    at = 0;
    CHECK_OK(MPI_Pack_external("external32", data, 2, resized, packed, 30, &at));
    CHECK_EQUAL(at, 30);
    CHECK_EQUAL(packed[0], (unsigned char)data[0].tag);
    CHECK_EQUAL(packed[3] << 8 | packed[4], (unsigned short)data[0].rest[2]);
    memset(back, 0, sizeof back);
    at = 0;
    CHECK_OK(MPI_Unpack_external("external32", packed, 30, &at, back, 2, resized));
    for (int i = 0; i < 2; i++) {
        CHECK(back[i].tag == data[i].tag && back[i].value == data[i].value);
        for (int k = 0; k < 6; k++)
            CHECK_EQUAL(back[i].rest[k], k % 2 ? 0 : data[i].rest[k]);
    }
    at = 1;
    CHECK_CLASS(MPI_Pack_external("external32", data, 2, resized, packed, 30, &at), MPI_ERR_TRUNCATE);
    CHECK_EQUAL(at, 1);
    at = 31;
    CHECK_CLASS(MPI_Pack_external("external32", data, 2, resized, packed, 30, &at), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Unpack_external("external32", packed, 30, &(MPI_Aint){-1}, data, 2, resized), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pack_external("external32", data, 2, resized, NULL, 30, &(MPI_Aint){0}), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Pack_external("native", data, 2, resized, packed, 100, &at), MPI_ERR_ARG);
    MPI_Type_free(&vector);
    MPI_Type_free(&type);
    MPI_Type_free(&resized);
}

int main(void)
{
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    basic_types();
    derived();
    return check_finalize();
}
