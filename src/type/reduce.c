/* The reduction kernels and their table. A kernel is a plain loop that the compiler turns into vector code; it is found
 * once per collective by vtype_kernel and called for each piece. No state, no locks.
 *
 * Surprise: buffers may lie at any address, so elements are read through types whose alignment is 1. Integers are added
 * and multiplied as unsigned ones of their width, where wrapping around is defined; so one kernel serves both signs. */
#include "type/reduce.h"

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

/* A family: NAME_8 and so on, or NAME_i8 and so on. */
#define BY_WIDTH(name, result)                                                                                         \
    KERNEL(name##_8, uint8_t, result)                                                                                  \
    KERNEL(name##_16, uint16_t, result)                                                                                \
    KERNEL(name##_32, uint32_t, result)                                                                                \
    KERNEL(name##_64, uint64_t, result)
#define BY_ORDER(name, less)                                                                                           \
    KERNEL(name##_i8, int8_t, a less b ? a : b)                                                                        \
    KERNEL(name##_u8, uint8_t, a less b ? a : b)                                                                       \
    KERNEL(name##_i16, int16_t, a less b ? a : b)                                                                      \
    KERNEL(name##_u16, uint16_t, a less b ? a : b)                                                                     \
    KERNEL(name##_i32, int32_t, a less b ? a : b)                                                                      \
    KERNEL(name##_u32, uint32_t, a less b ? a : b)                                                                     \
    KERNEL(name##_i64, int64_t, a less b ? a : b)                                                                      \
    KERNEL(name##_u64, uint64_t, a less b ? a : b)                                                                     \
    KERNEL(name##_f32, float, a less b || a != a ? a : b)                                                              \
    KERNEL(name##_f64, double, a less b || a != a ? a : b)                                                             \
    KERNEL(name##_long_double, long double, a less b || a != a ? a : b)

/* ---- sums and products ---- */

BY_WIDTH(sum, a + b)
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

/* ---- the least and the greatest ---- */

BY_ORDER(min, <)
BY_ORDER(max, >)

/* ---- truth and bits ---- */

BY_WIDTH(land, a && b)
BY_WIDTH(lor, a || b)
BY_WIDTH(lxor, !a != !b)
BY_WIDTH(band, a & b)
BY_WIDTH(bor, a | b)
BY_WIDTH(bxor, a ^ b)

/* ---- the place of the least and the greatest ---- */

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

#define BY_PAIR(name, less)                                                                                            \
    LOCATE(name##_f32_int, float, int, less)                                                                           \
    LOCATE(name##_f64_int, double, int, less)                                                                          \
    LOCATE(name##_long_int, long, int, less)                                                                           \
    LOCATE(name##_2int, int, int, less)                                                                                \
    LOCATE(name##_short_int, short, int, less)                                                                         \
    LOCATE(name##_long_double_int, long double, int, less)                                                             \
    LOCATE(name##_2f32, float, float, less)                                                                            \
    LOCATE(name##_2f64, double, double, less)                                                                          \
    LOCATE(name##_2i64, int64_t, int64_t, less)
BY_PAIR(minloc, <)
BY_PAIR(maxloc, >)

/* ---- the table ---- */

/* Rows that several operations share the shape of: by width, for integers of either sign. */
#define ROW_INTEGERS(name)                                                                                             \
    [ELEMENT_I8] = name##_8, [ELEMENT_U8] = name##_8, [ELEMENT_I16] = name##_16, [ELEMENT_U16] = name##_16,            \
    [ELEMENT_I32] = name##_32, [ELEMENT_U32] = name##_32, [ELEMENT_I64] = name##_64, [ELEMENT_U64] = name##_64
#define ROW_TRUTH(name)                                                                                                \
    ROW_INTEGERS(name), [ELEMENT_BOOL] = name##_8, [ELEMENT_LOGICAL1] = name##_8, [ELEMENT_LOGICAL2] = name##_16,      \
    [ELEMENT_LOGICAL4] = name##_32, [ELEMENT_LOGICAL8] = name##_64
#define ROW_NUMBERS(name)                                                                                              \
    ROW_INTEGERS(name), [ELEMENT_F32] = name##_f32, [ELEMENT_F64] = name##_f64,                                        \
    [ELEMENT_LONG_DOUBLE] = name##_long_double, [ELEMENT_C32] = name##_c32, [ELEMENT_C64] = name##_c64,                \
    [ELEMENT_C_LONG_DOUBLE] = name##_c_long_double
#define ROW_ORDER(name)                                                                                                \
    [ELEMENT_I8] = name##_i8, [ELEMENT_U8] = name##_u8, [ELEMENT_I16] = name##_i16, [ELEMENT_U16] = name##_u16,        \
    [ELEMENT_I32] = name##_i32, [ELEMENT_U32] = name##_u32, [ELEMENT_I64] = name##_i64, [ELEMENT_U64] = name##_u64,    \
    [ELEMENT_F32] = name##_f32, [ELEMENT_F64] = name##_f64, [ELEMENT_LONG_DOUBLE] = name##_long_double
#define ROW_PAIRS(name)                                                                                                \
    [ELEMENT_F32_INT] = name##_f32_int, [ELEMENT_F64_INT] = name##_f64_int, [ELEMENT_LONG_INT] = name##_long_int,      \
    [ELEMENT_2INT] = name##_2int, [ELEMENT_SHORT_INT] = name##_short_int, [ELEMENT_2F32] = name##_2f32,                \
    [ELEMENT_LONG_DOUBLE_INT] = name##_long_double_int, [ELEMENT_2F64] = name##_2f64, [ELEMENT_2I64] = name##_2i64

static type_kernel *const table[][ELEMENT_COUNT] = {
    [OPERATION_SUM] = {ROW_NUMBERS(sum)},
    [OPERATION_PRODUCT] = {ROW_NUMBERS(product)},
    [OPERATION_MIN] = {ROW_ORDER(min)},
    [OPERATION_MAX] = {ROW_ORDER(max)},
    [OPERATION_LAND] = {ROW_TRUTH(land)},
    [OPERATION_LOR] = {ROW_TRUTH(lor)},
    [OPERATION_LXOR] = {ROW_TRUTH(lxor)},
    [OPERATION_BAND] = {ROW_INTEGERS(band), [ELEMENT_BYTE] = band_8},
    [OPERATION_BOR] = {ROW_INTEGERS(bor), [ELEMENT_BYTE] = bor_8},
    [OPERATION_BXOR] = {ROW_INTEGERS(bxor), [ELEMENT_BYTE] = bxor_8},
    [OPERATION_MINLOC] = {ROW_PAIRS(minloc)},
    [OPERATION_MAXLOC] = {ROW_PAIRS(maxloc)},
};

type_kernel *vtype_kernel(enum type_operation operation, enum type_element element)
{
    bool known = element > ELEMENT_NONE && element < ELEMENT_COUNT && (unsigned)operation < ARRAY_LENGTH(table);
    return known ? table[operation][element] : NULL;
}
