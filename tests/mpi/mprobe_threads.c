/* MPI_Mprobe in several threads at once, each with its own tag: every message is taken once, in its order. A wait that
 * asks once more whether it is over must not take a second message, which would be lost. ranks: 2 tcp: 2 timeout: 30 */
#include "mpi_check.h"
#include <pthread.h>
#include <sched.h>

#define THREADS 4
#define MESSAGES 20000

static void *send_all(void *argument)
{
    int tag = (int)(long)argument;
    double limit = MPI_Wtime() + 10; /* on a busy machine there are fewer */
    for (int i = 0, data = 0; data >= 0; i++) {
        data = i < MESSAGES && MPI_Wtime() < limit ? tag * MESSAGES + i : -1;
        if (i % 2 == 0) /* two at a time, when the receivers are about to park or sleep */
            sched_yield();
        MPI_Send(&data, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    }
    return NULL;
}

static void *receive_all(void *argument)
{
    int tag = (int)(long)argument;
    for (int i = 0, data = 0; data >= 0; i++) {
        int count = -1;
        MPI_Message message;
        MPI_Status status;
        MPI_Mprobe(0, tag, MPI_COMM_WORLD, &message, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        MPI_Mrecv(&data, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        CHECK(data < 0 || data == tag * MESSAGES + i);
        CHECK(count == 1 && message == MPI_MESSAGE_NULL);
        if (check_failed) /* one is lost: the rest would wait for ever */
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long t = 0; t < THREADS; t++)
        CHECK(pthread_create(&thread[t], NULL, rank == 0 ? send_all : receive_all, (void *)t) == 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    return check_finalize();
}
