/* Counts beyond 2^31: a datatype of 2^33 bytes, sizes and counts that do not fit an int, and those of the _c forms.
 * ranks: 1 */
#include "mpi_check.h"

int main(void)
{
    MPI_Datatype wide, wider;
    MPI_Status status;
    MPI_Count bytes, lb, extent, count;
    MPI_Aint narrow_lb, narrow_extent;
    int narrow, number[4], combiner;
    const MPI_Count size33 = (MPI_Count)1 << 33;
    check_init();
    CHECK_OK(MPI_Type_contiguous_c(size33, MPI_BYTE, &wide));
    CHECK_OK(MPI_Type_commit(&wide));
    CHECK_OK(MPI_Type_size(wide, &narrow));
    CHECK_EQUAL(narrow, MPI_UNDEFINED);
    CHECK_OK(MPI_Type_size_c(wide, &bytes));
    CHECK_EQUAL(bytes, size33);
    CHECK_OK(MPI_Type_get_extent(wide, &narrow_lb, &narrow_extent));
    CHECK_EQUAL(narrow_extent, size33);
    CHECK_OK(MPI_Type_vector_c(3, 2, 5, wide, &wider));
    CHECK_OK(MPI_Type_get_extent_c(wider, &lb, &extent));
    CHECK_EQUAL(lb, 0);
    CHECK_EQUAL(extent, 12 * size33);
    CHECK_OK(MPI_Type_size_c(wider, &bytes));
    CHECK_EQUAL(bytes, 6 * size33);
    CHECK_OK(MPI_Pack_size_c(2, wider, MPI_COMM_WORLD, &bytes));
    CHECK(bytes >= 12 * size33);
    CHECK_OK(MPI_Pack_size(1, wide, MPI_COMM_WORLD, &narrow));
    CHECK_EQUAL(narrow, MPI_UNDEFINED);

    /* a status that tells 3 * 2^31 + 1 elements */
    memset(&status, 0, sizeof status);
    CHECK_OK(MPI_Status_set_elements_c(&status, MPI_BYTE, 3 * (size33 / 4) + 1));
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &narrow));
    CHECK_EQUAL(narrow, MPI_UNDEFINED);
    CHECK_OK(MPI_Get_count_c(&status, MPI_BYTE, &count));
    CHECK_EQUAL(count, 3 * (size33 / 4) + 1);
    CHECK_OK(MPI_Get_elements_x(&status, MPI_BYTE, &count));
    CHECK_EQUAL(count, 3 * (size33 / 4) + 1);
    CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &count));
    CHECK_EQUAL(count, MPI_UNDEFINED);

    /* the recipe has large counts, which the narrow call cannot give */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Type_get_envelope(wide, &number[0], &number[1], &number[2], &combiner), MPI_ERR_TYPE);
    MPI_Count counts[4], large;
    MPI_Datatype inner;
    CHECK_CLASS(MPI_Type_get_contents(wide, 0, 0, 1, NULL, NULL, &inner), MPI_ERR_TYPE);
    CHECK_OK(MPI_Type_get_envelope_c(wide, &counts[0], &counts[1], &counts[2], &counts[3], &combiner));
    CHECK(combiner == MPI_COMBINER_CONTIGUOUS && counts[0] == 0 && counts[1] == 0 && counts[2] == 1 && counts[3] == 1);
    CHECK_OK(MPI_Type_get_contents_c(wide, 0, 0, 1, 1, NULL, NULL, &large, &inner));
    CHECK(large == size33 && inner == MPI_BYTE);
    CHECK_CLASS(MPI_Send_c(&status, size33, wide, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_COUNT); /* 2^66 bytes */
    CHECK_OK(MPI_Send_c(&status, 1, wide, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    MPI_Type_free(&wide);
    MPI_Type_free(&wider);
    return check_finalize();
}
