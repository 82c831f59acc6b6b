/* What MPICH's ABI has and the standard's does not have: constants and files of Fortran. */
#include "mpi/removed/removed.h"
#undef MPI_File_c2f
#undef MPI_File_f2c
#undef PMPI_File_c2f
#undef PMPI_File_f2c

extern VEXPORT int MPIR_F08_MPI_STATUS_IGNORE_OBJ[MPI_F_STATUS_SIZE];
extern VEXPORT int MPIR_F08_MPI_STATUSES_IGNORE_OBJ[MPI_F_STATUS_SIZE];
int MPIR_F08_MPI_STATUS_IGNORE_OBJ[MPI_F_STATUS_SIZE];
int MPIR_F08_MPI_STATUSES_IGNORE_OBJ[MPI_F_STATUS_SIZE];
extern VEXPORT int *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE; /* as libmpichfort.so.12 finds them */
int *MPI_F08_STATUS_IGNORE = MPIR_F08_MPI_STATUS_IGNORE_OBJ;
int *MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;

VEXPORT MPI_Fint PMPI_File_c2f(MPI_File file);
VEXPORT MPI_File PMPI_File_f2c(MPI_Fint file);
extern VEXPORT __typeof__(PMPI_File_c2f) MPI_File_c2f __attribute__((weak, alias("PMPI_File_c2f")));
extern VEXPORT __typeof__(PMPI_File_f2c) MPI_File_f2c __attribute__((weak, alias("PMPI_File_f2c")));
MPI_Fint PMPI_File_c2f(MPI_File file) { return PMPI_File_toint(file); }
MPI_File PMPI_File_f2c(MPI_Fint file) { return PMPI_File_fromint(file); }
