/* Signatures of datatypes: a hash over their basic elements in the order of the type map, by a walk over the recipes. Two
 * datatypes that a message may go from and to have the same one. Elements count by what they are in memory, so MPI_INT
 * is MPI_INT32_T and Fortran's INTEGER; bytes, characters, truth values and numbers are different things.
 *
 * A sequence is a number in a system of base BASE, modulo 2^64, so that sequences are joined by a multiplication and
 * repeated by doubling: the count does not matter. */
#include "mpi/inside.h"

#define BASE 0x9E3779B97F4A7C15ull

struct sequence {
    uint64_t hash, power; /* BASE to the power of its length */
};
static const struct sequence empty = {0, 1};

static struct sequence join(struct sequence a, struct sequence b)
{
    return (struct sequence){a.hash * b.power + b.hash, a.power * b.power};
}

static struct sequence repeat(struct sequence one, uint64_t count)
{
    struct sequence all = empty;
    for (; count; count >>= 1, one = join(one, one))
        if (count & 1)
            all = join(all, one);
    return all;
}

static struct sequence element(unsigned number)
{
    uint64_t mixed = (number + 1) * 0xBF58476D1CE4E5B9ull;
    return (struct sequence){mixed ^ mixed >> 31, BASE};
}

/* A predefined type: one element, or a pair. What has no kind is told apart by its handle. */
static struct sequence basic(const struct mpi_type *type)
{
    static const uint8_t first[ELEMENT_COUNT] = {
        [ELEMENT_F32_INT] = ELEMENT_F32,  [ELEMENT_F64_INT] = ELEMENT_F64,
        [ELEMENT_LONG_INT] = sizeof(long) == 8 ? ELEMENT_I64 : ELEMENT_I32,
        [ELEMENT_2INT] = ELEMENT_I32,     [ELEMENT_SHORT_INT] = ELEMENT_I16,
        [ELEMENT_LONG_DOUBLE_INT] = ELEMENT_LONG_DOUBLE,
        [ELEMENT_2F32] = ELEMENT_F32,     [ELEMENT_2F64] = ELEMENT_F64,
    };
    unsigned one = first[type->element];
    if (one)
        return join(element(one), element(type->element >= ELEMENT_2F32 ? one : ELEMENT_I32));
    return element(type->element ? type->element : ELEMENT_COUNT + (unsigned)(uintptr_t)mpi_handle(type));
}

static struct sequence bytes_of(const struct mpi_type *type, uint64_t bytes);

/* The first BYTES of one. A basic type that is cut is like nothing else. */
static struct sequence part_of(const struct mpi_type *type, uint64_t bytes)
{
    const struct mpi_recipe *recipe = type->recipe;
    struct sequence all = empty;
    if (!recipe || recipe->types == 0)
        return bytes == type->size ? basic(type) : element(0);
    for (uint32_t i = 0; i < recipe->types && bytes > 0; i++) {
        const struct mpi_type *part = recipe->type[i];
        uint64_t most = recipe->combiner == MPI_COMBINER_STRUCT ? (uint64_t)recipe->value[1 + i] * part->size : bytes;
        uint64_t some = bytes < most ? bytes : most;
        all = join(all, bytes_of(part, some));
        bytes -= some;
    }
    return all;
}

static struct sequence bytes_of(const struct mpi_type *type, uint64_t bytes)
{
    if (type->size == 0 || bytes == 0)
        return empty;
    struct sequence whole = bytes < type->size ? empty : repeat(part_of(type, type->size), bytes / type->size);
    uint64_t rest = bytes % type->size;
    return rest ? join(whole, part_of(type, rest)) : whole;
}

uint64_t mpi_signature(const struct mpi_type *type, uint64_t bytes)
{
    uint64_t hash = bytes_of(type, bytes).hash;
    return hash ? hash : 1; /* nothing is a signature, too */
}
