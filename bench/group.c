/* Figures of many ranks, of any MPI: portable, built and run by bench/compare.
 *
 *   group barrier|allreduce|bcast|ring [REPEATS]     microseconds an operation (ring: a hop), median of 5 rounds
 *   group memory                                     resident MiB a rank (largest), after a ring and after an all-to-all
 *   group nothing                                    Init, Finalize: for timing the start from outside */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 5

static int rank, ranks;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void ring_lap(void)
{
    long token = 0;
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    if (rank == 0) {
        MPI_Send(&token, 1, MPI_LONG, right, 1, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_LONG, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&token, 1, MPI_LONG, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&token, 1, MPI_LONG, right, 1, MPI_COMM_WORLD);
    }
}

static void operate(const char *what, int n)
{
    double in = rank, sum;
    for (int i = 0; i < n; i++)
        if (!strcmp(what, "barrier"))
            MPI_Barrier(MPI_COMM_WORLD);
        else if (!strcmp(what, "allreduce"))
            MPI_Allreduce(&in, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else if (!strcmp(what, "bcast"))
            MPI_Bcast(&in, 1, MPI_DOUBLE, i % ranks, MPI_COMM_WORLD);
        else
            ring_lap();
}

static void timed(const char *what, int n)
{
    double value[ROUNDS];
    operate(what, n / 10 + 1);
    for (int r = 0; r < ROUNDS; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        operate(what, n);
        value[r] = (MPI_Wtime() - start) / n * 1e6;
    }
    qsort(value, ROUNDS, sizeof *value, by_value);
    if (rank == 0)
        printf("%s %d %.3f us\n", what, ranks, value[ROUNDS / 2] / (strcmp(what, "ring") ? 1 : ranks));
}

static double resident(void)
{
    char line[256];
    double kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %lf", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib / 1024;
}

static void memory(void)
{
    double most[2];
    double *out = calloc(ranks, sizeof *out), *in = calloc(ranks, sizeof *in);
    ring_lap();
    double here = resident();
    MPI_Reduce(&here, &most[0], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 10; i++) {
        MPI_Request *request = malloc(2 * ranks * sizeof *request);
        for (int r = 0; r < ranks; r++) {
            MPI_Irecv(&in[r], 1, MPI_DOUBLE, r, 5, MPI_COMM_WORLD, &request[r]);
            MPI_Isend(&out[r], 1, MPI_DOUBLE, r, 5, MPI_COMM_WORLD, &request[ranks + r]);
        }
        MPI_Waitall(2 * ranks, request, MPI_STATUSES_IGNORE);
        free(request);
    }
    here = resident();
    MPI_Reduce(&here, &most[1], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("memory_ring %d %.2f MiB\nmemory_all %d %.2f MiB\n", ranks, most[0], ranks, most[1]);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *what = argc > 1 ? argv[1] : "nothing";
    if (!strcmp(what, "memory"))
        memory();
    else if (strcmp(what, "nothing"))
        timed(what, argc > 2 ? atoi(argv[2]) : 2000);
    MPI_Finalize();
    return 0;
}
