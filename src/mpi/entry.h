/* How functions of the standard are defined. Each is defined under its PMPI_ name and has the MPI_ name as a weak
 * alias; this library itself calls neither. The entries of a call (int counts, _c, I, _init) differ in a line and hand
 * a filled structure to one body that works on 64-bit counts. */
#pragma once

#include "mpi/process.h"
#pragma GCC visibility push(default)
#include "mpi.h"
#pragma GCC visibility pop

/* ENTRY(MPI_X)(...) begins the definition of PMPI_X, which returns int, with its alias. Inside it, NAME is "MPI_X". */
#define ALIAS(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)))
#define ENTRY_OF(result, name) ALIAS(name); result P##name
#define ENTRY(name) ENTRY_OF(int, name)
#define NAME (&__func__[1])

/* Two entries with one body, which differ in the types of their counts and displacements alone. TAKES(N, A) lists the
 * parameters that differ, as in mpi.h; FOLLOWS, in parentheses, those that come then in both. */
#define UNWRAPPED(...) __VA_ARGS__
#define ENTRIES(name, name_c, takes, follows, ...)                                                                     \
    ENTRY(name)(takes(int, int), UNWRAPPED follows) { DOING(#name); __VA_ARGS__; }                                     \
    ENTRY(name_c)(takes(MPI_Count, MPI_Aint), UNWRAPPED follows) { DOING(#name_c); __VA_ARGS__; }
/* The same where a type is A in the first one and MPI_Count in the other. */
#define WIDENED(name, name_c, A, takes, ...)                                                                           \
    ENTRY(name)(takes(int, A)) { __VA_ARGS__; }                                                                        \
    ENTRY(name_c)(takes(MPI_Count, MPI_Count)) { __VA_ARGS__; }

#define MPI_HOT static inline __attribute__((always_inline))
