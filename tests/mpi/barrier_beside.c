/* A thread in a barrier is not slowed down to the time-out of a sleep by another thread of its rank that waits for a
 * message: what the barrier waits for is written by other ranks, and nobody here completes it.
 * ranks: 2 tcp: 2
 * timeout: 60 clock: 1 */
#include "check.h"
#include <mpi.h>
#include <pthread.h>

#define BATCHES 10
#define BARRIERS 20

static int rank;

static void *receive(void *nothing)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return nothing;
}

/* The shortest of some batches. */
static double barriers(MPI_Comm comm)
{
    double best = 1e9;
    for (int i = 0; i < BATCHES; i++) {
        double start = MPI_Wtime();
        for (int j = 0; j < BARRIERS; j++)
            MPI_Barrier(comm);
        double seconds = MPI_Wtime() - start;
        best = seconds < best ? seconds : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    int level, value = 0;
    MPI_Comm comm;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    double alone = barriers(comm); /* how busy the machine is */
    CHECK_EQUAL(pthread_create(&thread, NULL, receive, NULL), 0);
    for (double start = MPI_Wtime(); MPI_Wtime() - start < 0.05;)
        ; /* the other thread has begun to wait, and sleeps */
    CHECK(barriers(comm) < BARRIERS * 0.0005 + 4 * alone);
    MPI_Send(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return check_done();
}
