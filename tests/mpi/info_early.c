/* Info objects before MPI_Init, through MPI_Finalize and after it. ranks: 1 2 */
#include "mpi_check.h"

static void expect(MPI_Info info, const char *key, const char *expected)
{
    char value[64] = "";
    int flag = 0, length = sizeof value;
    CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
    CHECK_EQUAL(flag, expected != NULL);
    if (expected)
        CHECK_TEXT(value, expected);
}

int main(int argc, char **argv)
{
    MPI_Info early, copy, environment;
    int n = -1;
    CHECK_OK(MPI_Info_create(&early));
    CHECK_OK(MPI_Info_set(early, "when", "before"));
    CHECK_OK(MPI_Info_set(early, "gone", "soon"));
    CHECK_OK(MPI_Info_delete(early, "gone"));
    expect(early, "gone", NULL);
    CHECK_OK(MPI_Info_create_env(argc, argv, &environment));
    CHECK_OK(MPI_Info_free(&environment));
    check_init();
    expect(early, "when", "before");
    CHECK_OK(MPI_Info_dup(early, &copy));
    CHECK_OK(MPI_Info_set(copy, "when", "between"));
    MPI_Finalize();
    expect(early, "when", "before");
    expect(copy, "when", "between");
    CHECK_OK(MPI_Info_set(copy, "what", "more"));
    CHECK_OK(MPI_Info_get_nkeys(copy, &n));
    CHECK_EQUAL(n, 2);
    CHECK_OK(MPI_Info_free(&early));
    CHECK_OK(MPI_Info_free(&copy));
    CHECK_OK(MPI_Info_create(&early));
    CHECK_OK(MPI_Info_free(&early));
    return check_done();
}
