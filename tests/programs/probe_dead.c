/* The last rank sends a message to each and dies; the others look for it, and then for another one from the dead:
 * probe_dead HOW, where HOW is probe, mprobe, iprobe, improbe or test. Each says "told", on a communicator and between two
 * groups. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *how;

static int look(int rank, int tag, MPI_Comm comm)
{
    MPI_Message message;
    MPI_Status status;
    int flag = 0, error = MPI_SUCCESS;
    if (strcmp(how, "probe") == 0)
        return MPI_Probe(rank, tag, comm, &status);
    if (strcmp(how, "mprobe") == 0)
        return MPI_Mprobe(rank, tag, comm, &message, &status);
    if (strcmp(how, "test") == 0) {
        MPI_Request request;
        int word;
        error = MPI_Irecv(&word, 1, MPI_INT, rank, tag, comm, &request);
        while (!error && !flag)
            error = MPI_Test(&request, &flag, &status);
        return error;
    }
    while (!error && !flag)
        error = strcmp(how, "iprobe") == 0 ? MPI_Iprobe(rank, tag, comm, &flag, &status)
                                           : MPI_Improbe(rank, tag, comm, &flag, &message, &status);
    return error;
}

static void told(const char *what, int error)
{
    int class;
    MPI_Error_class(error, &class);
    printf("%s %s\n", what, class == MPI_ERR_PROC_ABORTED ? "told" : "not told");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int rank, size, word = 0;
    MPI_Comm half, between;
    MPI_Init(&argc, &argv);
    how = argv[argc - 1];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int dies = size - 1, is_dying = rank == dies;
    MPI_Comm_split(MPI_COMM_WORLD, is_dying, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_dying ? 0 : dies, 1, &between);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    if (!is_dying)
        MPI_Send(&word, 1, MPI_INT, dies, 1, MPI_COMM_WORLD);
    for (int i = 0; i < dies && is_dying; i++) { /* there is a link: what waits for one dies with its rank */
        MPI_Recv(&word, 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, i, 2, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_dying)
        kill(getpid(), SIGKILL);
    if (look(dies, 2, MPI_COMM_WORLD))
        puts("the message is lost");
    told("world", look(dies, 3, MPI_COMM_WORLD));
    told("between", look(0, 3, between));
    MPI_Finalize();
    return 0;
}
