/* A broadcast longer, or shorter, than what some ranks receive: each rank ends, the one with another length has an
 * error (MPI_ERR_TRUNCATE if its buffer is too short) and the bytes that it has room for, all others have all bytes and
 * no error. Blocking, started, persistent and started twice; then a broadcast of equal lengths works.
 * everywhere: 2 3 5 8 */
#include "mpi_check.h"

#define LONGEST 1600000

enum { RUN, START, PERSIST, FORMS };
static unsigned char data[LONGEST + 64];

static int broadcast(int form, int room, int root, unsigned message)
{
    MPI_Request request;
    int error;
    memset(data, 0xEE, sizeof data);
    if (rank == root)
        fill(data, (size_t)room, message);
    if (form == RUN)
        return MPI_Bcast(data, room, MPI_BYTE, root, MPI_COMM_WORLD);
    if (form == START) {
        CHECK_OK(MPI_Ibcast(data, room, MPI_BYTE, root, MPI_COMM_WORLD, &request));
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK_OK(MPI_Bcast_init(data, room, MPI_BYTE, root, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(MPI_Start(&request));
        error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK_OK(MPI_Request_free(&request));
    return error;
}

/* ODD has room for OTHER bytes, all others for BYTES. */
static void one(int form, int bytes, int other, int odd, unsigned message)
{
    int root = (odd + 1) % size, room = rank == odd ? other : bytes, came = room < bytes ? room : bytes;
    int class = class_of(broadcast(form, room, root, message));
    if (room < bytes)
        CHECK_EQUAL(class, MPI_ERR_TRUNCATE);
    else if (room > bytes)
        CHECK_EQUAL(class, MPI_ERR_ARG);
    else
        CHECK_EQUAL(class, MPI_SUCCESS);
    CHECK_BYTES(data, (size_t)came, message);
    for (int i = came; i < came + 64; i++)
        CHECK_EQUAL(data[i], 0xEE);
}

int main(void)
{
    static const int lengths[] = {0, 4, 100, 2048, 2049, 30000, 262144, 524288, LONGEST};
    unsigned message = 0;
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int form = RUN; form < FORMS && size > 1; form++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++, message++)
                one(form, lengths[i], lengths[k], (int)(message % (unsigned)size), message);
    return check_finalize();
}
