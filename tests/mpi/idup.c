/* Non-blocking duplication: several at once, in other orders on other ranks, with collectives between. The duplicate is of
 * what its parent was when the call was made, whatever is done to that one meanwhile.
 * ranks: 1 2 5 tcp: 5 mixed: 6 */
#include "mpi_check.h"

/* Attribute, error handler and name of the parent change, or it is freed, while its duplicate is made. */
static void as_it_was(void)
{
    MPI_Comm parent, made;
    MPI_Request request;
    MPI_Errhandler handler;
    int key, *value, flag, error = MPI_SUCCESS;
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(parent, key, &error);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_idup(parent, &made, &request));
    MPI_Comm_set_attr(parent, key, &flag);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&parent);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_get_attr(made, key, &value, &flag));
    CHECK(flag && value == &error);
    MPI_Comm_get_errhandler(made, &handler);
    CHECK(handler == MPI_ERRORS_RETURN);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&made);
}

int main(void)
{
    MPI_Comm base[2], made[4];
    MPI_Request request[4];
    int sum, one = 1;
    check_init();
    MPI_Comm_dup(MPI_COMM_WORLD, &base[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &base[1]);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 4; i++) { /* on each of the two in the same order everywhere, between them not */
            int k = rank % 2 ? i : (i + 2) % 4;
            CHECK_OK(MPI_Comm_idup(base[k / 2], &made[k], &request[k]));
        }
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, base[0]);
        CHECK_EQUAL(sum, size);
        for (int i = 0; i < 4; i++)
            CHECK_OK(MPI_Wait(&request[rank % 2 ? 3 - i : i], MPI_STATUS_IGNORE));
        for (int i = 0; i < 4; i++) {
            int result;
            MPI_Comm_compare(made[i], MPI_COMM_WORLD, &result);
            CHECK_EQUAL(result, MPI_CONGRUENT);
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made[i]);
            CHECK_EQUAL(sum, size);
            MPI_Comm_free(&made[i]);
        }
    }
    as_it_was();
    MPI_Comm_free(&base[0]);
    MPI_Comm_free(&base[1]);
    return check_finalize();
}
