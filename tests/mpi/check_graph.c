/* With VIADUCT_CHECK a graph of which some ranks give weights and others MPI_UNWEIGHTED is told on all of them; ranks
 * without edges may give either.
 * ranks: 2 5 tcp: 3 presets: release */
#include "mpi_check.h"
#include <stdbool.h>

/* A ring. */
static int graph_make(bool weighted, MPI_Comm *graph)
{
    int before = (rank + size - 1) % size, behind = (rank + 1) % size, one = 1;
    const int *weights = weighted ? &one : MPI_UNWEIGHTED;
    return MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, weights, 1, &behind, weights, MPI_INFO_NULL, 0,
                                          graph);
}

int main(void)
{
    MPI_Comm graph;
    setenv("VIADUCT_CHECK", "1", 1);
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int weighted = 0; weighted < 2; weighted++) {
        CHECK_OK(graph_make(weighted, &graph));
        CHECK_OK(MPI_Comm_free(&graph));
    }
    CHECK_CLASS(graph_make(rank == 1, &graph), MPI_ERR_ARG);
    CHECK_CLASS(graph_make(rank != 1, &graph), MPI_ERR_ARG);
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
                                            rank ? MPI_WEIGHTS_EMPTY : NULL, MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Comm_free(&graph));
    return check_finalize();
}
