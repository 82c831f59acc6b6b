/* Attributes: values that programs attach to things under keys of their own. */
#pragma once

#include "mpi/arguments.h"

typedef int mpi_copy_across(void *function, MPI_Comm object, int key, void *extra, int form, void *value, void **copy,
                            int *flag);
typedef int mpi_delete_across(void *function, MPI_Comm object, int key, int form, void *value, void *extra);

struct mpi_keyval {
    struct mpi_object object;
    enum mpi_kind of; /* KIND_COMM or KIND_TYPE */
    void *copy, *drop; /* functions of that kind, or the sentinels of the ABI */
    void *extra;
    /* How functions that are not written in C are called; NULL: they are. Other ABIs set them (mpich/languages.c). The
     * form of a value is 0, a pointer. */
    mpi_copy_across *copy_across;
    mpi_delete_across *delete_across;
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
struct mpi_keyval *mpi_keyval_at(int key, enum mpi_kind of); /* NULL: no such key */
int mpi_last_used_code(void); /* the value of MPI_LASTUSEDCODE (error.c) */
