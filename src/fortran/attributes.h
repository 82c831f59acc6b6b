/* Attributes: in C a pointer, in Fortran an integer as wide. What was set in Fortran is read in C as the address of
 * that integer; what was set in C is read in Fortran as the pointer's own value; attributes of MPI itself, which are
 * addresses of numbers in C, are read as these numbers. */
#pragma once
#include "fortran/fortran.h"

void *fortran_attribute_box(MPI_Aint value); /* NULL: no memory */
MPI_Aint fortran_attribute_value(int keyval, void *attribute);
void fortran_attribute_drop(void *attribute); /* if it is a box */

/* A key that was made in Fortran: its functions in C call those of the program. */
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
