/* Operations: the predefined ones over their types, those of the program, commutative or not, over derived types, freed
 * while in use; Reduce_local. everywhere: 1 2 3 5 8 */
#include "mpi_check.h"
#include <complex.h>
#include <stdbool.h>

#define EACH_ARITHMETIC(X)                                                                                              \
    X(signed char, MPI_SIGNED_CHAR) X(unsigned char, MPI_UNSIGNED_CHAR) X(short, MPI_SHORT)                             \
    X(unsigned short, MPI_UNSIGNED_SHORT) X(int, MPI_INT) X(unsigned, MPI_UNSIGNED) X(long, MPI_LONG)                   \
    X(unsigned long, MPI_UNSIGNED_LONG) X(long long, MPI_LONG_LONG) X(float, MPI_FLOAT) X(double, MPI_DOUBLE)           \
    X(long double, MPI_LONG_DOUBLE) X(int8_t, MPI_INT8_T) X(uint64_t, MPI_UINT64_T) X(MPI_Aint, MPI_AINT)

#define N 37
#define TEST_ARITHMETIC(c_type, type)                                                                                   \
    {                                                                                                                   \
        c_type in[N], sum[N], max[N], min[N], product[N], one[N];                                                       \
        for (int i = 0; i < N; i++) {                                                                                   \
            in[i] = (c_type)((rank + i) % size + 1);                                                                    \
            one[i] = (c_type)(i % size == rank ? 3 : 1);                                                                \
        }                                                                                                               \
        CHECK_OK(MPI_Allreduce(in, sum, N, type, MPI_SUM, MPI_COMM_WORLD));                                             \
        CHECK_OK(MPI_Allreduce(in, max, N, type, MPI_MAX, MPI_COMM_WORLD));                                             \
        CHECK_OK(MPI_Allreduce(in, min, N, type, MPI_MIN, MPI_COMM_WORLD));                                             \
        CHECK_OK(MPI_Allreduce(one, product, N, type, MPI_PROD, MPI_COMM_WORLD));                                       \
        for (int i = 0; i < N; i++) {                                                                                   \
            CHECK(sum[i] == (c_type)(size * (size + 1) / 2));                                                           \
            CHECK(max[i] == (c_type)size && min[i] == (c_type)1 && product[i] == (c_type)3);                            \
        }                                                                                                               \
    }

static void predefined(void)
{
    EACH_ARITHMETIC(TEST_ARITHMETIC)
    double complex z = rank + 2.0 * I, sum;
    CHECK_OK(MPI_Allreduce(&z, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD));
    CHECK(creal(sum) == size * (size - 1) / 2 && cimag(sum) == 2.0 * size);
    bool odd = rank % 2, any, all;
    CHECK_OK(MPI_Allreduce(&odd, &any, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(&odd, &all, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD));
    CHECK_EQUAL(any, size > 1);
    CHECK_EQUAL(all, 0);
    unsigned bit = 1u << rank, bits;
    CHECK_OK(MPI_Allreduce(&bit, &bits, 1, MPI_UNSIGNED, MPI_BOR, MPI_COMM_WORLD));
    CHECK_EQUAL(bits, (1u << size) - 1);
    CHECK_OK(MPI_Allreduce(&bit, &bits, 1, MPI_UNSIGNED, MPI_BXOR, MPI_COMM_WORLD));
    CHECK_EQUAL(bits, (1u << size) - 1);
    CHECK_OK(MPI_Allreduce(&bit, &bits, 1, MPI_UNSIGNED, MPI_BAND, MPI_COMM_WORLD));
    CHECK_EQUAL(bits, size == 1 ? 1 : 0);
    struct {
        double value;
        int index;
    } mine = {(rank * 3) % size, rank}, best;
    CHECK_OK(MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK_EQUAL((best.index * 3) % size, best.value);
    struct {
        int value, index;
    } same = {7, rank}, first;
    CHECK_OK(MPI_Allreduce(&same, &first, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD));
    CHECK(first.value == 7 && first.index == 0);
}

/* 2x2 matrices: a product that depends on the order. */
typedef struct {
    long a, b, c, d;
} matrix;

static void multiply(void *in_, void *inout_, int *count, MPI_Datatype *type)
{
    matrix *in = in_, *inout = inout_;
    int bytes = 0;
    MPI_Type_size(*type, &bytes); /* the handle is good inside */
    CHECK_EQUAL(bytes, sizeof(matrix));
    for (int i = 0; i < *count; i++) {
        matrix x = in[i], y = inout[i];
        inout[i] = (matrix){(x.a * y.a + x.b * y.c) % 10007, (x.a * y.b + x.b * y.d) % 10007,
                            (x.c * y.a + x.d * y.c) % 10007, (x.c * y.b + x.d * y.d) % 10007};
    }
}

static matrix of_rank(int r, int i) { return (matrix){r + 1, i % 7, r % 3, 1 + i % 5}; }

static void own(void)
{
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request request;
    int commutes = 1, n = 100;
    MPI_Type_contiguous(4, MPI_LONG, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_Op_create(multiply, 0, &op));
    CHECK_OK(MPI_Op_commutative(op, &commutes));
    CHECK_EQUAL(commutes, 0);
    matrix in[100], all[100], up_to[100], later[100], expected, partial = {1, 0, 0, 1};
    for (int i = 0; i < n; i++)
        in[i] = of_rank(rank, i);
    CHECK_OK(MPI_Allreduce(in, all, n, type, op, MPI_COMM_WORLD));
    CHECK_OK(MPI_Scan(in, up_to, n, type, op, MPI_COMM_WORLD));
    CHECK_OK(MPI_Iallreduce(in, later, n, type, op, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Op_free(&op)); /* in use: it goes on */
    CHECK_OK(MPI_Type_free(&type));
    CHECK(op == MPI_OP_NULL && type == MPI_DATATYPE_NULL);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Type_contiguous(4, MPI_LONG, &type);
    for (int i = 0; i < n; i++) {
        expected = of_rank(0, i);
        partial = expected;
        for (int r = 1; r < size; r++) {
            matrix next = of_rank(r, i), x = expected;
            int one = 1;
            multiply(&x, &next, &one, &type);
            expected = next;
            if (r <= rank)
                partial = expected;
        }
        CHECK(memcmp(&all[i], &expected, sizeof expected) == 0);
        CHECK(memcmp(&later[i], &expected, sizeof expected) == 0);
        CHECK(memcmp(&up_to[i], &partial, sizeof partial) == 0);
    }
    MPI_Type_free(&type);
}

int main(void)
{
    int a[] = {1, 2, 3}, b[] = {10, 20, 30};
    check_init();
    predefined();
    own();
    CHECK_OK(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_SUM));
    CHECK(b[0] == 11 && b[1] == 22 && b[2] == 33);
    return check_finalize();
}
