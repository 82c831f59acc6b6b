/* rounds [FILE]: a ring of checked messages, small ones and large ones, until FILE is gone, 20 rounds at least. Rank 0
 * prints "all right". */
#include "../check.h"
#include <mpi.h>
#include <unistd.h>

#define MOST (1 << 20)

static void exchange(int rank, int ranks, size_t size, unsigned round)
{
    static unsigned char out[MOST], in[MOST];
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    for (size_t i = 0; i < size; i++)
        out[i] = check_byte(round + (unsigned)rank, i);
    memset(in, 0xEE, size);
    MPI_Sendrecv(out, (int)size, MPI_BYTE, right, 0, in, (int)size, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < size; i++)
        if (in[i] != check_byte(round + (unsigned)left, i)) {
            CHECK_EQUAL(in[i], check_byte(round + (unsigned)left, i));
            return;
        }
}

int main(int argc, char **argv)
{
    static const size_t size[] = {1, 8, 1000, 30000, MOST};
    int rank, ranks, more = 1, wrong = 0, failed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (unsigned round = 0; more; round++) {
        exchange(rank, ranks, size[round % 5], round);
        more = round < 20 || (argc > 1 && access(argv[1], F_OK) == 0);
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    failed = check_done();
    MPI_Reduce(&failed, &wrong, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && !wrong)
        puts("all right");
    MPI_Finalize();
    return failed;
}
