/* Figures of strided data, of any MPI: portable, built and run by bench/compare. Two ranks throw 1 MiB of payload to and fro;
 * each rewrites its source before every send and neither that nor a look at what came is timed.
 *
 *   strided plain | vector BLOCK | faces | arrays | turned
 *
 *   vector   blocks of so many bytes, as far apart as they are long
 *   faces    the six faces of a cube of doubles, three-dimensional subarrays, a message each
 *   arrays   a struct of eight arrays
 *   turned   the same struct of arrays, received as an array of structs: two layouts
 *
 * One line a figure: "name block value GB/s", the median of 5 rounds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 5
#define BYTES (1 << 20)
#define EDGE 148 /* six faces of 148 * 148 doubles are 1 MiB */
#define ARRAYS 8

static int rank;
static char *out, *in;
static size_t room; /* bytes of each */

struct shape {
    int messages; /* 1, or a face each */
    MPI_Datatype send[6], receive[6];
};

static void set_one(struct shape *shape, MPI_Datatype type)
{
    MPI_Type_commit(&type);
    *shape = (struct shape){1, {type}, {type}};
    room = 2 * BYTES;
}

static void set_faces(struct shape *shape)
{
    int whole[3] = {EDGE, EDGE, EDGE};
    for (int face = 0; face < 6; face++) {
        int part[3] = {EDGE, EDGE, EDGE}, start[3] = {0, 0, 0};
        part[face / 2] = 1;
        start[face / 2] = face % 2 ? EDGE - 1 : 0;
        MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &shape->send[face]);
        MPI_Type_commit(&shape->send[face]);
        shape->receive[face] = shape->send[face];
    }
    shape->messages = 6;
    room = sizeof(double) * EDGE * EDGE * EDGE;
}

/* Eight members of N doubles; each member's begin DISTANCE bytes behind those of the one before. */
static MPI_Datatype members(MPI_Datatype member, MPI_Aint distance)
{
    MPI_Datatype type[ARRAYS], all;
    MPI_Aint at[ARRAYS];
    int one[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) {
        type[i] = member;
        at[i] = i * distance;
        one[i] = 1;
    }
    MPI_Type_create_struct(ARRAYS, one, at, type, &all);
    MPI_Type_commit(&all);
    return all;
}

static void set_arrays(struct shape *shape, int turned)
{
    int n = BYTES / ARRAYS / (int)sizeof(double);
    MPI_Datatype array, column;
    MPI_Type_contiguous(n, MPI_DOUBLE, &array);
    MPI_Type_vector(n, 1, ARRAYS, MPI_DOUBLE, &column);
    set_one(shape, members(array, n * (MPI_Aint)sizeof(double) + 4096));
    if (turned)
        shape->receive[0] = members(column, sizeof(double));
}

static void throw_once(const struct shape *shape)
{
    MPI_Request request[6];
    int n = shape->messages;
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < n; i++)
            if (turn == rank)
                MPI_Isend(out, 1, shape->send[i], !rank, i, MPI_COMM_WORLD, &request[i]);
            else
                MPI_Irecv(in, 1, shape->receive[i], !rank, i, MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
    }
}

/* Seconds a way. */
static double once(const struct shape *shape, int n)
{
    static volatile long sum;
    double spent = 0;
    for (int i = -3; i < n; i++) {
        for (size_t k = 0; k < room; k += 8)
            *(long *)(out + k) = i + (long)k;
        double start = MPI_Wtime();
        throw_once(shape);
        if (i >= 0)
            spent += MPI_Wtime() - start;
        for (size_t k = 0; k < room; k += 8)
            sum += *(long *)(in + k);
    }
    return spent / n / 2;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    struct shape shape;
    double value[ROUNDS];
    const char *what = argc > 1 ? argv[1] : "";
    int block = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(what, "plain")) {
        MPI_Type_contiguous(BYTES, MPI_BYTE, &type);
        set_one(&shape, type);
    } else if (!strcmp(what, "vector") && block > 0) {
        MPI_Type_vector(BYTES / block, block, 2 * block, MPI_BYTE, &type);
        set_one(&shape, type);
    } else if (!strcmp(what, "faces")) {
        set_faces(&shape);
    } else if (!strcmp(what, "arrays") || !strcmp(what, "turned")) {
        set_arrays(&shape, what[0] == 't');
    } else {
        fprintf(stderr, "usage: strided plain | vector BLOCK | faces | arrays | turned\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (posix_memalign((void **)&out, 4096, room) || posix_memalign((void **)&in, 4096, room))
        MPI_Abort(MPI_COMM_WORLD, 3);
    memset(in, 0, room);
    for (int r = 0; r < ROUNDS; r++)
        value[r] = BYTES / once(&shape, shape.messages == 6 ? 20 : 100) / 1e9;
    qsort(value, ROUNDS, sizeof *value, by_value);
    if (rank == 0)
        printf("%s %d %.3f GB/s\n", what, block, value[ROUNDS / 2]);
    MPI_Finalize();
    return 0;
}
