/* mplite: a periodic grid of the ranks. One grid at a time; pure arithmetic, nothing is sent. */
#include "lite.h"
#include "mplite.h"

#define DIMENSIONS_MAX 10

static struct {
    int dimensions; /* 0: MP_Cart_Create was not called */
    int dims[DIMENSIONS_MAX];
} grid;

static void check_grid(const char *call)
{
    vmplite_check_started(call);
    if (grid.dimensions == 0)
        vmplite_fail(call, "MP_Cart_Create must come before");
}

/* The greatest prime factors first, each to the dimension that is smallest by then. */
static void choose(int dimensions, int *dims)
{
    int factors[32], count = 0, rest = vmplite.size;
    for (int prime = 2; rest > 1; prime++) {
        if (prime * (long)prime > rest)
            prime = rest;
        for (; rest % prime == 0; rest /= prime)
            factors[count++] = prime;
    }
    for (int i = 0; i < dimensions; i++)
        dims[i] = 1;
    while (count-- > 0) {
        int least = 0;
        for (int i = 1; i < dimensions; i++)
            if (dims[i] < dims[least])
                least = i;
        dims[least] *= factors[count];
    }
}

VEXPORT void MP_Cart_Create(int dimensions, int *dims)
{
    vmplite_check_started("MP_Cart_Create");
    if (dimensions < 1 || dimensions > DIMENSIONS_MAX)
        vmplite_fail("MP_Cart_Create", "%d dimensions: they are 1 to %d", dimensions, DIMENSIONS_MAX);
    if (dims[0] == 0)
        choose(dimensions, dims);
    long product = 1;
    for (int i = 0; i < dimensions; i++) {
        if (dims[i] < 1 || dims[i] > vmplite.size)
            vmplite_fail("MP_Cart_Create", "dimension %d is %d: with %d ranks it is 1 to %d", i, dims[i], vmplite.size,
                         vmplite.size);
        product *= dims[i];
        if (product > vmplite.size)
            break;
    }
    if (product != vmplite.size)
        vmplite_fail("MP_Cart_Create", "the product of the dimensions is not the number of ranks, %d", vmplite.size);
    grid.dimensions = dimensions;
    for (int i = 0; i < dimensions; i++)
        grid.dims[i] = dims[i];
}

static void coordinates(int rank, int *coords)
{
    for (int i = 0; i < grid.dimensions; i++) {
        coords[i] = rank % grid.dims[i];
        rank /= grid.dims[i];
    }
}

/* Coordinates beyond an edge come in again at the other side. */
static int rank_at(const int *coords)
{
    int rank = 0;
    for (int i = grid.dimensions; i-- > 0;) {
        int at = coords[i] % grid.dims[i];
        rank = rank * grid.dims[i] + (at < 0 ? at + grid.dims[i] : at);
    }
    return rank;
}

VEXPORT void MP_Cart_Coords(int rank, int *coords)
{
    check_grid("MP_Cart_Coords");
    vmplite_check_rank("MP_Cart_Coords", "rank", rank);
    coordinates(rank, coords);
}

VEXPORT void MP_Cart_Get(int *dims, int *coords)
{
    check_grid("MP_Cart_Get");
    for (int i = 0; i < grid.dimensions; i++)
        dims[i] = grid.dims[i];
    coordinates(vmplite.rank, coords);
}

VEXPORT void MP_Cart_Rank(const int *coords, int *rank)
{
    check_grid("MP_Cart_Rank");
    *rank = rank_at(coords);
}

VEXPORT void MP_Cart_Shift(int direction, int distance, int *source, int *dest)
{
    check_grid("MP_Cart_Shift");
    if (direction < 0 || direction >= grid.dimensions)
        vmplite_fail("MP_Cart_Shift", "direction %d: they are 0 to %d", direction, grid.dimensions - 1);
    int coords[DIMENSIONS_MAX] = {0}, own, step = distance % grid.dims[direction];
    coordinates(vmplite.rank, coords);
    own = coords[direction];
    coords[direction] = own - step;
    *source = rank_at(coords);
    coords[direction] = own + step;
    *dest = rank_at(coords);
}
