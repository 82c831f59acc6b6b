/* Functions of the program that C calls: operations and error handlers, which are told nothing but their arguments. So
 * each distinct function of the program has a function in C of its own. */
#pragma once
#include "fortran/fortran.h"

enum fortran_callee { CALLEE_OP, CALLEE_COMM, CALLEE_FILE, CALLEE_SESSION, CALLEE_WIN };
/* The C function that calls FUNCTION; NULL: there are too many, which is raised. */
void *fortran_callback(const char *call, enum fortran_callee kind, void *function);
typedef int fortran_start(MPI_Grequest_query_function *, MPI_Grequest_free_function *, MPI_Grequest_cancel_function *,
                          void *, MPI_Request *);
/* A generalized request whose three functions are the program's. */
int fortran_generalized(fortran_start *start, void *const function[3], MPI_Aint *state, int *request);
