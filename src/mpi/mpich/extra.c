/* What MPICH's ABI has and the standard's does not have: functions that MPI took away, and statuses and files in
 * Fortran. */
#define MPI_Status_c2f standard_Status_c2f /* which mpi.h has as functions of its own */
#define MPI_Status_f2c standard_Status_f2c
#include "mpi/status.h"
#undef MPI_Status_c2f
#undef MPI_Status_f2c
#undef MPI_File_c2f
#undef MPI_File_f2c
#include "mpi/arguments.h"
#include "mpi/type.h"

/* ---- functions that MPI took away: the same as what took their places ---- */

#define OLD(name, ...)                                                                                                 \
    VEXPORT int P##name(__VA_ARGS__);                                                                                  \
    extern VEXPORT __typeof__(P##name) name __attribute__((weak, alias("P" #name)));                                   \
    int P##name(__VA_ARGS__)

OLD(MPI_Address, const void *location, MPI_Aint *address) { return PMPI_Get_address(location, address); }
OLD(MPI_Errhandler_create, MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
    { return PMPI_Comm_create_errhandler(function, errhandler); }
OLD(MPI_Errhandler_get, MPI_Comm comm, MPI_Errhandler *errhandler)
    { return PMPI_Comm_get_errhandler(comm, errhandler); }
OLD(MPI_Errhandler_set, MPI_Comm comm, MPI_Errhandler errhandler)
    { return PMPI_Comm_set_errhandler(comm, errhandler); }
OLD(MPI_Type_extent, MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    return PMPI_Type_get_extent(datatype, &lb, extent);
}
OLD(MPI_Type_lb, MPI_Datatype datatype, MPI_Aint *lb)
{
    MPI_Aint extent;
    return PMPI_Type_get_extent(datatype, lb, &extent);
}
OLD(MPI_Type_ub, MPI_Datatype datatype, MPI_Aint *ub)
{
    MPI_Aint lb, extent;
    int error = PMPI_Type_get_extent(datatype, &lb, ub ? &extent : NULL);
    if (!error)
        *ub = lb + extent;
    return error;
}
OLD(MPI_Type_hvector, int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *made)
    { return PMPI_Type_create_hvector(count, length, stride, old, made); }
OLD(MPI_Type_hindexed, int count, const int lengths[], const MPI_Aint places[], MPI_Datatype old, MPI_Datatype *made)
    { return PMPI_Type_create_hindexed(count, lengths, places, old, made); }
OLD(MPI_Type_struct, int count, const int lengths[], const MPI_Aint places[], const MPI_Datatype types[],
    MPI_Datatype *made)
    { return PMPI_Type_create_struct(count, lengths, places, types, made); }

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
