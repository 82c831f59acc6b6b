/* MPI's order: messages of one sender match in their order, receives in theirs, wildcards between named ones.
 * everywhere: 2 3 5 8 */
#include "mpi_check.h"

#define ROUNDS 200

/* All send numbered messages with changing tags; rank 0 takes them with wildcards: each sender's numbers rise. */
static void any_source(void)
{
    if (rank > 0) {
        for (int i = 0; i < ROUNDS; i++)
            MPI_Send(&i, 1, MPI_INT, 0, i % 3, MPI_COMM_WORLD);
        return;
    }
    int *next = calloc((size_t)size, sizeof *next);
    for (int i = 0; i < ROUNDS * (size - 1); i++) {
        int number = -1;
        MPI_Status status;
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK_EQUAL(number, next[status.MPI_SOURCE]);
        CHECK_EQUAL(status.MPI_TAG, number % 3);
        next[status.MPI_SOURCE]++;
    }
    free(next);
}

/* Receives posted before anything is sent, alternating wildcard and named: message i matches the i-th that fits. */
static void posted_order(void)
{
    int data[6] = {-1, -1, -1, -1, -1, -1};
    MPI_Request request[6];
    if (rank == 0) {
        for (int i = 0; i < 6; i++)
            MPI_Irecv(&data[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : 1, i % 3 == 0 ? MPI_ANY_TAG : 4, MPI_COMM_WORLD,
                      &request[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(6, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 6; i++)
            CHECK_EQUAL(data[i], i);
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < 6; i++)
        MPI_Send(&i, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
}

/* A later tag is received first; the earlier message waits. Sizes differ: eager, and announced only. */
static void tags_apart(void)
{
    static unsigned char big[200000], small[10];
    if (rank == 1) {
        MPI_Request request;
        fill(big, sizeof big, 1);
        fill(small, sizeof small, 2);
        MPI_Isend(big, sizeof big, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Send(small, sizeof small, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        MPI_Recv(small, sizeof small, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(big, sizeof big, MPI_BYTE, 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_BYTES(small, sizeof small, 2);
        CHECK_BYTES(big, sizeof big, 1);
    }
}

int main(void)
{
    check_init();
    any_source();
    MPI_Barrier(MPI_COMM_WORLD);
    posted_order();
    MPI_Barrier(MPI_COMM_WORLD);
    tags_apart();
    return check_finalize();
}
