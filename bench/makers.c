/* Figures of what makes communicators, and of neighborhoods, of any MPI: portable, built and run by bench/compare.
 *
 *   makers inter|graph|split|session [TIMES]   microseconds a time, of the slowest rank:
 *       inter     an intercommunicator of the two halves, merged; both freed
 *       graph     a graph of 16 neighbors a rank, freed
 *       split     into groups of 16, freed
 *       session   a second session: a communicator of all, freed; finalized
 *   makers halo [TIMES]                        microseconds an exchange of a periodic grid of three dimensions, by
 *       persistent messages, MPI_Neighbor_alltoall and MPI_Neighbor_alltoallw, of 8, 1024 and 65536 bytes a face */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION < 4
#define NO_SESSIONS /* there is no figure then */
#endif
#define FACES 6
#define NEIGHBORS 16
#define MEMBERS 16

static int rank, ranks;
static MPI_Comm half;

static void inter(void)
{
    MPI_Comm between, all;
    int low = rank < ranks / 2;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? ranks / 2 : 0, 7, &between);
    MPI_Intercomm_merge(between, !low, &all);
    MPI_Comm_free(&all);
    MPI_Comm_free(&between);
}

static void graph(void)
{
    int from[NEIGHBORS], to[NEIGHBORS];
    MPI_Comm made;
    for (int i = 0; i < NEIGHBORS; i++) {
        to[i] = (rank + i + 1) % ranks;
        from[i] = (rank + ranks - (i + 1) % ranks) % ranks;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, NEIGHBORS, from, MPI_UNWEIGHTED, NEIGHBORS, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &made);
    MPI_Comm_free(&made);
}

static void split(void)
{
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, rank / MEMBERS, rank, &made);
    MPI_Comm_free(&made);
}

#ifndef NO_SESSIONS
static void session(void)
{
    MPI_Session made;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
    MPI_Group_from_session_pset(made, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "bench", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&made);
}
#endif

static const struct {
    const char *name;
    void (*once)(void);
} makers[] = {{"inter", inter}, {"graph", graph}, {"split", split},
#ifndef NO_SESSIONS
                {"session", session},
#endif
};

static double slowest(double seconds)
{
    double most;
    MPI_Reduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return most;
}

static void timed(const char *name, void (*once)(void), int times)
{
    for (int i = 0; i < times / 10 + 1; i++)
        once();
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < times; i++)
        once();
    double most = slowest(MPI_Wtime() - start);
    if (rank == 0)
        printf("%s %d %.3f us\n", name, ranks, most / times * 1e6);
}

/* ---- a halo exchange ---- */

static MPI_Comm grid;
static char *in, *out;
static int face, ones[FACES];
static MPI_Datatype type[FACES];
static MPI_Aint offset[FACES];
static MPI_Request request[2 * FACES];

static void persistent(void)
{
    MPI_Startall(2 * FACES, request);
    MPI_Waitall(2 * FACES, request, MPI_STATUSES_IGNORE);
}

static void alltoall(void) { MPI_Neighbor_alltoall(out, face, MPI_BYTE, in, face, MPI_BYTE, grid); }
static void alltoallw(void) { MPI_Neighbor_alltoallw(out, ones, offset, type, in, ones, offset, type, grid); }

static const struct {
    const char *name;
    void (*once)(void);
} halos[] = {{"halo_persistent", persistent}, {"halo_alltoall", alltoall}, {"halo_alltoallw", alltoallw}};

static void exchanges_make(int bytes)
{
    face = bytes;
    for (int i = 0; i < FACES; i++) {
        int source, target;
        ones[i] = 1;
        offset[i] = (MPI_Aint)i * face;
        MPI_Type_contiguous(face, MPI_BYTE, &type[i]);
        MPI_Type_commit(&type[i]);
        MPI_Cart_shift(grid, i / 2, i % 2 ? 1 : -1, &source, &target);
        MPI_Recv_init(in + offset[i], face, MPI_BYTE, target, i ^ 1, grid, &request[i]);
        MPI_Send_init(out + offset[i], face, MPI_BYTE, target, i, grid, &request[FACES + i]);
    }
}

static void exchanges_free(void)
{
    for (int i = 0; i < 2 * FACES; i++)
        MPI_Request_free(&request[i]);
    for (int i = 0; i < FACES; i++)
        MPI_Type_free(&type[i]);
}

static void halo(int times)
{
    static const int bytes[] = {8, 1024, 65536};
    int shape[3] = {0}, round[3] = {1, 1, 1};
    MPI_Dims_create(ranks, 3, shape);
    MPI_Cart_create(MPI_COMM_WORLD, 3, shape, round, 0, &grid);
    in = calloc(FACES, 65536);
    out = calloc(FACES, 65536);
    for (int b = 0; b < 3; b++) {
        exchanges_make(bytes[b]);
        for (int h = 0; h < 3; h++) {
            for (int i = 0; i < times / 10 + 1; i++)
                halos[h].once();
            MPI_Barrier(MPI_COMM_WORLD);
            double start = MPI_Wtime();
            for (int i = 0; i < times; i++)
                halos[h].once();
            double most = slowest(MPI_Wtime() - start);
            if (rank == 0)
                printf("%s %d %.3f us\n", halos[h].name, face, most / times * 1e6);
        }
        exchanges_free();
    }
    MPI_Comm_free(&grid);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int times = argc > 2 ? atoi(argv[2]) : 100;
    if (argc > 1 && !strcmp(argv[1], "halo"))
        halo(times);
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2, rank, &half);
    for (size_t i = 0; argc > 1 && i < sizeof makers / sizeof *makers; i++)
        if (!strcmp(argv[1], makers[i].name))
            timed(makers[i].name, makers[i].once, times);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
