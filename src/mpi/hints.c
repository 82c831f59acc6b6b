/* Hints of communicators: what a program asserts of its messages, and the kinds of memory that it may pass. An
 * assertion is kept and told as it was given; what is not understood is not kept. They come with the call that makes a
 * communicator, or later, and are not passed to duplicates, as MPI 4.0 says. */
#include "mpi/comm.h"
#include "mpi/hints.h"

#define KINDS "mpi,system" /* of memory, that messages may lie in */

static bool is_truth(const char *value) { return strcmp(value, "true") == 0 || strcmp(value, "false") == 0; }

/* Each kind of the list, without its restrictors, is one of ours. */
static bool kinds_are_ours(const char *value)
{
    while (*value) {
        size_t length = strcspn(value, ","), name = strcspn(value, ",:");
        char kind[32];
        snprintf(kind, sizeof kind, "%.*s", (int)name, value);
        if (!vbase_list_has(KINDS, kind))
            return false;
        value += length + (value[length] == ',');
    }
    return true;
}

static const struct {
    const char *key;
    bool (*fits)(const char *value);
} known[] = {
    {"mpi_assert_no_any_tag", is_truth},
    {"mpi_assert_no_any_source", is_truth},
    {"mpi_assert_exact_length", is_truth},
    {"mpi_assert_allow_overtaking", is_truth},
    {"mpi_assert_strict_persistent_collective_ordering", is_truth},
    {"mpi_assert_memory_alloc_kinds", kinds_are_ours},
};

int mpi_hints_keep(struct mpi_comm *comm, MPI_Info handle)
{
    const struct mpi_info *info = mpi_info_at(handle);
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++) {
        const char *value = mpi_info_value(info, known[i].key);
        if (!value || !known[i].fits(value))
            continue;
        if (!comm->hints && !(comm->hints = mpi_info_copy(NULL)))
            return MPI_ERR_NO_MEM;
        int error = mpi_info_put(comm->hints, known[i].key, value);
        if (error)
            return error;
    }
    return MPI_SUCCESS;
}

static int hints_set(const char *call, struct mpi_comm *comm, MPI_Info info)
{
    int error = mpi_hints_keep(comm, info);
    return error ? mpi_error(comm, call, error, "no memory for a hint") : MPI_SUCCESS;
}

int mpi_hints_give(const char *call, int error, MPI_Comm *made, MPI_Info info)
{
    struct mpi_comm *comm = error ? NULL : mpi_comm_at(*made);
    return comm ? hints_set(call, comm, info) : error;
}

void mpi_memory_kinds(struct mpi_info **info)
{
    if (*info && mpi_info_put(*info, "mpi_memory_alloc_kinds", KINDS)) {
        mpi_drop(*info);
        *info = NULL;
    }
}

static int hints_tell(const char *call, struct mpi_comm *comm, MPI_Info *out)
{
    struct mpi_info *info = mpi_info_copy(comm->hints);
    mpi_memory_kinds(&info);
    return mpi_info_deliver(comm, call, info, out);
}

ENTRY(MPI_Comm_set_info)(MPI_Comm comm, MPI_Info info)
    { return CHECK(COMM_OF(comm), HINTS(info)) ?: hints_set(NAME, mpi_comm_at(comm), info); }
ENTRY(MPI_Comm_get_info)(MPI_Comm comm, MPI_Info *info_used)
    { return CHECK(COMM_OF(comm), GIVEN(info_used)) ?: hints_tell(NAME, mpi_comm_at(comm), info_used); }
