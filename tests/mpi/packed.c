/* viaduct.h inside an MPI program: vd_init before MPI_Init and vd_finalize behind MPI_Finalize, or within; messages and calls
 * of both kinds side by side, which never meet.
 * ranks: 2 3 */
#include "mpi_check.h"
#include <viaduct.h>

static void nothing(vd_call *call, void *context) { (void)call, (void)context; }

static void both(int number)
{
    vd_channel *channel;
    int next = (rank + 1) % size, last = (rank + size - 1) % size, in = -1, over = -1;
    CHECK(vd_channel_open("beside", NULL, &channel) == VD_OK);
    CHECK(vd_rank() == rank && vd_size() == size);
    vd_connection *to = vd_begin_packing(channel, next);
    int out = number + rank;
    CHECK(vd_pack(to, &out, sizeof out, VD_SEND_SAFER, VD_RECEIVE_EXPRESS) == VD_OK);
    CHECK(vd_end_packing(to) == VD_OK);
    MPI_Sendrecv(&(int){number - rank}, 1, MPI_INT, next, 0, &over, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    vd_call *call = vd_rpc_begin(next, "nothing", 0);
    CHECK(call && vd_rpc_send(call) == VD_OK);
    vd_connection *from = vd_begin_unpacking_from(channel, last);
    CHECK(from && vd_unpack(from, &in, sizeof in, VD_SEND_SAFER, VD_RECEIVE_EXPRESS) == VD_OK);
    CHECK(vd_end_unpacking(from) == VD_OK);
    CHECK(in == number + last && over == number - last);
    CHECK(vd_rpc_wait(call, NULL) == VD_OK && vd_rpc_end(call) == VD_OK);
    MPI_Barrier(MPI_COMM_WORLD); /* calls are handled here as well */
    CHECK(vd_channel_close(channel) == VD_OK);
}

static void begin(void)
{
    CHECK(vd_init() == VD_OK && vd_rpc_start(0) == VD_OK && vd_rpc_register("nothing", nothing, NULL, VD_AT_ONCE) == VD_OK);
}

int main(int argc, char **argv)
{
    begin();
    vd_channel *first;
    CHECK(vd_channel_open("before MPI", NULL, &first) == VD_OK);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    both(100);
    CHECK(vd_finalize() == VD_OK);
    begin(); /* once more, within */
    both(200);
    MPI_Finalize();
    CHECK(vd_channel_open("behind MPI", NULL, &first) == VD_OK);
    CHECK(vd_finalize() == VD_OK);
    return check_done();
}
