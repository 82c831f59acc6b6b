/* A run of short messages with one header, at MPI_THREAD_MULTIPLE: the receives that are posted for it are not all alike.
 * Each message goes to the first that fits, whole, and what a receive cannot take plainly does not hold up the next.
 * ranks: 2
 * timeout: 30 */
#include "mpi_check.h"

enum { ROUNDS = 200, RECEIVES = 9, TAG = 5, OTHER = 6 };
static MPI_Datatype holes; /* two ints, one apart */

/* Number I takes what it gets here; the fourth is too short. */
static int in[RECEIVES][4];

static void post(MPI_Request *request)
{
    memset(in, 0xee, sizeof in);
    for (int i = 0; i < RECEIVES; i++) {
        MPI_Datatype type = i == 5 ? holes : MPI_INT;
        int count = i == 3 ? 1 : i == 5 ? 1 : 2;
        int tag = i == 1 ? MPI_ANY_TAG : i == 2 ? OTHER : TAG, from = i == 7 ? MPI_ANY_SOURCE : 0;
        MPI_Irecv(in[i], count, type, from, tag, MPI_COMM_WORLD, &request[i]);
    }
}

static void look(int round, MPI_Request *request)
{
    static const int number[RECEIVES] = {0, 1, 100, 2, 3, 4, 5, 6, 7}; /* of the message that each one gets */
    for (int i = 0; i < RECEIVES; i++) {
        MPI_Status status;
        int bytes, error = MPI_Wait(&request[i], &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        CHECK_EQUAL(error != MPI_SUCCESS, i == 3);
        CHECK_EQUAL(status.MPI_SOURCE, 0);
        CHECK_EQUAL(status.MPI_TAG, i == 2 ? OTHER : TAG);
        if (i != 3)
            CHECK_EQUAL(bytes, 8);
        CHECK_EQUAL(in[i][0], round);
        CHECK_EQUAL(in[i][i == 5 ? 2 : 1], i == 3 ? (int)0xeeeeeeee : number[i]);
        CHECK_EQUAL(in[i][i == 5 ? 1 : 2], (int)0xeeeeeeee);
        CHECK_EQUAL(in[i][3], (int)0xeeeeeeee);
    }
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Request request[RECEIVES];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_vector(2, 1, 2, MPI_INT, &holes);
    MPI_Type_commit(&holes);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 1)
            post(request);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; rank == 0 && i < RECEIVES; i++) {
            int data[2] = {round, i == RECEIVES - 1 ? 100 : i};
            MPI_Send(data, 2, MPI_INT, 1, i == RECEIVES - 1 ? OTHER : TAG, MPI_COMM_WORLD);
        }
        if (rank == 1)
            look(round, request);
    }
    MPI_Type_free(&holes);
    MPI_Finalize();
    return check_done();
}
