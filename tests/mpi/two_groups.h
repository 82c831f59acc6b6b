/* For tests of intercommunicators: the first ranks of the world in two groups of given sizes. */
#ifndef TESTS_MPI_TWO_GROUPS_H
#define TESTS_MPI_TWO_GROUPS_H

#include "mpi_check.h"

static const int two_sizes[][2] = {{1, 1}, {1, 3}, {3, 1}, {2, 4}, {5, 3}};
#define TWO_SIZES (int)(sizeof two_sizes / sizeof two_sizes[0])

static int side, me, own, theirs; /* group 0 or 1 of this rank, its rank there, and the sizes of its and the other one */
static MPI_Comm local = MPI_COMM_NULL, inter = MPI_COMM_NULL;

/* False: not in one of the groups. The second one has its ranks turned round, and its last as its leader. */
static int two_groups_open(int first, int second)
{
    if (first + second > size)
        return 0;
    side = rank >= first;
    int in = rank < first + second;
    MPI_Comm_split(MPI_COMM_WORLD, in ? side : MPI_UNDEFINED, side ? -rank : rank, &local);
    if (!in)
        return 0;
    MPI_Comm_rank(local, &me);
    own = side ? second : first;
    theirs = side ? first : second;
    CHECK_OK(MPI_Intercomm_create(local, side ? second - 1 : 0, MPI_COMM_WORLD, side ? 0 : first, 17, &inter));
    return 1;
}

static void two_groups_close(void)
{
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK(inter == MPI_COMM_NULL);
    MPI_Comm_free(&local);
}

#endif
