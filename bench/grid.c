/* One point of bench/coll-grid, of any MPI:  grid KIND BYTES
 *
 * Prints "RANKS MICROSECONDS": the mean of a call from the first one on, over 100 calls or 0.5 s, whichever ends first.
 * The slowest rank counts. Rank 0 decides after each call whether one more follows; this broadcast is not timed. BYTES
 * are those of the whole operation for bcast, reductions and scans, else those of one block. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS   100
#define SECONDS 0.5

static int rank, ranks, bytes, count, *counts, *lengths, *offsets;
static MPI_Datatype *types;
static char *in, *out;

#define WORLD  MPI_COMM_WORLD
#define BLOCKS in, bytes, MPI_BYTE, out, bytes, MPI_BYTE
#define SUM    in, out, count, MPI_FLOAT, MPI_SUM

static void barrier(void) { MPI_Barrier(WORLD); }
static void bcast(void) { MPI_Bcast(in, bytes, MPI_BYTE, 0, WORLD); }
static void reduce(void) { MPI_Reduce(SUM, 0, WORLD); }
static void allreduce(void) { MPI_Allreduce(SUM, WORLD); }
static void scan(void) { MPI_Scan(SUM, WORLD); }
static void exscan(void) { MPI_Exscan(SUM, WORLD); }
static void reduce_scatter(void) { MPI_Reduce_scatter(in, out, counts, MPI_FLOAT, MPI_SUM, WORLD); }
static void reduce_scatter_block(void) { MPI_Reduce_scatter_block(SUM, WORLD); }
static void gather(void) { MPI_Gather(BLOCKS, 0, WORLD); }
static void gatherv(void) { MPI_Gatherv(in, bytes, MPI_BYTE, out, lengths, offsets, MPI_BYTE, 0, WORLD); }
static void scatter(void) { MPI_Scatter(BLOCKS, 0, WORLD); }
static void scatterv(void) { MPI_Scatterv(in, lengths, offsets, MPI_BYTE, out, bytes, MPI_BYTE, 0, WORLD); }
static void allgather(void) { MPI_Allgather(BLOCKS, WORLD); }
static void allgatherv(void) { MPI_Allgatherv(in, bytes, MPI_BYTE, out, lengths, offsets, MPI_BYTE, WORLD); }
static void alltoall(void) { MPI_Alltoall(BLOCKS, WORLD); }
static void alltoallv(void)
{
    MPI_Alltoallv(in, lengths, offsets, MPI_BYTE, out, lengths, offsets, MPI_BYTE, WORLD);
}
static void alltoallw(void) { MPI_Alltoallw(in, lengths, offsets, types, out, lengths, offsets, types, WORLD); }

static const struct kind {
    const char *name;
    void (*call)(void);
} kinds[] = {
    {"barrier", barrier},       {"bcast", bcast},
    {"reduce", reduce},         {"allreduce", allreduce},
    {"scan", scan},             {"exscan", exscan},
    {"reduce_scatter", reduce_scatter}, {"reduce_scatter_block", reduce_scatter_block},
    {"gather", gather},         {"gatherv", gatherv},
    {"scatter", scatter},       {"scatterv", scatterv},
    {"allgather", allgather},   {"allgatherv", allgatherv},
    {"alltoall", alltoall},     {"alltoallv", alltoallv},
    {"alltoallw", alltoallw},
};

static int *numbers(void) { return malloc((size_t)ranks * sizeof(int)); }

/* One buffer holds a block for each rank. */
static void buffers_make(void)
{
    size_t size = (size_t)bytes * (size_t)ranks;
    in = malloc(size);
    out = malloc(size);
    memset(in, 0, size);
    memset(out, 0, size);
    counts = numbers();
    lengths = numbers();
    offsets = numbers();
    types = malloc((size_t)ranks * sizeof *types);
    for (int i = 0; i < ranks; i++) {
        counts[i] = count;
        lengths[i] = bytes;
        offsets[i] = i * bytes;
        types[i] = MPI_BYTE;
    }
}

static double mean(void (*call)(void))
{
    double mine = 0, slowest;
    int calls = 0, more = 1;
    MPI_Barrier(WORLD); /* ranks leave MPI_Init at different times */
    double begin = MPI_Wtime();
    while (more) {
        double start = MPI_Wtime();
        call();
        mine += MPI_Wtime() - start;
        more = ++calls < CALLS && MPI_Wtime() - begin < SECONDS;
        MPI_Bcast(&more, 1, MPI_INT, 0, WORLD);
    }
    mine /= calls;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, WORLD);
    return slowest * 1e6;
}

int main(int argc, char **argv)
{
    int found = -1;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &ranks);
    for (int i = 0; argc == 3 && i < (int)(sizeof kinds / sizeof *kinds); i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            found = i;
    if (found < 0) {
        fprintf(stderr, "grid KIND BYTES: no such kind\n");
        MPI_Abort(WORLD, 2);
    }
    bytes = atoi(argv[2]);
    count = bytes / 4;
    buffers_make();
    double us = mean(kinds[found].call);
    if (rank == 0)
        printf("%d %.3f\n", ranks, us);
    MPI_Finalize();
    return 0;
}
