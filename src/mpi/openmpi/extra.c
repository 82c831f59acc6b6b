/* What Open MPI's ABI has and the standard's does not have: handles and statuses of Fortran as functions,
 * and questions for memory of devices: none is known here. */
#define MPI_Status_c2f standard_Status_c2f /* which mpi.h has as functions of its own */
#define MPI_Status_f2c standard_Status_f2c
#include "mpi/status.h"
#undef MPI_Status_c2f
#undef MPI_Status_f2c
#include "mpi/removed/removed.h"

static int status_ignore[MPI_F_STATUS_SIZE];
extern VEXPORT MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
MPI_Fint *MPI_F_STATUS_IGNORE = status_ignore;
MPI_Fint *MPI_F_STATUSES_IGNORE = status_ignore;

/* The same words in C and in Fortran. */
OLD(MPI_Status_c2f, const MPI_Status *c, MPI_Fint *f)
{
    if (c == MPI_STATUS_IGNORE || f == MPI_F_STATUS_IGNORE)
        return MPI_ERR_IN_STATUS;
    memcpy(f, c, sizeof *c);
    return MPI_SUCCESS;
}
OLD(MPI_Status_f2c, const MPI_Fint *f, MPI_Status *c)
{
    if (f == MPI_F_STATUS_IGNORE || c == MPI_STATUS_IGNORE)
        return MPI_ERR_IN_STATUS;
    memcpy(c, f, sizeof *c);
    return MPI_SUCCESS;
}

#undef MPI_Comm_c2f
#undef MPI_Comm_f2c
#undef MPI_Errhandler_c2f
#undef MPI_Errhandler_f2c
#undef MPI_File_c2f
#undef MPI_File_f2c
#undef MPI_Group_c2f
#undef MPI_Group_f2c
#undef MPI_Info_c2f
#undef MPI_Info_f2c
#undef MPI_Message_c2f
#undef MPI_Message_f2c
#undef MPI_Op_c2f
#undef MPI_Op_f2c
#undef MPI_Request_c2f
#undef MPI_Request_f2c
#undef MPI_Session_c2f
#undef MPI_Session_f2c
#undef MPI_Type_c2f
#undef MPI_Type_f2c
#undef MPI_Win_c2f
#undef MPI_Win_f2c

#define NUMBERED(type, kind)                                                                                           \
    VEXPORT MPI_Fint PMPI_##kind##_c2f(type handle);                                                                   \
    VEXPORT type PMPI_##kind##_f2c(MPI_Fint number);                                                                   \
    extern VEXPORT __typeof__(PMPI_##kind##_c2f) MPI_##kind##_c2f __attribute__((weak, alias("PMPI_" #kind "_c2f")));  \
    extern VEXPORT __typeof__(PMPI_##kind##_f2c) MPI_##kind##_f2c __attribute__((weak, alias("PMPI_" #kind "_f2c")));  \
    MPI_Fint PMPI_##kind##_c2f(type handle) { return PMPI_##kind##_toint(handle); }                                    \
    type PMPI_##kind##_f2c(MPI_Fint number) { return PMPI_##kind##_fromint(number); }
NUMBERED(MPI_Comm, Comm)
NUMBERED(MPI_Errhandler, Errhandler)
NUMBERED(MPI_File, File)
NUMBERED(MPI_Group, Group)
NUMBERED(MPI_Info, Info)
NUMBERED(MPI_Message, Message)
NUMBERED(MPI_Op, Op)
NUMBERED(MPI_Request, Request)
NUMBERED(MPI_Session, Session)
NUMBERED(MPI_Datatype, Type)
NUMBERED(MPI_Win, Win)

OLD(MPIX_Query_cuda_support, void) { return 0; }
OLD(MPIX_Query_rocm_support, void) { return 0; }
