/* Buffered sends return at once as long as the buffer has room, say so when it has none, and give the buffer back when
 * all is delivered. everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

static MPI_Comm world;

#define MESSAGES 50
#define BYTES 30000

int main(void)
{
    world = check_init_pairs();
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    static unsigned char data[BYTES], in[BYTES];
    int other = size > 1 ? 1 - rank : 0;
    CHECK_CLASS(MPI_Bsend(data, 1, MPI_BYTE, other, 1, world), MPI_ERR_BUFFER);
    MPI_Request again; /* a start that fails leaves it inactive */
    CHECK_OK(MPI_Bsend_init(data, 1, MPI_BYTE, other, 1, world, &again));
    CHECK_CLASS(MPI_Start(&again), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Start(&again), MPI_ERR_BUFFER);
    MPI_Request_free(&again);

    int room = MESSAGES * (BYTES + MPI_BSEND_OVERHEAD), detached = 0;
    char *buffer = malloc((size_t)room), *back = NULL;
    CHECK_OK(MPI_Buffer_attach(buffer, room));
    CHECK_CLASS(MPI_Buffer_attach(buffer, room), MPI_ERR_BUFFER);
    for (int round = 0; round < 3; round++) {
        /* both send everything before anybody receives */
        for (unsigned i = 0; i < MESSAGES; i++) {
            fill(data, BYTES, i);
            if (i % 2) {
                CHECK_OK(MPI_Bsend(data, BYTES, MPI_BYTE, other, 1, world));
            } else {
                MPI_Request request;
                CHECK_OK(MPI_Ibsend(data, BYTES, MPI_BYTE, other, 1, world, &request));
                memset(data, 0, BYTES / 2);
                CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            }
            memset(data, 0, BYTES);
        }
        for (unsigned i = 0; i < MESSAGES; i++) {
            CHECK_OK(MPI_Recv(in, BYTES, MPI_BYTE, other, 1, world, MPI_STATUS_IGNORE));
            CHECK_BYTES(in, BYTES, i);
        }
        MPI_Barrier(world);
    }
    CHECK_CLASS(MPI_Bsend(buffer, room, MPI_BYTE, other, 1, world), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Buffer_detach(&back, &detached));
    CHECK(back == buffer);
    CHECK_EQUAL(detached, room);
    free(buffer);

    /* detaching waits until the message is taken */
    buffer = malloc(100000 + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(buffer, 100000 + MPI_BSEND_OVERHEAD);
    if (rank == 0 && size > 1) {
        unsigned char *big = malloc(100000);
        fill(big, 100000, 9);
        CHECK_OK(MPI_Bsend(big, 100000, MPI_BYTE, 1, 2, world));
        free(big);
    }
    if (rank == 1) {
        unsigned char *big = malloc(100000);
        CHECK_OK(MPI_Recv(big, 100000, MPI_BYTE, 0, 2, world, MPI_STATUS_IGNORE));
        CHECK_BYTES(big, 100000, 9);
        free(big);
    }
    MPI_Buffer_detach(&back, &detached);
    free(back);
    return check_finalize();
}
