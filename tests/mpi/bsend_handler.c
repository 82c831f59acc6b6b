/* MPI_Bsend without room makes progress, in which a handler of a remote call runs that calls MPI_Bsend itself.
 * timeout: 20 */
#include "mpi_check.h"
#include "viaduct.h"

static char large[100000], room[sizeof large + MPI_BSEND_OVERHEAD];
static int called;

static void handler(vd_call *call, void *context)
{
    (void)call, (void)context;
    called++;
    CHECK(MPI_Bsend(large, sizeof large, MPI_CHAR, 1, 2, MPI_COMM_WORLD) != MPI_SUCCESS);
}

int main(void)
{
    int given;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    CHECK_EQUAL(vd_rpc_register("send", handler, NULL, VD_AT_ONCE), VD_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Buffer_attach(room, sizeof room);
        CHECK_EQUAL(MPI_Bsend(large, sizeof large, MPI_CHAR, 1, 1, MPI_COMM_WORLD), MPI_SUCCESS);
        while (!called) /* there is no room for a second one */
            CHECK(MPI_Bsend(large, sizeof large, MPI_CHAR, 1, 2, MPI_COMM_WORLD) != MPI_SUCCESS);
    } else {
        vd_call *call = vd_rpc_begin(0, "send", 0);
        vd_connection *reply;
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(call, &reply), VD_OK);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(large, sizeof large, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(vd_finalize(), VD_OK);
    return check_finalize();
}
