/* Attributes: values that programs attach to things under keys of their own. */
#pragma once

#include "mpi/arguments.h"

struct mpi_keyval {
    struct mpi_object object;
    enum mpi_kind of; /* KIND_COMM or KIND_TYPE */
    void *copy, *drop; /* functions of that kind, or the sentinels of the ABI */
    void *extra;
};

struct mpi_attribute {
    struct mpi_attribute *next;
    struct mpi_keyval *keyval;
    void *value;
};

/* Runs the copy functions of FROM's attributes and appends to TO. A class, not raised. */
int mpi_attributes_copy(const struct mpi_thing *from, struct mpi_thing *to);
/* The youngest first; stops at a delete function that fails. A class, not raised. */
int mpi_attributes_delete(struct mpi_thing *thing);
int mpi_last_used_code(void); /* the value of MPI_LASTUSEDCODE (error.c) */
