/* Every _c form of point-to-point: each way of sending meets each way of receiving, around a ring, byte by byte; and the
 * sendrecv family in all its forms.
 * everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

#define MOST 20000
static unsigned char out[MOST], in[MOST];
static int next, last;

typedef int blocking_send(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int request_send(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
/* Blocking ones may wait for their receive, which is started before. */
static blocking_send *const blocking[] = {MPI_Send_c, MPI_Ssend_c, MPI_Rsend_c, MPI_Bsend_c};
static request_send *const started[] = {MPI_Isend_c, MPI_Issend_c, MPI_Irsend_c, MPI_Ibsend_c};
static request_send *const persistent[] = {MPI_Send_init_c, MPI_Ssend_init_c, MPI_Rsend_init_c, MPI_Bsend_init_c};

static void check_arrived(const MPI_Status *status, int bytes, unsigned message)
{
    MPI_Count count = -1;
    CHECK_OK(MPI_Get_count_c(status, MPI_BYTE, &count));
    CHECK_EQUAL(count, bytes);
    CHECK_EQUAL(status->MPI_SOURCE, last);
    CHECK_EQUAL(status->MPI_TAG, 7);
    CHECK_BYTES(in, (size_t)bytes, message);
}

/* Sends in way 0 to 11 to the next. */
static void send(int way, int bytes, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (way < 4)
        CHECK_OK(blocking[way](out, bytes, MPI_BYTE, next, 7, MPI_COMM_WORLD));
    else if (way < 8)
        CHECK_OK(started[way - 4](out, bytes, MPI_BYTE, next, 7, MPI_COMM_WORLD, request));
    else {
        CHECK_OK(persistent[way - 8](out, bytes, MPI_BYTE, next, 7, MPI_COMM_WORLD, request));
        CHECK_OK(MPI_Start(request));
    }
}

static void ring(int way, int receive, int bytes)
{
    MPI_Request sending, receiving = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Status status;
    unsigned pattern = (unsigned)(way * 1000 + receive * 100);
    fill(out, (size_t)bytes, pattern + (unsigned)rank);
    memset(in, 0, sizeof in);
    if (receive == 0)
        CHECK_OK(MPI_Irecv_c(in, MOST, MPI_BYTE, last, 7, MPI_COMM_WORLD, &receiving));
    if (receive == 1) {
        CHECK_OK(MPI_Recv_init_c(in, MOST, MPI_BYTE, last, 7, MPI_COMM_WORLD, &receiving));
        CHECK_OK(MPI_Start(&receiving));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    send(way, bytes, &sending);
    if (receive == 2)
        CHECK_OK(MPI_Recv_c(in, MOST, MPI_BYTE, last, 7, MPI_COMM_WORLD, &status));
    if (receive > 2)
        CHECK_OK(MPI_Mprobe(last, 7, MPI_COMM_WORLD, &message, &status));
    if (receive == 3)
        CHECK_OK(MPI_Mrecv_c(in, MOST, MPI_BYTE, &message, &status));
    if (receive == 4)
        CHECK_OK(MPI_Imrecv_c(in, MOST, MPI_BYTE, &message, &receiving));
    if (receiving != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Wait(&receiving, &status));
    check_arrived(&status, bytes, pattern + (unsigned)last);
    CHECK_OK(MPI_Wait(&sending, MPI_STATUS_IGNORE));
    if (sending != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(&sending));
    if (receiving != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(&receiving));
}

static void prepare(unsigned pattern)
{
    fill(out, MOST, pattern + (unsigned)rank);
    memset(in, 0, sizeof in);
}

static void both(void)
{
    MPI_Request request;
    MPI_Status status;
    prepare(1);
    CHECK_OK(MPI_Sendrecv_c(out, 300, MPI_BYTE, next, 7, in, MOST, MPI_BYTE, last, 7, MPI_COMM_WORLD, &status));
    check_arrived(&status, 300, 1 + (unsigned)last);
    prepare(2);
    CHECK_OK(MPI_Isendrecv(out, MOST, MPI_BYTE, next, 7, in, MOST, MPI_BYTE, last, 7, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_arrived(&status, MOST, 2 + (unsigned)last);
    prepare(3);
    CHECK_OK(MPI_Isendrecv_c(out, 0, MPI_BYTE, next, 7, in, MOST, MPI_BYTE, last, 7, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_arrived(&status, 0, 3 + (unsigned)last);
    fill(in, MOST, 4 + (unsigned)rank);
    CHECK_OK(MPI_Sendrecv_replace_c(in, MOST, MPI_BYTE, next, 7, last, 7, MPI_COMM_WORLD, &status));
    check_arrived(&status, MOST, 4 + (unsigned)last);
    fill(in, MOST, 5 + (unsigned)rank);
    CHECK_OK(MPI_Isendrecv_replace(in, MOST, MPI_BYTE, next, 7, last, 7, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_arrived(&status, MOST, 5 + (unsigned)last);
    fill(in, MOST, 6 + (unsigned)rank);
    CHECK_OK(MPI_Isendrecv_replace_c(in, 99, MPI_BYTE, next, 7, last, 7, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    check_arrived(&status, 99, 6 + (unsigned)last);
}

static void partitions(void)
{
    MPI_Request request[2];
    prepare(8);
    CHECK_OK(MPI_Psend_init_c(out, 4, MOST / 4, MPI_BYTE, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]));
    CHECK_OK(MPI_Precv_init_c(in, 2, MOST / 2, MPI_BYTE, last, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]));
    CHECK_OK(MPI_Startall(2, request));
    for (int i = 3; i >= 0; i--)
        CHECK_OK(MPI_Pready(i, request[0]));
    CHECK_OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    CHECK_BYTES(in, MOST, 8 + (unsigned)last);
    CHECK_OK(MPI_Request_free(&request[0]));
    CHECK_OK(MPI_Request_free(&request[1]));
}

/* The buffer of a communicator goes before that of the process. */
static void buffers(void)
{
    MPI_Count size_back = 0;
    char *of_comm = malloc(600 + MPI_BSEND_OVERHEAD), *back = NULL;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_OK(MPI_Comm_attach_buffer_c(comm, of_comm, 600 + MPI_BSEND_OVERHEAD));
    prepare(9);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Bsend_c(out, MOST, MPI_BYTE, next, 7, comm), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Bsend_c(out, 500, MPI_BYTE, next, 7, comm));
    CHECK_OK(MPI_Recv_c(in, MOST, MPI_BYTE, last, 7, comm, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, 500, 9 + (unsigned)last);
    CHECK_OK(MPI_Comm_flush_buffer(comm));
    CHECK_OK(MPI_Comm_detach_buffer_c(comm, &back, &size_back));
    CHECK(back == of_comm);
    CHECK_EQUAL(size_back, 600 + MPI_BSEND_OVERHEAD);
    MPI_Comm_free(&comm);
    free(of_comm);
}

int main(void)
{
    MPI_Count size_of_buffer = MOST + 2 * MPI_BSEND_OVERHEAD, back = 0;
    check_init();
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    void *memory = malloc((size_t)size_of_buffer), *again;
    CHECK_OK(MPI_Buffer_attach_c(memory, size_of_buffer));
    for (int way = 0; way < 12; way++)
        for (int receive = 0; receive < 5; receive++) {
            int needs = way == 0 || way == 1 || way == 2 || way == 6 || way == 10;
            if (needs && receive > 1)
                continue; /* a blocking or ready send needs its receive */
            ring(way, receive, 40);
            ring(way, receive, MOST);
            CHECK_OK(MPI_Buffer_flush());
        }
    CHECK_OK(MPI_Buffer_detach_c(&again, &back));
    CHECK(again == memory && back == size_of_buffer);
    free(memory);
    both();
    partitions();
    buffers();
    return check_finalize();
}
