/* Messages to the own rank in every mode, on MPI_COMM_WORLD and MPI_COMM_SELF. everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

typedef int start(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void one(start *send, MPI_Comm comm, int me, size_t bytes, int receive_first)
{
    unsigned char *out = malloc(bytes + 1), *in = calloc(bytes + 1, 1);
    MPI_Request request[2];
    MPI_Status status[2];
    fill(out, bytes, (unsigned)bytes);
    if (receive_first)
        MPI_Irecv(in, (int)bytes, MPI_BYTE, me, 9, comm, &request[0]);
    send(out, (int)bytes, MPI_BYTE, me, 9, comm, &request[1]);
    if (!receive_first)
        MPI_Irecv(in, (int)bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request[0]);
    MPI_Waitall(2, request, status);
    CHECK_EQUAL(status[0].MPI_SOURCE, me);
    CHECK_EQUAL(status[0].MPI_TAG, 9);
    CHECK_EQUAL(count_of(&status[0], MPI_BYTE), bytes);
    CHECK_BYTES(in, bytes, (unsigned)bytes);
    free(out);
    free(in);
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 8, 100, 4096, 16384, 16385, 65536, 300000};
    check_init();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int first = 0; first < 2; first++) {
            one(MPI_Isend, MPI_COMM_SELF, 0, sizes[i], first);
            one(MPI_Isend, MPI_COMM_WORLD, rank, sizes[i], first);
            one(MPI_Issend, MPI_COMM_WORLD, rank, sizes[i], first);
        }
        one(MPI_Irsend, MPI_COMM_WORLD, rank, sizes[i], 1);
    }
    int out = 7, in = 0;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, 7);
    return check_finalize();
}
