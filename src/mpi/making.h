/* What the makers of datatypes share (construct.c, grid.c, abi.c): the steps of a call that makes one. Private to
 * src/mpi. */
#pragma once

#include "mpi/type.h"

/* A call of a maker, while it goes on. */
struct making {
    const char *call;
    bool wide; /* the _c form: arrays of MPI_Count; the recipe keeps large counts */
    MPI_Datatype *out;
    struct mpi_type *old;
    struct mpi_recipe *recipe;
    uint32_t written; /* numbers of the recipe so far */
};

/* A call of the entry that this is written in, by one of its counts, or their type. */
#define MAKING(number) &(struct making){.call = NAME, .wide = sizeof(number) == sizeof(MPI_Count), .out = newtype}

/* The checks that all makers share: OLD, COUNT, and where the new one goes. A class that was raised. */
int mpi_making_begin(struct making *making, MPI_Datatype old, MPI_Count count);
int mpi_making_wrong(const char *call, const char *name, int64_t value); /* raises: "NAME is VALUE" */
/* Room for INTEGERS and then ADDRESSES numbers (all of them large counts in the _c form) and for TYPES. */
int mpi_making_recipe(struct making *making, int combiner, uint32_t integers, uint32_t addresses, uint32_t types);
int64_t *mpi_making_number(struct making *making, int64_t number); /* where it lies in the recipe */
/* COUNT numbers of an array of int (NARROW) or of 64 bits. */
int64_t *mpi_making_array(struct making *making, const void *array, bool narrow, int64_t count);
void mpi_making_type(struct making *making, struct mpi_type *type);
void mpi_making_forget(struct making *making); /* the recipe, where nothing comes of it */
/* LAYOUT, made with the engine's ERROR, becomes the new datatype. A class that was raised. */
int mpi_making_end(struct making *making, int error, struct type_layout *layout);
