/* With VIADUCT_CHECK, too, a collective with a wrong argument at some ranks has not taken place there: the others wait
 * for the right one, which may follow, and that and all later ones are compared as before.
 * ranks: 2 3 5 presets: release asan */
#include "two_groups.h"

static void plain(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int root = size - 1, sum = 0, n = rank, all[8] = {0}, counts[8];
    MPI_Request request;
    for (int i = 0; i < 8; i++)
        counts[i] = 1;
    if (rank == 0) {
        CHECK_CLASS(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, NULL, 0, MPI_INT, root, world), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Bcast(&n, -1, MPI_INT, root, world), MPI_ERR_COUNT);
        CHECK_CLASS(MPI_Bcast(&n, 1, MPI_INT, size, world), MPI_ERR_ROOT);
        CHECK_CLASS(MPI_Allreduce(&n, &sum, 1, MPI_DATATYPE_NULL, MPI_SUM, world), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_Ibcast(&n, -1, MPI_INT, root, world, &request), MPI_ERR_COUNT);
        CHECK_CLASS(MPI_Bcast_init(&n, -1, MPI_INT, root, world, MPI_INFO_NULL, &request), MPI_ERR_COUNT);
        CHECK_CLASS(MPI_Reduce_scatter(all, all + 1, (int[]){-1, 1, 1, 1, 1}, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT);
    }
    CHECK_OK(MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, world));
    CHECK_EQUAL(sum, size * (size - 1) / 2);
    CHECK_OK(MPI_Gather(&n, 1, MPI_INT, all, 1, MPI_INT, root, world));
    for (int i = 0; i < size && rank == root; i++)
        CHECK_EQUAL(all[i], i);
    CHECK_OK(MPI_Reduce_scatter(counts, &sum, counts, MPI_INT, MPI_SUM, world));
    CHECK_EQUAL(sum, size);
    /* those that differ are named as ever */
    CHECK_CLASS(rank == 0 ? MPI_Barrier(world) : MPI_Bcast(&n, 1, MPI_INT, root, world), MPI_ERR_OTHER);
    CHECK_OK(MPI_Barrier(world));
}

static void between(void)
{
    int root = side == 1 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, all[8] = {-1}, sum = 0;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    if (side == 1) {
        CHECK_CLASS(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, NULL, 0, MPI_INT, root, inter), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Reduce(MPI_IN_PLACE, NULL, 1, MPI_INT, MPI_SUM, root, inter), MPI_ERR_BUFFER);
    }
    CHECK_OK(MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_SUM, root, inter));
    CHECK_EQUAL(sum, root == MPI_ROOT ? theirs * (theirs - 1) / 2 : 0);
    CHECK_OK(MPI_Gather(&me, 1, MPI_INT, all, 1, MPI_INT, root, inter));
    for (int i = 0; i < theirs && root == MPI_ROOT; i++)
        CHECK_EQUAL(all[i], i);
}

int main(void)
{
    setenv("VIADUCT_CHECK", "1", 1);
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    plain();
    if (two_groups_open(size / 2, size - size / 2)) {
        between();
        two_groups_close();
    }
    return check_finalize();
}
