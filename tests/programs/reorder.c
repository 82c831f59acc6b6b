/* Prints how many edges of a 4 x 4 grid, and of a round one of 2 x 8, lie between nodes of 4 ranks, and whether ranks stayed;
 * checks that neighbours are the ones they say they are. With a second argument that many halo exchanges follow, of 64 KiB a
 * face of the 4 x 4 grid. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int node_of(int rank, const char *how) { return how[0] == 'b' ? rank / 4 : rank % 4; }

static int edges(int *extent, int *round, const char *how, int *stayed)
{
    MPI_Comm grid;
    int world, rank, out[4], in[4], between = 0, all, same;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Cart_create(MPI_COMM_WORLD, 2, extent, round, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    for (int i = 0; i < 4; i++)
        out[i] = world, in[i] = -1;
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid);
    MPI_Group group, of_world;
    MPI_Comm_group(grid, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &of_world);
    for (int i = 0; i < 4; i++) {
        int down, up, neighbor, expected = -1;
        MPI_Cart_shift(grid, i / 2, 1, &down, &up);
        neighbor = i % 2 ? up : down;
        if (neighbor != MPI_PROC_NULL)
            MPI_Group_translate_ranks(group, 1, &neighbor, of_world, &expected);
        if (in[i] != expected)
            printf("rank %d: neighbour %d is %d, not %d\n", world, i, in[i], expected);
        between += expected >= 0 && i % 2 && node_of(expected, how) != node_of(world, how);
    }
    same = rank == world;
    MPI_Allreduce(&between, &all, 1, MPI_INT, MPI_SUM, grid);
    MPI_Allreduce(&same, stayed, 1, MPI_INT, MPI_LAND, grid);
    MPI_Group_free(&group);
    MPI_Group_free(&of_world);
    MPI_Comm_free(&grid);
    return all;
}

#define FACE 65536
static void exchange(int times)
{
    static char out[4][FACE], in[4][FACE];
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){4, 4}, (int[]){0, 0}, 1, &grid);
    for (int i = 0; i < times; i++)
        MPI_Neighbor_alltoall(out, FACE, MPI_BYTE, in, FACE, MPI_BYTE, grid);
    MPI_Comm_free(&grid);
}

int main(int argc, char **argv)
{
    int rank, stayed[2], square, round;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    square = edges((int[]){4, 4}, (int[]){0, 0}, argv[1], &stayed[0]);
    round = edges((int[]){2, 8}, (int[]){0, 1}, argv[1], &stayed[1]);
    exchange(argc > 2 ? atoi(argv[2]) : 0);
    if (rank == 0)
        printf("square %d round %d%s\n", square, round, stayed[0] && stayed[1] ? " stayed" : "");
    MPI_Finalize();
    return 0;
}
