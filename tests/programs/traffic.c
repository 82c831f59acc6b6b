/* A little of everything, checked byte by byte; prints "all right" on rank 0. Any number of ranks. */
#include "../check.h"
#include <mpi.h>

static int rank, ranks;

static void fill(unsigned char *data, size_t size, unsigned message)
{
    for (size_t i = 0; i < size; i++)
        data[i] = check_byte(message, i);
}

static void exchange(size_t size, unsigned message)
{
    unsigned char *out = malloc(size + 1), *in = malloc(size + 1);
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Request request[2];
    MPI_Status status;
    int count;
    if (!out || !in) {
        fprintf(stderr, "rank %d: no memory for a message of %zu bytes\n", rank, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fill(out, size, message + (unsigned)rank);
    memset(in, 0xEE, size + 1);
    MPI_Irecv(in, (int)size, MPI_BYTE, left, 7, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, (int)size, MPI_BYTE, right, 7, MPI_COMM_WORLD, &request[1]);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    MPI_Wait(&request[0], &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQUAL(count, size);
    for (size_t i = 0; i < size; i++)
        if (in[i] != check_byte(message + (unsigned)left, i)) {
            fprintf(stderr, "rank %d: byte %zu of %zu is wrong\n", rank, i, size);
            check_failed++;
            break;
        }
    CHECK_EQUAL(in[size], 0xEE);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 1, 7, 8, 47, 48, 49, 255, 256, 257, 1000, 4096, 5000, 16383, 16384, 16385, 40000, 65536, 100001, 1 << 20, 5000001};
    int sum, failed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (unsigned round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            exchange(sizes[i], round * 1000 + (unsigned)i * 10);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, ranks * (ranks - 1) / 2);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&check_failed, &failed, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        puts(failed ? "wrong" : "all right");
    MPI_Finalize();
    return check_done();
}
