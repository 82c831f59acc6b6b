/* Attributes: in C a pointer, in Fortran an integer as wide. What was set in Fortran is read in C as the address of
 * that integer; what was set in C is read in Fortran as the pointer's own value; attributes of MPI itself, which are
 * addresses of numbers in C, are read as these numbers. */
#pragma once
#include "fortran/fortran.h"

void *fortran_attribute_box(MPI_Aint value); /* NULL: no memory */
MPI_Aint fortran_attribute_value(int keyval, void *attribute);
void fortran_attribute_drop(void *attribute); /* if it is a box */
