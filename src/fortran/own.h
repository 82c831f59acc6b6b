/* Entries written by hand: OWN_ENTRY(name, parameters) makes one of a call, mpi_NAME_ or pmpi_NAME_, with all
 * their other names. The body calls C(call), which is MPI_call or PMPI_call; a file of entries is compiled for each. */
#pragma once
#include "fortran/fortran.h"

#ifdef FORTRAN_PROFILED
#define C(name)      PMPI_##name
#define F(name)      pmpi_##name##_
#define OTHERS(name) ALIAS(pmpi_##name, pmpi_##name##_) ALIAS(pmpi_##name##__, pmpi_##name##_) \
                     ALIAS(pmpi_##name##_f08_, pmpi_##name##_)
#else
#define C(name)      MPI_##name
#define F(name)      mpi_##name##_
#define OTHERS(name) ALIAS(mpi_##name, mpi_##name##_) ALIAS(mpi_##name##__, mpi_##name##_) \
                     ALIAS(mpi_##name##_f08_, mpi_##name##_)
#endif
#define ALIAS(name, of) EXPORT extern __typeof__(of) name __attribute__((weak, alias(#of)));
/* A declaration, for the compiler wants one, and the head of the function. */
#define OWN_ENTRY(name, ...)          \
    EXPORT void F(name)(__VA_ARGS__); \
    OTHERS(name)                      \
    void F(name)(__VA_ARGS__)

static inline void tell(int *ierror, int error)
{
    if (ierror)
        *ierror = error;
}
