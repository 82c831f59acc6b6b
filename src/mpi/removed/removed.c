/* Functions that MPI took away and the ABIs of MPICH and Open MPI still have: the same as what took their places. */
#include "mpi/removed/removed.h"
#include "mpi/type.h"

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
