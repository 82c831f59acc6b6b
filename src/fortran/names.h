/* The standard's ABI, as the modules of this library have it: names of sentinels, numbers, and what else differs where
 * src/fortran is compiled for another ABI (mpi/mpich/fortran.h, mpi/openmpi/fortran.h). Included by fortran.h. */
#pragma once

#include <mpi.h>
#include <stddef.h>

#define FORTRAN_SENTINELS(SENTINEL)                 \
    SENTINEL(int, viaduct_mpi_bottom_)              \
    SENTINEL(int, viaduct_mpi_in_place_)            \
    SENTINEL(int, viaduct_mpi_buffer_automatic_)    \
    SENTINEL(int, viaduct_mpi_status_ignore_[8])    \
    SENTINEL(int, viaduct_mpi_statuses_ignore_[8])  \
    SENTINEL(int, viaduct_mpi_unweighted_[1])       \
    SENTINEL(int, viaduct_mpi_weights_empty_[1])    \
    SENTINEL(int, viaduct_mpi_errcodes_ignore_[1])  \
    SENTINEL(char, viaduct_mpi_argv_null_[1])       \
    SENTINEL(char, viaduct_mpi_argvs_null_[1])
#define FORTRAN_IS(address, name) ((const void *)(address) == (const void *)&viaduct_mpi_##name##_)
#define FORTRAN_AUTOMATIC         viaduct_mpi_buffer_automatic_

/* Numbers of handles: those of MPI's own are what they are in C, where they are small. */
#define FORTRAN_OWN 4096
#define fortran_from(type, stem, number)                                                                    \
    ((unsigned)(number) < FORTRAN_OWN ? (type)(size_t)(unsigned)(number) : MPI_##stem##_fromint(number))
#define fortran_to(stem, handle) ((size_t)(handle) < FORTRAN_OWN ? (int)(size_t)(handle) : MPI_##stem##_toint(handle))

#define FORTRAN_LAST_KEY     MPI_UNIVERSE_SIZE /* of communicators; the first is MPI_TAG_UB */
#define fortran_key(keyval)  (keyval)          /* as C has it */
typedef size_t fortran_length;                 /* of a text */
