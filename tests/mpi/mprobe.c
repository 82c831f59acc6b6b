/* A matched probe takes the message out of matching: a later receive gets the next one. everywhere: 2 3 5 8 */
#include "mpi_check.h"

static MPI_Comm world;

static unsigned char data[100000], in[100000];

static void one(int bytes, int how)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Request request;
    int flag = 0;
    if (rank == 1) {
        fill(data, (size_t)bytes, 1);
        fill(in, (size_t)bytes, 2);
        MPI_Isend(data, bytes, MPI_BYTE, 0, 3, world, &request);
        MPI_Send(in, bytes, MPI_BYTE, 0, 3, world);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    if (how % 2)
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, 3, world, &message, &status));
    else
        while (!flag)
            CHECK_OK(MPI_Improbe(1, MPI_ANY_TAG, world, &flag, &message, &status));
    CHECK_EQUAL(count_of(&status, MPI_BYTE), bytes);
    CHECK_EQUAL(status.MPI_SOURCE, 1);
    CHECK(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC);
    CHECK_OK(MPI_Recv(in, bytes, MPI_BYTE, 1, 3, world, &status)); /* the second one */
    CHECK_BYTES(in, (size_t)bytes, 2);
    memset(in, 0, sizeof in);
    if (how & 2) {
        CHECK_OK(MPI_Mrecv(in, bytes, MPI_BYTE, &message, &status));
    } else {
        CHECK_OK(MPI_Imrecv(in, bytes, MPI_BYTE, &message, &request));
        CHECK_OK(MPI_Wait(&request, &status));
    }
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_EQUAL(count_of(&status, MPI_BYTE), bytes);
    CHECK_EQUAL(status.MPI_TAG, 3);
    CHECK_BYTES(in, (size_t)bytes, 1);
}

/* Two messages come together at every moment of the wait: a matched probe takes one, not both. Rank 0 says whether there
 * is another round: on a machine where every hand-over takes long there are fewer. */
static void at_every_moment(void)
{
    MPI_Message message;
    MPI_Status status;
    int number = 0, two[2], more = 1;
    double limit = MPI_Wtime() + 5;
    for (int i = 0; more; i++) {
        if (rank == 1) {
            CHECK_OK(MPI_Recv(&more, 1, MPI_INT, 0, 4, world, MPI_STATUS_IGNORE));
            for (double end = MPI_Wtime() + i % 200 * 20e-9; MPI_Wtime() < end;)
                continue;
            for (number = 2 * i; number < 2 * i + 2; number++)
                CHECK_OK(MPI_Send(&number, 1, MPI_INT, 0, 3, world));
        } else {
            more = i < 40000 && !check_failed && MPI_Wtime() < limit;
            CHECK_OK(MPI_Send(&more, 1, MPI_INT, 1, 4, world));
            CHECK_OK(MPI_Mprobe(1, 3, world, &message, &status));
            CHECK_OK(MPI_Mrecv(&two[0], 1, MPI_INT, &message, &status));
            CHECK_OK(MPI_Recv(&two[1], 1, MPI_INT, 1, 3, world, &status));
            CHECK_EQUAL(two[0], 2 * i);
            CHECK_EQUAL(two[1], 2 * i + 1);
        }
    }
}

int main(void)
{
    MPI_Message message;
    MPI_Status status;
    int flag = 0, all;
    world = check_init_pairs();
    if (size < 2)
        return check_finalize();
    for (int how = 0; how < 4; how++) {
        one(0, how);
        one(77, how);
        one(100000, how);
    }
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    if (all == 2) /* who waits all the time needs a processor */
        at_every_moment();
    CHECK_OK(MPI_Improbe(MPI_PROC_NULL, 0, world, &flag, &message, &status));
    CHECK_EQUAL(flag, 1);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    CHECK_OK(MPI_Mrecv(NULL, 0, MPI_BYTE, &message, &status));
    CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK(message == MPI_MESSAGE_NULL);
    return check_finalize();
}
