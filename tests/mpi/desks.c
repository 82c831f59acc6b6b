/* Blocking collectives of every size through shared memory, mixed and with changing roots: each byte of every result is right.
 * Where lengths of a broadcast disagree each rank is told, and nobody hangs or is disturbed later.
 * ranks: 2 3 7 tcp: 3 mixed: 4
 * timeout: 60 */
#include "../check.h"
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

static int rank, size;
static int *in, *out;

static int value(int from, int to, int i, int turn) { return from * 1000003 + to * 7919 + i * 31 + turn; }

static void bcasts(int count, int turn)
{
    int root = turn % size;
    for (int i = 0; i < count; i++)
        out[i] = rank == root ? value(root, 0, i, turn) : -1;
    MPI_Bcast(out, count, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[i], value(root, 0, i, turn));
}

/* Every other element of a vector, to the same and to plain ones. */
static void bcast_strided(int count, int turn)
{
    int root = turn % size;
    MPI_Datatype strided;
    MPI_Type_vector(count, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    for (int i = 0; i < 2 * count; i++)
        out[i] = rank == root ? value(root, 0, i, turn) : -1;
    bool plain = rank % 2 && rank != root;
    MPI_Bcast(out, plain ? count : 1, plain ? MPI_INT : strided, root, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[plain ? i : 2 * i], value(root, 0, 2 * i, turn));
    MPI_Type_free(&strided);
}

static int sum_of(int to, int i, int turn)
{
    unsigned sum = 0;
    for (int r = 0; r < size; r++)
        sum += (unsigned)value(r, to, i, turn);
    return (int)sum;
}

static void reductions(int count, int turn, bool in_place)
{
    int root = turn % size;
    for (int i = 0; i < count; i++)
        in[i] = out[i] = value(rank, 0, i, turn);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[i], sum_of(0, i, turn));
    for (int i = 0; i < count; i++)
        out[i] = value(rank, 0, i, turn);
    for (int again = 0; again < 3; again++) /* who is not the root goes on at once */
        MPI_Reduce(in_place && rank == root && !again ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[i], rank == root ? sum_of(0, i, turn) : value(rank, 0, i, turn));
}

static void scattered(int count, int turn, bool in_place)
{
    int counts[16], first = 0, mine;
    for (int r = 0; r < size; r++)
        counts[r] = (r + turn) % 3 ? count + r : 0;
    for (int r = 0; r < size; r++)
        for (int i = 0; i < count; i++)
            in[r * count + i] = out[r * count + i] = value(rank, r, i, turn);
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[i], sum_of(rank, i, turn));
    for (int r = 0; r < size; first += counts[r++])
        for (int i = 0; i < counts[r]; i++)
            in[first + i] = out[first + i] = value(rank, r, i, turn);
    mine = counts[rank];
    MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < mine; i++)
        CHECK_EQUAL(out[i], sum_of(rank, i, turn));
}

static void exchanges(int count, int turn, bool in_place)
{
    int counts[16], places[16];
    for (int i = 0; i < count; i++)
        in[i] = out[rank * count + i] = value(rank, 0, i, turn);
    MPI_Allgather(in_place ? MPI_IN_PLACE : in, count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < count; i++)
            CHECK_EQUAL(out[r * count + i], value(r, 0, i, turn));
    for (int r = 0; r < size; r++) {
        counts[r] = (r + turn) % 3 ? count - r % (count + 1) : 0;
        places[r] = (size - 1 - r) * count;
    }
    memset(out, -1, sizeof *out * (size_t)count * (size_t)size);
    MPI_Allgatherv(in, counts[rank], MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < count; i++)
            CHECK_EQUAL(out[places[r] + i], i < counts[r] ? value(r, 0, i, turn) : -1);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < count; i++)
            in[r * count + i] = out[r * count + i] = value(rank, r, i, turn);
    MPI_Alltoall(in_place ? MPI_IN_PLACE : in, count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < count; i++)
            CHECK_EQUAL(out[r * count + i], value(r, rank, i, turn));
}

/* The root sends BYTES; others expect more or less. */
static void disagree(MPI_Comm comm, int bytes)
{
    int expected = rank == 0 ? bytes : rank % 2 ? bytes / 2 : bytes * 2;
    memset(out, rank ? 0 : 77, 2 * (size_t)bytes);
    int error = MPI_Bcast(out, expected, MPI_BYTE, 0, comm);
    CHECK((error != MPI_SUCCESS) == (rank != 0));
    for (int i = 0; i < 2 * bytes && rank; i++)
        CHECK_EQUAL(((char *)out)[i], i < (expected < bytes ? expected : bytes) ? 77 : 0);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 2, 12, 13, 60, 61, 270, 271, 1000, 4096, 6145, 8200, 33000, 70001};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = malloc(sizeof *in * 80000 * (size_t)size);
    out = malloc(sizeof *out * 160000 * (size_t)size);
    for (int turn = 0, n = sizeof counts / sizeof *counts; turn < 3 * n; turn++) {
        int count = counts[turn * 5 % n];
        bcasts(count, turn);
        reductions(count, turn, turn % 4 == 0);
        bcast_strided(count, turn);
        exchanges(count, turn, turn % 2 == 0);
        scattered(count, turn, turn % 3 == 0);
        for (int i = 0; i < 70 && turn == n; i++)
            bcasts(3 + i, turn + i / 9);
    }
    if (!getenv("VIADUCT_TRANSPORTS") && !getenv("VIADUCT_NODE")) { /* by messages alone nobody knows what the root means */
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        for (int turn = 0; turn < 5; turn++)
            for (int bytes = 8; bytes < 1000000; bytes *= 5)
                disagree(comm, bytes);
        MPI_Comm_free(&comm);
    }
    free(in);
    free(out);
    MPI_Finalize();
    return check_done();
}
