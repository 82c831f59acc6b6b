/* Reduce_scatter of ranks that receive nothing: they may have no receive buffer. ranks: 1 2 3 5 tcp: 3 */
#include "mpi_check.h"

int main(void)
{
    check_init();
    int counts[16] = {0}, send[16], receive[16];
    MPI_Request request;
    for (int taker = 0; taker < size; taker++) {
        for (int i = 0; i < size; i++)
            counts[i] = i == taker ? 3 : 0;
        for (int i = 0; i < 3; i++)
            send[i] = rank + i;
        for (int form = 0; form < 2; form++) {
            memset(receive, 0, sizeof receive);
            void *into = rank == taker ? receive : NULL;
            if (form == 0)
                CHECK_OK(MPI_Reduce_scatter(send, into, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            else {
                CHECK_OK(MPI_Ireduce_scatter(send, into, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
                CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            }
            for (int i = 0; i < 3 && rank == taker; i++)
                CHECK_EQUAL(receive[i], size * (size - 1) / 2 + i * size);
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < size; i++)
        counts[i] = 1;
    CHECK_CLASS(MPI_Reduce_scatter(send, NULL, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    return check_finalize();
}
