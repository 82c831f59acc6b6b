/* Cartesian topologies (graphs are in graph.c): ranks laid out in a grid, the last dimension fastest. Ranks are
 * reordered over several nodes alone: on one node every neighbour is as near as the others. A topology is the
 * communicator's and is copied with it. */
#include "mpi/comm.h"
#include "mpi/info.h"

static void grid_coordinates(const struct mpi_topology *topology, int rank, int *coordinates)
{
    for (int i = topology->dimensions - 1; i >= 0; i--) {
        coordinates[i] = rank % topology->extent[i];
        rank /= topology->extent[i];
    }
}

/* The rank at COORDINATES, round where periodic; MPI_PROC_NULL outside of the grid. */
static int grid_rank(const struct mpi_topology *topology, const int *coordinates)
{
    int rank = 0;
    for (int i = 0; i < topology->dimensions; i++) {
        int extent = topology->extent[i], at = coordinates[i];
        if (topology->periodic[i])
            at = (at % extent + extent) % extent;
        else if (at < 0 || at >= extent)
            return MPI_PROC_NULL;
        rank = rank * extent + at;
    }
    return rank;
}

/* The neighbours one step away in each dimension, down and up. What this rank sends down arrives there as what comes
 * from above, also where both are the same rank: so blocks are received in the order in which they were sent. */
static void grid_edges_find(struct mpi_topology *grid)
{
    struct coll_edges *edges = &grid->edges;
    grid->indegree = grid->outdegree = 2 * grid->dimensions;
    for (int block = 0; block < grid->outdegree; block++)
        for (int sends = 0; sends < 2; sends++) {
            int at = sends ? block : block ^ 1, *place = &grid->coordinates[at / 2], home = *place;
            *place += at % 2 ? 1 : -1;
            struct coll_edge edge = {grid_rank(grid, grid->coordinates), at};
            *place = home;
            if (edge.rank == MPI_PROC_NULL)
                continue;
            if (sends)
                edges->out[edges->outs++] = edge;
            else
                edges->in[edges->ins++] = edge;
        }
}

static struct mpi_topology *grid_new(int n)
{
    struct mpi_topology *grid = mpi_topology_new(MPI_CART, (int[TOPOLOGY_LISTS]){n, n, n}, 2 * n, 2 * n);
    if (grid)
        grid->dimensions = n;
    return grid;
}

/* ---- making ---- */

/* The number of ranks in a grid of DIMS; raises where it is wrong or more than there are. */
static int grid_check(struct mpi_comm *comm, const char *call, int n, const int *dims, int *ranks)
{
    int64_t product = 1;
    if (n < 0 || (n > 0 && !dims))
        return mpi_error(comm, call, n < 0 ? MPI_ERR_DIMS : MPI_ERR_ARG, "a grid of %d dimensions at %p", n,
                         (const void *)dims);
    for (int i = 0; i < n; i++) {
        if (dims[i] < 1)
            return mpi_error(comm, call, MPI_ERR_DIMS, "dimension %d has %d ranks", i, dims[i]);
        product *= dims[i];
        if (product > comm->size)
            return mpi_error(comm, call, MPI_ERR_DIMS, "the grid has more ranks than the %d of the communicator",
                             comm->size);
    }
    *ranks = (int)product;
    return MPI_SUCCESS;
}

/* The new communicator over GROUP, which is dropped, with TOPOLOGY, which it takes. A MEMBER that lacks one of them had
 * no memory. */
static int grid_make(const char *call, struct mpi_comm *parent, bool member, struct mpi_group *group,
                     struct mpi_topology *topology, MPI_Comm *out)
{
    bool unable = member && (!group || !topology);
    if (member && !unable) {
        grid_coordinates(topology, group->rank, topology->coordinates);
        grid_edges_find(topology);
    }
    int error = mpi_comm_make(&(struct mpi_child){call, parent, group, .topology = topology, .unable = unable}, out);
    mpi_drop(group);
    return error;
}

/* The members of a grid, which may be in another order; NULL: this process is none, or there is no memory. A class that
 * was raised. */
static int grid_group(const char *call, struct mpi_comm *parent, const struct mpi_topology *grid, int ranks,
                      int reorder, struct mpi_group **group)
{
    int *order = NULL, error = reorder ? mpi_grid_order(call, parent, grid, ranks, &order) : MPI_SUCCESS;
    if (error || parent->thing.rank >= ranks) {
        mpi_list_free(order);
        return error;
    }
    for (int i = 0; order && i < ranks; i++)
        order[i] = parent->group->world[order[i]];
    *group = mpi_group_make(ranks, order ?: parent->group->world, parent->group);
    mpi_list_free(order);
    return MPI_SUCCESS;
}

ENTRY(MPI_Cart_create)(MPI_Comm handle, int n, const int dims[], const int periods[], int reorder, MPI_Comm *comm_cart)
{
    struct mpi_comm *parent;
    int ranks;
    ENTER("MPI_Cart_create");
    int error = CHECK(PLAIN_OF(handle, &parent), GIVEN(comm_cart), GIVEN_IF(n > 0, periods, "periods")) ?:
                grid_check(parent, NAME, n, dims, &ranks);
    if (error)
        return error;
    struct mpi_topology *topology = grid_new(n);
    struct mpi_group *group = NULL;
    for (int i = 0; topology && i < n; i++) {
        topology->extent[i] = dims[i];
        topology->periodic[i] = periods[i] != 0;
    }
    error = grid_group(NAME, parent, topology, ranks, reorder, &group); /* without one, too: the others wait */
    if (!error)
        return grid_make(NAME, parent, parent->thing.rank < ranks, group, topology, comm_cart);
    free(topology);
    return error;
}

/* Those ranks of PARENT whose coordinates differ from ours at most where REMAIN is set, in the order of the grid. */
static struct mpi_group *grid_slice(const struct mpi_comm *parent, const int *remain)
{
    const struct mpi_topology *grid = parent->topology;
    int *world = malloc((size_t)parent->size * sizeof(int)), *at = malloc((size_t)(grid->dimensions + 1) * sizeof(int));
    struct mpi_group *group = NULL;
    int count = 0;
    for (int rank = 0; world && at && rank < parent->size; rank++) {
        bool same = true;
        grid_coordinates(grid, rank, at);
        for (int i = 0; i < grid->dimensions; i++)
            same &= remain[i] || at[i] == grid->coordinates[i];
        if (same)
            world[count++] = parent->group->world[rank];
    }
    if (world && at)
        group = mpi_group_make(count, world, parent->group);
    free(world);
    free(at);
    return group;
}

ENTRY(MPI_Cart_sub)(MPI_Comm handle, const int remain[], MPI_Comm *newcomm)
{
    struct mpi_comm *parent;
    DOING("MPI_Cart_sub");
    int error = CHECK(GRID_OF(handle, &parent), GIVEN(newcomm));
    if (error)
        return error;
    const struct mpi_topology *grid = parent->topology;
    if (grid->dimensions > 0 && !remain)
        return mpi_null(parent, NAME, "remain_dims");
    struct mpi_topology *topology = grid_new(grid->dimensions);
    int n = 0;
    for (int i = 0; topology && i < grid->dimensions; i++)
        if (remain[i]) {
            topology->extent[n] = grid->extent[i];
            topology->periodic[n++] = grid->periodic[i];
        }
    if (topology)
        topology->dimensions = n;
    return grid_make(NAME, parent, true, grid_slice(parent, remain), topology, newcomm);
}

/* ---- questions ---- */

static int topology_kind(const struct mpi_topology *topology) { return topology ? topology->kind : MPI_UNDEFINED; }
ENTRY(MPI_Topo_test)(MPI_Comm comm, int *status)
    { return CHECK(COMM_OF(comm), GIVEN(status)) ?: mpi_tell(status, topology_kind(mpi_comm_at(comm)->topology)); }
ENTRY(MPI_Cartdim_get)(MPI_Comm comm, int *ndims)
    { return CHECK(GRID_OF(comm), GIVEN(ndims)) ?: mpi_tell(ndims, mpi_comm_at(comm)->topology->dimensions); }

static int arrays_refuse(struct mpi_comm *comm, const char *call, int room)
{
    return mpi_error(comm, call, MPI_ERR_ARG, "arrays of %d for a grid of %d dimensions", room,
                     comm->topology->dimensions);
}

ENTRY(MPI_Cart_get)(MPI_Comm handle, int room, int dims[], int periods[], int coordinates[])
{
    struct mpi_comm *comm;
    int error = CHECK(GRID_OF(handle, &comm));
    if (error)
        return error;
    const struct mpi_topology *grid = comm->topology;
    if (room < grid->dimensions || (grid->dimensions > 0 && (!dims || !periods || !coordinates)))
        return arrays_refuse(comm, NAME, room);
    for (int i = 0; i < grid->dimensions; i++) {
        dims[i] = grid->extent[i];
        periods[i] = grid->periodic[i];
        coordinates[i] = grid->coordinates[i];
    }
    return MPI_SUCCESS;
}

ENTRY(MPI_Cart_coords)(MPI_Comm handle, int rank, int room, int coordinates[])
{
    struct mpi_comm *comm;
    char name[64];
    int error = CHECK(GRID_OF(handle, &comm));
    if (error)
        return error;
    const struct mpi_topology *grid = comm->topology;
    if ((unsigned)rank >= (unsigned)comm->size)
        return mpi_error(comm, NAME, MPI_ERR_RANK, "rank %d is not in %s of %d ranks", rank, mpi_thing_name(comm, name),
                         comm->size);
    if (room < grid->dimensions || (grid->dimensions > 0 && !coordinates))
        return arrays_refuse(comm, NAME, room);
    grid_coordinates(grid, rank, coordinates);
    return MPI_SUCCESS;
}

static int cart_rank(const char *call, struct mpi_comm *comm, const int *coordinates, int *rank)
{
    if (comm->topology->dimensions > 0 && !coordinates)
        return mpi_null(comm, call, "coords");
    int found = grid_rank(comm->topology, coordinates);
    if (found == MPI_PROC_NULL)
        return mpi_error(comm, call, MPI_ERR_ARG, "the coordinates lie outside of the grid");
    return mpi_tell(rank, found);
}
ENTRY(MPI_Cart_rank)(MPI_Comm comm, const int coords[], int *rank)
    { return CHECK(GRID_OF(comm), GIVEN(rank)) ?: cart_rank(NAME, mpi_comm_at(comm), coords, rank); }

ENTRY(MPI_Cart_shift)(MPI_Comm handle, int direction, int distance, int *rank_source, int *rank_dest)
{
    struct mpi_comm *comm;
    int error = CHECK(GRID_OF(handle, &comm), GIVEN(rank_source), GIVEN(rank_dest));
    if (error)
        return error;
    const struct mpi_topology *grid = comm->topology;
    if (direction < 0 || direction >= grid->dimensions)
        return mpi_error(comm, NAME, MPI_ERR_ARG, "direction %d in a grid of %d dimensions", direction,
                         grid->dimensions);
    int extent = grid->extent[direction], home = grid->coordinates[direction];
    int64_t forth = (int64_t)home + distance, back = (int64_t)home - distance;
    if (grid->periodic[direction]) {
        forth = (forth % extent + extent) % extent;
        back = (back % extent + extent) % extent;
    }
    int stride = 1;
    for (int i = direction + 1; i < grid->dimensions; i++)
        stride *= grid->extent[i];
    *rank_dest = forth < 0 || forth >= extent ? MPI_PROC_NULL : comm->thing.rank + (int)(forth - home) * stride;
    *rank_source = back < 0 || back >= extent ? MPI_PROC_NULL : comm->thing.rank + (int)(back - home) * stride;
    return MPI_SUCCESS;
}

static int cart_map(const char *call, struct mpi_comm *comm, int n, const int *dims, int *rank)
{
    int ranks, error = grid_check(comm, call, n, dims, &ranks);
    return error ?: mpi_tell(rank, comm->thing.rank < ranks ? comm->thing.rank : MPI_UNDEFINED);
}
ENTRY(MPI_Cart_map)(MPI_Comm comm, int n, const int dims[], const int periods[], int *newrank)
{
    return CHECK(PLAIN_OF(comm), GIVEN(newrank)) ?:
           ((void)periods, cart_map(NAME, mpi_comm_at(comm), n, dims, newrank));
}

/* ---- dims ---- */

#define MOST_FACTORS 31 /* above 1, of an int */

/* The search for factors as near to each other as can be: the difference between the largest and the smallest decides,
 * then the smallest is as large as can be, then the one before it, and so on. */
struct spread {
    int best; /* the least difference so far */
    int count, trial[MOST_FACTORS], found[MOST_FACTORS]; /* falling */
};

/* The largest number whose COUNTth power is at most N. */
static int root_of(int n, int count)
{
    int low = 1, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2 + 1, left = n;
        for (int i = 0; i < count && left > 0; i++)
            left /= middle;
        low = left > 0 ? middle : low;
        high = left > 0 ? high : middle - 1;
    }
    return low;
}

/* N in COUNT factors, chosen from the last one on, large ones first. */
static void factors_find(struct spread *search, int n, int count)
{
    bool last = count == search->count;
    if (count == 1) {
        search->trial[0] = n;
        search->best = n - (last ? n : search->trial[search->count - 1]);
        memcpy(search->found, search->trial, sizeof search->found);
        return;
    }
    for (int factor = root_of(n, count), least = last ? 1 : search->trial[count]; factor >= least; factor--) {
        if (n % factor)
            continue;
        search->trial[count - 1] = factor;
        int rest = n / factor, largest = root_of(rest, count - 1); /* of the others, at least */
        if (largest - search->trial[search->count - 1] >= search->best)
            return; /* and a smaller factor leaves more for them */
        factors_find(search, rest, count - 1);
    }
}

ENTRY(MPI_Dims_create)(int ranks, int n, int dims[])
{
    mpi_enter(NAME);
    if (ranks < 1 || n < 0 || (n > 0 && !dims))
        return mpi_error(NULL, NAME, MPI_ERR_DIMS, "%d ranks in %d dimensions", ranks, n);
    int64_t fixed = 1;
    int open = 0;
    for (int i = 0; i < n; i++) {
        if (dims[i] < 0 || (dims[i] > 0 && fixed > ranks / dims[i]))
            return mpi_error(NULL, NAME, MPI_ERR_DIMS, "dimension %d of %d does not fit %d ranks", i, dims[i], ranks);
        fixed *= dims[i] ? dims[i] : 1;
        open += dims[i] == 0;
    }
    if (ranks % fixed || (open == 0 && n > 0 && fixed != ranks))
        return mpi_error(NULL, NAME, MPI_ERR_DIMS, "%d ranks cannot be divided by the %lld of the fixed dimensions",
                         ranks, (long long)fixed);
    if (open == 0)
        return MPI_SUCCESS;
    struct spread search = {.best = INT_MAX, .count = open < MOST_FACTORS ? open : MOST_FACTORS};
    factors_find(&search, ranks / (int)fixed, search.count);
    for (int i = 0, next = 0; i < n; i++)
        if (dims[i] == 0)
            dims[i] = next < search.count ? search.found[next++] : 1;
    return MPI_SUCCESS;
}
