/* Figures of collectives, of any MPI: portable, built and run by bench/compare.
 *
 *   coll KIND BYTES...      microseconds a call, median of 5 rounds; a line "coll_KIND_RANKS BYTES us" for each size
 *
 * KIND: barrier, allreduce (of floats), bcast, bcast+barrier, alltoall, allgather (BYTES: of a block); with i before
 * it the non-blocking form and its wait, with p the persistent one. A round takes about 50 ms, but three calls at
 * least. It ends when the last rank has ended its calls: the root of a broadcast may be through long before the others
 * have anything. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 5
#define ROUND_SECONDS 0.05

static int rank, ranks;
static char *in, *out;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void call(const char *kind, int bytes)
{
    MPI_Comm world = MPI_COMM_WORLD;
    if (!strcmp(kind, "barrier"))
        MPI_Barrier(world);
    else if (!strcmp(kind, "allreduce"))
        MPI_Allreduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, world);
    else if (!strcmp(kind, "bcast"))
        MPI_Bcast(in, bytes, MPI_BYTE, 0, world);
    else if (!strcmp(kind, "bcast+barrier")) {
        MPI_Bcast(in, bytes, MPI_BYTE, 0, world);
        MPI_Barrier(world);
    } else if (!strcmp(kind, "alltoall"))
        MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, world);
    else if (!strcmp(kind, "allgather"))
        MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, world);
    else
        MPI_Abort(world, 2);
}

static void start(const char *kind, int bytes, MPI_Request *request)
{
    if (!strcmp(kind, "ibarrier"))
        MPI_Ibarrier(MPI_COMM_WORLD, request);
    else if (!strcmp(kind, "iallreduce"))
        MPI_Iallreduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, request);
    else
        MPI_Abort(MPI_COMM_WORLD, 2);
}

static void prepare(const char *kind, int bytes, MPI_Request *request)
{
#if MPI_VERSION >= 4
    if (!strcmp(kind, "pbarrier"))
        MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, request);
    else if (!strcmp(kind, "pallreduce"))
        MPI_Allreduce_init(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request);
    else
#endif
        MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Seconds of N calls: those of the rank that took longest. */
static double calls(const char *kind, int bytes, int n, MPI_Request *request)
{
    int form = *kind == 'i' ? 1 : *kind == 'p' ? 2 : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < n; i++) {
        if (form == 0)
            call(kind, bytes);
        else if (form == 1)
            start(kind, bytes, request);
        else
            MPI_Start(request);
        if (form)
            MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    double seconds = MPI_Wtime() - begin, longest;
    MPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

/* How many calls make a round: all ranks find the same. */
static int calls_of_a_round(const char *kind, int bytes, MPI_Request *request)
{
    int n = 3;
    while (calls(kind, bytes, n, request) < ROUND_SECONDS / 2 && n < 1000000)
        n *= 2;
    return n;
}

static void timed(const char *kind, int bytes)
{
    double value[ROUNDS];
    MPI_Request request = MPI_REQUEST_NULL;
    if (*kind == 'p')
        prepare(kind, bytes, &request);
    int n = calls_of_a_round(kind, bytes, &request);
    for (int r = 0; r < ROUNDS; r++)
        value[r] = calls(kind, bytes, n, &request) / n * 1e6;
    if (*kind == 'p')
        MPI_Request_free(&request);
    qsort(value, ROUNDS, sizeof *value, by_value);
    if (rank == 0)
        printf("coll_%s_%d %d %.3f us\n", kind, ranks, bytes, value[ROUNDS / 2]);
}

int main(int count, char **argument)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t most = 8;
    for (int i = 2; i < count; i++)
        most = (size_t)atol(argument[i]) > most ? (size_t)atol(argument[i]) : most;
    in = malloc(most * (size_t)ranks);
    out = malloc(most * (size_t)ranks);
    memset(in, 0, most * (size_t)ranks);
    memset(out, 0, most * (size_t)ranks);
    for (int i = 2; i < count; i++)
        timed(argument[1], atoi(argument[i]));
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
