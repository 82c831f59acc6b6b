/* Wrong arguments give the class of the standard and a sentence with function, argument, value, communicator and rank;
 * nothing is sent, nothing crashes, and the library goes on. everywhere: 1 2 3 5 8 */
#include "mpi_check.h"

static void check_sentence(int code, const char *part)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK_EQUAL(strlen(text), length);
    if (!strstr(text, part)) {
        fprintf(stderr, "\"%s\" says nothing of \"%s\"\n", text, part);
        CHECK(!"the sentence is incomplete");
    }
}

static void send_and_receive(void)
{
    int data = 0;
    MPI_Request request;
    MPI_Status status;
    int code = MPI_Send(&data, 1, MPI_INT, size + 3, 1, MPI_COMM_WORLD);
    char part[100];
    CHECK_CLASS(code, MPI_ERR_RANK);
    snprintf(part, sizeof part, "MPI_Send: rank %d is not in MPI_COMM_WORLD of %d ranks", size + 3, size);
    check_sentence(code, part);
    CHECK_CLASS(MPI_Send(&data, 1, MPI_INT, -7, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&data, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
    code = MPI_Send(&data, -1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_COUNT);
    check_sentence(code, "MPI_Send: count -1 is negative");
    code = MPI_Isend(&data, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, &request);
    CHECK_CLASS(code, MPI_ERR_TAG);
    check_sentence(code, "MPI_Isend: tag -5");
    CHECK_CLASS(MPI_Send(&data, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
    code = MPI_Send(&data, 1, MPI_INT, 0, 1, MPI_COMM_NULL);
    CHECK_CLASS(code, MPI_ERR_COMM);
    check_sentence(code, "MPI_COMM_NULL");
    CHECK_CLASS(MPI_Send(&data, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD), MPI_ERR_TYPE);
    code = MPI_Ssend(NULL, 3, MPI_INT, 0, 1, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_BUFFER);
    check_sentence(code, "12 bytes");
    CHECK_CLASS(MPI_Recv(&data, 1, MPI_INT, size, 1, MPI_COMM_WORLD, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv(&data, 1, MPI_INT, -9, 1, MPI_COMM_WORLD, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv(&data, -2, MPI_INT, 0, 1, MPI_COMM_WORLD, &status), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Irecv(&data, 1, MPI_INT, 0, -4, MPI_COMM_WORLD, &request), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Probe(size, 1, MPI_COMM_WORLD, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send_init(&data, 1, MPI_INT, size, 1, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
    code = MPI_Sendrecv(&data, 1, MPI_INT, 0, 1, &data, 1, MPI_INT, size, 1, MPI_COMM_WORLD, &status);
    CHECK_CLASS(code, MPI_ERR_RANK);
    snprintf(part, sizeof part, "MPI_Sendrecv: receive rank %d is not in MPI_COMM_WORLD", size);
    check_sentence(code, part);
    code = MPI_Isendrecv(&data, 1, MPI_DATATYPE_NULL, 0, 1, &data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    CHECK_CLASS(code, MPI_ERR_TYPE);
    check_sentence(code, "MPI_Isendrecv: the send datatype is MPI_DATATYPE_NULL");
    MPI_Datatype raw;
    MPI_Type_contiguous(2, MPI_INT, &raw);
    code = MPI_Send(&data, 1, raw, 0, 1, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_TYPE);
    check_sentence(code, "MPI_Type_commit");
    MPI_Type_free(&raw);
}

static void collectives(void)
{
    int a = 0, b = 0;
    char part[100];
    int code = MPI_Bcast(&a, 1, MPI_INT, size, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_ROOT);
    snprintf(part, sizeof part, "MPI_Bcast: root %d", size);
    check_sentence(code, part);
    CHECK_CLASS(MPI_Bcast(&a, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Bcast(&a, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    code = MPI_Allreduce(&a, &b, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_OP);
    check_sentence(code, "MPI_BAND is not defined for MPI_FLOAT");
    CHECK_CLASS(MPI_Allreduce(&a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Reduce(&a, NULL, 1, MPI_INT, MPI_SUM, rank, MPI_COMM_SELF), rank == 0 ? MPI_ERR_BUFFER : MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Gather(&a, 1, MPI_INT, NULL, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
    code = MPI_Alltoall(&a, 1, MPI_INT, &b, -4, MPI_INT, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_COUNT);
    check_sentence(code, "MPI_Alltoall: receive count -4 is negative");
    code = MPI_Allgather(&a, 1, MPI_INT, &b, 1, MPI_DATATYPE_NULL, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_TYPE);
    check_sentence(code, "MPI_Allgather: the receive datatype is MPI_DATATYPE_NULL");
    code = MPI_Scatterv(&a, (int[]){-2}, (int[]){0}, MPI_INT, &b, 1, MPI_INT, 0, MPI_COMM_SELF);
    CHECK_CLASS(code, MPI_ERR_COUNT);
    check_sentence(code, "MPI_Scatterv: send count -2 for rank 0 is negative (MPI_ERR_COUNT, rank 0 of MPI_COMM_SELF)");
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* and all are still in step */
}

/* One buffer for both sides, which is what MPI_IN_PLACE is for. */
static void aliases(void)
{
    enum { RANKS = 64 };
    int many[2 * RANKS] = {0}, one[RANKS], places[RANKS];
    MPI_Datatype types[RANKS];
    MPI_Comm world = MPI_COMM_WORLD;
    for (int i = 0; i < RANKS; i++)
        one[i] = 1, places[i] = i, types[i] = MPI_INT;
    int code = MPI_Allreduce(many, many, 2, MPI_INT, MPI_SUM, world);
    CHECK_CLASS(code, MPI_ERR_BUFFER);
    check_sentence(code, "MPI_Allreduce: the send and the receive buffer are the same memory");
    CHECK_CLASS(MPI_Reduce(many, many, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Scan(many, many, 2, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Reduce_scatter(many, many, one, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allgather(many + rank, 1, MPI_INT, many, 1, MPI_INT, world), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allgatherv(many + rank, 1, MPI_INT, many, one, places, MPI_INT, world), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoall(many, 1, MPI_INT, many, 1, MPI_INT, world), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoallw(many, one, places, types, many, one, places, types, world), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Gather(many, 1, MPI_INT, many, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Scatterv(many, one, places, MPI_INT, many, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
    /* nothing is moved, or the halves take turns */
    CHECK_OK(MPI_Allreduce(many, many, 0, MPI_INT, MPI_SUM, world));
    CHECK_OK(MPI_Allgather(many + RANKS + rank, 1, MPI_INT, many, 1, MPI_INT, world));

    CHECK_CLASS(MPI_Reduce_local(many, many, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Reduce_local(MPI_IN_PLACE, many, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Reduce_local(many, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
}

/* Where some ranks do not see the other buffer it is an error of those that do, and nobody waits: not for what is large,
 * and not in the next call. The others have the right result. */
static void aliases_of_some(int count)
{
    MPI_Comm world = MPI_COMM_WORLD;
    size_t bytes = sizeof(int) * (size_t)count * (size_t)size;
    int *data = calloc(1, bytes), *got = calloc(1, bytes), root = size - 1, error;
    int *counts = calloc((size_t)size, sizeof *counts), *places = calloc((size_t)size, sizeof *places);
    int at_root = rank == root ? MPI_ERR_BUFFER : MPI_SUCCESS, behind = rank > 0 ? MPI_ERR_BUFFER : MPI_SUCCESS;
    for (int i = 0; i < size; i++)
        counts[i] = count, places[i] = i * count;
    MPI_Request request;
    CHECK_CLASS(MPI_Exscan(data, data, count, MPI_INT, MPI_SUM, world), behind);
    CHECK_OK(MPI_Iexscan(data, data, count, MPI_INT, MPI_SUM, world, &request));
    error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_CLASS(error, behind);
    if (error)
        check_sentence(error, "MPI_Iexscan: the send and the receive buffer are the same memory");
    CHECK_CLASS(MPI_Reduce(data, data, count, MPI_INT, MPI_SUM, root, world), at_root);
    CHECK_CLASS(MPI_Gather(data, count, MPI_INT, data, count, MPI_INT, root, world), at_root);
    int *own = data + places[rank];
    CHECK_CLASS(MPI_Gatherv(own, count, MPI_INT, data, counts, places, MPI_INT, root, world), at_root);
    data[places[0]] = 7;
    CHECK_CLASS(MPI_Scatter(data, count, MPI_INT, rank == root ? data : got, count, MPI_INT, root, world), at_root);
    CHECK_EQUAL(got[0], rank == root || rank > 0 ? 0 : 7);
    CHECK_OK(MPI_Scatterv_init(data, counts, places, MPI_INT, rank == root ? own : got, count, MPI_INT, root, world,
                               MPI_INFO_NULL, &request));
    CHECK_OK(MPI_Start(&request));
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), at_root);
    CHECK_OK(MPI_Request_free(&request));
    data[0] = rank;
    CHECK_OK(MPI_Allgather(data, 1, MPI_INT, got, 1, MPI_INT, world));
    CHECK_EQUAL(got[root], root);
    free(data), free(got), free(counts), free(places);
}

/* A wrong argument of some ranks: their call does not take place. The root waits for the right one, which may
 * follow. */
static void wrong_of_some(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int root = size - 1, data = rank, *all = calloc((size_t)size, sizeof *all);
    if (rank != root) {
        CHECK_CLASS(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, NULL, 0, MPI_INT, root, world), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Gather(&data, -1, MPI_INT, NULL, 0, MPI_INT, root, world), MPI_ERR_COUNT);
        CHECK_CLASS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, root, world), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Scatter(NULL, 0, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, root, world), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Reduce(MPI_IN_PLACE, NULL, 1, MPI_INT, MPI_SUM, root, world), MPI_ERR_BUFFER);
    }
    CHECK_OK(MPI_Gather(&data, 1, MPI_INT, all, 1, MPI_INT, root, world));
    CHECK_OK(MPI_Bcast(all, size, MPI_INT, root, world));
    for (int i = 0; i < size; i++)
        CHECK_EQUAL(all[i], i);
    free(all);
}

static void other(void)
{
    MPI_Comm comm;
    MPI_Group group;
    int ranks[] = {0, 0}, flag;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group out;
    CHECK_CLASS(MPI_Group_incl(group, 2, ranks, &out), MPI_ERR_RANK);
    ranks[0] = size;
    CHECK_CLASS(MPI_Group_incl(group, 1, ranks, &out), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Group_size(MPI_GROUP_NULL, &flag), MPI_ERR_GROUP);
    MPI_Group_free(&group);
    CHECK_CLASS(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &comm), MPI_ERR_ARG);
    comm = MPI_COMM_WORLD;
    CHECK_CLASS(MPI_Comm_free(&comm), MPI_ERR_COMM);
    int dims[] = {size + 1}, periods[] = {0};
    CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_rank(MPI_COMM_WORLD, dims, &flag), MPI_ERR_TOPOLOGY);
    MPI_Datatype type = MPI_INT;
    CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Type_vector(1, -1, 1, MPI_INT, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &type), MPI_ERR_TYPE);
    MPI_Op op = MPI_SUM;
    CHECK_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
}

int main(void)
{
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    send_and_receive();
    collectives();
    aliases();
    aliases_of_some(2);
    aliases_of_some(1 << 16);
    wrong_of_some();
    other();
    int sum = 0;
    MPI_Allreduce(&size, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, size * size);
    return check_finalize();
}
