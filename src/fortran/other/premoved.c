/* The same for the profiling names. */
#define FORTRAN_PROFILED
#include "fortran/other/removed.c"
