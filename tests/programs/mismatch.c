/* Sends one type and receives another, for VIADUCT_CHECK: in each way that messages go, with the mark of the case as tag. A
 * program without an argument does it wrong, "right": every pair fits, however the two types are made. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define BIG 100000
static int rank, right, done;
static int whole[BIG], other[BIG];

static void blocking(int tag, int count, MPI_Datatype out, MPI_Datatype in)
{
    if (rank == 0)
        MPI_Send(whole, count, out, 1, tag, MPI_COMM_WORLD); /* line 14 */
    else
        MPI_Recv(other, BIG, in, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line 16 */
    done++; /* so that no call is the last thing here: it would be made in the place of this one */
}

static void requests(int tag, MPI_Datatype in)
{
    MPI_Request request;
    if (rank == 0)
        MPI_Issend(whole, 10, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(other, 10, in, 0, tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void persistent(int tag, MPI_Datatype in)
{
    MPI_Request request;
    if (rank == 0)
        MPI_Send_init(whole, 10, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
    else
        MPI_Recv_init(other, 10, in, 0, tag, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

static void matched(int tag, MPI_Datatype in)
{
    MPI_Message message;
    if (rank == 0) {
        MPI_Send(whole, 10, MPI_INT, 1, tag, MPI_COMM_WORLD);
        return;
    }
    MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(other, 10, in, &message, MPI_STATUS_IGNORE);
}

static void with_itself(int tag, MPI_Datatype in)
{
    MPI_Sendrecv(whole, 10, MPI_INT, rank, tag, other, 10, in, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void buffered(int tag, MPI_Datatype in)
{
    int size = 1000 + MPI_BSEND_OVERHEAD;
    void *room = malloc((size_t)size);
    if (rank == 0) {
        MPI_Buffer_attach(room, size);
        MPI_Bsend(whole, 10, MPI_INT, 1, tag, MPI_COMM_WORLD);
        MPI_Buffer_detach(&room, &size);
    } else {
        MPI_Recv(other, 10, in, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(room);
}

int main(int argc, char **argv)
{
    MPI_Datatype vector, pair, turned, columns, wrong;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    right = argc > 1 && strcmp(argv[1], "right") == 0;
    wrong = right ? MPI_INT32_T : MPI_FLOAT;
    MPI_Type_vector(7, 3, 5, MPI_INT, &vector);
    MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &pair);
    MPI_Type_create_struct(2, (int[]){2, 1}, (MPI_Aint[]){0, 16}, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT}, &turned);
    MPI_Type_indexed(3, (int[]){1, 9, 11}, (int[]){30, 0, 10}, MPI_INT, &columns);
    MPI_Type_commit(&vector);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&turned);
    MPI_Type_commit(&columns);
    blocking(1, 10, MPI_INT, wrong);
    blocking(2, BIG, MPI_INT, wrong); /* announced */
    blocking(3, 3, pair, right ? pair : turned);
    blocking(4, 1, vector, right ? columns : wrong);
    blocking(5, 1, MPI_DOUBLE_INT, right ? MPI_DOUBLE_INT : MPI_BYTE);
    requests(6, wrong);
    persistent(7, wrong);
    matched(8, wrong);
    buffered(9, wrong);
    with_itself(10, wrong);
    blocking(11, 40, MPI_BYTE, right ? MPI_PACKED : MPI_CHAR);
    blocking(12, 4, vector, right ? MPI_INT : pair); /* longer than the first of them */
    MPI_Type_free(&vector);
    MPI_Type_free(&pair);
    MPI_Type_free(&turned);
    MPI_Type_free(&columns);
    MPI_Finalize();
    return 0;
}
