/* There is no memory for messages that come before their receives. The receive that gets such a message says so, with the
 * sender and the tag; messages before and behind it, short ones and those of this rank to itself are as ever.
 * ranks: 2 tcp: 2 presets: release */
#include "mpi_check.h"
#include <stdbool.h>

void *__libc_malloc(size_t size);

#define LONG 4000 /* goes ahead of its receive; nothing else takes as many bytes */
#define SHORT 40  /* lies in its envelope */
enum { MESSAGES = 6, FINISHED = 90 };

static size_t least = SIZE_MAX, most; /* of the allocations that fail */
static unsigned char data[LONG], found[LONG];

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    return bytes >= least && bytes <= most ? NULL : __libc_malloc(bytes);
}

/* All that rank 1 has sent has come, and no receive was there. */
static void all_come(void)
{
    MPI_Recv(NULL, 0, MPI_BYTE, 1, FINISHED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The long messages among tags 0 to MESSAGES - 1. */
static bool is_long(int tag) { return tag % 2; }

static void all_send(int to)
{
    for (int tag = 0; tag < MESSAGES; tag++) {
        MPI_Request request;
        fill(data, sizeof data, (unsigned)tag);
        CHECK_OK(MPI_Isend(data, is_long(tag) ? LONG : SHORT, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

/* ERROR is that of a receive of message TAG. STATUS NULL: such a receive gives none with an error. */
static void outcome_check(int error, const MPI_Status *status, int from, int tag)
{
    char text[MPI_MAX_ERROR_STRING], named[64];
    int length;
    if (!is_long(tag)) {
        CHECK_OK(error);
        CHECK_BYTES(found, SHORT, (unsigned)tag);
        return;
    }
    CHECK_CLASS(error, MPI_ERR_NO_MEM);
    MPI_Error_string(error, text, &length);
    snprintf(named, sizeof named, "from rank %d with tag %d", from, tag);
    if (!strstr(text, named)) {
        fprintf(stderr, "%s\n", text);
        CHECK(strstr(text, named));
    }
    if (status) {
        CHECK_EQUAL(status->MPI_SOURCE, from);
        CHECK_EQUAL(status->MPI_TAG, tag);
        CHECK_EQUAL(count_of(status, MPI_BYTE), 0);
    }
}

/* Each way to receive, one after the other. */
static void receive(int from, int tag)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    int flag = 0, error;
    CHECK_OK(MPI_Probe(from, tag, MPI_COMM_WORLD, &status));
    CHECK_EQUAL(count_of(&status, MPI_BYTE), is_long(tag) ? LONG : SHORT); /* what was sent */
    if (tag < 2) {
        error = MPI_Recv(found, LONG, MPI_BYTE, tag ? MPI_ANY_SOURCE : from, tag, MPI_COMM_WORLD, &status);
    } else if (tag < 4) {
        error = MPI_Irecv(found, LONG, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
        while (!error && !flag)
            error = MPI_Test(&request, &flag, &status);
    } else {
        CHECK_OK(MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, &status));
        CHECK_OK(MPI_Imrecv(found, LONG, MPI_BYTE, &message, &request));
        error = MPI_Wait(&request, &status);
    }
    outcome_check(error, tag < 2 ? NULL : &status, from, tag);
}

static void payload(int from)
{
    if (rank == 1) {
        if (from)
            all_send(0);
        MPI_Send(NULL, 0, MPI_BYTE, 0, FINISHED, MPI_COMM_WORLD);
    } else {
        least = most = LONG;
        if (!from)
            all_send(0);
        all_come();
        least = SIZE_MAX;
        for (int tag = 0; tag < MESSAGES; tag++)
            receive(from, tag);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A sender that waits until its message is received does not wait for ever. */
static void synchronous(void)
{
    if (rank == 1) {
        MPI_Request request;
        fill(data, sizeof data, 1);
        MPI_Issend(data, LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_BYTE, 0, FINISHED, MPI_COMM_WORLD);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        least = most = LONG;
        all_come();
        least = SIZE_MAX;
        outcome_check(MPI_Recv(found, LONG, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), NULL, 1, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* And when there is memory again all is as ever. */
static void afterwards(void)
{
    fill(data, sizeof data, 1);
    if (rank == 1)
        MPI_Send(data, LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    MPI_Send(NULL, 0, MPI_BYTE, !rank, FINISHED, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, !rank, FINISHED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) {
        CHECK_OK(MPI_Recv(found, LONG, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_BYTES(found, LONG, 1);
    }
}

int main(void)
{
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    payload(1);
    payload(0);
    synchronous();
    afterwards();
    return check_finalize();
}
