/* Begin, who am I, versions, names, end. ranks: 1 2 5 16 tcp: 2 5 mixed: 6 */
#include "mpi_check.h"

int main(int argc, char **argv)
{
    int flag = 1, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_EQUAL(flag, 0);
    CHECK_OK(MPI_Get_version(&version, &subversion));
    CHECK(version >= 4);
    CHECK_OK(MPI_Get_library_version(text, &length));
    CHECK_EQUAL(strlen(text), length);
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_EQUAL(flag, 1);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_EQUAL(flag, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(rank >= 0 && rank < size);
    CHECK_OK(MPI_Get_processor_name(text, &length));
    CHECK(length > 0 && strlen(text) == (size_t)length);
    int provided = -1, is_main = 0;
    CHECK_OK(MPI_Query_thread(&provided));
    CHECK(provided >= MPI_THREAD_SINGLE);
    CHECK_OK(MPI_Is_thread_main(&is_main));
    CHECK_EQUAL(is_main, 1);
    double before = MPI_Wtime();
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
    CHECK(MPI_Wtime() >= before);
    int one = 1, all = 0;
    CHECK_OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQUAL(all, size);
    CHECK_OK(MPI_Finalize());
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_EQUAL(flag, 1);
    return check_done();
}
