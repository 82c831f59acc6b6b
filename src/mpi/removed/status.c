/* Statuses of Fortran as functions, which the ABIs of MPICH and Open MPI have: the same words in C and in Fortran. */
#define MPI_Status_c2f standard_Status_c2f /* which mpi.h has as functions of its own */
#define MPI_Status_f2c standard_Status_f2c
#include "mpi/status.h"
#undef MPI_Status_c2f
#undef MPI_Status_f2c
#undef PMPI_Status_c2f
#undef PMPI_Status_f2c
#include "mpi/removed/removed.h"

static int status_ignore[MPI_F_STATUS_SIZE];
extern VEXPORT MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
MPI_Fint *MPI_F_STATUS_IGNORE = status_ignore;
MPI_Fint *MPI_F_STATUSES_IGNORE = status_ignore;

OLD(MPI_Status_c2f, const MPI_Status *c, MPI_Fint *f)
{
    if (c == MPI_STATUS_IGNORE || f == MPI_F_STATUS_IGNORE)
        return MPI_ERR_OTHER;
    memcpy(f, c, sizeof *c);
    return MPI_SUCCESS;
}
OLD(MPI_Status_f2c, const MPI_Fint *f, MPI_Status *c)
{
    if (f == MPI_F_STATUS_IGNORE || c == MPI_STATUS_IGNORE)
        return MPI_ERR_OTHER;
    memcpy(c, f, sizeof *c);
    return MPI_SUCCESS;
}
