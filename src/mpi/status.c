/* What a status tells: counts, elements, fields. Statuses are the program's memory: nothing here needs MPI to be
 * initialized. */
#include "mpi/status.h"
#include "mpi/type.h"

/* A status to read or write: not MPI_STATUS_IGNORE, which is NULL in some ABIs and another address in others. */
#define STATUS_GIVEN GIVEN_AS(status == MPI_STATUS_IGNORE ? NULL : (const void *)status, "status")

static int count_tell(uint64_t bytes, const struct mpi_type *type, struct mpi_count count)
{
    bool whole = type->size ? bytes % type->size == 0 : bytes == 0;
    return mpi_count_tell(count, !whole ? MPI_UNDEFINED : type->size ? (MPI_Count)(bytes / type->size) : 0);
}

#define COUNTED_WELL STATUS_GIVEN, GIVEN(count), TYPE_OF(datatype)
#define BYTES_OF_TYPE mpi_status_bytes(status), mpi_type_at(datatype)
WIDENED(MPI_Get_count, MPI_Get_count_c, int, MPI_COUNTED_,
        return CHECK(COUNTED_WELL) ?: count_tell(BYTES_OF_TYPE, COUNT_AT(count)))

/* The basic elements in the first BYTES of one TYPE, -1 where the last one is not whole. */
static int64_t elements_in(const struct mpi_type *type, uint64_t bytes)
{
    const struct mpi_type *part;
    uint64_t most;
    int64_t sum = 0;
    if (bytes == type->size)
        return (int64_t)type->elements;
    for (uint32_t i = 0; bytes > 0; i++) {
        if (!mpi_type_part(type, i, &part, &most))
            return -1;
        if (part->size == 0)
            continue;
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

static int elements_tell(uint64_t bytes, const struct mpi_type *type, struct mpi_count count)
{
    uint64_t whole = type->size ? bytes / type->size : 0;
    int64_t rest = type->size ? elements_in(type, bytes % type->size) : bytes ? -1 : 0;
    return mpi_count_tell(count, rest < 0 ? MPI_UNDEFINED : (MPI_Count)(whole * type->elements) + rest);
}

#define ELEMENTS_GOT elements_tell(BYTES_OF_TYPE, COUNT_AT(count))
WIDENED(MPI_Get_elements, MPI_Get_elements_c, int, MPI_COUNTED_, return CHECK(COUNTED_WELL) ?: ELEMENTS_GOT)
ENTRY(MPI_Get_elements_x)(MPI_COUNTED_(MPI_Count, )) { return CHECK(COUNTED_WELL) ?: ELEMENTS_GOT; }

/* The first bytes of TYPE that hold as many basic elements: elements_in, the other way round. */
static uint64_t bytes_in(const struct mpi_type *type, uint64_t elements)
{
    const struct mpi_type *part;
    uint64_t whole = type->elements ? elements / type->elements : 0, bytes = whole * type->size, most;
    elements -= whole * type->elements;
    for (uint32_t i = 0; type->elements && elements > 0 && mpi_type_part(type, i, &part, &most); i++) {
        uint64_t taken = most < elements ? most * part->elements : part->elements ? elements : 0;
        taken = taken < elements ? taken : elements;
        bytes += bytes_in(part, taken);
        elements -= taken;
    }
    return bytes;
}

static int elements_set(const char *call, MPI_Status *status, const struct mpi_type *type, MPI_Count count)
{
    if (count < 0)
        return mpi_error(NULL, call, MPI_ERR_COUNT, "count %lld is negative", (long long)count);
    mpi_status_bytes_set(status, bytes_in(type, (uint64_t)count));
    return MPI_SUCCESS;
}

#define ELEMENTS_WELL STATUS_GIVEN, TYPE_OF(datatype)
#define ELEMENTS_SET elements_set(NAME, status, mpi_type_at(datatype), count)
WIDENED(MPI_Status_set_elements, MPI_Status_set_elements_c, int, MPI_ELEMENTS_,
        return CHECK(ELEMENTS_WELL) ?: ELEMENTS_SET)
ENTRY(MPI_Status_set_elements_x)(MPI_ELEMENTS_(MPI_Count, )) { return CHECK(ELEMENTS_WELL) ?: ELEMENTS_SET; }

/* ---- fields ---- */

#define FIELD(name, out) ENTRY(name)(const MPI_Status *status, int *out)
FIELD(MPI_Status_get_source, source)
{
    return CHECK(STATUS_GIVEN, GIVEN(source)) ?: mpi_tell(source, status->MPI_SOURCE);
}
FIELD(MPI_Status_get_tag, tag) { return CHECK(STATUS_GIVEN, GIVEN(tag)) ?: mpi_tell(tag, status->MPI_TAG); }
FIELD(MPI_Status_get_error, err) { return CHECK(STATUS_GIVEN, GIVEN(err)) ?: mpi_tell(err, status->MPI_ERROR); }
FIELD(MPI_Test_cancelled, flag)
    { return CHECK(STATUS_GIVEN, GIVEN(flag)) ?: mpi_tell(flag, mpi_status_cancelled(status)); }

#define SETTER(name) ENTRY(name)(MPI_Status *status, int value)
SETTER(MPI_Status_set_source) { return CHECK(STATUS_GIVEN) ?: mpi_tell(&status->MPI_SOURCE, value); }
SETTER(MPI_Status_set_tag) { return CHECK(STATUS_GIVEN) ?: mpi_tell(&status->MPI_TAG, value); }
SETTER(MPI_Status_set_error) { return CHECK(STATUS_GIVEN) ?: mpi_tell(&status->MPI_ERROR, value); }
SETTER(MPI_Status_set_cancelled)
    { return CHECK(STATUS_GIVEN) ?: (mpi_status_cancel(status, value != 0), MPI_SUCCESS); }
