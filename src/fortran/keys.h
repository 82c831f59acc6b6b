/* Keys of attributes that were made in Fortran: the functions in C that call those of the program. */
#pragma once
#include "fortran/attributes.h"

struct fortran_key {
    void *copy, *delete;
    MPI_Aint state;
    bool narrow; /* of MPI-1: values and states are default integers */
    struct fortran_key *next;
};
/* Shared by all keys of these functions and this state, and never freed. NULL: no memory. */
struct fortran_key *fortran_key_make(void *copy, void *delete, MPI_Aint state, bool narrow);

MPI_Comm_copy_attr_function fortran_comm_copy;
MPI_Comm_delete_attr_function fortran_comm_delete;
MPI_Type_copy_attr_function fortran_type_copy;
MPI_Type_delete_attr_function fortran_type_delete;
MPI_Win_copy_attr_function fortran_win_copy;
MPI_Win_delete_attr_function fortran_win_delete;
