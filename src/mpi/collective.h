/* What a collective is called with. */
#pragma once

#include "coll/coll.h"
#include "mpi/arguments.h"

#pragma GCC visibility push(hidden)

/* The arguments of any collective, as its entries hand them over. */
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
    bool neighbors; /* along the edges of a topology */
    struct mpi_side send, receive; /* bcast and reductions: type, count and counts are in receive */
};

struct mpi_comm;
struct mpi_payload;
/* See check.h. A copy, as no call may know where C lies: it is in registers. */
struct mpi_payload mpi_payload_of(struct mpi_collective c, const struct mpi_comm *comm) COLD;

#pragma GCC visibility pop
