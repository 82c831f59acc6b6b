/* Functions of the program that C calls: operations and error handlers, which are told nothing but their arguments. So
 * each distinct function of the program has a function in C of its own. */
#pragma once
#include "fortran/fortran.h"

enum fortran_callee { CALLEE_OP, CALLEE_COMM, CALLEE_FILE, CALLEE_SESSION, CALLEE_WIN };
/* The C function that calls FUNCTION; NULL: there are too many, which is raised. */
void *fortran_callback(const char *call, enum fortran_callee kind, void *function);
