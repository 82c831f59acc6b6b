/* What src/fortran is compiled with as libmpi_mpifh.so.40 (see fortran/names.h). Its mpi_f08 is Open MPI's own
 * libmpi_usempif08.so.40, which calls ompi_x_f; it passes lengths of texts as ints. */
#pragma once

#include <mpi.h>

#define FORTRAN_SENTINELS(SENTINEL)                      \
    SENTINEL(int, mpi_fortran_bottom_)                   \
    SENTINEL(int, mpi_fortran_in_place_)                 \
    SENTINEL(int, mpi_fortran_buffer_automatic_)         \
    SENTINEL(int, mpi_fortran_status_ignore_[6])         \
    SENTINEL(int, mpi_fortran_statuses_ignore_[6])       \
    SENTINEL(int, mpi_fortran_unweighted_)               \
    SENTINEL(int, mpi_fortran_weights_empty_)            \
    SENTINEL(int, mpi_fortran_errcodes_ignore_)          \
    SENTINEL(char, mpi_fortran_argv_null_)               \
    SENTINEL(char, mpi_fortran_argvs_null_)
#define FORTRAN_IS(address, name) ((const void *)(address) == (const void *)&mpi_fortran_##name##_)
#define FORTRAN_STATUS_IGNORE     mpi_fortran_status_ignore_
#define FORTRAN_STATUSES_IGNORE   mpi_fortran_statuses_ignore_

/* A predefined handle is an address in C. */
#define fortran_from(type, stem, number) MPI_##stem##_fromint(number)
#define fortran_to(stem, handle)         MPI_##stem##_toint(handle)

#define FORTRAN_LAST_KEY    MPI_UNIVERSE_SIZE
#define fortran_key(keyval) (keyval)
typedef unsigned fortran_length;
