/* Packing by hand: MPI_Pack and its kin, and those of the representation external32, big-endian and with sizes of its
 * own. For that the native bytes are packed first, as for a message; they are the datatype's basic elements in the
 * order of its type map, so they can be converted one after the other by walking the recipes, without a look at any
 * displacement. */
#include "mpi/message.h"
#include <float.h>

/* ---- external32 ---- */

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

static void bytes_swap(char *to, const char *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = from[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? size - 1 - i : i];
}

/* A number of HERE bytes and its image of THERE bytes. */
static void integer_convert(struct way *way, size_t here, size_t there, bool is_signed)
{
    char wide[8];
    if (way->unpack) {
        bytes_swap(wide, way->external, there); /* little end first, then the sign */
        memset(wide + there, is_signed && (signed char)wide[there - 1] < 0 ? -1 : 0, sizeof wide - there);
        memcpy(way->native, wide, here);
    } else {
        bytes_swap(way->external, way->native, there); /* its lower bytes */
    }
}

/* The long double of this machine and IEEE's of 16 bytes, where they differ. */
static void long_double_convert(struct way *way)
{
#if LDBL_MANT_DIG == 64 && defined(__SIZEOF_FLOAT128__)
    long double here;
    __float128 there;
    if (way->unpack) {
        bytes_swap((char *)&there, way->external, sizeof there);
        here = (long double)there;
        memcpy(way->native, &here, sizeof here);
    } else {
        memcpy(&here, way->native, sizeof here);
        there = here;
        bytes_swap(way->external, (const char *)&there, sizeof there);
    }
#else
    bytes_swap(way->unpack ? way->native : way->external, way->unpack ? way->external : way->native,
               sizeof(long double));
#endif
}

static void elements_convert(struct way *way, const struct mpi_type *type, uint64_t count);

/* A predefined type, or one of precision and range. A complex number is two. */
static void basic_convert(struct way *way, const struct mpi_type *type)
{
    MPI_Datatype half = type->element == ELEMENT_C32             ? MPI_FLOAT
                        : type->element == ELEMENT_C64           ? MPI_DOUBLE
                        : type->element == ELEMENT_C_LONG_DOUBLE ? MPI_LONG_DOUBLE
                                                                 : MPI_DATATYPE_NULL;
    if (half != MPI_DATATYPE_NULL) {
        elements_convert(way, mpi_type_at(half), 2);
        return;
    }
    MPI_Datatype handle = mpi_handle(type);
    bool long_double = type->element == ELEMENT_LONG_DOUBLE;
    size_t here = type->size, there = long_double ? 16 : here;
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
        if (handle == sizes[i].type)
            there = sizes[i].size;
    if (!way->count_only) {
        if (long_double)
            long_double_convert(way);
        else if (here != there)
            integer_convert(way, here, there, handle == MPI_LONG);
        else
            bytes_swap(way->unpack ? way->native : way->external, way->unpack ? way->external : way->native, here);
        way->native += here;
        way->external += there;
    }
    way->bytes += there;
}

/* COUNT of TYPE. Only the sizes count where nothing is moved: one is walked, and multiplied. */
static void elements_convert(struct way *way, const struct mpi_type *type, uint64_t count)
{
    const struct mpi_type *part;
    uint64_t before = way->bytes, times;
    if (type->size == 0 || count == 0)
        return;
    for (uint64_t i = 0; i < (way->count_only ? 1 : count); i++) {
        if (!mpi_type_part(type, 0, &part, &times))
            basic_convert(way, type);
        for (uint32_t k = 0; mpi_type_part(type, k, &part, &times); k++)
            elements_convert(way, part, times);
    }
    if (way->count_only)
        way->bytes = before + (way->bytes - before) * count;
}

static uint64_t external_bytes(const struct mpi_type *type, MPI_Count count)
{
    struct way way = {.count_only = true};
    elements_convert(&way, type, (uint64_t)count);
    return way.bytes;
}

/* ---- the calls ---- */

struct packing {
    const char *call;
    MPI_Comm comm;              /* of native ones: where errors go */
    const char *representation; /* NULL: native */
    void *data;                 /* COUNT of TYPE */
    MPI_Count count;
    MPI_Datatype type;
    char *packed;               /* SIZE bytes, of which POSITION are done */
    MPI_Count size;
    struct mpi_count position;
};

static int representation_check(const char *call, const char *representation)
{
    if (representation && strcmp(representation, "external32") == 0)
        return MPI_SUCCESS;
    return mpi_error(NULL, call, MPI_ERR_ARG, "the representation is %.40s, not external32",
                     representation ? representation : "NULL");
}

/* Between the data and what is external of them, by way of the native bytes packed. */
static int buffer_convert(const struct packing *p, const struct type_buffer *buffer, const struct mpi_type *type,
                          char *external, bool unpack)
{
    uint64_t bytes = type_buffer_bytes(buffer);
    char *native = malloc(bytes + 1);
    if (!native)
        return mpi_engine_error(NULL, p->call, ERR_MEMORY);
    if (!unpack)
        (void)vtype_pack_at(buffer, 0, native, bytes);
    struct way way = {.native = native, .external = external, .unpack = unpack};
    elements_convert(&way, type, (uint64_t)p->count);
    if (unpack)
        (void)vtype_unpack_at(buffer, 0, native, bytes);
    free(native);
    return MPI_SUCCESS;
}

static int data_pack(const struct packing *p, bool unpack)
{
    struct mpi_comm *comm = NULL;
    struct mpi_type *type;
    struct mpi_count at = p->position;
    const struct mpi_argument wanted[] = {COMM_OF(p->comm, &comm), TYPE_OF(p->type, &type), {0}};
    int error = mpi_arguments(p->call, p->representation ? wanted + 1 : wanted);
    if (!error && !mpi_count_wanted(at))
        error = mpi_null(comm, p->call, "position");
    if (error)
        return error;
    MPI_Count position = at.wide ? *at.wide : *at.narrow;
    if (!mpi_data_fits(p->data, p->count, type)) {
        struct mpi_message message = {p->call, p->data, p->count, p->type, MPI_PROC_NULL, 0, p->comm};
        return mpi_message_wrong(message, false);
    }
    if (position < 0 || position > p->size)
        return mpi_error(comm, p->call, MPI_ERR_ARG, "position %lld is not in a buffer of %lld bytes",
                         (long long)position, (long long)p->size);
    struct type_buffer buffer = mpi_buffer(p->data, (uint64_t)p->count, type);
    uint64_t left = (uint64_t)(p->size - position);
    uint64_t bytes = p->representation ? external_bytes(type, p->count) : type_buffer_bytes(&buffer);
    if (bytes > left)
        return mpi_error(comm, p->call, MPI_ERR_TRUNCATE, "%llu bytes do not fit into the %llu that are left",
                         (unsigned long long)bytes, (unsigned long long)left);
    if (bytes > 0 && !p->packed)
        return mpi_error(comm, p->call, MPI_ERR_BUFFER, "the packed buffer is NULL");
    char *place = p->packed + position;
    if (p->representation)
        error = buffer_convert(p, &buffer, type, place, unpack);
    else if (unpack)
        (void)vtype_unpack_at(&buffer, 0, place, bytes);
    else
        (void)vtype_pack_at(&buffer, 0, place, bytes);
    return error ? error : mpi_count_tell(at, position + (MPI_Count)bytes);
}

static int packed_size(const char *call, bool external, MPI_Count count, const struct mpi_type *type,
                       struct mpi_comm *comm, struct mpi_count size)
{
    MPI_Count bytes;
    if (count < 0)
        return mpi_error(comm, call, MPI_ERR_COUNT, "count %lld is negative", (long long)count);
    if (__builtin_mul_overflow(count, (MPI_Count)type->size, &bytes))
        return mpi_error(comm, call, MPI_ERR_COUNT, "the size does not fit into 64 bits");
    return mpi_count_tell(size, external ? (MPI_Count)external_bytes(type, count) : bytes);
}

#define PACKING(comm, representation, data, count, packed, size)                                                       \
    &(struct packing){NAME, comm, representation, data, count, datatype, packed, size, COUNT_AT(position)}
#define SIZED TYPE_OF(datatype), GIVEN(size)
#define SIZE_OF(external, comm) packed_size(NAME, external, incount, mpi_type_at(datatype), comm, COUNT_AT(size))
WIDENED(MPI_Pack, MPI_Pack_c, int, MPI_PACK_ROW_,
        return data_pack(PACKING(comm, NULL, (void *)inbuf, incount, outbuf, outsize), false))
WIDENED(MPI_Unpack, MPI_Unpack_c, int, MPI_UNPACK_ROW_,
        return data_pack(PACKING(comm, NULL, outbuf, outcount, (char *)inbuf, insize), true))
WIDENED(MPI_Pack_size, MPI_Pack_size_c, int, MPI_PACK_SIZE_ROW_,
        return CHECK(COMM_OF(comm), SIZED) ?: SIZE_OF(false, mpi_comm_at(comm)))

#define EXTERNAL32 representation_check(NAME, datarep)
#define CONVERTING(...) PACKING(MPI_COMM_SELF, datarep, __VA_ARGS__)
WIDENED(MPI_Pack_external, MPI_Pack_external_c, MPI_Aint, MPI_EXTERNAL_,
        return EXTERNAL32 ?: data_pack(CONVERTING((void *)inbuf, incount, outbuf, outsize), false))
WIDENED(MPI_Unpack_external, MPI_Unpack_external_c, MPI_Aint, MPI_INTERNAL_,
        return EXTERNAL32 ?: data_pack(CONVERTING(outbuf, outcount, (char *)inbuf, insize), true))
WIDENED(MPI_Pack_external_size, MPI_Pack_external_size_c, MPI_Aint, MPI_EXTERNAL_SIZE_,
        return CHECK(SIZED) ?: EXTERNAL32 ?: SIZE_OF(true, NULL))
