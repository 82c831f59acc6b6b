/* The order of ranks in a grid over several nodes: each node gets a block of the grid, of the shape that the fewest
 * edges cross. All members compute it alike, from the nodes of all. Where nodes have different numbers of ranks, or no
 * block fits, ranks stay. */
#include "mpi/comm.h"

struct blocks {
    const struct mpi_topology *grid;
    int64_t least;   /* edges between blocks, of the best shape so far; -1: there is none */
    int *best, *now; /* extents of a block */
};

/* Edges of the grid that cross from block to block in one dimension, for each line of ranks. */
static int64_t lines_cut(const struct mpi_topology *grid, int dimension, int block)
{
    int blocks = grid->extent[dimension] / block;
    return blocks == 1 ? 0 : blocks - !grid->periodic[dimension];
}

/* Tries all shapes of RANKS ranks in the dimensions from DIMENSION on. CUT: edges that the ones before cut, of ALL
 * ranks of the grid. */
static void shapes_try(struct blocks *b, int dimension, int ranks, int64_t cut, int all)
{
    if (dimension == b->grid->dimensions) {
        if (ranks == 1 && (b->least < 0 || cut < b->least)) {
            b->least = cut;
            memcpy(b->best, b->now, (size_t)dimension * sizeof(int));
        }
        return;
    }
    int extent = b->grid->extent[dimension];
    for (int block = 1; block <= extent && block <= ranks; block++)
        if (extent % block == 0 && ranks % block == 0) {
            b->now[dimension] = block;
            shapes_try(b, dimension + 1, ranks / block,
                       cut + lines_cut(b->grid, dimension, block) * (all / extent), all);
        }
}

/* The rank in the grid of rank INSIDE of block BLOCK. */
static int block_place(const struct blocks *b, int block, int inside)
{
    int rank = 0, stride = 1;
    for (int i = b->grid->dimensions - 1; i >= 0; i--) {
        int extent = b->grid->extent[i], along = extent / b->best[i];
        rank += (block % along * b->best[i] + inside % b->best[i]) * stride;
        block /= along;
        inside /= b->best[i];
        stride *= extent;
    }
    return rank;
}

/* Numbers the nodes from 0 by their first ranks, in place; how many there are, 0: they differ in their ranks. */
static int nodes_number(int *node, int ranks, int *seen)
{
    int nodes = 0;
    for (int i = 0; i < ranks; i++) {
        int n = 0;
        while (n < nodes && seen[2 * n] != node[i])
            n++;
        if (n == nodes) {
            seen[2 * nodes] = node[i];
            seen[2 * nodes++ + 1] = 0;
        }
        node[i] = n;
        seen[2 * n + 1]++;
    }
    for (int n = 1; n < nodes; n++)
        if (seen[2 * n + 1] != seen[1])
            return 0;
    return nodes;
}

/* ORDER: for each rank of the grid that of the parent which it is to be. NODE and SCRATCH, of 2 numbers a rank, are
 * used up. */
static void order_find(const struct mpi_topology *grid, int ranks, int *node, int *scratch, int *order)
{
    int shape[2 * 32];
    struct blocks b = {grid, -1, shape, shape + 32};
    int nodes = grid->dimensions <= 32 ? nodes_number(node, ranks, scratch) : 0;
    if (nodes > 1)
        shapes_try(&b, 0, ranks / nodes, 0, ranks);
    for (int i = 0; i < ranks; i++)
        order[i] = i;
    if (b.least < 0)
        return;
    memset(scratch, 0, (size_t)nodes * sizeof(int)); /* ranks of each node so far */
    for (int i = 0; i < ranks; i++)
        order[block_place(&b, node[i], scratch[node[i]]++)] = i;
}

int mpi_grid_order(const char *call, struct mpi_comm *parent, const struct mpi_topology *grid, int ranks, int **order)
{
    const struct boot_job *job = mpi_process.job;
    size_t size = (size_t)parent->size;
    *order = NULL;
    if (job->local_count == job->size || !vbase_settings.reorder)
        return MPI_SUCCESS;
    int *numbers = mpi_list_new(parent->size, 4 * sizeof(int)), *node = numbers + size, *scratch = node + size;
    struct coll_call gather = {.kind = COLL_ALLGATHER, .group = &parent->coll,
                               .send = {.base = job->local_ranks, .count = sizeof(int)}, /* the lowest names a node */
                               .receive = {.base = node, .count = sizeof(int)}};
    int error = numbers ? vcoll_run(&gather) : ERR_MEMORY;
    if (error) {
        mpi_list_free(numbers);
        return mpi_engine_error(parent, call, error);
    }
    if (!grid) {
        mpi_list_free(numbers);
        return MPI_SUCCESS;
    }
    order_find(grid, ranks, node, scratch, numbers);
    *order = numbers;
    return MPI_SUCCESS;
}
