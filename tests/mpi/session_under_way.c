/* A session ends while messages of it are under way whose requests were freed: sends that are received late or never,
 * and a receive that nothing comes for. The next session begins with nothing of them.
 * ranks: 2 3 tcp: 2 mixed: 4
 * timeout: 30 */
#include "mpi_check.h"

#define LARGE  300000
#define ROUNDS 10

static unsigned char data[LARGE], late[LARGE], never[8];

static void forget(int error, MPI_Request *request)
{
    CHECK_OK(error);
    CHECK_OK(MPI_Request_free(request));
}

static void under_way(MPI_Comm comm, int others)
{
    MPI_Request request;
    for (int to = 1; to < others && rank == 0; to++) {
        forget(MPI_Isend(data, LARGE, MPI_BYTE, to, 1, comm, &request), &request); /* received when this rank is at the end */
        forget(MPI_Isend(data, 8, MPI_BYTE, to, 2, comm, &request), &request);     /* never */
        forget(MPI_Isend(data, LARGE, MPI_BYTE, to, 3, comm, &request), &request);
    }
    forget(MPI_Irecv(never, sizeof never, MPI_BYTE, rank, 4, comm, &request), &request);
    if (rank > 0) {
        CHECK_OK(MPI_Recv(late, LARGE, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE));
        CHECK_BYTES(late, LARGE, 5);
        CHECK_OK(MPI_Probe(0, 3, comm, MPI_STATUS_IGNORE)); /* it is here, and is never received */
    }
}

int main(void)
{
    fill(data, LARGE, 5);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        int flag = 1, n = 1, sum = 0;
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
        CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        CHECK_OK(MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
        CHECK_OK(MPI_Group_free(&group));
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 2, comm, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag); /* none of the last session's, and none of this one's yet */
        CHECK_OK(MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_EQUAL(sum, size);
        under_way(comm, size);
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Session_finalize(&session));
    }
    return check_done();
}
