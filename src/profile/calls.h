/* The functions of the library behind this one: of the next one that has the name, a tool's or MPI's. */
#pragma once

#include "base/compiler.h"
#include "profile/page.h"
#include "mpi.h"

extern void *_Atomic profile_functions[PROFILE_CALLS]; /* NULL: not asked for yet */
void *profile_find(enum profile_call call, const char *name) COLD;

static inline void *profile_next(enum profile_call call, const char *name)
{
    /* relaxed: all threads find the same */
    void *function = __atomic_load_n((void **)(uintptr_t)&profile_functions[call], __ATOMIC_RELAXED);
    return likely(function) ? function : profile_find(call, name);
}
#define NEXT(Name) ((__typeof__(&MPI_##Name))profile_next(PROFILE_##Name, "MPI_" #Name))
