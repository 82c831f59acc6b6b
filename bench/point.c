/* Point-to-point figures of any MPI: portable, built and run by bench/compare for every MPI on the machine.
 *
 *   point WHAT [SIZE...]     two ranks talk; the others were talked to once and wait in a receive
 *
 * One line a figure: "name size value unit". A figure is the median of 5 rounds inside the process; the comparison runs
 * the process several times, interleaved with the other MPIs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 5
#define WINDOW_MOST 256

static int rank, ranks;
static char *out, *in;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int n)
{
    qsort(value, n, sizeof *value, by_value);
    return value[n / 2];
}

/* Rounds long enough to time, short enough to fit ten of them in a second. */
static int repeats(size_t size, int most)
{
    double bytes = 400e6 / ROUNDS;
    int n = size ? (int)(bytes / (double)size) : most;
    return n > most ? most : n < 10 ? 10 : n;
}

static void pingpong(size_t size, int n)
{
    for (int i = 0; i < n; i++) {
        if (rank == 0) {
            MPI_Send(out, (int)size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(in, (int)size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, (int)size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, (int)size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
}

static double latency(size_t size)
{
    int n = repeats(size, 60000);
    pingpong(size, n / 10 + 1);
    double start = MPI_Wtime();
    pingpong(size, n);
    return (MPI_Wtime() - start) / n / 2 * 1e6;
}

/* What programs do: the source was just written, the destination is read afterwards; neither is timed. */
static double latency_used(size_t size)
{
    int n = repeats(size, 2000) / 2 + 1;
    double spent = 0;
    static volatile long sum;
    for (int i = -2; i < n; i++) {
        memset(out, i, size);
        double start = MPI_Wtime();
        pingpong(size, 1);
        if (i >= 0)
            spent += MPI_Wtime() - start;
        for (size_t k = 0; k < size; k += 8)
            sum += in[k];
    }
    return spent / n / 2 * 1e6;
}

static void stream(size_t size, int window, int n)
{
    MPI_Request request[WINDOW_MOST];
    char ack;
    for (int i = 0; i < n; i++) {
        for (int w = 0; w < window; w++)
            if (rank == 0)
                MPI_Isend(out, (int)size, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request[w]);
            else
                MPI_Irecv(in, (int)size, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request[w]);
        MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(&ack, 1, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&ack, 1, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    }
}

static double bandwidth(size_t size, int window)
{
    int n = repeats(size * window, 400);
    stream(size, window, n / 10 + 1);
    double start = MPI_Wtime();
    stream(size, window, n);
    return (double)size * window * n / (MPI_Wtime() - start) / 1e9;
}

static double rate(size_t size)
{
    int n = 400, window = 64;
    stream(size, window, n / 10);
    double start = MPI_Wtime();
    stream(size, window, n);
    return (double)window * n / (MPI_Wtime() - start) / 1e6;
}

static double both_ways(size_t size)
{
    int n = repeats(2 * size, 2000);
    double start = 0;
    for (int i = -n / 10 - 1; i < n; i++) {
        if (i == 0)
            start = MPI_Wtime();
        MPI_Request request[2];
        MPI_Irecv(in, (int)size, MPI_BYTE, !rank, 4, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, (int)size, MPI_BYTE, !rank, 4, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    return 2.0 * (double)size * n / (MPI_Wtime() - start) / 1e9;
}

/* Both who talk hear from each of the others once. */
static void connect_all(void)
{
    char byte = 0;
    for (int r = 2; r < ranks && rank < 2; r++)
        MPI_Recv(&byte, 1, MPI_BYTE, r, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int to = 0; to < 2 && rank > 1; to++)
        MPI_Send(&byte, 1, MPI_BYTE, to, 8, MPI_COMM_WORLD);
}

static double measure(const char *what, size_t size)
{
    if (!strcmp(what, "latency") || !strcmp(what, "silent"))
        return latency(size);
    if (!strcmp(what, "used"))
        return latency_used(size);
    if (!strcmp(what, "rate"))
        return rate(size);
    if (!strcmp(what, "bandwidth64"))
        return bandwidth(size, 64);
    if (!strcmp(what, "bandwidth8"))
        return bandwidth(size, 8);
    if (!strcmp(what, "both"))
        return both_ways(size);
    fprintf(stderr, "point: unknown figure %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 0;
}

static const char *unit(const char *what)
{
    return !strcmp(what, "latency") || !strcmp(what, "silent") || !strcmp(what, "used") ? "us" : !strcmp(what, "rate") ? "M/s" : "GB/s";
}

int main(int argc, char **argv)
{
    size_t most = 16 << 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3 || ranks < 2) {
        fprintf(stderr, "usage: point latency|silent|used|rate|bandwidth64|bandwidth8|both SIZE..., on two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (posix_memalign((void **)&out, 4096, most) || posix_memalign((void **)&in, 4096, most))
        MPI_Abort(MPI_COMM_WORLD, 3);
    memset(out, 1, most);
    memset(in, 2, most);
    connect_all();
    for (int a = 2; a < argc && rank < 2; a++) {
        size_t size = strtoull(argv[a], NULL, 0);
        double value[ROUNDS];
        for (int r = 0; r < ROUNDS; r++)
            value[r] = measure(argv[1], size);
        if (rank == 0)
            printf("%s %zu %.4f %s\n", argv[1], size, median(value, ROUNDS), unit(argv[1]));
    }
    /* The silent ones were connected once and wait in a receive. */
    char byte = 0;
    if (rank == 0)
        for (int r = 2; r < ranks; r++)
            MPI_Send(&byte, 1, MPI_BYTE, r, 9, MPI_COMM_WORLD);
    else if (rank > 1)
        MPI_Recv(&byte, 1, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
