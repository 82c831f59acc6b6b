/* What src/fortran is compiled with as libmpichfort.so.12 (see fortran/names.h). mpif.h and mpi have their sentinels in
 * common blocks, mpi_f08 has others. Its mpi_f08 is compiled by gfortran, and passes arrays as that has them. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct fortran_first {
    int bottom, in_place, status_ignore[MPI_F_STATUS_SIZE];
};
struct fortran_second {
    int statuses_ignore[MPI_F_STATUS_SIZE], errcodes_ignore;
};
struct fortran_texts {
    char argvs_null, argv_null;
};
extern const int MPIR_F08_MPI_STATUS_IGNORE_OBJ[], MPIR_F08_MPI_STATUSES_IGNORE_OBJ[]; /* in libmpich */
#define FORTRAN_SENTINELS(SENTINEL)                              \
    SENTINEL(struct fortran_first, mpipriv1_)                    \
    SENTINEL(struct fortran_second, mpipriv2_)                   \
    SENTINEL(struct fortran_texts, mpiprivc_)                    \
    SENTINEL(int, mpifcmb5_)                                     \
    SENTINEL(int, mpifcmb9_)                                     \
    SENTINEL(int, MPIR_F08_MPI_BOTTOM)                           \
    SENTINEL(int, MPIR_F08_MPI_IN_PLACE)                         \
    SENTINEL(int, __mpi_f08_link_constants_MOD_mpi_unweighted)   \
    SENTINEL(int, __mpi_f08_link_constants_MOD_mpi_weights_empty) \
    SENTINEL(int, __mpi_f08_link_constants_MOD_mpi_errcodes_ignore) \
    SENTINEL(char, __mpi_f08_link_constants_MOD_mpi_argv_null)   \
    SENTINEL(char, __mpi_f08_link_constants_MOD_mpi_argvs_null)  \
    SENTINEL(int, viaduct_mpi_buffer_automatic_)
#define FORTRAN_FIRST_bottom            mpipriv1_.bottom
#define FORTRAN_OTHER_bottom            MPIR_F08_MPI_BOTTOM
#define FORTRAN_FIRST_in_place          mpipriv1_.in_place
#define FORTRAN_OTHER_in_place          MPIR_F08_MPI_IN_PLACE
#define FORTRAN_FIRST_status_ignore     mpipriv1_.status_ignore
#define FORTRAN_OTHER_status_ignore     MPIR_F08_MPI_STATUS_IGNORE_OBJ
#define FORTRAN_FIRST_statuses_ignore   mpipriv2_.statuses_ignore
#define FORTRAN_OTHER_statuses_ignore   MPIR_F08_MPI_STATUSES_IGNORE_OBJ
#define FORTRAN_FIRST_unweighted        mpifcmb5_
#define FORTRAN_OTHER_unweighted        __mpi_f08_link_constants_MOD_mpi_unweighted
#define FORTRAN_FIRST_weights_empty     mpifcmb9_
#define FORTRAN_OTHER_weights_empty     __mpi_f08_link_constants_MOD_mpi_weights_empty
#define FORTRAN_FIRST_buffer_automatic  viaduct_mpi_buffer_automatic_
#define FORTRAN_OTHER_buffer_automatic  viaduct_mpi_buffer_automatic_
#define FORTRAN_IS(address, name)                                   \
    ((const void *)(address) == (const void *)&FORTRAN_FIRST_##name || \
     (const void *)(address) == (const void *)&FORTRAN_OTHER_##name)
#define FORTRAN_AUTOMATIC       viaduct_mpi_buffer_automatic_
#define FORTRAN_STATUS_IGNORE   mpipriv1_.status_ignore
#define FORTRAN_STATUSES_IGNORE mpipriv2_.statuses_ignore

/* A handle is its number, but for files. */
static inline int fortran_same(int number) { return number; }
#define fortran_from(type, stem, number) _Generic((type)0, MPI_File: MPI_File_fromint, default: fortran_same)(number)
#define fortran_to(stem, handle)         _Generic((handle), MPI_File: MPI_File_toint, default: fortran_same)(handle)

/* A predefined key of Fortran is the one of C and 1. */
#define FORTRAN_LAST_KEY MPI_APPNUM
static inline int fortran_key(int keyval)
{
    bool comm = keyval > MPI_TAG_UB && keyval <= MPI_APPNUM + 1;
    bool win = keyval > MPI_WIN_BASE && keyval <= MPI_WIN_MODEL + 1;
    return (comm || win) && keyval % 2 == 0 ? keyval - 1 : keyval;
}
typedef size_t fortran_length;

#define FORTRAN_GFORTRAN_ARRAYS 1
