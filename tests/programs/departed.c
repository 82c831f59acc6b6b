/* After a death a rank leaves in order, and another one speaks to it later:  departed FIFO [same]
 *
 * The last rank is killed. The last but one is told so and ends its program; its end of FIFO closes with it. Rank 0
 * reads FIFO until then. A large message to the rank that left is refused, and MPI_Finalize returns. "same": that rank
 * is on the same host and has sent a message before it left, which is received. Needs three ranks. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define WORD 77

static int class_of(int error)
{
    int class;
    MPI_Error_class(error, &class);
    return class;
}

int main(int argc, char **argv)
{
    static char large[1 << 20];
    int rank, size, word = WORD, last;
    bool same = argc > 2;
    if (argc < 2)
        return 2;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    last = size - 1;
    int fifo = rank == 0 ? open(argv[1], O_RDONLY) : rank == last - 1 ? open(argv[1], O_WRONLY) : -1;
    if (rank == last)
        kill(getpid(), SIGKILL);
    if (class_of(MPI_Recv(&word, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) != MPI_ERR_PROC_ABORTED)
        return puts("a death is not told"), 1;
    if (rank == last - 1 && same)
        MPI_Send(&(int){WORD}, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    char byte;
    if (rank == 0) {
        while (read(fifo, &byte, 1) > 0)
            continue;
        int error = same ? MPI_Recv(&word, 1, MPI_INT, last - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) : 0;
        if (error || word != WORD)
            puts("what was sent before the end is lost");
        error = MPI_Send(large, sizeof large, MPI_BYTE, last - 1, 2, MPI_COMM_WORLD);
        puts(class_of(error) == MPI_ERR_PROC_ABORTED ? "refused" : "a message to nobody is not refused");
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
