/* Point-to-point figures of any MPI: portable, built and run by bench/compare for every MPI on the machine.
 *
 *   point [multiple] WHAT SIZE...     two ranks talk; the others were talked to once and wait in a receive
 *
 *   latency, silent, beside   one way; the second with silent ranks, the third while bench/compare runs a busy stranger
 *   used                      one way of what was just written and is read afterwards
 *   unaligned                 one way between buffers that begin 16 bytes behind a page, as large ones of malloc() do
 *   compute                   Isend, 1 ms of computing, Wait: how long the receiver waits
 *   rate, bandwidth64, bandwidth8, both
 *
 * With "multiple" MPI is started with MPI_THREAD_MULTIPLE and the figures are called multiple_WHAT.
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

/* Messages for so many seconds and not so many of them: beside others one may wait for milliseconds. */
static double latency_beside(size_t size)
{
    int n = 0;
    double start = MPI_Wtime();
    for (char last = 0; !last; n++)
        if (rank == 0) {
            out[0] = last = n % 16 == 0 && MPI_Wtime() - start > 0.2;
            MPI_Send(out, (int)size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(in, (int)size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, (int)size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            last = in[0];
            MPI_Send(out, (int)size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
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

/* Where memory from malloc() begins: a few bytes behind a page. */
#define BEHIND 16

static double latency_unaligned(size_t size)
{
    out += BEHIND, in += BEHIND;
    double us = latency(size);
    out -= BEHIND, in -= BEHIND;
    return us;
}

static void compute(double seconds)
{
    static volatile double x = 1;
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        for (int i = 0; i < 100; i++)
            x = x * 0.999 + 0.001;
}

/* A sender that computes: what the receiver waits, from a word that the sender sends before. */
static double wait_for_computing(size_t size)
{
    int n = 100;
    double spent = 0;
    char word = 0;
    for (int i = -2; i < n; i++)
        if (rank == 0) {
            MPI_Request request;
            MPI_Send(&word, 1, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
            MPI_Isend(out, (int)size, MPI_BYTE, 1, 6, MPI_COMM_WORLD, &request);
            compute(1e-3);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&word, 1, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            double start = MPI_Wtime();
            MPI_Recv(in, (int)size, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (i >= 0)
                spent += MPI_Wtime() - start;
        }
    /* The first rank prints. */
    if (rank == 1)
        MPI_Send(&spent, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    else
        MPI_Recv(&spent, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return spent / n * 1e6;
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

static double bandwidth_of_64(size_t size) { return bandwidth(size, 64); }
static double bandwidth_of_8(size_t size) { return bandwidth(size, 8); }

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

/* The two ranks that talk hear from each of the others once. */
static void connect_all(void)
{
    char byte = 0;
    for (int r = 2; r < ranks && rank < 2; r++)
        MPI_Recv(&byte, 1, MPI_BYTE, r, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int to = 0; to < 2 && rank > 1; to++)
        MPI_Send(&byte, 1, MPI_BYTE, to, 8, MPI_COMM_WORLD);
}

static const struct kind {
    const char *name, *unit;
    double (*measure)(size_t size);
} kinds[] = {
    {"latency", "us", latency},
    {"silent", "us", latency},
    {"beside", "us", latency_beside},
    {"used", "us", latency_used},
    {"unaligned", "us", latency_unaligned},
    {"compute", "us", wait_for_computing},
    {"rate", "M/s", rate},
    {"bandwidth64", "GB/s", bandwidth_of_64},
    {"bandwidth8", "GB/s", bandwidth_of_8},
    {"both", "GB/s", both_ways},
};

static const struct kind *kind_find(const char *name)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!strcmp(name, kinds[k].name))
            return &kinds[k];
    return NULL;
}

int main(int argc, char **argv)
{
    size_t most = 16 << 20;
    int first = argc > 1 && !strcmp(argv[1], "multiple") ? 2 : 1, level = MPI_THREAD_MULTIPLE;
    if (first == 2)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const struct kind *kind = argc > first ? kind_find(argv[first]) : NULL;
    if (!kind || ranks < 2 || level < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "usage: point [multiple] latency|silent|beside|used|unaligned|compute|rate|bandwidth64|"
                        "bandwidth8|both "
                        "SIZE..., on two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (posix_memalign((void **)&out, 4096, most + BEHIND) ||
        posix_memalign((void **)&in, 4096, most + BEHIND))
        MPI_Abort(MPI_COMM_WORLD, 3);
    memset(out, 1, most);
    memset(in, 2, most);
    connect_all();
    for (int a = first + 1; a < argc && rank < 2; a++) {
        size_t size = strtoull(argv[a], NULL, 0);
        double value[ROUNDS];
        for (int r = 0; r < ROUNDS; r++)
            value[r] = kind->measure(size);
        if (rank == 0)
            printf("%s%s %zu %.4f %s\n", first == 2 ? "multiple_" : "", kind->name, size, median(value, ROUNDS),
                   kind->unit);
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
