/* To whom messages go: the ranks of a communicator as those of the job, and what a request sends that is started again
 * and again. The library is asked by its PMPI names, after a call that succeeded: so its arguments are right. */
#include "profile/peers.h"
#include "profile/calls.h"
#include "profile/record.h"
#include <stdlib.h>

#define ROUTES   64                /* communicators that are known at a time */
#define BUCKETS  256               /* of requests */
#define IN_TABLE ((uintptr_t)4096) /* handles of predefined types are below it */

/* The members of a communicator, by their ranks in the job; of another group, those that messages go to. */
static struct route {
    MPI_Comm comm;
    int size, *rank;
} routes[ROUTES];

/* Requests that can be started. */
static struct made {
    MPI_Request request;
    int64_t to; /* -1: not known */
    uint64_t bytes;
    struct made *next;
} * made[BUCKETS];

static unsigned bucket_of(uintptr_t handle, unsigned buckets)
{
    return (unsigned)((handle ^ handle >> 20) * 2654435761u >> 8) % buckets;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

static void route_fill(struct route *route, MPI_Comm comm)
{
    MPI_Group members, all;
    int inter = 0, running = 0, size = 0;
    route->comm = comm;
    route->size = 0;
    NEXT(Initialized)(&running);
    if (!running || NEXT(Comm_test_inter)(comm, &inter)) /* a session alone: there is no world to count in */
        return;
    if (inter ? NEXT(Comm_remote_group)(comm, &members) : NEXT(Comm_group)(comm, &members))
        return;
    NEXT(Group_size)(members, &size);
    int *local = malloc((size_t)size * sizeof *local), *rank = realloc(route->rank, (size_t)size * sizeof *rank);
    if (rank)
        route->rank = rank;
    for (int i = 0; local && i < size; i++)
        local[i] = i;
    if (local && rank && NEXT(Comm_group)(MPI_COMM_WORLD, &all) == MPI_SUCCESS) {
        if (NEXT(Group_translate_ranks)(members, size, local, all, rank) == MPI_SUCCESS)
            route->size = size;
        NEXT(Group_free)(&all);
    }
    NEXT(Group_free)(&members);
    free(local);
}

/* -1: not known. Under the lock. */
static int64_t rank_in_job(MPI_Comm comm, int rank)
{
    if (comm == MPI_COMM_WORLD)
        return rank;
    struct route *route = &routes[bucket_of((uintptr_t)comm, ROUTES)];
    if (route->comm != comm)
        route_fill(route, comm);
    return rank < route->size ? route->rank[rank] : -1;
}

void profile_comm_freed(MPI_Comm comm)
{
    struct route *route = &routes[bucket_of((uintptr_t)comm, ROUTES)];
    profile_take(&profile_lock);
    if (route->comm == comm)
        route->comm = NULL;
    profile_give(&profile_lock);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    static _Thread_local uintptr_t last; /* a predefined one: what it is does not change */
    static _Thread_local MPI_Count its_size;
    MPI_Count size = 0;
    if ((uintptr_t)type == last)
        return (uint64_t)(count * its_size);
    if (NEXT(Type_size_c)(type, &size) != MPI_SUCCESS || size < 0)
        return 0;
    if ((uintptr_t)type < IN_TABLE) {
        last = (uintptr_t)type;
        its_size = size;
    }
    return (uint64_t)(count * size);
}

static unsigned size_of(uint64_t bytes)
{
    unsigned size = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
    return size < PROFILE_SIZES ? size : PROFILE_SIZES - 1;
}

static void traffic_add(struct profile_traffic *traffic, uint64_t bytes)
{
    traffic->messages++;
    traffic->bytes += bytes;
}

static void message_count(int64_t to, uint64_t bytes)
{
    struct profile_page *page = profile_page;
    traffic_add(&page->sent, bytes);
    traffic_add(&page->size[size_of(bytes)], bytes);
    if (to >= 0 && to < profile_ranks)
        traffic_add(&page->to[profile_block((uint32_t)to, profile_ranks)], bytes);
}

void profile_sent(MPI_Comm comm, int to, MPI_Count count, MPI_Datatype type)
{
    if (!profile_page || to < 0) /* MPI_PROC_NULL */
        return;
    uint64_t bytes = bytes_of(count, type);
    profile_take(&profile_lock);
    message_count(rank_in_job(comm, to), bytes);
    profile_give(&profile_lock);
}

/* ---- requests that are started again ----------------------------------------------------------------------------- */

static struct made **made_find(MPI_Request request)
{
    struct made **at = &made[bucket_of((uintptr_t)request, BUCKETS)];
    while (*at && (*at)->request != request)
        at = &(*at)->next;
    return at;
}

void profile_made(MPI_Request request, MPI_Comm comm, int to, MPI_Count count, MPI_Datatype type)
{
    struct made *one = profile_page && to >= 0 ? malloc(sizeof *one) : NULL;
    if (!one)
        return;
    uint64_t bytes = bytes_of(count, type);
    profile_take(&profile_lock);
    struct made **at = made_find(request);
    if (*at) { /* it was freed out of our sight */
        (*at)->to = rank_in_job(comm, to);
        (*at)->bytes = bytes;
        free(one);
    } else {
        *one = (struct made){request, rank_in_job(comm, to), bytes, NULL};
        *at = one;
    }
    profile_give(&profile_lock);
}

void profile_started(MPI_Request request)
{
    if (!profile_page)
        return;
    profile_take(&profile_lock);
    const struct made *one = *made_find(request);
    if (one)
        message_count(one->to, one->bytes);
    profile_give(&profile_lock);
}

void profile_freed(MPI_Request request)
{
    profile_take(&profile_lock);
    struct made **at = made_find(request), *one = *at;
    if (one)
        *at = one->next;
    profile_give(&profile_lock);
    free(one);
}
