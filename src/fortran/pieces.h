/* The predefined types that a datatype is made of, in their order. */
#pragma once

#include "fortran/fortran.h"

struct fortran_piece {
    MPI_Datatype type;
    MPI_Count at, bytes, times; /* TIMES of TYPE, each BYTES long, one behind the other */
};
struct fortran_pieces {
    struct fortran_piece *piece; /* the caller frees it, after an error, too */
    size_t count, room;
};

/* Adds those of TIMES of TYPE that lie at AT. MPI_ERR_TYPE: there is a distributed array in it. */
int fortran_pieces_find(MPI_Datatype type, MPI_Count at, MPI_Count times, struct fortran_pieces *to);
/* Adds one; it grows the last one where it continues it. */
int fortran_piece_add(struct fortran_pieces *to, MPI_Datatype type, MPI_Count at, MPI_Count bytes, MPI_Count times);
