/* The root of a broadcast, and who gives to a reduction or scan, may be ahead of the others: they do not wait for a call
 * of another communicator that the others make first. So it is on new communicators, and on those that met before, after
 * any number of calls.
 * ranks: 2 3 5 tcp: 3 mixed: 4 */
#include "../check.h"
#include <mpi.h>

#define ROUNDS 8
#define MOST 1024

static int rank, size;

static void broadcast(MPI_Comm comm, int bytes, int value)
{
    char data[MOST];
    memset(data, rank == 0 ? value : 0, sizeof data);
    MPI_Bcast(data, bytes, MPI_BYTE, 0, comm);
    CHECK_EQUAL(data[0], value);
    CHECK_EQUAL(data[bytes - 1], value);
}

/* Rank 0 calls on A first, all others on B. */
static void broadcasts(MPI_Comm a, MPI_Comm b, int bytes)
{
    for (int i = 0; i < ROUNDS; i++) {
        broadcast(rank == 0 ? a : b, bytes, rank == 0 ? 2 * i + 1 : 2 * i + 2);
        broadcast(rank == 0 ? b : a, bytes, rank == 0 ? 2 * i + 2 : 2 * i + 1);
    }
}

/* The last rank gives to rank 0 of A, then takes from rank 0 of B, which makes the calls the other way round. */
static void gives_first(MPI_Comm a, MPI_Comm b)
{
    int one = rank + 1, sum = 0;
    if (rank == 0)
        broadcast(b, 8, 7);
    if (rank != 0)
        MPI_Reduce(&one, NULL, 1, MPI_INT, MPI_SUM, 0, a);
    else
        MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, a);
    if (rank != 0)
        broadcast(b, 8, 7);
    else
        CHECK_EQUAL(sum, size * (size + 1) / 2);
}

/* Rank 0 needs nothing of the others in a scan. */
static void scan_first(MPI_Comm a, MPI_Comm b)
{
    int one = rank + 1, sum = 0;
    if (rank != 0)
        broadcast(b, 8, 9);
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, a);
    CHECK_EQUAL(sum, (rank + 1) * (rank + 2) / 2);
    if (rank == 0)
        broadcast(b, 8, 9);
}

int main(int argc, char **argv)
{
    MPI_Comm a, b;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &b);
    broadcasts(a, b, 8);
    broadcasts(a, b, MOST);
    gives_first(a, b);
    scan_first(a, b);
    MPI_Barrier(a);
    MPI_Barrier(b);
    broadcasts(a, b, 8);
    broadcasts(a, b, MOST); /* more of them than one annex waits for */
    MPI_Barrier(b);
    MPI_Barrier(a);
    broadcasts(a, b, MOST);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
    MPI_Finalize();
    return check_done();
}
