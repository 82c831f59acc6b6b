/* A rank has no memory for its part of a collective in shared memory: for the schedule, for a request, for the counts
 * of more than 16 ranks. It gets the error, and so does each rank that needs something of it; none waits for ever, also
 * not one that calls something else first, and the next collectives are as ever. So it is with more calls under way at
 * once than there are tracks. A blocking call does without.
 * ranks: 2 4 20 presets: release asan */
#include "mpi_check.h"
#include "malloc_next.h"
#include <stdbool.h>

#define MOST 20
#define LONG 20000 /* numbers for each: read from the memory of the others */
#define SCHEDULE 8192

static size_t least = SIZE_MAX, most; /* of the allocation that fails: the first */
static bool failed, again; /* again: not only the first */
static int *in, *out, counts[MOST], places[MOST];

/* before the sanitizer is ready, too */
__attribute__((visibility("default"), no_sanitize("address", "undefined"))) void *malloc(size_t bytes)
{
    bool fails = (!failed || again) && bytes >= least && bytes <= most;
    failed |= fails;
    return fails ? NULL : malloc_next(bytes);
}

enum { BARRIER, REDUCE, ALLREDUCE, SCAN, ALLGATHER, ALLGATHERV, ALLTOALL, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, CALLS };
enum { BLOCKING, STARTED, PERSISTENT };

static int start(int call, int values, MPI_Request *request)
{
    MPI_Comm world = MPI_COMM_WORLD;
    switch (call) {
    case BARRIER: return MPI_Ibarrier(world, request);
    case REDUCE: return MPI_Ireduce(in, out, values, MPI_INT, MPI_SUM, 0, world, request);
    case ALLREDUCE: return MPI_Iallreduce(in, out, values, MPI_INT, MPI_SUM, world, request);
    case SCAN: return MPI_Iscan(in, out, values, MPI_INT, MPI_SUM, world, request);
    case ALLGATHER: return MPI_Iallgather(in, values, MPI_INT, out, values, MPI_INT, world, request);
    case ALLGATHERV: return MPI_Iallgatherv(in, values, MPI_INT, out, counts, places, MPI_INT, world, request);
    case ALLTOALL: return MPI_Ialltoall(in, values, MPI_INT, out, values, MPI_INT, world, request);
    case REDUCE_SCATTER: return MPI_Ireduce_scatter(in, out, counts, MPI_INT, MPI_SUM, world, request);
    default: return MPI_Ireduce_scatter_block(in, out, values, MPI_INT, MPI_SUM, world, request);
    }
}

static int prepare(int call, int values, MPI_Request *request)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Info info = MPI_INFO_NULL;
    switch (call) {
    case BARRIER: return MPI_Barrier_init(world, info, request);
    case REDUCE: return MPI_Reduce_init(in, out, values, MPI_INT, MPI_SUM, 0, world, info, request);
    case ALLREDUCE: return MPI_Allreduce_init(in, out, values, MPI_INT, MPI_SUM, world, info, request);
    case SCAN: return MPI_Scan_init(in, out, values, MPI_INT, MPI_SUM, world, info, request);
    case ALLGATHER: return MPI_Allgather_init(in, values, MPI_INT, out, values, MPI_INT, world, info, request);
    case ALLGATHERV:
        return MPI_Allgatherv_init(in, values, MPI_INT, out, counts, places, MPI_INT, world, info, request);
    case ALLTOALL: return MPI_Alltoall_init(in, values, MPI_INT, out, values, MPI_INT, world, info, request);
    case REDUCE_SCATTER: return MPI_Reduce_scatter_init(in, out, counts, MPI_INT, MPI_SUM, world, info, request);
    default: return MPI_Reduce_scatter_block_init(in, out, values, MPI_INT, MPI_SUM, world, info, request);
    }
}

static int run(int call, int values)
{
    return call == ALLGATHERV ? MPI_Allgatherv(in, values, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD)
                              : MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Between the start and the end rank 0 needs a message of the last one, which sends it behind its own start. */
static int perform(int call, int form, int values)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int token = 0;
    if (form == BLOCKING)
        return run(call, values);
    int error = form == STARTED ? start(call, values, &request) : prepare(call, values, &request);
    least = SIZE_MAX;
    if (!error && form == PERSISTENT)
        error = MPI_Start(&request);
    if (rank == size - 1)
        MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (error)
        return error;
    error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT)
        MPI_Request_free(&request);
    return error;
}

static void lengths_set(int values)
{
    for (int i = 0; i < size; i++) {
        counts[i] = values;
        places[i] = i * values;
    }
    for (int i = 0; i < size * values; i++)
        in[i] = rank + i;
}

static void explain(int call, int form, int values)
{
    static int told;
    if (check_failed > told)
        fprintf(stderr, "rank %d, call %d, form %d, %d values\n", rank, call, form, values);
    told = check_failed;
}

/* The last rank but one fails where it allocates between LOW and HIGH bytes. */
static void without(size_t low, size_t high, int call, int form, int values)
{
    MPI_Request held;
    int unlucky = size - 2;
    lengths_set(values);
    MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &held); /* what the last schedule left is in use */
    if (rank == unlucky) {
        failed = false;
        least = low;
        most = high;
    }
    int error = perform(call, form, values);
    least = SIZE_MAX;
    bool needs = call == SCAN ? rank > unlucky : call == REDUCE ? rank == 0 : true;
    if (rank == unlucky)
        CHECK(failed);
    if (form == BLOCKING)
        CHECK_OK(error);
    else if (error || rank == unlucky || needs)
        CHECK_CLASS(error, MPI_ERR_NO_MEM);
    explain(call, form, values);
    MPI_Request_free(&held);
}

static void afterwards(int call, int form, int values)
{
    int sums = size * (size - 1) / 2, wrong = 0;
    for (int i = 0; i < 16; i++) /* each track has its turn */
        CHECK_OK(perform(ALLREDUCE, STARTED, 1));
    CHECK_EQUAL(out[0], sums);
    CHECK_OK(perform(call, form, values));
    CHECK_OK(perform(ALLGATHERV, form, values));
    for (int i = 0; i < size * values; i++)
        wrong += out[i] != i / values + i % values;
    CHECK_EQUAL(wrong, 0);
    explain(call, form, values);
}

#define MANY 15 /* fewer than the reserve has */
static void many_at_once(void)
{
    MPI_Request request[MANY], held;
    int error[MANY], unlucky = size - 2;
    lengths_set(1);
    MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &held);
    again = true;
    failed = false;
    if (rank == unlucky)
        least = most = SCHEDULE;
    for (int i = 0; i < MANY; i++)
        error[i] = MPI_Iallreduce(in + i, out + i, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[i]);
    least = SIZE_MAX;
    again = false;
    CHECK_EQUAL(failed, rank == unlucky);
    for (int i = 0; i < MANY; i++)
        CHECK_CLASS(error[i] ? error[i] : MPI_Wait(&request[i], MPI_STATUS_IGNORE), MPI_ERR_NO_MEM);
    MPI_Request_free(&held);
}

int main(void)
{
    static const int lengths[] = {1, LONG};
    check_init();
    in = calloc((size_t)size * LONG, sizeof *in);
    out = calloc((size_t)size * LONG, sizeof *out);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Request first; /* what the first call of a communicator needs beside it */
    MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &first);
    MPI_Request_free(&first);
    for (int i = 0; i < 4; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Alltoall(in, LONG, MPI_INT, out, LONG, MPI_INT, MPI_COMM_WORLD);
    }
    for (int l = 0; l < (size > 4 ? 1 : 2); l++)
        for (int form = STARTED; form <= PERSISTENT; form++)
            for (int call = 0; call < CALLS; call++) {
                without(SCHEDULE, SCHEDULE, call, form, lengths[l]);
                afterwards(call, form, lengths[l]);
                without(100, 1000, call, form, lengths[l]); /* a request */
                afterwards(call, form, lengths[l]);
            }
    many_at_once();
    afterwards(ALLREDUCE, STARTED, 1);
    for (int call = ALLGATHERV; size > 16 && call <= REDUCE_SCATTER; call += REDUCE_SCATTER - ALLGATHERV) {
        size_t arrays = 6 * (size_t)size * sizeof(int64_t) + 1;
        without(arrays, arrays, call, BLOCKING, 1);
        afterwards(call, BLOCKING, 1);
        without(arrays, arrays, call, STARTED, 1);
        afterwards(call, STARTED, 1);
    }
    free(in);
    free(out);
    return check_finalize();
}
