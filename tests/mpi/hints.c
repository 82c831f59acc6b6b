/* Assertions and kinds of memory: kept as they were given, by each call that takes them, not passed to duplicates; what is not
 * understood, or is no truth value, is not kept. ranks: 1 3 */
#include "mpi_check.h"

static MPI_Info info_of(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

/* The value of KEY in the hints of COMM; NULL: it is not there. */
static void expect(MPI_Comm comm, const char *key, const char *expected)
{
    char value[80] = "";
    MPI_Info info;
    int flag = -1;
    CHECK_OK(MPI_Comm_get_info(comm, &info));
    CHECK_OK(MPI_Info_get(info, key, sizeof value - 1, value, &flag));
    CHECK_EQUAL(flag, expected != NULL);
    if (expected)
        CHECK_TEXT(value, expected);
    CHECK_OK(MPI_Info_free(&info));
}

#define NO_TAG "mpi_assert_no_any_tag"
#define LENGTH "mpi_assert_exact_length"
#define KINDS "mpi_assert_memory_alloc_kinds"

int main(void)
{
    MPI_Comm comm, other;
    MPI_Request request;
    check_init();
    MPI_Info yes = info_of(NO_TAG, "true"), wrong = info_of(NO_TAG, "maybe"), unknown = info_of("nobody_knows", "true");
    expect(MPI_COMM_WORLD, "mpi_memory_alloc_kinds", "mpi,system");
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, yes, &comm));
    expect(comm, NO_TAG, "true");
    expect(comm, LENGTH, NULL);
    CHECK_OK(MPI_Comm_dup(comm, &other));
    expect(other, NO_TAG, NULL);
    CHECK_OK(MPI_Comm_set_info(other, wrong));
    expect(other, NO_TAG, NULL);
    CHECK_OK(MPI_Comm_set_info(other, unknown));
    expect(other, "nobody_knows", NULL);
    CHECK_OK(MPI_Comm_free(&other));
    MPI_Info more = info_of(LENGTH, "false");
    CHECK_OK(MPI_Comm_set_info(comm, more));
    expect(comm, NO_TAG, "true");
    expect(comm, LENGTH, "false");
    CHECK_OK(MPI_Comm_idup_with_info(comm, more, &other, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect(other, NO_TAG, NULL);
    expect(other, LENGTH, "false");
    CHECK_OK(MPI_Comm_free(&other));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, yes, &other));
    expect(other, NO_TAG, "true");
    CHECK_OK(MPI_Comm_free(&other));
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, yes, 0, &other));
    expect(other, NO_TAG, "true");
    CHECK_OK(MPI_Comm_free(&other));
    static const struct {
        const char *kinds, *kept;
    } kinds[] = {{"system", "system"}, {"mpi:alloc_mem,system", "mpi:alloc_mem,system"}, {"cuda,system", NULL}};
    for (int i = 0; i < 3; i++) {
        MPI_Info info = info_of(KINDS, kinds[i].kinds);
        CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &other));
        expect(other, KINDS, kinds[i].kept);
        CHECK_OK(MPI_Comm_free(&other));
        CHECK_OK(MPI_Info_free(&info));
    }
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Info_free(&more));
    CHECK_OK(MPI_Info_free(&yes));
    CHECK_OK(MPI_Info_free(&wrong));
    CHECK_OK(MPI_Info_free(&unknown));
    return check_finalize();
}
