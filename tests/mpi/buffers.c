/* Buffers of communicators go before the process's; a flush ends when what was in the buffer is sent, and not before;
 * freeing a communicator waits for its buffer. everywhere: 2 3 5 8 */
#include "mpi_check.h"

static MPI_Comm world;

#define BYTES 200000 /* more than is sent ahead: the copy stays until the receiver takes it */

int main(void)
{
    MPI_Comm own;
    MPI_Request flush;
    void *back;
    int done = 0, bytes;
    static unsigned char data[BYTES];
    world = check_init_pairs();
    if (size < 2)
        return check_finalize();
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(world, &own);
    char *memory = malloc(2 * (BYTES + MPI_BSEND_OVERHEAD));
    if (rank == 0) {
        CHECK_CLASS(MPI_Comm_detach_buffer(own, &back, &bytes), MPI_ERR_BUFFER);
        CHECK_OK(MPI_Comm_attach_buffer(own, memory, 2 * (BYTES + MPI_BSEND_OVERHEAD)));
        CHECK_CLASS(MPI_Comm_attach_buffer(own, memory, 100), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Bsend(data, 1, MPI_BYTE, 1, 1, world), MPI_ERR_BUFFER);
        fill(data, BYTES, 1);
        CHECK_OK(MPI_Bsend(data, BYTES, MPI_BYTE, 1, 1, own));
        memset(data, 0, BYTES);
        CHECK_OK(MPI_Comm_iflush_buffer(own, &flush));
        for (int i = 0; i < 100; i++)
            CHECK_OK(MPI_Test(&flush, &done, MPI_STATUS_IGNORE));
        CHECK(!done);
        MPI_Barrier(world);
        CHECK_OK(MPI_Wait(&flush, MPI_STATUS_IGNORE)); /* one more copy comes after it and is not waited for */
        fill(data, BYTES, 2);
        CHECK_OK(MPI_Bsend(data, BYTES, MPI_BYTE, 1, 2, own));
        CHECK_OK(MPI_Comm_detach_buffer(own, &back, &bytes));
        CHECK(back == memory);
        CHECK_EQUAL(bytes, 2 * (BYTES + MPI_BSEND_OVERHEAD));
        CHECK_OK(MPI_Comm_attach_buffer(own, MPI_BUFFER_AUTOMATIC, 0));
        CHECK_OK(MPI_Bsend(data, BYTES, MPI_BYTE, 1, 3, own));
        CHECK_OK(MPI_Buffer_iflush(&flush));
        CHECK_OK(MPI_Wait(&flush, MPI_STATUS_IGNORE)); /* nothing in the process's */
    } else {
        MPI_Barrier(world);
        for (int tag = 1; tag <= 3; tag++) {
            memset(data, 0, BYTES);
            CHECK_OK(MPI_Recv(data, BYTES, MPI_BYTE, 0, tag, own, MPI_STATUS_IGNORE));
            CHECK_BYTES(data, BYTES, tag == 1 ? 1u : 2u);
        }
    }
    CHECK_OK(MPI_Comm_free(&own));
    free(memory);
    return check_finalize();
}
