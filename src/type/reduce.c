/* The reduction kernels and their table. A kernel is a plain loop that the compiler turns into vector code; it is found
 * once per collective by vtype_kernel and called for each piece. No state, no locks.
 *
 * Surprise: buffers may lie at any address, so elements are read through types whose alignment is 1. Integers are added
 * and multiplied as unsigned ones of their width, where wrapping around is defined; so one kernel serves both signs. */
#include "type/reduce.h"
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define LOOSE(type) type __attribute__((aligned(1), may_alias))

/* A kernel named NAME over elements of TYPE: a is the element of IN, b that of INOUT. */
#define KERNEL(name, type, result)                                                                                     \
    static void name(const void *restrict in, void *restrict inout, size_t count)                                      \
    {                                                                                                                  \
        typedef LOOSE(type) loose;                                                                                     \
        const loose *from = in;                                                                                        \
        loose *to = inout;                                                                                             \
        for (size_t i = 0; i < count; i++) {                                                                           \
            type a = from[i], b = to[i];                                                                               \
            to[i] = (type)(result);                                                                                    \
        }                                                                                                              \
    }

/* ---- sums and products ----------------------------------------------------------------------------------------- */

KERNEL(sum_8, uint8_t, a + b)
KERNEL(sum_16, uint16_t, a + b)
KERNEL(sum_32, uint32_t, a + b)
KERNEL(sum_64, uint64_t, a + b)
KERNEL(sum_f32, float, a + b)
KERNEL(sum_f64, double, a + b)
KERNEL(sum_long_double, long double, a + b)

KERNEL(product_8, uint8_t, a * b)
KERNEL(product_16, uint16_t, 1u * a * b)
KERNEL(product_32, uint32_t, a * b)
KERNEL(product_64, uint64_t, a * b)
KERNEL(product_f32, float, a * b)
KERNEL(product_f64, double, a * b)
KERNEL(product_long_double, long double, a * b)

/* A complex sum is a sum of twice as many parts. */
static void sum_c32(const void *restrict in, void *restrict inout, size_t count) { sum_f32(in, inout, 2 * count); }
static void sum_c64(const void *restrict in, void *restrict inout, size_t count) { sum_f64(in, inout, 2 * count); }
static void sum_c_long_double(const void *restrict in, void *restrict inout, size_t count)
{
    sum_long_double(in, inout, 2 * count);
}

#define COMPLEX_PRODUCT(name, type)                                                                                    \
    static void name(const void *restrict in, void *restrict inout, size_t count)                                      \
    {                                                                                                                  \
        typedef LOOSE(type) loose;                                                                                     \
        const loose *from = in;                                                                                        \
        loose *to = inout;                                                                                             \
        for (size_t i = 0; i < 2 * count; i += 2) {                                                                    \
            type real = from[i] * to[i] - from[i + 1] * to[i + 1];                                                     \
            type imaginary = from[i] * to[i + 1] + from[i + 1] * to[i];                                                \
            to[i] = real;                                                                                              \
            to[i + 1] = imaginary;                                                                                     \
        }                                                                                                              \
    }
COMPLEX_PRODUCT(product_c32, float)
COMPLEX_PRODUCT(product_c64, double)
COMPLEX_PRODUCT(product_c_long_double, long double)

/* ---- the least and the greatest -------------------------------------------------------------------------------- */

KERNEL(min_i8, int8_t, a < b ? a : b)
KERNEL(min_u8, uint8_t, a < b ? a : b)
KERNEL(min_i16, int16_t, a < b ? a : b)
KERNEL(min_u16, uint16_t, a < b ? a : b)
KERNEL(min_i32, int32_t, a < b ? a : b)
KERNEL(min_u32, uint32_t, a < b ? a : b)
KERNEL(min_i64, int64_t, a < b ? a : b)
KERNEL(min_u64, uint64_t, a < b ? a : b)
KERNEL(min_f32, float, a < b || a != a ? a : b)
KERNEL(min_f64, double, a < b || a != a ? a : b)
KERNEL(min_long_double, long double, a < b || a != a ? a : b)

KERNEL(max_i8, int8_t, a > b ? a : b)
KERNEL(max_u8, uint8_t, a > b ? a : b)
KERNEL(max_i16, int16_t, a > b ? a : b)
KERNEL(max_u16, uint16_t, a > b ? a : b)
KERNEL(max_i32, int32_t, a > b ? a : b)
KERNEL(max_u32, uint32_t, a > b ? a : b)
KERNEL(max_i64, int64_t, a > b ? a : b)
KERNEL(max_u64, uint64_t, a > b ? a : b)
KERNEL(max_f32, float, a > b || a != a ? a : b)
KERNEL(max_f64, double, a > b || a != a ? a : b)
KERNEL(max_long_double, long double, a > b || a != a ? a : b)

/* ---- truth and bits -------------------------------------------------------------------------------------------- */

KERNEL(land_8, uint8_t, a && b)
KERNEL(land_16, uint16_t, a && b)
KERNEL(land_32, uint32_t, a && b)
KERNEL(land_64, uint64_t, a && b)

KERNEL(lor_8, uint8_t, a || b)
KERNEL(lor_16, uint16_t, a || b)
KERNEL(lor_32, uint32_t, a || b)
KERNEL(lor_64, uint64_t, a || b)

KERNEL(lxor_8, uint8_t, !a != !b)
KERNEL(lxor_16, uint16_t, !a != !b)
KERNEL(lxor_32, uint32_t, !a != !b)
KERNEL(lxor_64, uint64_t, !a != !b)

KERNEL(band_8, uint8_t, a & b)
KERNEL(band_16, uint16_t, a & b)
KERNEL(band_32, uint32_t, a & b)
KERNEL(band_64, uint64_t, a & b)

KERNEL(bor_8, uint8_t, a | b)
KERNEL(bor_16, uint16_t, a | b)
KERNEL(bor_32, uint32_t, a | b)
KERNEL(bor_64, uint64_t, a | b)

KERNEL(bxor_8, uint8_t, a ^ b)
KERNEL(bxor_16, uint16_t, a ^ b)
KERNEL(bxor_32, uint32_t, a ^ b)
KERNEL(bxor_64, uint64_t, a ^ b)

/* ---- the place of the least and the greatest ------------------------------------------------------------------- */

/* Does a come before b? A NaN comes before every number; of equals the lower index does. */
#define FIRST(a, b, less) ((a).value less (b).value || ((a).value != (a).value && (b).value == (b).value) ||           \
                           (!((b).value less (a).value) && ((a).value != (a).value || (b).value == (b).value) &&       \
                            (a).index < (b).index))

#define LOCATE(name, value_type, index_type, less)                                                                     \
    static void name(const void *restrict in, void *restrict inout, size_t count)                                      \
    {                                                                                                                  \
        struct pair {                                                                                                  \
            value_type value;                                                                                          \
            index_type index;                                                                                          \
        };                                                                                                             \
        const char *from = in;                                                                                         \
        char *to = inout;                                                                                              \
        for (size_t i = 0; i < count; i++, from += sizeof(struct pair), to += sizeof(struct pair)) {                   \
            struct pair a, b;                                                                                          \
            memcpy(&a, from, sizeof a);                                                                                \
            memcpy(&b, to, sizeof b);                                                                                  \
            if (FIRST(a, b, less))                                                                                     \
                memcpy(to, &a, sizeof a);                                                                              \
        }                                                                                                              \
    }

LOCATE(minloc_f32_int, float, int, <)
LOCATE(minloc_f64_int, double, int, <)
LOCATE(minloc_long_int, long, int, <)
LOCATE(minloc_2int, int, int, <)
LOCATE(minloc_short_int, short, int, <)
LOCATE(minloc_long_double_int, long double, int, <)
LOCATE(minloc_2f32, float, float, <)
LOCATE(minloc_2f64, double, double, <)

LOCATE(maxloc_f32_int, float, int, >)
LOCATE(maxloc_f64_int, double, int, >)
LOCATE(maxloc_long_int, long, int, >)
LOCATE(maxloc_2int, int, int, >)
LOCATE(maxloc_short_int, short, int, >)
LOCATE(maxloc_long_double_int, long double, int, >)
LOCATE(maxloc_2f32, float, float, >)
LOCATE(maxloc_2f64, double, double, >)

/* ---- neither --------------------------------------------------------------------------------------------------- */

static void nothing(const void *in, void *inout, size_t count)
{
    (void)in, (void)inout, (void)count;
}

static void replace_1(const void *restrict in, void *restrict inout, size_t count) { memcpy(inout, in, 1 * count); }
static void replace_2(const void *restrict in, void *restrict inout, size_t count) { memcpy(inout, in, 2 * count); }
static void replace_4(const void *restrict in, void *restrict inout, size_t count) { memcpy(inout, in, 4 * count); }
static void replace_8(const void *restrict in, void *restrict inout, size_t count) { memcpy(inout, in, 8 * count); }
static void replace_16(const void *restrict in, void *restrict inout, size_t count) { memcpy(inout, in, 16 * count); }
static void replace_32(const void *restrict in, void *restrict inout, size_t count) { memcpy(inout, in, 32 * count); }

/* ---- the table ------------------------------------------------------------------------------------------------- */

/* Rows that several operations share the shape of: by width, for integers of either sign. */
#define ROW_INTEGERS(k8, k16, k32, k64)                                                                                \
    [ELEMENT_I8] = k8, [ELEMENT_U8] = k8, [ELEMENT_I16] = k16, [ELEMENT_U16] = k16, [ELEMENT_I32] = k32,               \
    [ELEMENT_U32] = k32, [ELEMENT_I64] = k64, [ELEMENT_U64] = k64
#define ROW_TRUTH(k8, k16, k32, k64)                                                                                   \
    ROW_INTEGERS(k8, k16, k32, k64), [ELEMENT_BOOL] = k8, [ELEMENT_LOGICAL1] = k8, [ELEMENT_LOGICAL2] = k16,           \
    [ELEMENT_LOGICAL4] = k32, [ELEMENT_LOGICAL8] = k64

static type_kernel *const table[OPERATION_REPLACE][ELEMENT_COUNT] = {
    [OPERATION_SUM] = {ROW_INTEGERS(sum_8, sum_16, sum_32, sum_64), [ELEMENT_F32] = sum_f32, [ELEMENT_F64] = sum_f64,
                       [ELEMENT_LONG_DOUBLE] = sum_long_double, [ELEMENT_C32] = sum_c32, [ELEMENT_C64] = sum_c64,
                       [ELEMENT_C_LONG_DOUBLE] = sum_c_long_double},
    [OPERATION_PRODUCT] = {ROW_INTEGERS(product_8, product_16, product_32, product_64), [ELEMENT_F32] = product_f32,
                           [ELEMENT_F64] = product_f64, [ELEMENT_LONG_DOUBLE] = product_long_double,
                           [ELEMENT_C32] = product_c32, [ELEMENT_C64] = product_c64,
                           [ELEMENT_C_LONG_DOUBLE] = product_c_long_double},
    [OPERATION_MIN] = {[ELEMENT_I8] = min_i8, [ELEMENT_U8] = min_u8, [ELEMENT_I16] = min_i16,
                       [ELEMENT_U16] = min_u16, [ELEMENT_I32] = min_i32, [ELEMENT_U32] = min_u32,
                       [ELEMENT_I64] = min_i64, [ELEMENT_U64] = min_u64, [ELEMENT_F32] = min_f32,
                       [ELEMENT_F64] = min_f64, [ELEMENT_LONG_DOUBLE] = min_long_double},
    [OPERATION_MAX] = {[ELEMENT_I8] = max_i8, [ELEMENT_U8] = max_u8, [ELEMENT_I16] = max_i16,
                       [ELEMENT_U16] = max_u16, [ELEMENT_I32] = max_i32, [ELEMENT_U32] = max_u32,
                       [ELEMENT_I64] = max_i64, [ELEMENT_U64] = max_u64, [ELEMENT_F32] = max_f32,
                       [ELEMENT_F64] = max_f64, [ELEMENT_LONG_DOUBLE] = max_long_double},
    [OPERATION_LAND] = {ROW_TRUTH(land_8, land_16, land_32, land_64)},
    [OPERATION_LOR] = {ROW_TRUTH(lor_8, lor_16, lor_32, lor_64)},
    [OPERATION_LXOR] = {ROW_TRUTH(lxor_8, lxor_16, lxor_32, lxor_64)},
    [OPERATION_BAND] = {ROW_INTEGERS(band_8, band_16, band_32, band_64), [ELEMENT_BYTE] = band_8},
    [OPERATION_BOR] = {ROW_INTEGERS(bor_8, bor_16, bor_32, bor_64), [ELEMENT_BYTE] = bor_8},
    [OPERATION_BXOR] = {ROW_INTEGERS(bxor_8, bxor_16, bxor_32, bxor_64), [ELEMENT_BYTE] = bxor_8},
    [OPERATION_MINLOC] = {[ELEMENT_F32_INT] = minloc_f32_int, [ELEMENT_F64_INT] = minloc_f64_int,
                          [ELEMENT_LONG_INT] = minloc_long_int, [ELEMENT_2INT] = minloc_2int,
                          [ELEMENT_SHORT_INT] = minloc_short_int, [ELEMENT_LONG_DOUBLE_INT] = minloc_long_double_int,
                          [ELEMENT_2F32] = minloc_2f32, [ELEMENT_2F64] = minloc_2f64},
    [OPERATION_MAXLOC] = {[ELEMENT_F32_INT] = maxloc_f32_int, [ELEMENT_F64_INT] = maxloc_f64_int,
                          [ELEMENT_LONG_INT] = maxloc_long_int, [ELEMENT_2INT] = maxloc_2int,
                          [ELEMENT_SHORT_INT] = maxloc_short_int, [ELEMENT_LONG_DOUBLE_INT] = maxloc_long_double_int,
                          [ELEMENT_2F32] = maxloc_2f32, [ELEMENT_2F64] = maxloc_2f64},
};

static type_kernel *replace_of(enum type_element element)
{
    switch (vtype_element_size(element)) {
    case 1: return replace_1;
    case 2: return replace_2;
    case 4: return replace_4;
    case 8: return replace_8;
    case 16: return replace_16;
    default: return replace_32;
    }
}

type_kernel *vtype_kernel(enum type_operation operation, enum type_element element)
{
    if (element <= ELEMENT_NONE || element >= ELEMENT_COUNT)
        return NULL;
    if (operation == OPERATION_REPLACE)
        return replace_of(element);
    if (operation == OPERATION_NOTHING)
        return nothing;
    return (unsigned)operation < OPERATION_REPLACE ? table[operation][element] : NULL;
}

static const uint8_t element_sizes[ELEMENT_COUNT] = {
    [ELEMENT_I8] = 1, [ELEMENT_U8] = 1, [ELEMENT_BOOL] = 1, [ELEMENT_BYTE] = 1, [ELEMENT_LOGICAL1] = 1,
    [ELEMENT_I16] = 2, [ELEMENT_U16] = 2, [ELEMENT_LOGICAL2] = 2,
    [ELEMENT_I32] = 4, [ELEMENT_U32] = 4, [ELEMENT_F32] = 4, [ELEMENT_LOGICAL4] = 4,
    [ELEMENT_I64] = 8, [ELEMENT_U64] = 8, [ELEMENT_F64] = 8, [ELEMENT_LOGICAL8] = 8, [ELEMENT_C32] = 8,
    [ELEMENT_LONG_DOUBLE] = sizeof(long double), [ELEMENT_C64] = 16, [ELEMENT_C_LONG_DOUBLE] = 2 * sizeof(long double),
    [ELEMENT_F32_INT] = 8, [ELEMENT_F64_INT] = 16, [ELEMENT_LONG_INT] = 16, [ELEMENT_2INT] = 8, [ELEMENT_SHORT_INT] = 8,
    [ELEMENT_LONG_DOUBLE_INT] = 2 * sizeof(long double), [ELEMENT_2F32] = 8, [ELEMENT_2F64] = 16,
};

size_t vtype_element_size(enum type_element element)
{
    return (unsigned)element < ELEMENT_COUNT ? element_sizes[element] : 0;
}
