/* Memory that a rank of 64 really occupies: after a ring, in which it talks to two, and after an all-to-all. Its own part of it
 * (pages that others map, too, by their share) is small among 4,096 ranks as well; scripts/soak starts so many, for the ring alone.
 * ranks: 64
 * presets: release */
#include "mpi_check.h"

#define RING_MOST 8192 /* KiB */
#define ALL_MOST  24576
#define OWN_MOST  1536
#define ALL_RANKS 256 /* with more there is no all-to-all */

/* KiB that the kernel tells in a line of PATH, which FORMAT reads; -1: there is none. */
static long kernel_kib(const char *path, const char *format)
{
    char line[256];
    long kib = -1;
    FILE *file = fopen(path, "re");
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, format, &kib) != 1)
            kib = -1;
    if (file)
        fclose(file);
    return kib;
}

static long resident(void)
{
    return kernel_kib("/proc/self/status", "VmRSS: %ld");
}

int main(void)
{
    int from = -1;
    check_init();
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &from, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQUAL(from, (rank + size - 1) % size);
    long ring = resident();
    CHECK(ring > 0 && ring <= RING_MOST);
    long own = kernel_kib("/proc/self/smaps_rollup", "Pss: %ld"), most;
    MPI_Reduce(&own, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    CHECK(own > 0 && own <= OWN_MOST);
    if (rank == 0)
        printf("after a ring %ld KiB, of its own %ld KiB at most\n", ring, most);
    if (size > ALL_RANKS)
        return check_finalize();
    unsigned char *out = malloc(64 * (size_t)size), *in = malloc(64 * (size_t)size);
    for (int to = 0; to < size; to++)
        fill(out + 64 * to, 64, (unsigned)(rank * size + to));
    for (int round = 0; round < 3; round++)
        MPI_Alltoall(out, 64, MPI_BYTE, in, 64, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK_BYTES(in + 64 * i, 64, (unsigned)(i * size + rank));
    long all = resident();
    CHECK(all > 0 && all <= ALL_MOST);
    if (rank == 0)
        printf("after an all-to-all %ld KiB\n", all);
    free(out);
    free(in);
    return check_finalize();
}
