/* Latency and bandwidth between two ranks, in about ten seconds.   mpiexec -n 2 ./pingpong
 *
 * One way: half the time of a message there and one back, the median of many small batches. One direction: a window of
 * messages, answered by one short message, again and again. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW       64
#define BATCHES_MAX  1000
#define BATCH_TIME   500e-6 /* seconds that one batch should take */
#define FIGURE_TIME  0.45   /* seconds for one number of the table */
#define BIGGEST      (4 << 20)

static char *buffer[WINDOW];

static double there_and_back(int rank, int size, int count)
{
    double start = MPI_Wtime();
    for (int i = 0; i < count; i++) {
        if (rank == 0)
            MPI_Send(buffer[0], size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(buffer[0], size, MPI_BYTE, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(buffer[0], size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / count;
}

static double one_direction(int rank, int size, int count)
{
    MPI_Request request[WINDOW];
    int window = size <= 65536 ? WINDOW : 8;
    double start = MPI_Wtime();
    for (int i = 0; i < count; i++) {
        for (int w = 0; w < window; w++)
            if (rank == 0)
                MPI_Isend(buffer[w], size, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request[w]);
            else
                MPI_Irecv(buffer[w], size, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request[w]);
        MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
        if (rank == 1)
            MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        else
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return (MPI_Wtime() - start) / count / window;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over batches of seconds per message. Rank 0 decides how many; both do the same. */
static double measure(double (*batch)(int, int, int), int rank, int size)
{
    static double seconds[BATCHES_MAX];
    int plan[2] = {0};
    double once = batch(rank, size, 3);
    if (rank == 0) {
        once = batch == one_direction ? once * (size <= 65536 ? WINDOW : 8) : once;
        plan[0] = (int)(BATCH_TIME / once) + 1;
        plan[1] = (int)(FIGURE_TIME / (once * plan[0])) + 3;
        if (plan[1] > BATCHES_MAX)
            plan[1] = BATCHES_MAX;
        MPI_Send(plan, 2, MPI_INT, 1, 4, MPI_COMM_WORLD);
    } else {
        MPI_Recv(plan, 2, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < plan[1]; i++)
        seconds[i] = batch(rank, size, plan[0]);
    qsort(seconds, (size_t)plan[1], sizeof seconds[0], ascending);
    return seconds[plan[1] / 2];
}

static void print_row(int size, double latency, double apart)
{
    char text[16];
    if (size >= 1 << 20)
        snprintf(text, sizeof text, "%d MiB", size >> 20);
    else if (size >= 1 << 10)
        snprintf(text, sizeof text, "%d KiB", size >> 10);
    else
        snprintf(text, sizeof text, "%d B", size);
    printf("%10s %13.2f us %14.0f MB/s\n", text, latency * 1e6, size / apart / 1e6);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 64, 512, 4096, 16384, 65536, 262144, 1 << 20, BIGGEST};
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2) {
        if (rank == 0)
            fprintf(stderr, "pingpong wants two ranks: mpiexec -n 2 %s\n", argv[0]);
        MPI_Finalize();
        return 1;
    }
    for (int w = 0; w < WINDOW; w++) {
        size_t bytes = w < 8 ? BIGGEST : 65536;
        buffer[w] = malloc(bytes);
        if (!buffer[w])
            MPI_Abort(MPI_COMM_WORLD, 1);
        memset(buffer[w], w, bytes);
    }
    if (rank == 0)
        printf("%10s %16s %19s\n", "size", "one way", "one direction");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double latency = measure(there_and_back, rank, sizes[i]) / 2;
        double apart = measure(one_direction, rank, sizes[i]);
        if (rank == 0)
            print_row(sizes[i], latency, apart);
    }
    for (int w = 0; w < WINDOW; w++)
        free(buffer[w]);
    MPI_Finalize();
    return 0;
}
