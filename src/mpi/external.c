/* MPI_Pack_external and its kin: the representation external32, big-endian and with sizes of its own. The native bytes
 * are packed first, as for a message; they are the datatype's basic elements in the order of its type map, so they can
 * be converted one after the other by walking the recipes, without a look at any displacement. */
#include "mpi/inside.h"
#include <float.h>

/* The types whose size there is not the one here. */
static const struct {
    MPI_Datatype type;
    uint8_t size;
} sizes[] = {{MPI_LONG, 4}, {MPI_UNSIGNED_LONG, 4}, {MPI_WCHAR, 2}};

/* A conversion under way: native bytes on one side, external ones on the other. */
struct way {
    char *native, *external;
    bool unpack;
    bool count_only; /* nothing is moved */
    uint64_t bytes;  /* external ones so far */
};

static void swap(char *to, const char *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = from[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? size - 1 - i : i];
}

/* A number of HERE bytes and its image of THERE bytes. */
static void convert_integer(struct way *way, size_t here, size_t there, bool is_signed)
{
    char wide[8];
    if (way->unpack) {
        swap(wide, way->external, there); /* little end first, then the sign */
        memset(wide + there, is_signed && wide[there - 1] < 0 ? -1 : 0, sizeof wide - there);
        memcpy(way->native, wide, here);
    } else {
        swap(way->external, way->native, there); /* its lower bytes */
    }
}

/* The long double of this machine and IEEE's of 16 bytes, where they differ. */
static void convert_long_double(struct way *way)
{
#if LDBL_MANT_DIG == 64 && defined(__SIZEOF_FLOAT128__)
    long double here;
    __float128 there;
    if (way->unpack) {
        swap((char *)&there, way->external, sizeof there);
        here = (long double)there;
        memcpy(way->native, &here, sizeof here);
    } else {
        memcpy(&here, way->native, sizeof here);
        there = here;
        swap(way->external, (const char *)&there, sizeof there);
    }
#else
    swap(way->unpack ? way->native : way->external, way->unpack ? way->external : way->native, sizeof(long double));
#endif
}

static void convert(struct way *way, const struct mpi_type *type, uint64_t count);

/* The two values that TYPE is made of; false: it is one. */
static bool halves(const struct mpi_type *type, MPI_Datatype handle, MPI_Datatype half[2])
{
    MPI_Datatype part = type->element == ELEMENT_C32             ? MPI_FLOAT
                        : type->element == ELEMENT_C64           ? MPI_DOUBLE
                        : type->element == ELEMENT_C_LONG_DOUBLE ? MPI_LONG_DOUBLE
                                                                 : MPI_DATATYPE_NULL;
    half[0] = half[1] = part;
    return part != MPI_DATATYPE_NULL || mpi_pair_parts(handle, half);
}

/* A predefined type, or one of precision and range. */
static void convert_basic(struct way *way, const struct mpi_type *type)
{
    MPI_Datatype handle = mpi_handle(type), half[2];
    if (halves(type, handle, half)) {
        convert(way, mpi_type_at(half[0]), 1);
        convert(way, mpi_type_at(half[1]), 1);
        return;
    }
    bool long_double = type->element == ELEMENT_LONG_DOUBLE;
    size_t here = type->size, there = long_double ? 16 : here;
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
        if (handle == sizes[i].type)
            there = sizes[i].size;
    if (!way->count_only) {
        if (long_double)
            convert_long_double(way);
        else if (here != there)
            convert_integer(way, here, there, handle == MPI_LONG);
        else
            swap(way->unpack ? way->native : way->external, way->unpack ? way->external : way->native, here);
        way->native += here;
        way->external += there;
    }
    way->bytes += there;
}

/* COUNT of TYPE. Only the sizes count where nothing is moved: one is walked, and multiplied. */
static void convert(struct way *way, const struct mpi_type *type, uint64_t count)
{
    const struct mpi_recipe *recipe = type->recipe;
    uint64_t before = way->bytes;
    if (type->size == 0 || count == 0)
        return;
    for (uint64_t i = 0; i < (way->count_only ? 1 : count); i++) {
        if (!recipe || recipe->types == 0)
            convert_basic(way, type);
        else if (recipe->combiner != MPI_COMBINER_STRUCT)
            convert(way, recipe->type[0], type->size / recipe->type[0]->size);
        else
            for (uint32_t part = 0; part < recipe->types; part++)
                convert(way, recipe->type[part], (uint64_t)recipe->value[1 + part]);
    }
    if (way->count_only)
        way->bytes = before + (way->bytes - before) * count;
}

/* ---- the calls -------------------------------------------------------------------------------------------------- */

struct external {
    const char *call, *representation;
    void *data; /* COUNT of TYPE */
    MPI_Count count;
    MPI_Datatype type;
    char *packed; /* SIZE bytes, of which POSITION are done */
    MPI_Count size, *position;
};

static int check(const struct external *e, struct mpi_type **type)
{
    if (!e->representation || strcmp(e->representation, "external32") != 0)
        return mpi_error(NULL, e->call, MPI_ERR_ARG, "the representation is %.40s, not external32",
                         e->representation ? e->representation : "NULL");
    int error = mpi_arguments(e->call, ARGUMENTS(TYPE_OF(e->type, type), GIVEN_AS(e->position, "position or size")));
    if (!error && e->count < 0)
        error = mpi_error(NULL, e->call, MPI_ERR_COUNT, "count %lld is negative", (long long)e->count);
    return error;
}

static int move(const struct external *e, bool unpack)
{
    struct mpi_type *type;
    struct way way = {.count_only = true, .unpack = unpack};
    int error = check(e, &type);
    if (error)
        return error;
    if (!mpi_data_fits(e->data, e->count, type))
        return mpi_message_wrong(
            (struct mpi_message){e->call, e->data, e->count, e->type, MPI_PROC_NULL, 0, MPI_COMM_SELF}, false);
    convert(&way, type, (uint64_t)e->count);
    if (*e->position < 0 || *e->position > e->size || way.bytes > (uint64_t)(e->size - *e->position) ||
        (way.bytes > 0 && !e->packed))
        return mpi_error(NULL, e->call, MPI_ERR_TRUNCATE, "%llu bytes do not fit behind byte %lld of %lld at %p",
                         (unsigned long long)way.bytes, (long long)*e->position, (long long)e->size, (void *)e->packed);
    struct type_buffer buffer = mpi_buffer(e->data, (uint64_t)e->count, type);
    uint64_t bytes = type_buffer_bytes(&buffer);
    char *native = malloc(bytes + 1);
    if (!native)
        return mpi_engine_error(NULL, e->call, ERR_MEMORY);
    if (!unpack)
        (void)vtype_pack_at(&buffer, 0, native, bytes);
    way = (struct way){.native = native, .external = e->packed + *e->position, .unpack = unpack};
    convert(&way, type, (uint64_t)e->count);
    if (unpack)
        (void)vtype_unpack_at(&buffer, 0, native, bytes);
    free(native);
    *e->position += (MPI_Count)way.bytes;
    return MPI_SUCCESS;
}

static int size_of(const struct external *e)
{
    struct mpi_type *type;
    struct way way = {.count_only = true};
    int error = check(e, &type);
    if (error)
        return error;
    convert(&way, type, (uint64_t)e->count);
    *e->position = (MPI_Count)way.bytes;
    return MPI_SUCCESS;
}

#define EXTERNAL(data, count, packed, size) &(struct external){NAME, datarep, data, count, datatype, packed, size, position}
WIDENED(MPI_Pack_external, MPI_Pack_external_c, MPI_Aint, MPI_EXTERNAL_,
        move(EXTERNAL((void *)inbuf, incount, outbuf, outsize), false))
WIDENED(MPI_Unpack_external, MPI_Unpack_external_c, MPI_Aint, MPI_INTERNAL_,
        move(EXTERNAL(outbuf, outcount, (char *)inbuf, insize), true))
WIDENED(MPI_Pack_external_size, MPI_Pack_external_size_c, MPI_Aint, MPI_EXTERNAL_SIZE_,
        size_of(&(struct external){NAME, datarep, NULL, incount, datatype, NULL, 0, size}))
