/* Every reduction kernel against a naive expression: each legal combination, counts from 0 to odd ones, buffers at
 * every misalignment, a guard behind; and that nothing else is legal. */
#include "check.h"
#include "type/reduce.h"
#include <math.h>

#define MOST  67
#define GUARD 48

static uint64_t seed = 362436069362436069ull;
static uint64_t any(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

enum class { SIGNED, UNSIGNED, FLOATING, COMPLEX, TRUTH, BITS, PAIR };
struct kind {
    enum type_element element;
    enum class class;
    size_t size, part; /* of the element; of its number */
};
static const struct kind kinds[] = {
    {ELEMENT_I8, SIGNED, 1, 1},
    {ELEMENT_I16, SIGNED, 2, 2},
    {ELEMENT_I32, SIGNED, 4, 4},
    {ELEMENT_I64, SIGNED, 8, 8},
    {ELEMENT_U8, UNSIGNED, 1, 1},
    {ELEMENT_U16, UNSIGNED, 2, 2},
    {ELEMENT_U32, UNSIGNED, 4, 4},
    {ELEMENT_U64, UNSIGNED, 8, 8},
    {ELEMENT_F32, FLOATING, 4, 4},
    {ELEMENT_F64, FLOATING, 8, 8},
    {ELEMENT_LONG_DOUBLE, FLOATING, sizeof(long double), sizeof(long double)},
    {ELEMENT_C32, COMPLEX, 8, 4},
    {ELEMENT_C64, COMPLEX, 16, 8},
    {ELEMENT_C_LONG_DOUBLE, COMPLEX, 2 * sizeof(long double), sizeof(long double)},
    {ELEMENT_BOOL, TRUTH, 1, 1},
    {ELEMENT_LOGICAL1, TRUTH, 1, 1},
    {ELEMENT_LOGICAL2, TRUTH, 2, 2},
    {ELEMENT_LOGICAL4, TRUTH, 4, 4},
    {ELEMENT_LOGICAL8, TRUTH, 8, 8},
    {ELEMENT_BYTE, BITS, 1, 1},
    {ELEMENT_F32_INT, PAIR, 8, 4},
    {ELEMENT_F64_INT, PAIR, 16, 8},
    {ELEMENT_LONG_INT, PAIR, 16, 8},
    {ELEMENT_2INT, PAIR, 8, 4},
    {ELEMENT_SHORT_INT, PAIR, 8, 2},
    {ELEMENT_LONG_DOUBLE_INT, PAIR, 2 * sizeof(long double), sizeof(long double)},
    {ELEMENT_2F32, PAIR, 8, 4},
    {ELEMENT_2F64, PAIR, 16, 8},
    {ELEMENT_2I64, PAIR, 16, 8},
};

static bool legal(enum type_operation operation, enum class class)
{
    bool integer = class == SIGNED || class == UNSIGNED;
    switch (operation) {
    case OPERATION_SUM:
    case OPERATION_PRODUCT:
        return integer || class == FLOATING || class == COMPLEX;
    case OPERATION_MIN:
    case OPERATION_MAX:
        return integer || class == FLOATING;
    case OPERATION_LAND:
    case OPERATION_LOR:
    case OPERATION_LXOR:
        return integer || class == TRUTH;
    case OPERATION_BAND:
    case OPERATION_BOR:
    case OPERATION_BXOR:
        return integer || class == BITS;
    case OPERATION_MINLOC:
    case OPERATION_MAXLOC:
        return class == PAIR;
    default:
        return false;
    }
}

/* ---- naive values ---------------------------------------------------------------------------------------------------
 */

static uint64_t load(const unsigned char *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static bool equal_integer(const struct kind *k, enum type_operation operation, const unsigned char *bytes[3])
{
    unsigned shift = 64 - 8 * (unsigned)k->size;
    uint64_t a = load(bytes[0], k->size), b = load(bytes[1], k->size), c = load(bytes[2], k->size), want;
    bool less = k->class == SIGNED ? (int64_t)(a << shift) < (int64_t)(b << shift) : a < b;
    switch (operation) {
    case OPERATION_SUM:
        want = a + b;
        break;
    case OPERATION_PRODUCT:
        want = a * b;
        break;
    case OPERATION_MIN:
        want = less ? a : b;
        break;
    case OPERATION_MAX:
        want = less ? b : a;
        break;
    case OPERATION_LAND:
        want = a && b;
        break;
    case OPERATION_LOR:
        want = a || b;
        break;
    case OPERATION_LXOR:
        want = (a != 0) != (b != 0);
        break;
    case OPERATION_BAND:
        want = a & b;
        break;
    case OPERATION_BOR:
        want = a | b;
        break;
    default:
        want = a ^ b;
        break;
    }
    return (want << shift) == (c << shift);
}

static long double number(const unsigned char *at, size_t size)
{
    float f;
    double d;
    long double l;
    if (size == sizeof f)
        return memcpy(&f, at, sizeof f), f;
    if (size == sizeof d)
        return memcpy(&d, at, sizeof d), d;
    return memcpy(&l, at, sizeof l), l;
}

static void put_number(unsigned char *at, size_t size, long double value)
{
    float f = (float)value;
    double d = (double)value;
    memcpy(at, size == sizeof f ? (void *)&f : size == sizeof d ? (void *)&d : (void *)&value, size);
}

/* Numbers are small integers, so every width computes them exactly. */
static bool equal_floating(const struct kind *k, enum type_operation operation, const unsigned char *bytes[3])
{
    long double a = number(bytes[0], k->part), b = number(bytes[1], k->part), c = number(bytes[2], k->part), want;
    switch (operation) {
    case OPERATION_SUM:
        want = a + b;
        break;
    case OPERATION_PRODUCT:
        want = a * b;
        break;
    case OPERATION_MIN:
        want = isnan(a) || isnan(b) ? NAN : a < b ? a : b;
        break;
    default:
        want = isnan(a) || isnan(b) ? NAN : a > b ? a : b;
        break;
    }
    return want == c || (isnan(want) && isnan(c));
}

static bool equal_complex(const struct kind *k, enum type_operation operation, const unsigned char *bytes[3])
{
    long double v[3][2];
    for (int i = 0; i < 3; i++)
        for (int part = 0; part < 2; part++)
            v[i][part] = number(bytes[i] + (size_t)part * k->part, k->part);
    if (operation == OPERATION_SUM)
        return v[2][0] == v[0][0] + v[1][0] && v[2][1] == v[0][1] + v[1][1];
    return v[2][0] == v[0][0] * v[1][0] - v[0][1] * v[1][1] && v[2][1] == v[0][0] * v[1][1] + v[0][1] * v[1][0];
}

static bool pair_of_floats(const struct kind *k)
{
    return k->element == ELEMENT_2F32 || k->element == ELEMENT_2F64;
}
static bool integer_value(const struct kind *k)
{
    return k->element == ELEMENT_LONG_INT || k->element == ELEMENT_2INT || k->element == ELEMENT_SHORT_INT ||
           k->element == ELEMENT_2I64;
}
static size_t index_size(const struct kind *k) { return k->element == ELEMENT_2I64 ? 8 : 4; }

static long double pair_value(const struct kind *k, const unsigned char *at)
{
    unsigned shift = 64 - 8 * (unsigned)k->part;
    if (!integer_value(k))
        return number(at, k->part);
    return (long double)((int64_t)(load(at, k->part) << shift) >> shift);
}

static size_t index_offset(const struct kind *k)
{
    return k->part < 4 ? 4 : k->part;
}

static long double pair_index(const struct kind *k, const unsigned char *at)
{
    if (pair_of_floats(k))
        return number(at + k->part, k->part);
    uint64_t index = load(at + index_offset(k), index_size(k));
    return index_size(k) == 8 ? (int64_t)index : (int32_t)index;
}

static bool equal_pair(const struct kind *k, enum type_operation operation, const unsigned char *bytes[3])
{
    long double a = pair_value(k, bytes[0]), b = pair_value(k, bytes[1]), c = pair_value(k, bytes[2]);
    long double index_a = pair_index(k, bytes[0]), index_b = pair_index(k, bytes[1]);
    bool first, same = a == b || (isnan(a) && isnan(b));
    if (same)
        first = index_a < index_b;
    else if (isnan(a) || isnan(b))
        first = isnan(a);
    else
        first = operation == OPERATION_MINLOC ? a < b : a > b;
    long double want = first ? a : b;
    return (want == c || (isnan(want) && isnan(c))) && pair_index(k, bytes[2]) == (first ? index_a : index_b);
}

static bool equal(const struct kind *k, enum type_operation operation, const unsigned char *bytes[3])
{
    if (k->class == PAIR)
        return equal_pair(k, operation, bytes);
    if (k->class == FLOATING)
        return equal_floating(k, operation, bytes);
    if (k->class == COMPLEX)
        return equal_complex(k, operation, bytes);
    return equal_integer(k, operation, bytes);
}

/* ---- the runs -------------------------------------------------------------------------------------------------------
 */

static void fill(const struct kind *k, unsigned char *to)
{
    long double small = (long double)(any() % 15) - 7;
    bool nan_allowed = k->class == FLOATING || (k->class == PAIR && !integer_value(k));
    if (nan_allowed && any() % 8 == 0)
        small = NAN;
    for (size_t i = 0; i < k->size; i++)
        to[i] = any() % 3 ? (unsigned char)any() : 0;
    if (k->class == FLOATING || k->class == COMPLEX || (k->class == PAIR && !integer_value(k)))
        put_number(to, k->part, small);
    if (k->class == COMPLEX || pair_of_floats(k))
        put_number(to + k->part, k->part, (long double)(any() % 5));
    if (k->class == PAIR && integer_value(k))
        memset(to, (int)(any() % 3) - 1, k->part);
    if (k->class == PAIR && !pair_of_floats(k)) {
        int64_t index = (int64_t)(any() % 5) - 2;
        memcpy(to + index_offset(k), &index, index_size(k)); /* its lower end */
    }
}

static void run(const struct kind *k, enum type_operation operation, size_t count, size_t shift)
{
    type_kernel *kernel = vtype_kernel(operation, k->element);
    static unsigned char in[MOST * 32 + 64], inout[MOST * 32 + 64 + GUARD], before[sizeof inout], kept[sizeof in];
    memset(in, 0x5a, sizeof in);
    memset(inout, 0xa5, sizeof inout);
    for (size_t i = 0; i < count; i++) {
        fill(k, in + shift + i * k->size);
        fill(k, inout + (31 - shift) + i * k->size);
    }
    memcpy(before, inout, sizeof inout);
    memcpy(kept, in, sizeof in);
    kernel(in + shift, inout + (31 - shift), count);
    CHECK(memcmp(kept, in, sizeof in) == 0);
    CHECK(memcmp(inout, before, 31 - shift) == 0);
    size_t end = 31 - shift + count * k->size;
    CHECK(memcmp(inout + end, before + end, sizeof inout - end) == 0);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *bytes[3] = {in + shift + i * k->size, before + (31 - shift) + i * k->size,
                                         inout + (31 - shift) + i * k->size};
        if (!equal(k, operation, bytes)) {
            fprintf(stderr, "operation %d, element %d, count %zu, shift %zu, at %zu\n", operation, k->element, count,
                    shift, i);
            CHECK(!"the kernel gives what the naive expression gives");
            return;
        }
    }
}

int main(void)
{
    static const size_t counts[] = {0, 1, 2, 3, 7, 16, 33, MOST};
    CHECK_EQUAL(ARRAY_LENGTH(kinds), ELEMENT_COUNT - 1);
    for (size_t e = 0; e < ARRAY_LENGTH(kinds); e++) {
        const struct kind *k = &kinds[e];
        for (int operation = 0; operation < OPERATION_COUNT; operation++) {
            CHECK_EQUAL(vtype_kernel(operation, k->element) != NULL, legal(operation, k->class));
            for (size_t c = 0; vtype_kernel(operation, k->element) && c < ARRAY_LENGTH(counts); c++)
                for (size_t shift = 0; shift < 18; shift++)
                    run(k, operation, counts[c], shift);
        }
    }
    CHECK(!vtype_kernel(OPERATION_SUM, ELEMENT_NONE));
    CHECK(!vtype_kernel(OPERATION_SUM, ELEMENT_COUNT));
    CHECK(!vtype_kernel(OPERATION_USER, ELEMENT_I32));
    return check_done();
}
