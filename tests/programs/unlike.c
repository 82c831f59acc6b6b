/* Collectives that differ between ranks, in the way that the argument names; see tests/mpi/unlike.sh. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, word = 1, sum, class = 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "twin");
    if (argc > 2)
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Bcast(&word, 1, MPI_INT, 1, comm); /* all is well until here */
    MPI_Bcast_c(&word, 1, MPI_INT, 0, comm);
    int error = MPI_SUCCESS;
    if (argc > 1 && !strcmp(argv[1], "kind"))
        error = rank == 2 ? MPI_Barrier(comm) : MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm);
    else if (argc > 1 && !strcmp(argv[1], "root"))
        error = MPI_Bcast(&word, 1, MPI_INT, rank == 1, comm);
    else if (argc > 1 && rank == 0)
        error = MPI_Barrier(comm) ?: MPI_Bcast(&word, 1, MPI_INT, 0, comm);
    else if (argc > 1)
        error = MPI_Bcast(&word, 1, MPI_INT, 0, comm) ?: MPI_Barrier(comm);
    if (error)
        MPI_Error_class(error, &class);
    if (error && class == MPI_ERR_OTHER)
        printf("rank %d has the error\n", rank);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
