/* A thread in a barrier is not slowed down to the time-out of a sleep by another thread of its rank that waits for a
 * message: what the barrier waits for is written by other ranks, and nobody here completes it. The counter of sleeps that lasted
 * too long tells.
 * ranks: 2 tcp: 2 */
#include "check.h"
#include "base/counters.h"
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#define BARRIERS 200
#define COUNTED(name) __atomic_load_n(&vbase_counters->name, __ATOMIC_RELAXED) /* the other thread counts meanwhile */

static int rank;

static void *receive(void *nothing)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return nothing;
}

int main(int argc, char **argv)
{
    int level, value = 0;
    MPI_Comm comm;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_EQUAL(pthread_create(&thread, NULL, receive, NULL), 0);
    for (double start = MPI_Wtime(); MPI_Wtime() - start < 0.05;)
        ; /* the other thread has begun to wait, and sleeps */
    uint64_t overslept = COUNTED(overslept);
    for (int i = 0; i < BARRIERS; i++) {
        if (i % 50 == 0 && rank == 0)
            usleep(20000); /* the other one sleeps, too */
        MPI_Barrier(comm);
    }
    overslept = COUNTED(overslept) - overslept;
    fprintf(stderr, "rank %d: %lu sleeps, %lu too long\n", rank, COUNTED(sleeps), overslept);
    CHECK(overslept <= BARRIERS / 20);
    MPI_Send(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return check_done();
}
