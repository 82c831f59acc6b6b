/* exchange N DIRECTORY: N batches of 8-byte messages from rank 0 to rank 1 and back, without anybody ever polling: the
 * ranks take turns by reading a byte from the other's fifo (DIRECTORY/0 and DIRECTORY/1), so a receive finds its message
 * there and a send finds its credit there. What a batch costs is what its sends and receives execute. With THREADS in the
 * environment several threads may call, though one does. With COMM=twin the messages go over a duplicate of the world,
 * with COMM=inter over an intercommunicator of the two. With BYTES they are so long, with BATCH a batch
 * has so many: where two processors share no cache 14 messages of 1 KiB fill the lane, and a send would wait for credit. */
#include "turns.h"
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST 65536

static MPI_Comm comm = MPI_COMM_WORLD;
static int other; /* the rank of the other one there */

static void comm_make(const char *what)
{
    if (what && what[0] == 't')
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!what || what[0] != 'i')
        return;
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, other, 0, &comm);
    other = 0;
}

static int fifo(const char *directory, int rank)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", directory, rank);
    return open(path, O_RDWR);
}

static inline __attribute__((always_inline)) void exchanges_of(int batch, int rank, int bytes, int batches)
{
    static char value[MOST];
    for (int i = 0; i < batches; i++) {
        if (rank == 1)
            await_turn();
        for (int k = 0; k < batch && rank == 0; k++)
            MPI_Send(value, bytes, MPI_BYTE, other, 1, comm);
        if (rank == 0) {
            turn_is_yours();
            await_turn();
        }
        for (int k = 0; k < batch && rank == 1; k++)
            MPI_Recv(value, bytes, MPI_BYTE, other, 1, comm, MPI_STATUS_IGNORE);
        for (int k = 0; k < batch && rank == 1; k++)
            MPI_Send(value, bytes, MPI_BYTE, other, 1, comm);
        if (rank == 1)
            turn_is_yours();
        for (int k = 0; k < batch && rank == 0; k++)
            MPI_Recv(value, bytes, MPI_BYTE, other, 1, comm, MPI_STATUS_IGNORE);
    }
}

/* Everything that is counted: start and end vary by some ten thousand instructions. The usual batch is a constant, for
 * its loops cost less. */
void exchanges(int rank, int bytes, int batches);
__attribute__((noinline)) void exchanges(int rank, int bytes, int batches)
{
    const char *batch = getenv("BATCH");
    if (batch)
        exchanges_of(atoi(batch), rank, bytes, batches);
    else
        exchanges_of(16, rank, bytes, batches);
}

int main(int argc, char **argv)
{
    int rank, level, batches = argc > 2 ? atoi(argv[1]) : 0, bytes = getenv("BYTES") ? atoi(getenv("BYTES")) : 8;
    MPI_Init_thread(&argc, &argv, getenv("THREADS") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = !rank;
    comm_make(getenv("COMM"));
    mine = fifo(argv[2], rank);
    theirs = fifo(argv[2], !rank);
    if (mine < 0 || theirs < 0 || bytes < 0 || bytes > MOST)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    exchanges(rank, bytes, batches);
    MPI_Finalize();
    return 0;
}
