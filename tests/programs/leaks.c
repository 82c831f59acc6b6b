/* Leaves things behind, for VIADUCT_CHECK: rank 0 a request, a datatype and a message for rank 1. "leaks clean": nothing. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, data = 1, kept;
    MPI_Request request;
    MPI_Datatype type;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(&kept, 1, MPI_INT, rank, 9, comm, &request); /* line 14 */
    MPI_Type_contiguous(3, MPI_INT, &type);                /* line 15 */
    if (argc > 1 && strcmp(argv[1], "clean") == 0) {
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
        MPI_Comm_free(&comm);
    } else if (rank == 0) {
        MPI_Send(&data, 1, MPI_INT, 1, 77, MPI_COMM_WORLD);
    } else {
        MPI_Request_free(&request);
        MPI_Type_free(&type);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
