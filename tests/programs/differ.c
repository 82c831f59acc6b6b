/* Collectives that differ between ranks, in the way that the first argument names, for VIADUCT_CHECK; "right": all are
 * the same. See tests/mpi/differ.sh. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, word, words[64];

static void kind(void)
{
    if (rank == 1)
        MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD); /* line 12 */
    else
        MPI_Barrier(MPI_COMM_WORLD); /* line 14 */
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
            {"broadcast", broadcast}, {"allreduce", allreduce}, {"reduce_scatter", reduce_scatter}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    more = less = rank == 2;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && strcmp(ways[i].name, argv[1]) == 0)
            ways[i].differ();
    MPI_Finalize();
    return 0;
}
