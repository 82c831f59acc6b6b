/* More communicators are alive at once than the engine has room for: 20,000 fit, the one too many is an error with a sentence at
 * all ranks, and all go on; those that are free again are found. ranks: 2 takes: 5 presets: release */
#include "mpi_check.h"

#define LEAST 20000
#define MOST 30000
static MPI_Comm made[MOST];

static void use(MPI_Comm comm, int value)
{
    int sum = 0;
    CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQUAL(sum, size * value);
}

static void refused(int error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    CHECK_CLASS(error, MPI_ERR_OTHER);
    MPI_Error_string(error, text, &length);
    CHECK(strstr(text, "communicators are in use"));
}

int main(void)
{
    MPI_Comm more;
    MPI_Group group;
    int n = 0, error = MPI_SUCCESS;
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    while (n < MOST && !(error = MPI_Comm_dup(MPI_COMM_WORLD, &made[n])))
        n++;
    CHECK(n >= LEAST && n < MOST);
    refused(error);
    refused(MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &more));
    refused(MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &more));
    CHECK(more == MPI_COMM_NULL);
    for (int i = 0; i < n; i += 97)
        use(made[i], i);
    for (int i = 0; i < n; i += n / 5) {
        CHECK_OK(MPI_Comm_free(&made[i]));
        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, i, &made[i]));
        use(made[i], i);
    }
    for (int i = 0; i < n; i++)
        CHECK_OK(MPI_Comm_free(&made[i]));
    MPI_Group_free(&group);
    return check_finalize();
}
