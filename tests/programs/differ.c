/* Collectives that differ between ranks, in the way that the first argument names, for VIADUCT_CHECK; "right": all are
 * the same. See tests/mpi/differ.sh. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int rank, size, word, words[64];

static void kind(void)
{
    if (rank == 1)
        MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD); /* line 13 */
    else
        MPI_Barrier(MPI_COMM_WORLD); /* line 15 */
    word++; /* so that no call is the last thing here */
}

static void root(void) { MPI_Bcast(&word, 1, MPI_INT, rank == size - 1, MPI_COMM_WORLD); }

static void order(void)
{
    for (int i = 0; i < 2; i++)
        if (i == (rank == 0))
            MPI_Allreduce(&rank, &word, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Allgather(&rank, 1, MPI_INT, words, 1, MPI_INT, MPI_COMM_WORLD);
}

static void form(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0)
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void request(void)
{
    MPI_Request request;
    if (rank == 0)
        MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Ireduce(&rank, &word, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void prepared(void)
{
    MPI_Request request;
    MPI_Bcast_init(&word, 1, MPI_INT, rank == 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
}

static void finalize(void)
{
    if (rank)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* One rank passes more, or less, than the others, or than the root expects. */
static int more, less;
static void gather(void) { MPI_Gather(words, 2 + more, MPI_INT, words + 16, 2, MPI_INT, 0, MPI_COMM_WORLD); }
static void scatter(void) { MPI_Scatter(words, 2, MPI_INT, words + 32, 2 - less, MPI_INT, 1, MPI_COMM_WORLD); }
static void allgather(void) { MPI_Allgather(words, 2, MPI_INT, words + 16, 2 + more, MPI_INT, MPI_COMM_WORLD); }
static void gives(void) { MPI_Allgather(words, 2 + more, MPI_INT, words + 16, 2, MPI_INT, MPI_COMM_WORLD); }
static void alltoall(void) { MPI_Alltoall(words, 2 + more, MPI_INT, words + 16, 2, MPI_INT, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(words, words + 32, 2, more ? MPI_LONG : MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); }
static void broadcast(void) { MPI_Bcast(words, 2 - less, MPI_INT, 0, MPI_COMM_WORLD); }
static void allreduce(void)
{
    MPI_Request request;
    MPI_Iallreduce(words, words + 32, 2 + more, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void reduce_scatter(void)
{
    int counts[64] = {1, 1 + more, 2};
    MPI_Reduce_scatter(words, words + 32, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* One rank passes another type of the same size, or another operation. */
static MPI_Datatype one_type;
static void types(void) { MPI_Bcast(words, 2, one_type, 0, MPI_COMM_WORLD); }
static void sum_of(void) { MPI_Allreduce(words, words + 32, 2, one_type, MPI_SUM, MPI_COMM_WORLD); }
static void gives_type(void) { MPI_Allgather(words, 2, one_type, words + 16, 2, MPI_INT, MPI_COMM_WORLD); }
static void takes_type(void) { MPI_Alltoall(words, 2, MPI_INT, words + 16, 2, one_type, MPI_COMM_WORLD); }
static void scatter_type(void) { MPI_Scatter(words, 2, MPI_INT, words + 32, 2, one_type, 1, MPI_COMM_WORLD); }
static void started_type(void)
{
    MPI_Request request;
    MPI_Igather(words, 3, one_type, words + 16, 3, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void derived_type(void)
{
    int lengths[2] = {2, 1};
    MPI_Aint displacements[2] = {0, 8};
    MPI_Datatype members[2] = {MPI_INT, one_type}, made;
    MPI_Type_create_struct(2, lengths, displacements, members, &made);
    MPI_Type_commit(&made);
    MPI_Bcast(words, 2, made, 0, MPI_COMM_WORLD);
    MPI_Type_free(&made);
}
static void user_sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}
static void operation(void)
{
    MPI_Allreduce(words, words + 32, 2, MPI_INT, more ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
}
static void user_operation(void)
{
    MPI_Op own;
    MPI_Op_create(user_sum, 1, &own);
    MPI_Exscan(words, words + 32, 2, MPI_INT, more ? own : MPI_SUM, MPI_COMM_WORLD);
}

/* The same numbers are described in many ways. */
static void same_types(void)
{
    MPI_Datatype vector, pair, ints;
    MPI_Op own, second;
    int lengths[2] = {1, 1}, numbers[6] = {0, 1, 2, 3, 4, 5};
    MPI_Aint displacements[2] = {8, 0};
    MPI_Datatype members[2] = {MPI_FLOAT, MPI_INT};
    MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
    MPI_Type_create_struct(2, lengths, displacements, members, &pair);
    MPI_Type_contiguous(3, MPI_INT, &ints);
    MPI_Type_commit(&vector);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&ints);
    MPI_Op_create(user_sum, 1, &own);
    MPI_Op_create(user_sum, 1, &second);
    bool even = rank % 2 == 0;
    MPI_Bcast(words, even ? 1 : 3, even ? vector : MPI_INT32_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(words, 2, even ? MPI_FLOAT_INT : pair, 0, MPI_COMM_WORLD);
    MPI_Bcast(words, even ? 12 : 3, even ? MPI_BYTE : MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(words, even ? 12 : 1, even ? MPI_PACKED : ints, 0, MPI_COMM_WORLD);
    MPI_Bcast(words, 1, even ? ints : vector, size - 1, MPI_COMM_WORLD);
    MPI_Bcast(words, 0, even ? MPI_INT : MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Allgather(numbers, even ? 3 : 1, even ? MPI_INT : ints, words, even ? 1 : 3, even ? ints : MPI_INT,
                  MPI_COMM_WORLD);
    MPI_Allreduce(numbers, words, 2, MPI_INT, even ? own : second, MPI_COMM_WORLD);
    MPI_Reduce(numbers, words, 2, even ? MPI_INT : MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Op_free(&own);
    MPI_Op_free(&second);
    MPI_Type_free(&vector);
    MPI_Type_free(&pair);
    MPI_Type_free(&ints);
}

/* All ranks are told, and go on together. */
static void told(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = rank == 1 ? MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD) : MPI_Barrier(MPI_COMM_WORLD);
    MPI_Error_class(error, &class);
    MPI_Error_string(error, text, &length);
    if (class != MPI_ERR_OTHER || !strstr(text, "rank 1 calls MPI_Bcast with root 0"))
        fprintf(stderr, "rank %d was not told: %s\n", rank, text);
    if (MPI_Barrier(MPI_COMM_WORLD) || MPI_Bcast(words, 64, MPI_INT, 1, MPI_COMM_WORLD))
        fprintf(stderr, "rank %d does not go on\n", rank);
}

/* A rank may start a call long before the others, and may end before them; both forms of counts meet. */
static void right(void)
{
    MPI_Request requests[3];
    MPI_Comm half, both;
    int token = 7;
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
    if (rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iallgather(&rank, 1, MPI_INT, words, 1, MPI_INT, MPI_COMM_WORLD, &requests[2]);
    if (rank < size - 1)
        MPI_Ssend(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < size; i++)
        if (words[i] != i)
            fprintf(stderr, "rank %d: word %d is %d\n", rank, i, words[i]);
    if (rank)
        MPI_Bcast_c(words, 64, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(words, 64, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast_init(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
    for (int i = 0; i < 3; i++) {
        MPI_Start(requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(requests);
    MPI_Gather(rank ? &rank : MPI_IN_PLACE, 1, MPI_INT, rank ? NULL : words, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(rank ? NULL : words, 1, MPI_INT, rank ? &word : MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gather(&rank, rank ? 4 : 1, rank ? MPI_BYTE : MPI_INT, words, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, rank, MPI_CHAR, words, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Barrier(half);
    if (size > 1) {
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rank % 2), 3, &both);
        MPI_Bcast(&word, 1, MPI_INT, rank % 2 ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT, both);
        MPI_Iallreduce(&rank, &word, 1, MPI_INT, MPI_SUM, both, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
        MPI_Comm_free(&both);
    }
    MPI_Comm_free(&half);
}

static const struct way {
    const char *name;
    void (*differ)(void);
} ways[] = {{"kind", kind},         {"root", root},         {"order", order}, {"form", form},  {"request", request},
            {"prepared", prepared}, {"finalize", finalize}, {"told", told},   {"right", right},
            {"gather", gather}, {"scatter", scatter}, {"allgather", allgather}, {"gives", gives},
            {"alltoall", alltoall}, {"reduce", reduce},
            {"broadcast", broadcast}, {"allreduce", allreduce}, {"reduce_scatter", reduce_scatter},
            {"types", types}, {"sum_of", sum_of}, {"gives_type", gives_type}, {"takes_type", takes_type},
            {"scatter_type", scatter_type}, {"started_type", started_type}, {"derived_type", derived_type},
            {"operation", operation}, {"user_operation", user_operation}, {"same_types", same_types}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    more = less = rank == 2;
    one_type = more ? MPI_FLOAT : MPI_INT;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && strcmp(ways[i].name, argv[1]) == 0)
            ways[i].differ();
    MPI_Finalize();
    return 0;
}
