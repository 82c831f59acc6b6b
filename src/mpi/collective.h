/* The arguments of any collective, as its entries hand them over, and the three ways to run it. Private to src/mpi. */
#ifndef MPI_COLLECTIVE_H
#define MPI_COLLECTIVE_H

#include "mpi/inside.h"

struct mpi_side {
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    const void *counts, *displacements; /* of v and w forms: int, or (wide) MPI_Count and MPI_Aint */
    const MPI_Datatype *types;          /* of w forms */
};

struct mpi_collective {
    const char *call;
    enum coll_kind kind;
    MPI_Comm comm;
    int root;
    MPI_Op op;
    bool wide; /* counts and displacements are arrays of 64 bits */
    struct mpi_side send, receive; /* bcast and reductions: type, count and counts are in receive */
};

#define WIDE(counts) (sizeof *(counts) == sizeof(MPI_Count))

int mpi_collective_run(const struct mpi_collective *collective);
int mpi_collective_start(const struct mpi_collective *collective, MPI_Request *request);
int mpi_collective_prepare(const struct mpi_collective *collective, MPI_Info info, MPI_Request *request);

#endif
