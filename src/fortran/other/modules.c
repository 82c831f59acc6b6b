/* What is in the modules of MPICH and Open MPI as functions, and only for them: sizes of types, and handles that become
 * integers (by the linker, under the names that those have: cmake/fortran_names.cmake). C knows the statuses that
 * Fortran ignores by two pointers. */
#include "fortran/fortran.h"

EXPORT extern MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE; /* in libmpi and libmpich */

static __attribute__((constructor)) void ignored_learn(void)
{
    MPI_F_STATUS_IGNORE = (int *)(size_t)FORTRAN_STATUS_IGNORE;
    MPI_F_STATUSES_IGNORE = (int *)(size_t)FORTRAN_STATUSES_IGNORE;
}
#ifdef MPI_ADDRESS_HANDLES /* mpi_f08 of Open MPI has the same statuses as its mpif.h */
EXPORT extern MPI_Fint *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;
static __attribute__((constructor)) void ignored_of_f08_learn(void)
{
    MPI_F08_STATUS_IGNORE = (int *)(size_t)FORTRAN_STATUS_IGNORE;
    MPI_F08_STATUSES_IGNORE = (int *)(size_t)FORTRAN_STATUSES_IGNORE;
}
#endif

#define SIZE(bytes)                                                                    \
    EXPORT void viaduct_sizeof_##bytes##_(const void *x, int *size, int *ierror);      \
    void viaduct_sizeof_##bytes##_(const void *x, int *size, int *ierror)              \
    {                                                                                  \
        (void)x;                                                                       \
        *size = bytes;                                                                 \
        if (ierror)                                                                    \
            *ierror = MPI_SUCCESS;                                                     \
    }
SIZE(1)
SIZE(2)
SIZE(4)
SIZE(8)
SIZE(16)
SIZE(32)

EXPORT int viaduct_number_(int handle);
int viaduct_number_(int handle) { return handle; }

EXPORT void viaduct_status_assign_(MPI_Status *to, const MPI_Status *from);
void viaduct_status_assign_(MPI_Status *to, const MPI_Status *from) { *to = *from; }
EXPORT int viaduct_status_copy_(const MPI_Status *from, MPI_Status *to);
int viaduct_status_copy_(const MPI_Status *from, MPI_Status *to)
{
    *to = *from;
    return MPI_SUCCESS;
}
