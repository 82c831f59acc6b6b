/* A rank is killed in a call that makes communicators, or in one of those that they are for: dies_making WHICH VICTIM LOOKS.
 * All ranks make the same calls again and again; a thread of the victim ends its process some looks after the tenth
 * round has begun, at a place that nobody chose. The others go on until they are told, and say "told", or what else they
 * get and where.
 *
 * WHICH is a number from 0 on; beyond the last: exit status 9. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RANKS       16
#define BEGUN       10 /* rounds of the victim */
#define ROUNDS_MOST 1000000
#define WORLD       MPI_COMM_WORLD

static int rank, size, side, last; /* the world, in halves */
static MPI_Comm half, inter, ring;  /* a half, both, and a graph in which each has the one before and the one behind it */
static int ahead[2];
static int in[RANKS], out[RANKS], counts[RANKS], places[RANKS];
static MPI_Aint offsets[RANKS];
static MPI_Datatype types[RANKS];
static _Atomic int rounds;
static int looks;

static void *end(void *unused)
{
    (void)unused;
    while (atomic_load(&rounds) < BEGUN)
        continue;
    for (int i = 0; i < looks; i++)
        (void)atomic_load(&rounds);
    kill(getpid(), SIGKILL);
    return NULL;
}

/* What CALL makes is freed again. */
static int freed(int error, MPI_Comm *made)
{
    return error || *made == MPI_COMM_NULL ? error : MPI_Comm_free(made);
}
#define MADE(call) freed(call, &made)
#define SUMS in, out, 1, MPI_INT, MPI_SUM
#define EACH in, 1, MPI_INT, out, 1, MPI_INT
#define ROOT (side ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL) /* rank 0 of the world */

static int waited(int error, MPI_Request *request)
{
    return error ? error : MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int from_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm made = MPI_COMM_NULL;
    int error = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (error)
        return error;
    error = MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    if (!error) {
        error = MADE(MPI_Comm_create_from_group(group, "dies", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
        MPI_Group_free(&group);
    }
    int ended = MPI_Session_finalize(&session);
    return error ? error : ended;
}

static int from_groups(void)
{
    MPI_Group world, own, other;
    MPI_Comm made = MPI_COMM_NULL;
    int ranges[2][3] = {{0, size / 2 - 1, 1}, {size / 2, last, 1}};
    MPI_Comm_group(WORLD, &world);
    MPI_Group_range_incl(world, 1, &ranges[side], &own);
    MPI_Group_range_incl(world, 1, &ranges[!side], &other);
    int error = MADE(MPI_Intercomm_create_from_groups(own, 0, other, 0, "dies", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    MPI_Group_free(&own);
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    return error;
}

static int of_group(int some)
{
    MPI_Group world;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_group(WORLD, &world);
    int error = some ? MADE(MPI_Comm_create_group(WORLD, world, 3, &made)) : MADE(MPI_Comm_create(WORLD, world, &made));
    MPI_Group_free(&world);
    return error;
}

/* The first collective of a communicator, for which its ranks make the memory that they share. */
static int first_barrier(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    int error = MPI_Comm_dup(WORLD, &made);
    return error ? error : freed(MPI_Barrier(made), &made);
}

static int persistent(int which)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int error = which == 0   ? MPI_Neighbor_alltoall_init(EACH, ring, MPI_INFO_NULL, &request)
                : which == 1 ? MPI_Allreduce_init(SUMS, inter, MPI_INFO_NULL, &request)
                             : MPI_Barrier_init(inter, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3 && !error; i++)
        error = waited(MPI_Start(&request), &request);
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
    return error;
}

static int call(int which)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int two = 2, dims[2] = {size, 1}, periods[2] = {1, 1}, one[1] = {rank};
    switch (which) {
    case 0: return MADE(MPI_Intercomm_create(half, 0, WORLD, side ? 0 : size / 2, 7, &made));
    case 1: return MADE(MPI_Intercomm_merge(inter, side, &made));
    case 2: return from_groups();
    case 3: return MADE(MPI_Dist_graph_create(WORLD, 1, one, &two, ahead, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
    case 4:
        return MADE(MPI_Dist_graph_create_adjacent(WORLD, 2, ahead, MPI_UNWEIGHTED, 2, ahead, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                                   0, &made));
    case 5: return MADE(MPI_Cart_create(WORLD, 2, dims, periods, 1, &made));
    case 6: return MADE(MPI_Comm_split(WORLD, side, rank, &made));
    case 7: return MADE(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &made));
    case 8: return of_group(1);
    case 9: return of_group(0);
    case 10: return from_session();
    case 11: return MADE(MPI_Comm_dup(WORLD, &made));
    case 12: return MADE(waited(MPI_Comm_idup(WORLD, &made, &request), &request));
    case 13: return MADE(MPI_Comm_dup(inter, &made));
    case 14: return MADE(MPI_Comm_split(inter, rank % 2, 0, &made));
    case 15: return MPI_Neighbor_allgather(EACH, ring);
    case 16: return MPI_Neighbor_alltoallw(in, counts, offsets, types, out, counts, offsets, types, ring);
    case 17: return waited(MPI_Ineighbor_alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, ring, &request),
                           &request);
    case 18: return persistent(0);
    case 19: return MPI_Barrier(inter);
    case 20: return MPI_Allreduce(SUMS, inter);
    case 21: return MPI_Alltoall(EACH, inter);
    case 22: return waited(MPI_Iallgather(EACH, inter, &request), &request);
    case 23: return persistent(1);
    case 24: return persistent(2);
    case 25: return MPI_Reduce_scatter_block(SUMS, inter);
    /* a root alone goes on past those that only give, and those only take */
    case 26: { int error = MPI_Bcast(in, 1, MPI_INT, ROOT, inter); return error ? error : MPI_Barrier(inter); }
    case 27: { int error = MPI_Gather(EACH, ROOT, inter); return error ? error : MPI_Barrier(inter); }
    case 28: return first_barrier();
    default: MPI_Finalize(); exit(9);
    }
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int error = MPI_SUCCESS, class, which = argc > 3 ? atoi(argv[1]) : -1, i;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    side = rank >= size / 2;
    last = size - 1;
    ahead[0] = (rank + 1) % size;
    ahead[1] = (rank + last) % size;
    for (i = 0; i < RANKS; i++) {
        counts[i] = 1;
        places[i] = i;
        offsets[i] = i * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    MPI_Comm_split(WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, WORLD, side ? 0 : size / 2, 7, &inter);
    MPI_Dist_graph_create_adjacent(WORLD, 2, ahead, MPI_UNWEIGHTED, 2, ahead, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    looks = which < 0 ? 0 : atoi(argv[3]);
    if (which >= 0 && rank == atoi(argv[2]) % size)
        pthread_create(&thread, NULL, end, NULL);
    for (i = 0; i < ROUNDS_MOST && !error; i++) {
        atomic_store(&rounds, i);
        error = call(which);
    }
    MPI_Error_class(error, &class);
    if (class == MPI_ERR_PROC_ABORTED)
        printf("rank %d: told\n", rank);
    else
        printf("rank %d: error class %d in round %d\n", rank, class, i);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
