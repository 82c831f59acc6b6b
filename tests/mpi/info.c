/* Info objects: keys and values, copies, order, what does not fit. ranks: 1 2 3 5 8 */
#include "mpi_check.h"

int main(void)
{
    MPI_Info info, copy;
    char value[MPI_MAX_INFO_VAL], key[MPI_MAX_INFO_KEY];
    int flag, n, length;
    CHECK_OK(MPI_Info_create(&info)); /* before MPI_Init */
    CHECK_OK(MPI_Info_set(info, "early", "yes"));
    check_init();
    CHECK_OK(MPI_Info_get(info, "early", 10, value, &flag));
    CHECK(flag);
    CHECK_TEXT(value, "yes");
    CHECK_OK(MPI_Info_free(&info));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "one", "first"));
    CHECK_OK(MPI_Info_set(info, "two", "second"));
    CHECK_OK(MPI_Info_set(info, "one", "changed"));
    MPI_Info_get_nkeys(info, &n);
    CHECK_EQUAL(n, 2);
    CHECK_OK(MPI_Info_get_nthkey(info, 1, key));
    CHECK_TEXT(key, "two");
    CHECK_OK(MPI_Info_get(info, "one", MPI_MAX_INFO_VAL - 1, value, &flag));
    CHECK(flag);
    CHECK_TEXT(value, "changed");
    CHECK_OK(MPI_Info_get(info, "one", 3, value, &flag));
    CHECK_TEXT(value, "cha");
    CHECK_OK(MPI_Info_get_valuelen(info, "one", &length, &flag));
    CHECK(flag && length == 7);
    length = 5;
    CHECK_OK(MPI_Info_get_string(info, "one", &length, value, &flag));
    CHECK(flag && length == 8);
    CHECK_TEXT(value, "chan");
    CHECK_OK(MPI_Info_get(info, "three", 10, value, &flag));
    CHECK_EQUAL(flag, 0);
    CHECK_OK(MPI_Info_dup(info, &copy));
    CHECK_OK(MPI_Info_delete(info, "one"));
    CHECK_CLASS(MPI_Info_delete(info, "one"), MPI_ERR_INFO_NOKEY);
    CHECK_OK(MPI_Info_get(copy, "one", 100, value, &flag));
    CHECK(flag);
    memset(value, 'x', sizeof value);
    value[sizeof value - 1] = 0;
    CHECK_CLASS(MPI_Info_set(info, "", "v"), MPI_ERR_INFO_KEY);
    CHECK_OK(MPI_Info_set(info, "long", value));
    CHECK_OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);
    CHECK_OK(MPI_Info_free(&copy));
    return check_finalize();
}
