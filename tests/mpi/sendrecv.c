/* Sending and receiving in one call: rings, exchanges with replacement, with nobody, with derived types.
 * everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

int main(void)
{
    static const int sizes[] = {0, 1, 1000, 17000, 200000};
    static int out[50000], in[50000];
    MPI_Status status;
    check_init();
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t bytes = (size_t)sizes[k];
        fill(out, bytes, (unsigned)rank);
        memset(in, 0, sizeof in);
        CHECK_OK(MPI_Sendrecv(out, sizes[k], MPI_BYTE, next, 1, in, sizeof in, MPI_BYTE, last, 1, MPI_COMM_WORLD, &status));
        CHECK_EQUAL(status.MPI_SOURCE, last);
        CHECK_EQUAL(count_of(&status, MPI_BYTE), sizes[k]);
        CHECK_BYTES(in, bytes, (unsigned)last);
        CHECK_OK(MPI_Sendrecv_replace(out, sizes[k], MPI_BYTE, next, 2, last, 2, MPI_COMM_WORLD, &status));
        CHECK_BYTES(out, bytes, (unsigned)last);
    }
    in[0] = 5;
    CHECK_OK(MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 1, in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    CHECK_EQUAL(in[0], 5);
    CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQUAL(count_of(&status, MPI_INT), 0);

    /* columns of a matrix */
    MPI_Datatype column;
    int matrix[20][30];
    MPI_Type_vector(20, 1, 30, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 30; j++)
            matrix[i][j] = rank * 10000 + i * 100 + j;
    CHECK_OK(MPI_Sendrecv_replace(&matrix[0][4], 1, column, next, 3, last, 3, MPI_COMM_WORLD, &status));
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 30; j++)
            CHECK_EQUAL(matrix[i][j], (j == 4 ? last : rank) * 10000 + i * 100 + j);
    MPI_Type_free(&column);
    return check_finalize();
}
