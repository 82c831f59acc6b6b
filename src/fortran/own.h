/* Entries written by hand: OWN_ENTRY(name, parameters) makes one of a call, mpi_NAME_ or pmpi_NAME_ (its other names
 * are made by the linker: cmake/fortran_names.cmake). The body calls C(call), which is MPI_call or PMPI_call; a file of
 * entries is compiled for each. */
#pragma once
#include "fortran/fortran.h"

#ifdef FORTRAN_PROFILED
#define C(name) PMPI_##name
#define F(name) pmpi_##name##_
#else
#define C(name) MPI_##name
#define F(name) mpi_##name##_
#endif
/* A declaration, for the compiler wants one, and the head of the function. */
#define OWN_ENTRY(name, ...)          \
    EXPORT void F(name)(__VA_ARGS__); \
    void F(name)(__VA_ARGS__)

static inline void ierror_set(int *ierror, int error)
{
    if (ierror)
        *ierror = error;
}
