/* What MPICH's ABI has and the standard's has not: functions that MPI took away, and statuses in Fortran. */
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
    int error = PMPI_Type_get_extent(datatype, &lb, &extent);
    if (!error)
        *ub = lb + extent;
    return error;
}
OLD(MPI_Type_hvector, int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *new)
    { return PMPI_Type_create_hvector(count, length, stride, old, new); }
OLD(MPI_Type_hindexed, int count, const int lengths[], const MPI_Aint places[], MPI_Datatype old, MPI_Datatype *new)
    { return PMPI_Type_create_hindexed(count, lengths, places, old, new); }
OLD(MPI_Type_struct, int count, const int lengths[], const MPI_Aint places[], const MPI_Datatype types[],
    MPI_Datatype *new)
    { return PMPI_Type_create_struct(count, lengths, places, types, new); }

/* ---- statuses in Fortran ---- */

static int status_ignore[MPI_F_STATUS_SIZE];
extern VEXPORT MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
MPI_Fint *MPI_F_STATUS_IGNORE = status_ignore;
MPI_Fint *MPI_F_STATUSES_IGNORE = status_ignore;

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
