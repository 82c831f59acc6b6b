/* One rank has no memory while all make a communicator: each allocation on the way fails once, at each rank in its turn. All get
 * the error or none does, nobody waits for ever, and the next one can be made. The program's own malloc and calloc say when.
 * Not tried is what the engine keeps messages in.
 * ranks: 4 mixed: 4 presets: release */
#include "mpi_check.h"
#include <stdbool.h>

void *__libc_calloc(size_t count, size_t size);
void *__libc_malloc(size_t size);

#define SLAB 4096   /* of the engine */
/* The same: it keeps messages in what malloc gives. Over a network those of more than 104 bytes come, else none so short. */
static size_t message = 256;
static int left = -1; /* successful allocations until one fails; -1: none does */
static bool failed;

static bool fails(void)
{
    failed |= left == 0;
    left -= left >= 0;
    return left == -1 && failed;
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
    return left >= 0 && count * bytes < SLAB && fails() ? NULL : __libc_calloc(count, bytes);
}
__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    return left >= 0 && bytes < message && fails() ? NULL : __libc_malloc(bytes);
}

static MPI_Comm half, inter;
static MPI_Group world, some;

static int dup_make(MPI_Comm *out) { return MPI_Comm_dup(MPI_COMM_WORLD, out); }
static int idup_make(MPI_Comm *out)
{
    MPI_Request request;
    int error = MPI_Comm_idup(MPI_COMM_WORLD, out, &request);
    return error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int inter_dup_make(MPI_Comm *out) { return MPI_Comm_dup(inter, out); }
static int split_make(MPI_Comm *out) { return MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, out); }
static int inter_split_make(MPI_Comm *out) { return MPI_Comm_split(inter, 0, 0, out); }
static int split_type_make(MPI_Comm *out)
{
    return MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, out);
}
static int create_make(MPI_Comm *out) { return MPI_Comm_create(MPI_COMM_WORLD, some, out); }
static int create_group_make(MPI_Comm *out) { return MPI_Comm_create_group(MPI_COMM_WORLD, world, 1, out); }
static int from_group_make(MPI_Comm *out)
{
    return MPI_Comm_create_from_group(world, "a group", MPI_INFO_NULL, MPI_ERRORS_RETURN, out);
}
static int grid_make(MPI_Comm *out) { return MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &(int){0}, 1, out); }
static int graph_make(MPI_Comm *out)
{
    return MPI_Graph_create(MPI_COMM_WORLD, 3, (int[]){1, 2, 3}, (int[]){1, 2, 0}, 0, out);
}
static int adjacent_make(MPI_Comm *out)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    return MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                          out);
}
static int dist_graph_make(MPI_Comm *out)
{
    int next = (rank + 1) % size;
    return MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &(int){1}, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, out);
}
static int inter_make(MPI_Comm *out) { return MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rank % 2), 5, out); }
static int merge_make(MPI_Comm *out) { return MPI_Intercomm_merge(inter, rank % 2, out); }

static const struct maker {
    const char *name;
    int (*make)(MPI_Comm *out);
    int least; /* allocations that are spared */
} makers[] = {{"dup", dup_make, 0}, {"idup", idup_make, 0}, {"dup of two groups", inter_dup_make, 0}, {"split", split_make, 0},
              {"split_type", split_type_make, 0}, {"split of two groups", inter_split_make, 0},
              {"create", create_make, 0}, {"create_group", create_group_make, 0},
              {"create_from_group", from_group_make, 0}, {"cart", grid_make, 0}, {"graph", graph_make, 0},
              {"adjacent", adjacent_make, 0}, {"dist_graph", dist_graph_make, 0}, {"intercomm_create", inter_make, 0},
              {"merge", merge_make, 0}};

/* Whether there was an allocation to fail. */
static bool try(const struct maker *maker, int unlucky, int spared)
{
    MPI_Comm made = MPI_COMM_NULL;
    failed = false;
    left = rank == unlucky ? spared : -1;
    int error = maker->make(&made), all[3];
    left = -1;
    CHECK(!error || made == MPI_COMM_NULL);
    CHECK(!error || class_of(error) == MPI_ERR_NO_MEM);
    int mine[3] = {!error, error != MPI_SUCCESS, failed};
    MPI_Allreduce(mine, all, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (all[0] + all[1] != 1) {
        fprintf(stderr, "%s: rank %d fails after %d allocations, and not all others do\n", maker->name, unlucky, spared);
        CHECK(all[0] + all[1] == 1);
    } else if (made != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_free(&made));
    }
    return all[2];
}

int main(void)
{
    if (getenv("VIADUCT_NODE"))
        message = 105;
    check_init();
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rank % 2), 5, &inter);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, (int[]){0, 1}, &some);
    MPI_Comm things[] = {MPI_COMM_WORLD, MPI_COMM_SELF, half, inter};
    for (int i = 0; i < 4; i++)
        MPI_Comm_set_errhandler(things[i], MPI_ERRORS_RETURN);
    for (size_t m = 0; m < sizeof makers / sizeof *makers; m++)
        for (int unlucky = 0; unlucky < size; unlucky++) {
            MPI_Comm made;
            CHECK_OK(makers[m].make(&made));
            if (made != MPI_COMM_NULL)
                CHECK_OK(MPI_Comm_free(&made));
            for (int spared = makers[m].least; try(&makers[m], unlucky, spared) && !check_failed; spared++)
                ;
        }
    MPI_Group_free(&some);
    MPI_Group_free(&world);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return check_finalize();
}
