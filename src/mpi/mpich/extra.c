/* What MPICH's ABI has and the standard's does not have: statuses and files in Fortran. */
#define MPI_Status_c2f standard_Status_c2f /* which mpi.h has as functions of its own */
#define MPI_Status_f2c standard_Status_f2c
#include "mpi/status.h"
#undef MPI_Status_c2f
#undef MPI_Status_f2c
#undef MPI_File_c2f
#undef MPI_File_f2c
#include "mpi/removed/removed.h"

/* ---- statuses and files in Fortran ---- */

static int status_ignore[MPI_F_STATUS_SIZE];
extern VEXPORT MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
MPI_Fint *MPI_F_STATUS_IGNORE = status_ignore;
MPI_Fint *MPI_F_STATUSES_IGNORE = status_ignore;
extern VEXPORT int MPIR_F08_MPI_STATUS_IGNORE_OBJ[MPI_F_STATUS_SIZE];
extern VEXPORT int MPIR_F08_MPI_STATUSES_IGNORE_OBJ[MPI_F_STATUS_SIZE];
int MPIR_F08_MPI_STATUS_IGNORE_OBJ[MPI_F_STATUS_SIZE];
int MPIR_F08_MPI_STATUSES_IGNORE_OBJ[MPI_F_STATUS_SIZE];
extern VEXPORT int *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE; /* as libmpichfort.so.12 finds them */
int *MPI_F08_STATUS_IGNORE = MPIR_F08_MPI_STATUS_IGNORE_OBJ;
int *MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;

OLD(MPI_Status_c2f, const MPI_Status *c, MPI_Fint *f)
{
    if (c == MPI_STATUS_IGNORE || f == status_ignore)
        return MPI_ERR_OTHER;
    memcpy(f, c, sizeof *c);
    return MPI_SUCCESS;
}
OLD(MPI_Status_f2c, const MPI_Fint *f, MPI_Status *c)
{
    if (f == status_ignore || c == MPI_STATUS_IGNORE)
        return MPI_ERR_OTHER;
    memcpy(c, f, sizeof *c);
    return MPI_SUCCESS;
}
VEXPORT MPI_Fint PMPI_File_c2f(MPI_File file);
VEXPORT MPI_File PMPI_File_f2c(MPI_Fint file);
extern VEXPORT __typeof__(PMPI_File_c2f) MPI_File_c2f __attribute__((weak, alias("PMPI_File_c2f")));
extern VEXPORT __typeof__(PMPI_File_f2c) MPI_File_f2c __attribute__((weak, alias("PMPI_File_f2c")));
MPI_Fint PMPI_File_c2f(MPI_File file) { return PMPI_File_toint(file); }
MPI_File PMPI_File_f2c(MPI_Fint file) { return PMPI_File_fromint(file); }
