/* Partitioned communication: partitions given in any order arrive where they belong, every byte; the receiver may divide
 * them otherwise, have another type, start before the sender exists; partitions can be seen to arrive one by one; calls
 * of init are matched in their order, not starts. everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

static MPI_Comm world;

#define MOST 200000
static unsigned char out[MOST], in[MOST];

/* A few rounds of TOTAL bytes in SENDS and RECEIVES partitions. */
static void divide(int total, int sends, int receives)
{
    MPI_Request send, receive;
    MPI_Status status;
    int peer = size > 1 ? 1 - rank : 0;
    CHECK_OK(MPI_Psend_init(out, sends, total / sends, MPI_BYTE, peer, 5, world, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Precv_init(in, receives, total / receives, MPI_BYTE, peer, 5, world, MPI_INFO_NULL, &receive));
    for (unsigned round = 0; round < 4; round++) {
        fill(out, (size_t)total, round * 2 + (unsigned)rank);
        memset(in, 0, (size_t)total);
        CHECK_OK(MPI_Start(&receive));
        CHECK_OK(MPI_Start(&send));
        for (int i = 0; i < sends; i += 2)
            CHECK_OK(MPI_Pready(i, send));
        for (int i = 1; i < sends; i += 2)
            CHECK_OK(MPI_Pready_list(1, &i, send));
        for (int i = 0, flag = 0; round % 2 && i < receives; i++, flag = 0) {
            while (!flag)
                CHECK_OK(MPI_Parrived(receive, i, &flag));
            size_t part = (size_t)(total / receives);
            unsigned char *place = in + (size_t)i * part;
            for (size_t k = 0; k < part; k++)
                if (place[k] != check_byte(round * 2 + (unsigned)peer, (size_t)i * part + k))
                    CHECK(!"a byte of a partition that arrived is wrong");
        }
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&receive, &status));
        CHECK_BYTES(in, (size_t)total, round * 2 + (unsigned)peer);
        CHECK_EQUAL(count_of(&status, MPI_BYTE), total);
        CHECK(status.MPI_SOURCE == peer && status.MPI_TAG == 5);
    }
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&receive));
}

/* The standard allows it: complete once it is started. */
static void no_partitions(void)
{
    MPI_Request pair[2];
    int peer = size > 1 ? 1 - rank : 0;
    CHECK_OK(MPI_Psend_init(out, 0, 7, MPI_BYTE, peer, 5, world, MPI_INFO_NULL, &pair[0]));
    CHECK_OK(MPI_Precv_init(in, 0, 7, MPI_BYTE, peer, 5, world, MPI_INFO_NULL, &pair[1]));
    for (int round = 0; round < 2; round++) {
        CHECK_OK(MPI_Startall(2, pair));
        CHECK_OK(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE));
    }
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
}

/* One partition arrives while the other is not given: the receiver sees it, and asks for the rest then. */
static void early_bird(void)
{
    MPI_Request request;
    int flag = 0;
    if (size < 2)
        return;
    if (rank == 0) {
        CHECK_OK(MPI_Psend_init(out, 2, 1000, MPI_BYTE, 1, 6, world, MPI_INFO_NULL, &request));
        fill(out, 2000, 50);
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Pready(1, request));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 7, world, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Pready_range(0, 0, request));
    } else {
        CHECK_OK(MPI_Precv_init(in, 2, 1000, MPI_BYTE, 0, 6, world, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
        while (!flag)
            CHECK_OK(MPI_Parrived(request, 1, &flag));
        CHECK_OK(MPI_Parrived(request, 0, &flag));
        CHECK(!flag);
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 7, world));
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (rank == 1)
        CHECK_BYTES(in, 2000, 50);
    CHECK_OK(MPI_Request_free(&request));
}

/* Two pairs with the same tag; the second one starts first. And a message of the same tag that is not partitioned. */
static void order_of_inits(void)
{
    MPI_Request request[2];
    int data[3] = {11, 22, 33}, got[3] = {0};
    if (size < 2)
        return;
    for (int i = 0; i < 2; i++)
        if (rank == 0)
            CHECK_OK(MPI_Psend_init(&data[i], 1, 1, MPI_INT, 1, 8, world, MPI_INFO_NULL, &request[i]));
        else
            CHECK_OK(MPI_Precv_init(&got[i], 1, 1, MPI_INT, 0, 8, world, MPI_INFO_NULL, &request[i]));
    if (rank == 0)
        CHECK_OK(MPI_Send(&data[2], 1, MPI_INT, 1, 8, world));
    for (int i = 1; i >= 0; i--) {
        CHECK_OK(MPI_Start(&request[rank == 0 ? i : 1 - i]));
        if (rank == 0)
            CHECK_OK(MPI_Pready(0, request[i]));
    }
    CHECK_OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    if (rank == 1) {
        CHECK_OK(MPI_Recv(&got[2], 1, MPI_INT, 0, 8, world, MPI_STATUS_IGNORE));
        CHECK(got[0] == 11 && got[1] == 22 && got[2] == 33);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

/* The receiver's elements have holes and do not fit the sender's partitions; 3 x 8 bytes against 4 x 6. */
static void other_type(void)
{
    MPI_Datatype pair;
    MPI_Request send, receive;
    int spaced[3][4], peer = size > 1 ? 1 - rank : 0, flag = 0;
    MPI_Type_create_resized(MPI_INT, 0, 8, &pair);
    MPI_Type_contiguous(2, pair, &pair);
    MPI_Type_commit(&pair);
    memset(spaced, 0, sizeof spaced);
    fill(out, 24, 60);
    CHECK_OK(MPI_Precv_init(spaced, 3, 1, pair, peer, 9, world, MPI_INFO_NULL, &receive));
    CHECK_OK(MPI_Psend_init(out, 4, 6, MPI_BYTE, peer, 9, world, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Start(&receive));
    CHECK_OK(MPI_Start(&send));
    CHECK_OK(MPI_Pready_range(0, 3, send));
    while (!flag)
        CHECK_OK(MPI_Parrived(receive, 2, &flag));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    for (int i = 0; i < 6; i++) {
        CHECK(memcmp(&spaced[i / 2][i % 2 * 2], out + 4 * i, 4) == 0);
        CHECK_EQUAL(spaced[i / 2][i % 2 * 2 + 1], 0);
    }
    MPI_Request_free(&receive);
    MPI_Request_free(&send);
    MPI_Type_free(&pair);
}

static void wrong(void)
{
    MPI_Request request, plain;
    int flag = 0;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Psend_init(out, -1, 1, MPI_BYTE, 0, 1, world, MPI_INFO_NULL, &request), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Precv_init(in, 1, 1, MPI_BYTE, MPI_ANY_SOURCE, 1, world, MPI_INFO_NULL, &request), MPI_ERR_RANK);
    CHECK_OK(MPI_Psend_init(out, 2, 1, MPI_BYTE, MPI_PROC_NULL, 1, world, MPI_INFO_NULL, &request));
    CHECK_CLASS(MPI_Pready(0, request), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Pready(0, request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Recv_init(in, 1, MPI_BYTE, 0, 1, world, &plain));
    CHECK_CLASS(MPI_Parrived(plain, 0, &flag), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Request_free(&plain));
    MPI_Request pair[2];
    CHECK_OK(MPI_Psend_init(out, 2, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &pair[0]));
    CHECK_OK(MPI_Precv_init(in, 1, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &pair[1])); /* one byte too short */
    CHECK_OK(MPI_Parrived(pair[1], 0, &flag));
    CHECK(flag); /* not active */
    CHECK_OK(MPI_Startall(2, pair));
    CHECK_CLASS(MPI_Pready(2, pair[0]), MPI_ERR_ARG);
    CHECK_OK(MPI_Pready(0, pair[0]));
    CHECK_CLASS(MPI_Pready(0, pair[0]), MPI_ERR_ARG);
    CHECK_OK(MPI_Pready(1, pair[0]));
    CHECK_OK(MPI_Wait(&pair[0], MPI_STATUS_IGNORE));
    CHECK_CLASS(MPI_Wait(&pair[1], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
}

int main(void)
{
    world = check_init_pairs();
    divide(1000, 1, 1);
    divide(1200, 8, 8);
    divide(1200, 3, 8);
    divide(1200, 8, 3);
    divide(192000, 6, 4); /* larger than what is sent ahead */
    no_partitions();
    early_bird();
    order_of_inits();
    other_type();
    wrong();
    return check_finalize();
}
