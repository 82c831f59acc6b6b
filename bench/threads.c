/* Rate of small messages between threads, of any MPI: portable, built and run by bench/compare. Two processes at
 * MPI_THREAD_MULTIPLE; each thread of one sends windows of 256 messages of 8 bytes to its partner in the other, on a
 * communicator of their own.
 *
 *   threads PAIRS
 *
 * One line: "threads pairs rate M/s", all pairs together, the median of 5 rounds. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 5
#define WINDOW 256
#define WINDOWS 400
#define MOST 16

static int rank, pairs;
static MPI_Comm comm[MOST];
static pthread_barrier_t together;

static void windows(MPI_Comm own, int n)
{
    MPI_Request request[WINDOW];
    long data[WINDOW] = {0};
    char ack = 0;
    for (int i = 0; i < n; i++) {
        for (int w = 0; w < WINDOW; w++)
            if (rank == 0)
                MPI_Isend(&data[w], 8, MPI_BYTE, 1, 2, own, &request[w]);
            else
                MPI_Irecv(&data[w], 8, MPI_BYTE, 0, 2, own, &request[w]);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(&ack, 1, MPI_BYTE, 1, 3, own, MPI_STATUS_IGNORE);
        else
            MPI_Send(&ack, 1, MPI_BYTE, 0, 3, own);
    }
}

static void *work(void *argument)
{
    int me = (int)(long)argument;
    double value[ROUNDS];
    windows(comm[me], WINDOWS / 10);
    for (int r = 0; r < ROUNDS; r++) {
        pthread_barrier_wait(&together);
        if (me == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        pthread_barrier_wait(&together);
        double start = MPI_Wtime();
        windows(comm[me], WINDOWS);
        pthread_barrier_wait(&together);
        value[r] = (double)pairs * WINDOW * WINDOWS / (MPI_Wtime() - start) / 1e6;
    }
    for (int i = 1; i < ROUNDS; i++)
        for (int j = i; j > 0 && value[j - 1] > value[j]; j--) {
            double swap = value[j];
            value[j] = value[j - 1];
            value[j - 1] = swap;
        }
    if (rank == 0 && me == 0)
        printf("threads %d %.3f M/s\n", pairs, value[ROUNDS / 2]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[MOST];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pairs = argc > 1 ? atoi(argv[1]) : 0;
    if (provided < MPI_THREAD_MULTIPLE || pairs < 1 || pairs > MOST) {
        fprintf(stderr, "usage: threads PAIRS, on two ranks, with an MPI that has MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    pthread_barrier_init(&together, NULL, (unsigned)pairs);
    for (int i = 0; i < pairs; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (long i = 0; i < pairs; i++)
        pthread_create(&thread[i], NULL, work, (void *)i);
    for (int i = 0; i < pairs; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < pairs; i++)
        MPI_Comm_free(&comm[i]);
    MPI_Finalize();
    return 0;
}
