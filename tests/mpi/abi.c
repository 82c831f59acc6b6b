/* The standard ABI's own calls: version, info, handles as integers and back; layout of a status. ranks: 1 */
#include "mpi_check.h"

int main(void)
{
    int major = 0, minor = -1, flag;
    char value[32];
    MPI_Info info;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Abi_get_version(&major, &minor));
    CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION);
    check_init();
    CHECK_EQUAL(sizeof(MPI_Status), 32);
    CHECK_OK(MPI_Abi_get_info(&info));
    CHECK_OK(MPI_Info_get(info, "mpi_aint_size", 31, value, &flag));
    CHECK(flag && atoi(value) == sizeof(MPI_Aint));
    CHECK_OK(MPI_Info_get(info, "mpi_count_size", 31, value, &flag));
    CHECK(flag && atoi(value) == sizeof(MPI_Count));
    MPI_Info_free(&info);

    CHECK_EQUAL(MPI_Comm_toint(MPI_COMM_WORLD), 0x101);
    CHECK(MPI_Comm_fromint(0x101) == MPI_COMM_WORLD);
    CHECK_EQUAL(MPI_Type_toint(MPI_DOUBLE), 0x214);
    CHECK_EQUAL(MPI_Op_toint(MPI_SUM), 0x21);
    CHECK_EQUAL(MPI_Request_toint(request), 0x180);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &type);
    CHECK((uintptr_t)comm > 4095 && (uintptr_t)type > 4095);
    CHECK(MPI_Comm_toint(comm) > 4095 && MPI_Type_toint(type) > 4095);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm);
    CHECK(MPI_Type_fromint(MPI_Type_toint(type)) == type);
    MPI_Comm_free(&comm);
    MPI_Type_free(&type);
    return check_finalize();
}
