/* A rank has no memory for its part of a collective that goes by messages: for the schedule, for a request, for a
 * message that comes before its receive. It gets the error, and so does each rank that waits for it, or for one that
 * waits for it; nobody waits for ever, and the next collective is as ever.
 * ranks: 4 tcp: 4 mixed: 4 presets: release */
#include "mpi_check.h"
#include <stdbool.h>

void *__libc_malloc(size_t size);

#define VALUES 1000 /* nothing else takes as many bytes, and they go ahead of their receive */

static size_t least = SIZE_MAX, most; /* of the allocation that fails: the first, as a network takes such blocks, too */
static bool failed;
static int in[4 * VALUES], out[4 * VALUES], counts[4], places[4];
static MPI_Op user;

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    bool fails = !failed && bytes >= least && bytes <= most;
    failed |= fails;
    return fails ? NULL : __libc_malloc(bytes);
}

static void user_sum(void *left, void *right, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)right)[i] += ((int *)left)[i];
}

enum { BARRIER, BCAST, GATHER, SCATTERV, ALLGATHER, ALLTOALL, ALLTOALLV, REDUCE, ALLREDUCE, SCAN, CALLS };
enum { BLOCKING, STARTED, PERSISTENT, FORMS };

static int start(int call, int values, MPI_Request *request)
{
    MPI_Comm world = MPI_COMM_WORLD;
    switch (call) {
    case BARRIER: return MPI_Ibarrier(world, request);
    case BCAST: return MPI_Ibcast(in, values, MPI_INT, 0, world, request);
    case GATHER: return MPI_Igather(in, values, MPI_INT, out, values, MPI_INT, 3, world, request);
    case SCATTERV: return MPI_Iscatterv(in, counts, places, MPI_INT, out, values, MPI_INT, 0, world, request);
    case ALLGATHER: return MPI_Iallgather(in, values, MPI_INT, out, values, MPI_INT, world, request);
    case ALLTOALL: return MPI_Ialltoall(in, values, MPI_INT, out, values, MPI_INT, world, request);
    case ALLTOALLV: return MPI_Ialltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, world, request);
    case REDUCE: return MPI_Ireduce(in, out, values, MPI_INT, user, 3, world, request);
    case ALLREDUCE: return MPI_Iallreduce(in, out, values, MPI_INT, user, world, request);
    default: return MPI_Iscan(in, out, values, MPI_INT, user, world, request);
    }
}

static int prepare(int call, int values, MPI_Request *request)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Info info = MPI_INFO_NULL;
    switch (call) {
    case BARRIER: return MPI_Barrier_init(world, info, request);
    case BCAST: return MPI_Bcast_init(in, values, MPI_INT, 0, world, info, request);
    case GATHER: return MPI_Gather_init(in, values, MPI_INT, out, values, MPI_INT, 3, world, info, request);
    case SCATTERV:
        return MPI_Scatterv_init(in, counts, places, MPI_INT, out, values, MPI_INT, 0, world, info, request);
    case ALLGATHER:
        return MPI_Allgather_init(in, values, MPI_INT, out, values, MPI_INT, world, info, request);
    case ALLTOALL: return MPI_Alltoall_init(in, values, MPI_INT, out, values, MPI_INT, world, info, request);
    case ALLTOALLV:
        return MPI_Alltoallv_init(in, counts, places, MPI_INT, out, counts, places, MPI_INT, world, info, request);
    case REDUCE: return MPI_Reduce_init(in, out, values, MPI_INT, user, 3, world, info, request);
    case ALLREDUCE: return MPI_Allreduce_init(in, out, values, MPI_INT, user, world, info, request);
    default: return MPI_Scan_init(in, out, values, MPI_INT, user, world, info, request);
    }
}

static int run(int call, int values)
{
    MPI_Comm world = MPI_COMM_WORLD;
    switch (call) {
    case BARRIER: return MPI_Barrier(world);
    case BCAST: return MPI_Bcast(in, values, MPI_INT, 0, world);
    case GATHER: return MPI_Gather(in, values, MPI_INT, out, values, MPI_INT, 3, world);
    case SCATTERV: return MPI_Scatterv(in, counts, places, MPI_INT, out, values, MPI_INT, 0, world);
    case ALLGATHER: return MPI_Allgather(in, values, MPI_INT, out, values, MPI_INT, world);
    case ALLTOALL: return MPI_Alltoall(in, values, MPI_INT, out, values, MPI_INT, world);
    case ALLTOALLV: return MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, world);
    case REDUCE: return MPI_Reduce(in, out, values, MPI_INT, user, 3, world);
    case ALLREDUCE: return MPI_Allreduce(in, out, values, MPI_INT, user, world);
    default: return MPI_Scan(in, out, values, MPI_INT, user, world);
    }
}

static int perform(int call, int form, int values)
{
    MPI_Request request;
    if (form == BLOCKING)
        return run(call, values);
    int error = form == STARTED ? start(call, values, &request) : prepare(call, values, &request);
    if (error || form == STARTED)
        return error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 && !error; i++) { /* one that has failed fails again */
        error = MPI_Start(&request);
        error = error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (error) {
            CHECK_OK(MPI_Start(&request));
            CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_MEM);
        }
    }
    MPI_Request_free(&request);
    return error;
}

/* Does this rank need something of rank 1? */
static bool needs(int call)
{
    return call == BARRIER || call == ALLREDUCE || (call >= ALLGATHER && call <= ALLTOALLV) ||
           ((call == GATHER || call == REDUCE) && rank == 3) || (call == SCAN && rank > 1);
}

/* Which call it was that a check has told of. */
static void explain(int call, int form)
{
    static int told;
    if (check_failed > told)
        fprintf(stderr, "rank %d, call %d, form %d\n", rank, call, form);
    told = check_failed;
}

/* Rank 1 fails where it allocates between LOW and HIGH bytes. */
static void without(size_t low, size_t high, int call, int form, int values)
{
    MPI_Request held;
    for (int i = 0; i < 4; i++) {
        counts[i] = values;
        places[i] = i * values;
    }
    MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &held); /* what the last schedule left is in use */
    if (rank == 1) {
        failed = false;
        least = low;
        most = high;
    }
    int error = perform(call, form, values);
    least = SIZE_MAX;
    if (rank == 1) {
        CHECK(failed);
        CHECK_CLASS(error, MPI_ERR_NO_MEM);
    } else if (error || needs(call)) {
        CHECK_CLASS(error, MPI_ERR_NO_MEM);
    }
    explain(call, form);
    MPI_Request_free(&held);
}

/* What ranks 0 and 2 send to rank 1 is there before it calls: their messages on the user's context follow it. */
static void early(int form)
{
    MPI_Request request;
    int error, token = 0;
    for (int i = 0; i < 4; i++) {
        counts[i] = VALUES;
        places[i] = i * VALUES;
    }
    if (rank != 1) {
        MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        error = start(ALLTOALLV, VALUES, &request);
        CHECK_OK(MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
        error = error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        least = most = VALUES * sizeof(int);
        failed = false;
        for (int to = 0; to < size; to++)
            if (to != rank)
                CHECK_OK(MPI_Send(&token, 1, MPI_INT, to, 0, MPI_COMM_WORLD));
        for (int from = 0; from < size; from++)
            if (from != rank)
                MPI_Recv(&token, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        least = SIZE_MAX;
        CHECK(failed);
        error = perform(ALLTOALLV, STARTED, VALUES);
    }
    if (error || rank == 1)
        CHECK_CLASS(error, MPI_ERR_NO_MEM);
    explain(ALLTOALLV, form);
}

static void afterwards(int call, int form)
{
    for (int i = 0; i < VALUES; i++)
        in[i] = rank + i;
    CHECK_OK(perform(call, form, VALUES));
    CHECK_OK(perform(ALLREDUCE, form, VALUES));
    int wrong = 0;
    for (int i = 0; i < VALUES; i++)
        wrong += out[i] != (call == BCAST ? out[i] : size * (size - 1) / 2 + size * i);
    CHECK_EQUAL(wrong, 0);
    explain(call, form);
}

#define SCHEDULE 8192

int main(void)
{
    setenv("VIADUCT_COLL", "message", 1);
    check_init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Op_create(user_sum, 1, &user);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request first; /* what the first call of a communicator needs beside it */
    MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &first);
    MPI_Request_free(&first);
    for (int form = 0; form < FORMS; form++)
        for (int call = 0; call < CALLS; call++) {
            without(SCHEDULE, SCHEDULE, call, form, VALUES);
            afterwards(call, form);
            if (form != BLOCKING) {
                without(100, 1000, call, form, 1); /* a request */
                afterwards(call, form);
            }
        }
    early(STARTED);
    afterwards(ALLREDUCE, STARTED);
    MPI_Op_free(&user);
    return check_finalize();
}
