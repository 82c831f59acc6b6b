/* Short runs, of any MPI, as programs run: portable, built and run by bench/compare --short. Two ranks send every size
 * from 1 byte to 4 MiB in one process, each size in new buffers; a figure is the mean from the first message of its size
 * on, without messages to warm up.
 *
 *   short latency | stream | both
 *
 *   latency   one way, of some 1,000 messages
 *   stream    windows of 64 messages and an answer
 *   both      the same from both ranks at once
 *
 * One line a figure: "short_WHAT size value unit". */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MOST   (4 << 20)
#define WINDOW 64

static int rank;
static char *out, *in;

/* Pages that no message has used; written once, so that the kernel has given them and no figure contains that. */
static char *buffer_new(size_t size)
{
    char *buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED) {
        perror("short: mmap");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    memset(buffer, 1 + rank, size);
    return buffer;
}

static double one_way(size_t size)
{
    int n = size <= 8192 ? 1000 : 200;
    double start = MPI_Wtime();
    for (int i = 0; i < n; i++)
        if (rank == 0) {
            MPI_Send(out, (int)size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(in, (int)size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, (int)size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, (int)size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    return (MPI_Wtime() - start) / n / 2 * 1e6;
}

static int windows_of(size_t size) { return size <= 8192 ? 50 : size <= 262144 ? 20 : 5; }

static double stream(size_t size)
{
    MPI_Request request[WINDOW];
    int n = windows_of(size);
    char answer = 0;
    double start = MPI_Wtime();
    for (int i = 0; i < n; i++) {
        for (int w = 0; w < WINDOW; w++)
            if (rank == 0)
                MPI_Isend(out, (int)size, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request[w]);
            else
                MPI_Irecv(in, (int)size, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request[w]);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(&answer, 1, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&answer, 1, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    }
    return (double)size * WINDOW * n / (MPI_Wtime() - start) / 1e9;
}

static double both_ways(size_t size)
{
    MPI_Request request[2 * WINDOW];
    int n = windows_of(size);
    char answer = 0;
    double start = MPI_Wtime();
    for (int i = 0; i < n; i++) {
        for (int w = 0; w < WINDOW; w++)
            MPI_Irecv(in, (int)size, MPI_BYTE, !rank, 2, MPI_COMM_WORLD, &request[w]);
        for (int w = 0; w < WINDOW; w++)
            MPI_Isend(out, (int)size, MPI_BYTE, !rank, 2, MPI_COMM_WORLD, &request[WINDOW + w]);
        MPI_Waitall(2 * WINDOW, request, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(&answer, 1, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&answer, 1, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    }
    return 2.0 * (double)size * WINDOW * n / (MPI_Wtime() - start) / 1e9;
}

static const struct kind {
    const char *name, *unit;
    double (*measure)(size_t size);
} kinds[] = {{"latency", "us", one_way}, {"stream", "GB/s", stream}, {"both", "GB/s", both_ways}};

int main(int argc, char **argv)
{
    int ranks;
    const struct kind *kind = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t k = 0; argc > 1 && k < sizeof kinds / sizeof *kinds; k++)
        if (!strcmp(argv[1], kinds[k].name))
            kind = &kinds[k];
    if (!kind || ranks != 2) {
        fprintf(stderr, "usage: short latency|stream|both, on two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (size_t size = 1; size <= MOST; size *= 2) {
        out = buffer_new(size);
        in = buffer_new(size);
        MPI_Barrier(MPI_COMM_WORLD);
        double value = kind->measure(size);
        if (rank == 0)
            printf("short_%s %zu %.5f %s\n", kind->name, size, value, kind->unit);
        munmap(out, size);
        munmap(in, size);
    }
    MPI_Finalize();
    return 0;
}
