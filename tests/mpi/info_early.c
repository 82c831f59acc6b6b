/* Info objects before MPI_Init, through MPI_Finalize and after it. ranks: 1 2 */
#include "mpi_check.h"

static void expect(MPI_Info info, const char *key, const char *expected)
{
    char value[MPI_MAX_INFO_VAL] = "";
    int flag = 0, length = sizeof value;
    CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
    CHECK_EQUAL(flag, expected != NULL);
    if (expected)
        CHECK_TEXT(value, expected);
}

/* Each key of ONE has the same value in TWO, and there are some. */
static void expect_same(MPI_Info one, MPI_Info two)
{
    char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
    int n = 0, n_two = 0, flag;
    CHECK_OK(MPI_Info_get_nkeys(one, &n));
    CHECK_OK(MPI_Info_get_nkeys(two, &n_two));
    CHECK(n > 0 && n == n_two);
    for (int i = 0; i < n; i++) {
        CHECK_OK(MPI_Info_get_nthkey(one, i, key));
        CHECK_OK(MPI_Info_get(one, key, MPI_MAX_INFO_VAL - 1, value, &flag));
        expect(two, key, value);
    }
}

int main(int argc, char **argv)
{
    MPI_Info early, copy, environment, again;
    int n = -1;
    CHECK_OK(MPI_Info_create(&early));
    CHECK_OK(MPI_Info_set(early, "when", "before"));
    CHECK_OK(MPI_Info_set(early, "gone", "soon"));
    CHECK_OK(MPI_Info_delete(early, "gone"));
    expect(early, "gone", NULL);
    CHECK_OK(MPI_Info_create_env(argc, argv, &environment));
    expect(environment, "command", argv[0]);
    check_init();
    CHECK_OK(MPI_Info_create_env(argc, argv, &again));
    expect_same(environment, again);
    CHECK_OK(MPI_Info_free(&again));
    expect_same(environment, MPI_INFO_ENV);
    char *words[] = {"program", "one", "two", NULL};
    CHECK_OK(MPI_Info_create_env(3, words, &again));
    expect(again, "command", "program");
    expect(again, "argv", "one two");
    CHECK_OK(MPI_Info_free(&again));
    expect(early, "when", "before");
    CHECK_OK(MPI_Info_dup(early, &copy));
    CHECK_OK(MPI_Info_set(copy, "when", "between"));
    MPI_Finalize();
    expect(early, "when", "before");
    expect(copy, "when", "between");
    CHECK_OK(MPI_Info_create_env(argc, argv, &again));
    expect_same(environment, again);
    CHECK_OK(MPI_Info_free(&again));
    CHECK_OK(MPI_Info_free(&environment));
    CHECK_OK(MPI_Info_set(copy, "what", "more"));
    CHECK_OK(MPI_Info_get_nkeys(copy, &n));
    CHECK_EQUAL(n, 2);
    CHECK_OK(MPI_Info_free(&early));
    CHECK_OK(MPI_Info_free(&copy));
    CHECK_OK(MPI_Info_create(&early));
    CHECK_OK(MPI_Info_free(&early));
    return check_done();
}
