/* What a status tells: counts, elements, fields. MPI_internal holds the bytes received in its first two ints, and in
 * the third whether the operation was cancelled. Statuses are the program's memory: nothing here needs MPI to be
 * initialized. */
#include "mpi/inside.h"
#include <limits.h>

static uint64_t bytes_of(const MPI_Status *status)
{
    uint64_t bytes;
    __builtin_memcpy(&bytes, &status->MPI_internal[MPI_STATUS_BYTES], sizeof bytes);
    return bytes;
}

static int find(const char *call, const MPI_Status *status, MPI_Datatype handle, const void *out,
                struct mpi_type **type)
{
    mpi_enter(call);
    if (status == MPI_STATUS_IGNORE || !out)
        return mpi_null(NULL, call, out ? "status" : "count");
    *type = mpi_type_at(handle);
    return *type ? MPI_SUCCESS : mpi_type_wrong(NULL, call, handle);
}

static int get_count(const char *call, const MPI_Status *status, MPI_Datatype handle, MPI_Count *count)
{
    struct mpi_type *type;
    int error = find(call, status, handle, count, &type);
    if (error)
        return error;
    uint64_t bytes = bytes_of(status);
    if (type->size == 0)
        *count = bytes == 0 ? 0 : MPI_UNDEFINED;
    else
        *count = bytes % type->size == 0 ? (MPI_Count)(bytes / type->size) : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

ENTRY(MPI_Get_count)(const MPI_Status *status, MPI_Datatype type, int *count)
{
    MPI_Count wide = 0;
    int error = get_count("MPI_Get_count", status, type, count ? &wide : NULL);
    if (!error)
        *count = wide > INT_MAX ? MPI_UNDEFINED : (int)wide;
    return error;
}
ENTRY(MPI_Get_count_c)(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
    return get_count("MPI_Get_count_c", status, type, count);
}

/* The basic elements in the first BYTES of one TYPE, -1 where the last one is not whole. */
static int64_t elements_in(const struct mpi_type *type, uint64_t bytes)
{
    const struct mpi_recipe *recipe = type->recipe;
    if (bytes == 0)
        return 0;
    if (bytes == type->size)
        return (int64_t)type->elements;
    if (!recipe) { /* of a pair, the first value may be whole; its second one is an int or as long as the first */
        uint64_t second = type->element == ELEMENT_2F32 || type->element == ELEMENT_2F64 ? type->size / 2 : sizeof(int);
        return type->elements == 2 && bytes == type->size - second ? 1 : -1;
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < recipe->types && bytes > 0; i++) {
        const struct mpi_type *part = recipe->type[i];
        if (part->size == 0)
            continue;
        uint64_t most = recipe->combiner == MPI_COMBINER_STRUCT ? (uint64_t)recipe->value[1 + i] : UINT64_MAX;
        uint64_t whole = bytes / part->size < most ? bytes / part->size : most;
        sum += (int64_t)(whole * part->elements);
        bytes -= whole * part->size;
        if (whole < most && bytes > 0) {
            int64_t rest = elements_in(part, bytes);
            return rest < 0 ? -1 : sum + rest;
        }
    }
    return sum;
}

static int get_elements(const char *call, const MPI_Status *status, MPI_Datatype handle, MPI_Count *count)
{
    struct mpi_type *type;
    int error = find(call, status, handle, count, &type);
    if (error)
        return error;
    uint64_t bytes = bytes_of(status);
    if (type->size == 0) {
        *count = bytes == 0 ? 0 : MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    int64_t rest = elements_in(type, bytes % type->size);
    *count = rest < 0 ? MPI_UNDEFINED : (MPI_Count)(bytes / type->size * type->elements) + rest;
    return MPI_SUCCESS;
}

ENTRY(MPI_Get_elements)(const MPI_Status *status, MPI_Datatype type, int *count)
{
    MPI_Count wide = 0;
    int error = get_elements("MPI_Get_elements", status, type, count ? &wide : NULL);
    if (!error)
        *count = wide > INT_MAX ? MPI_UNDEFINED : (int)wide;
    return error;
}
ENTRY(MPI_Get_elements_c)(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
    return get_elements("MPI_Get_elements_c", status, type, count);
}
ENTRY(MPI_Get_elements_x)(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
    return get_elements("MPI_Get_elements_x", status, type, count);
}

static int set_elements(const char *call, MPI_Status *status, MPI_Datatype handle, MPI_Count count)
{
    struct mpi_type *type;
    int error = find(call, status, handle, status, &type);
    if (error)
        return error;
    if (count < 0)
        return mpi_error(NULL, call, MPI_ERR_COUNT, "count %lld is negative", (long long)count);
    uint64_t bytes = type->elements ? (uint64_t)count / type->elements * type->size : 0;
    __builtin_memcpy(&status->MPI_internal[MPI_STATUS_BYTES], &bytes, sizeof bytes);
    return MPI_SUCCESS;
}

ENTRY(MPI_Status_set_elements)(MPI_Status *status, MPI_Datatype type, int count)
{
    return set_elements("MPI_Status_set_elements", status, type, count);
}
ENTRY(MPI_Status_set_elements_c)(MPI_Status *status, MPI_Datatype type, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements_c", status, type, count);
}
ENTRY(MPI_Status_set_elements_x)(MPI_Status *status, MPI_Datatype type, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements_x", status, type, count);
}

/* ---- fields ----------------------------------------------------------------------------------------------------- */

static int check_field(const char *call, const MPI_Status *status, const void *out, const char *argument)
{
    if (status && out)
        return MPI_SUCCESS;
    return mpi_null(NULL, call, status ? argument : "status");
}

ENTRY(MPI_Status_get_source)(const MPI_Status *status, int *out)
{
    int error = check_field(NAME, status, out, "source");
    if (!error)
        *out = status->MPI_SOURCE;
    return error;
}
ENTRY(MPI_Status_set_source)(MPI_Status *status, int value)
{
    int error = check_field(NAME, status, status, "");
    if (!error)
        status->MPI_SOURCE = value;
    return error;
}
ENTRY(MPI_Status_get_tag)(const MPI_Status *status, int *out)
{
    int error = check_field(NAME, status, out, "tag");
    if (!error)
        *out = status->MPI_TAG;
    return error;
}
ENTRY(MPI_Status_set_tag)(MPI_Status *status, int value)
{
    int error = check_field(NAME, status, status, "");
    if (!error)
        status->MPI_TAG = value;
    return error;
}
ENTRY(MPI_Status_get_error)(const MPI_Status *status, int *out)
{
    int error = check_field(NAME, status, out, "err");
    if (!error)
        *out = status->MPI_ERROR;
    return error;
}
ENTRY(MPI_Status_set_error)(MPI_Status *status, int value)
{
    int error = check_field(NAME, status, status, "");
    if (!error)
        status->MPI_ERROR = value;
    return error;
}
ENTRY(MPI_Test_cancelled)(const MPI_Status *status, int *flag)
{
    int error = check_field(NAME, status, flag, "flag");
    if (!error)
        *flag = status->MPI_internal[MPI_STATUS_CANCELLED] != 0;
    return error;
}
ENTRY(MPI_Status_set_cancelled)(MPI_Status *status, int flag)
{
    int error = check_field(NAME, status, status, "");
    if (!error)
        status->MPI_internal[MPI_STATUS_CANCELLED] = flag != 0;
    return error;
}
