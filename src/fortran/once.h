/* What both kinds of names share: own.c is compiled once for MPI_ and once for PMPI_. */
#pragma once
#include "fortran/fortran.h"

void fortran_told(void); /* after the start: what the kinds of the compiler are */

typedef int fortran_start(MPI_Grequest_query_function *, MPI_Grequest_free_function *, MPI_Grequest_cancel_function *,
                          void *, MPI_Request *);
/* A generalized request whose three functions are the program's. */
int fortran_generalized(fortran_start *start, void *const function[3], MPI_Aint *state, int *request);
