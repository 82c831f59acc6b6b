/* The functions of the library behind this one: of the next one that has the name, a tool's or MPI's. */
#pragma once

#include "base/compiler.h"
#include "profile/page.h"
#include "mpi.h"
#include <stdatomic.h>
#include <stdbool.h>

extern void *_Atomic profile_functions[2][PROFILE_CALLS]; /* by MPI's names, by PMPI's; NULL: not looked up yet */
void *profile_find(void *_Atomic *function, const char *name) COLD;

/* MPI's library has other types of handles than our mpi.h: a program that was built with MPICH. */
bool profile_handles_differ(void) COLD;

static inline void *profile_function(void *_Atomic *at, const char *name)
{
    /* relaxed: all threads find the same */
    void *function = atomic_load_explicit(at, memory_order_relaxed);
    return likely(function) ? function : profile_find(at, name);
}
/* Of a call that has been made and counted before, so its function is known. */
#define NEXT_KNOWN(Name) \
    ((__typeof__(&MPI_##Name))atomic_load_explicit(&profile_functions[0][PROFILE_##Name], memory_order_relaxed))
#define NEXT(Name) ((__typeof__(&MPI_##Name))profile_function(&profile_functions[0][PROFILE_##Name], "MPI_" #Name))
/* MPI's own, of no tool: a tool does not expect calls that the program never made. */
#define OWN_NEXT(Name) \
    ((__typeof__(&MPI_##Name))profile_function(&profile_functions[1][PROFILE_##Name], "PMPI_" #Name))
