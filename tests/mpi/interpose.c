/* A tool's MPI_Send and MPI_Allreduce, which call PMPI_, see the program's calls and none of the library's.
 * ranks: 2 5 tcp: 2 */
#include "mpi_check.h"

static int sends, receives, reductions, waits;

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buffer, count, type, to, tag, comm);
}
int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    receives++;
    return PMPI_Recv(buffer, count, type, from, tag, comm, status);
}
int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    reductions++;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}
int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    waits++;
    return PMPI_Wait(request, status);
}

int main(void)
{
    int in = 1, sum = 0, got = 0, all[16];
    MPI_Comm comm;
    MPI_Request request;
    check_init();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Bcast(&got, 1, MPI_INT, 0, comm);
    MPI_Barrier(comm);
    MPI_Alltoall(all, 1, MPI_INT, (int[16]){0}, 1, MPI_INT, comm);
    CHECK(sends == 0 && receives == 0 && reductions == 0 && waits == 0);
    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, size);
    CHECK(sends == 0 && reductions == 1);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 1, comm, &request);
    MPI_Recv(&got, 1, MPI_INT, (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sends == 0 && receives == 1 && waits == 1);
    if (rank == 0)
        MPI_Send(&in, 1, MPI_INT, 1, 2, comm);
    if (rank == 1)
        MPI_Recv(&in, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(sends, rank == 0);
    MPI_Comm_free(&comm);
    return check_finalize();
}
