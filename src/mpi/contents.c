/* How a datatype was made: its envelope and contents; and packing by hand. */
#include "mpi/inside.h"
#include <limits.h>

/* ---- envelope and contents -------------------------------------------------------------------------------------- */

static const struct mpi_recipe named = {.combiner = MPI_COMBINER_NAMED};

static int recipe_of(const char *call, MPI_Datatype handle, const struct mpi_recipe **recipe)
{
    mpi_enter(call);
    const struct mpi_type *type = mpi_type_at(handle);
    if (!type)
        return mpi_type_wrong(NULL, call, handle);
    *recipe = type->recipe ? type->recipe : &named;
    return MPI_SUCCESS;
}

ENTRY(MPI_Type_get_envelope)(MPI_Datatype handle, int *integers, int *addresses, int *types, int *combiner)
{
    const char *call = "MPI_Type_get_envelope";
    const struct mpi_recipe *recipe;
    int error = recipe_of(call, handle, &recipe);
    if (error)
        return error;
    if (!integers || !addresses || !types || !combiner)
        return mpi_error(NULL, call, MPI_ERR_ARG, "a result's place is NULL");
    if (recipe->larges)
        return mpi_error(NULL, call, MPI_ERR_VALUE_TOO_LARGE,
                         "the datatype has large counts: use MPI_Type_get_envelope_c");
    *integers = (int)recipe->integers;
    *addresses = (int)recipe->addresses;
    *types = (int)recipe->types;
    *combiner = recipe->combiner;
    return MPI_SUCCESS;
}

ENTRY(MPI_Type_get_envelope_c)(MPI_Datatype handle, MPI_Count *integers, MPI_Count *addresses, MPI_Count *larges,
                               MPI_Count *types, int *combiner)
{
    const char *call = "MPI_Type_get_envelope_c";
    const struct mpi_recipe *recipe;
    int error = recipe_of(call, handle, &recipe);
    if (error)
        return error;
    if (!integers || !addresses || !larges || !types || !combiner)
        return mpi_error(NULL, call, MPI_ERR_ARG, "a result's place is NULL");
    *integers = recipe->integers;
    *addresses = recipe->addresses;
    *larges = recipe->larges;
    *types = recipe->types;
    *combiner = recipe->combiner;
    return MPI_SUCCESS;
}

struct contents {
    MPI_Count max_integers, max_addresses, max_larges, max_types;
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *larges;
    MPI_Datatype *types;
};

static int contents(const char *call, MPI_Datatype handle, const struct contents *room)
{
    const struct mpi_recipe *recipe;
    int error = recipe_of(call, handle, &recipe);
    if (error)
        return error;
    if (recipe == &named)
        return mpi_error(NULL, call, MPI_ERR_TYPE, "%s is predefined and has no contents",
                         mpi_type_text(mpi_type_at(handle)));
    if (room->max_integers < recipe->integers || room->max_addresses < recipe->addresses ||
        room->max_larges < recipe->larges || room->max_types < recipe->types)
        return mpi_error(NULL, call, MPI_ERR_ARG, "an array is too short: the envelope tells %u, %u, %u and %u",
                         recipe->integers, recipe->addresses, recipe->larges, recipe->types);
    if ((recipe->integers && !room->integers) || (recipe->addresses && !room->addresses) ||
        (recipe->larges && !room->larges) || (recipe->types && !room->types))
        return mpi_null(NULL, call, "an array");
    const int64_t *value = recipe->value;
    for (uint32_t i = 0; i < recipe->integers; i++)
        room->integers[i] = (int)*value++;
    for (uint32_t i = 0; i < recipe->addresses; i++)
        room->addresses[i] = *value++;
    for (uint32_t i = 0; i < recipe->larges; i++)
        room->larges[i] = *value++;
    for (uint32_t i = 0; i < recipe->types; i++)
        room->types[i] = mpi_type_predefined(recipe->type[i]) ? mpi_type_handle(recipe->type[i])
                                                              : mpi_object_publish(recipe->type[i]);
    return MPI_SUCCESS;
}

ENTRY(MPI_Type_get_contents)(MPI_Datatype type, int max_integers, int max_addresses, int max_types, int integers[],
                             MPI_Aint addresses[], MPI_Datatype types[])
{
    struct contents room = {max_integers, max_addresses, 0, max_types, integers, addresses, NULL, types};
    return contents("MPI_Type_get_contents", type, &room);
}

ENTRY(MPI_Type_get_contents_c)(MPI_Datatype type, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_larges,
                               MPI_Count max_types, int integers[], MPI_Aint addresses[], MPI_Count larges[],
                               MPI_Datatype types[])
{
    struct contents room = {max_integers, max_addresses, max_larges, max_types, integers, addresses, larges, types};
    return contents("MPI_Type_get_contents_c", type, &room);
}

/* ---- pack ------------------------------------------------------------------------------------------------------- */

struct packing {
    const char *call;
    void *data;          /* COUNT of TYPE */
    MPI_Count count;
    MPI_Datatype type;
    char *packed;        /* SIZE bytes, of which POSITION are done */
    MPI_Count size, *position;
    MPI_Comm comm;
};

static int check_packing(const struct packing *p, struct type_buffer *buffer)
{
    mpi_enter(p->call);
    struct mpi_comm *comm = mpi_comm_at(p->comm);
    struct mpi_type *type = mpi_type_at(p->type);
    if (!comm)
        return mpi_comm_wrong(p->call, p->comm);
    if (!type)
        return mpi_type_wrong(comm, p->call, p->type);
    if (!mpi_data_fits(p->data, p->count, type)) {
        struct mpi_message message = {p->call, p->data, p->count, p->type, MPI_PROC_NULL, 0, p->comm};
        return mpi_message_wrong(message, false);
    }
    if (!p->position || *p->position < 0 || *p->position > p->size)
        return mpi_error(comm, p->call, MPI_ERR_ARG, "position %lld is not in a buffer of %lld bytes",
                         p->position ? (long long)*p->position : -1, (long long)p->size);
    *buffer = mpi_buffer(p->data, (uint64_t)p->count, type);
    uint64_t bytes = type_buffer_bytes(buffer), left = (uint64_t)(p->size - *p->position);
    if (bytes > left)
        return mpi_error(comm, p->call, MPI_ERR_TRUNCATE, "%llu bytes do not fit into the %llu that are left",
                         (unsigned long long)bytes, (unsigned long long)left);
    if (bytes > 0 && !p->packed)
        return mpi_error(comm, p->call, MPI_ERR_BUFFER, "the packed buffer is NULL");
    return MPI_SUCCESS;
}

static int pack(const struct packing *p, bool unpack)
{
    struct type_buffer buffer;
    struct type_cursor cursor;
    int error = check_packing(p, &buffer);
    if (error)
        return error;
    uint64_t bytes = type_buffer_bytes(&buffer);
    vtype_cursor_start(&cursor, &buffer);
    if (unpack)
        vtype_unpack(&cursor, p->packed + *p->position, bytes);
    else
        vtype_pack(&cursor, p->packed + *p->position, bytes);
    *p->position += (MPI_Count)bytes;
    return MPI_SUCCESS;
}

ENTRY(MPI_Pack)(const void *in, int count, MPI_Datatype type, void *out, int size, int *position, MPI_Comm comm)
{
    MPI_Count wide = position ? *position : 0;
    struct packing p = {"MPI_Pack", (void *)in, count, type, out, size, position ? &wide : NULL, comm};
    int error = pack(&p, false);
    if (!error)
        *position = (int)wide;
    return error;
}
ENTRY(MPI_Pack_c)(const void *in, MPI_Count count, MPI_Datatype type, void *out, MPI_Count size, MPI_Count *position,
                  MPI_Comm comm)
{
    return pack(&(struct packing){"MPI_Pack_c", (void *)in, count, type, out, size, position, comm}, false);
}
ENTRY(MPI_Unpack)(const void *in, int size, int *position, void *out, int count, MPI_Datatype type, MPI_Comm comm)
{
    MPI_Count wide = position ? *position : 0;
    struct packing p = {"MPI_Unpack", out, count, type, (char *)in, size, position ? &wide : NULL, comm};
    int error = pack(&p, true);
    if (!error)
        *position = (int)wide;
    return error;
}
ENTRY(MPI_Unpack_c)(const void *in, MPI_Count size, MPI_Count *position, void *out, MPI_Count count, MPI_Datatype type,
                    MPI_Comm comm)
{
    return pack(&(struct packing){"MPI_Unpack_c", out, count, type, (char *)in, size, position, comm}, true);
}

static int pack_size(const char *call, MPI_Count count, MPI_Datatype handle, MPI_Comm comm_handle, MPI_Count *size)
{
    mpi_enter(call);
    struct mpi_comm *comm = mpi_comm_at(comm_handle);
    struct mpi_type *type = mpi_type_at(handle);
    if (!comm)
        return mpi_comm_wrong(call, comm_handle);
    if (!type)
        return mpi_type_wrong(comm, call, handle);
    if (count < 0)
        return mpi_error(comm, call, MPI_ERR_COUNT, "count %lld is negative", (long long)count);
    if (!size)
        return mpi_null(comm, call, "size");
    if (__builtin_mul_overflow(count, (MPI_Count)type->size, size))
        return mpi_error(comm, call, MPI_ERR_COUNT, "the size does not fit into 64 bits");
    return MPI_SUCCESS;
}

ENTRY(MPI_Pack_size)(int count, MPI_Datatype type, MPI_Comm comm, int *size)
{
    MPI_Count wide = 0;
    int error = pack_size("MPI_Pack_size", count, type, comm, size ? &wide : NULL);
    if (!error)
        *size = wide > INT_MAX ? MPI_UNDEFINED : (int)wide;
    return error;
}
ENTRY(MPI_Pack_size_c)(MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Count *size)
{
    return pack_size("MPI_Pack_size_c", count, type, comm, size);
}
