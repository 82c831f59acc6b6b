/* Large collectives to which some ranks give nothing, and have no buffer for it. everywhere: 2 3 */
#include "mpi_check.h"

#define COUNT 25000

int main(void)
{
    static int gathered[COUNT], given[COUNT], sum[COUNT];
    int counts[8] = {COUNT}, places[8] = {0};
    CHECK_OK(MPI_Init(NULL, NULL));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int i = 0; i < COUNT; i++)
        given[i] = i;
    for (int round = 0; round < 5; round++) {
        memset(gathered, 0, sizeof gathered);
        CHECK_OK(MPI_Allgatherv(rank ? NULL : given, counts[rank], MPI_INT, gathered, counts, places, MPI_INT,
                                MPI_COMM_WORLD));
        CHECK(!memcmp(gathered, given, sizeof given));
        CHECK_OK(MPI_Reduce_scatter(given, sum, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        for (int i = 0; i < COUNT && rank == 0; i++)
            CHECK(sum[i] == size * i);
    }
    CHECK_OK(MPI_Finalize());
    return check_done();
}
