/* Prints something that stays in the buffers of stdio, and ends the job by the error that its argument names, while the locks of
 * stdio are free or held. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t held;

static void *hold(void *stream)
{
    flockfile(stream);
    pthread_barrier_wait(&held);
    pause();
    return NULL;
}

static void *end(void *unused)
{
    MPI_Abort(MPI_COMM_WORLD, 42);
    return unused;
}

static void abort_in_handler(int number)
{
    (void)number;
    MPI_Abort(MPI_COMM_WORLD, 42);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "abort";
    int level, rank;
    pthread_t other;
    if (strcmp(how, "outside") == 0) {
        printf("printed");
        MPI_Abort(MPI_COMM_WORLD, 42);
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_init(&held, NULL, 2);
    if (rank == 0) {
        FILE *file = argc > 2 ? fopen(argv[2], "w") : NULL; /* by this rank alone: another could empty it later */
        printf("printed");
        if (file)
            fprintf(file, "written");
        if (strcmp(how, "error") == 0)
            MPI_Send(NULL, 0, MPI_INT, -77, 0, MPI_COMM_WORLD);
        if (strcmp(how, "stdin") == 0 || strcmp(how, "stdout") == 0) { /* another thread holds the lock */
            pthread_create(&other, NULL, hold, strcmp(how, "stdin") == 0 ? stdin : stdout);
            pthread_barrier_wait(&held);
        }
        if (strcmp(how, "both") == 0)
            pthread_create(&other, NULL, end, NULL);
        if (strcmp(how, "handler") == 0) { /* this thread does */
            signal(SIGALRM, abort_in_handler);
            flockfile(stdout);
            raise(SIGALRM);
        }
        MPI_Abort(MPI_COMM_WORLD, 42);
    }
    pause();
    return 0;
}
