/* Types by precision and range: the smallest that will do, the same handle for the same question, never freed, good for
 * reductions; and what a Fortran library tells of its compiler holds once; handles and statuses as integers and
 * back. ranks: 1 */
#include "mpi_check.h"

static void precision_and_range(void)
{
    MPI_Datatype real, again, other, complex, integer;
    int counts[3], combiner, numbers[2], bytes;
    double in = 2.5, out = 0;
    CHECK_OK(MPI_Type_create_f90_real(10, 100, &real));
    CHECK_OK(MPI_Type_create_f90_real(10, 100, &again));
    CHECK_OK(MPI_Type_create_f90_real(11, 100, &other));
    CHECK(real == again && real != other);
    MPI_Type_size(real, &bytes);
    CHECK_EQUAL(bytes, 8);
    CHECK_OK(MPI_Type_get_envelope(real, &counts[0], &counts[1], &counts[2], &combiner));
    CHECK(combiner == MPI_COMBINER_F90_REAL && counts[0] == 2 && counts[1] == 0 && counts[2] == 0);
    CHECK_OK(MPI_Type_get_contents(real, 2, 0, 0, numbers, NULL, NULL));
    CHECK(numbers[0] == 10 && numbers[1] == 100);
    CHECK_OK(MPI_Allreduce(&in, &out, 1, real, MPI_SUM, MPI_COMM_WORLD));
    CHECK(out == 2.5);
    CHECK_CLASS(MPI_Type_free(&real), MPI_ERR_TYPE);
    CHECK_OK(MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &complex));
    MPI_Type_size(complex, &bytes);
    CHECK_EQUAL(bytes, 8);
    static const int ranges[] = {1, 2, 3, 4, 5, 9, 10, 18}, want[] = {1, 1, 2, 2, 4, 4, 8, 8};
    for (int i = 0; i < 8; i++) {
        CHECK_OK(MPI_Type_create_f90_integer(ranges[i], &integer));
        MPI_Type_size(integer, &bytes);
        CHECK_EQUAL(bytes, want[i]);
    }
    CHECK_CLASS(MPI_Type_create_f90_integer(19, &integer), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &real), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_real(1000, 1, &real), MPI_ERR_ARG);
}

/* A pair is as long as two of its numbers: of 8 bytes, as the compiler's INTEGER is now, or of 4. */
static void pairs(void)
{
    int bytes, count, at = 0;
    int64_t pair[2] = {INT64_C(1) << 40, -2}, greatest[2] = {0, 0}, back[2] = {0, 0};
    char packed[16];
    MPI_Aint there = 0;
    MPI_Status status;
    MPI_Type_size(MPI_2REAL, &bytes);
    CHECK_EQUAL(bytes, 8);
    MPI_Type_size(MPI_2INTEGER, &bytes);
    CHECK_EQUAL(bytes, 16);
    CHECK_OK(MPI_Allreduce(pair, greatest, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(greatest[0] == pair[0] && greatest[1] == pair[1]);
    CHECK_OK(MPI_Pack_external("external32", pair, 1, MPI_2INTEGER, packed, sizeof packed, &there));
    CHECK_EQUAL(there, 16);
    there = 0;
    CHECK_OK(MPI_Unpack_external("external32", packed, sizeof packed, &there, back, 1, MPI_2INTEGER));
    CHECK(back[0] == pair[0] && back[1] == pair[1]);
    CHECK_OK(MPI_Pack(pair, 1, MPI_2INTEGER, packed, sizeof packed, &at, MPI_COMM_WORLD));
    CHECK_EQUAL(at, 16);
    CHECK_OK(MPI_Status_set_elements(&status, MPI_2INTEGER, 3));
    CHECK_OK(MPI_Get_elements(&status, MPI_2INTEGER, &count));
    CHECK_EQUAL(count, 3);
}

static void compiler(void)
{
    MPI_Info info, told;
    char text[MPI_MAX_INFO_VAL];
    int length = sizeof text, flag, bytes, yes = -1, no = 0, was_yes, was_no;
    CHECK_OK(MPI_Abi_get_fortran_info(&told));
    CHECK(told == MPI_INFO_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_integer_size", "7");
    CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    MPI_Info_set(info, "mpi_integer_size", "8");
    CHECK_OK(MPI_Abi_set_fortran_info(info));
    CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    MPI_Info_free(&info);
    MPI_Type_size(MPI_INTEGER, &bytes);
    CHECK_EQUAL(bytes, 8);
    MPI_Type_size(MPI_REAL, &bytes);
    CHECK_EQUAL(bytes, 4);
    pairs();
    CHECK_OK(MPI_Abi_get_fortran_info(&told));
    CHECK_OK(MPI_Info_get_string(told, "mpi_integer_size", &length, text, &flag));
    CHECK(flag && strcmp(text, "8") == 0);
    MPI_Info_free(&told);
    CHECK_OK(MPI_Abi_get_fortran_booleans(4, &was_yes, &was_no, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Abi_set_fortran_booleans(4, &yes, &no));
    CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_ERR_ABI);
    CHECK_OK(MPI_Abi_get_fortran_booleans(4, &was_yes, &was_no, &flag));
    CHECK(flag && was_yes == -1 && was_no == 0);
}

static void integers(void)
{
    MPI_Comm comm;
    MPI_Request request;
    MPI_Status status, back;
    MPI_Fint f[MPI_F_STATUS_SIZE];
    int sent = 1, got, count, in_f;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Fint (*number)(MPI_Comm) = MPI_Comm_c2f, (*profiled)(MPI_Comm) = PMPI_Comm_c2f;
    in_f = number(comm);
    CHECK(in_f > 4095 && profiled(comm) == in_f && MPI_Comm_f2c(in_f) == comm);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_REAL8)) == MPI_REAL8 && MPI_Op_f2c(MPI_Op_c2f(MPI_MAX)) == MPI_MAX);
    MPI_Irecv(&got, 1, MPI_INT, 0, 77, comm, &request);
    MPI_Send(&sent, 1, MPI_INT, 0, 77, comm);
    request = MPI_Request_f2c(MPI_Request_c2f(request));
    MPI_Wait(&request, &status);
    CHECK_OK(MPI_Status_c2f(&status, f));
    CHECK(f[MPI_F_SOURCE] == 0 && f[MPI_F_TAG] == 77);
    CHECK_OK(MPI_Status_f2c(f, &back));
    MPI_Get_count(&back, MPI_INT, &count);
    CHECK(back.MPI_TAG == 77 && count == 1);
#ifdef MPI_Status_f2f08 /* in the standard ABI alone */
    MPI_F08_status f08;
    f[MPI_F_TAG] = 78;
    CHECK_OK(MPI_Status_f2f08(f, &f08));
    CHECK_OK(PMPI_Status_f082c(&f08, &back));
    CHECK(f08.MPI_TAG == 78 && back.MPI_SOURCE == 0 && back.MPI_TAG == 78);
    back.MPI_TAG = 79;
    CHECK_OK(MPI_Status_c2f08(&back, &f08));
    CHECK_OK(PMPI_Status_f082f(&f08, f));
    CHECK(f[MPI_F_TAG] == 79);
#endif
    MPI_Comm_free(&comm);
}

int main(void)
{
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    precision_and_range();
    compiler();
    integers();
    return check_finalize();
}
