/* To whom messages go: the ranks of a communicator as those of the job, and what a request sends that is started again
 * and again. The library is asked by its PMPI names, after a call that succeeded: so its arguments are right.
 *
 * A communicator that a tool frees by PMPI_Comm_free is not seen here. Where the next one that the program makes has
 * the same handle, its messages are counted for the ranks of the first. */
#include "profile/calls.h"
#include "profile/lock.h"
#include "profile/record.h"
#include <stdlib.h>

#define ROUTES   64                /* communicators that are known at a time */
#define BUCKETS  256               /* of requests */
#define IN_TABLE ((uintptr_t)4096) /* handles of predefined types are below it */

/* The blocks of the members of a communicator; of another group, of those that messages go to. */
static struct route {
    MPI_Comm comm;
    int size, *block; /* -1: not of this job's world */
} routes[ROUTES];

/* Requests that can be started. */
struct profile_made {
    MPI_Request request;
    int to; /* a block; -1: not known */
    uint64_t bytes;
    struct profile_made *next;
};
static struct profile_made *made[BUCKETS];

static unsigned bucket_of(uintptr_t handle, unsigned buckets)
{
    return (unsigned)((handle ^ handle >> 20) * 2654435761u >> 8) % buckets;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

static COLD void route_fill(struct route *route, MPI_Comm comm)
{
    MPI_Group members, all;
    int inter = 0, running = 0, size = 0;
    route->comm = comm;
    route->size = 0;
    OWN_NEXT(Initialized)(&running);
    if (!running || OWN_NEXT(Comm_test_inter)(comm, &inter)) /* a session alone: there is no world to count in */
        return;
    if (inter ? OWN_NEXT(Comm_remote_group)(comm, &members) : OWN_NEXT(Comm_group)(comm, &members))
        return;
    OWN_NEXT(Group_size)(members, &size);
    int *local = malloc((size_t)size * sizeof *local), *block = realloc(route->block, (size_t)size * sizeof *block);
    if (block)
        route->block = block;
    for (int i = 0; local && i < size; i++)
        local[i] = i;
    if (local && block && OWN_NEXT(Comm_group)(MPI_COMM_WORLD, &all) == MPI_SUCCESS) {
        if (OWN_NEXT(Group_translate_ranks)(members, size, local, all, block) == MPI_SUCCESS)
            route->size = size;
        for (int i = 0; i < route->size; i++)
            block[i] = block[i] >= 0 && (uint32_t)block[i] < profile_ranks
                           ? (int)profile_block((uint32_t)block[i], profile_ranks)
                           : -1;
        OWN_NEXT(Group_free)(&all);
    }
    OWN_NEXT(Group_free)(&members);
    free(local);
}

/* The block of RANK of COMM; -1: not known. */
static inline int block_of(MPI_Comm comm, int rank)
{
    if (comm == MPI_COMM_WORLD && (uint32_t)rank < profile_direct)
        return rank;
    struct route *route = &routes[bucket_of((uintptr_t)comm, ROUTES)];
    bool locked = profile_lock_take(&profile_lock);
    if (route->comm != comm)
        route_fill(route, comm);
    int block = rank < route->size ? route->block[rank] : -1;
    profile_lock_give(&profile_lock, locked);
    return block;
}

void profile_comm_freed(MPI_Comm comm)
{
    struct route *route = &routes[bucket_of((uintptr_t)comm, ROUTES)];
    bool locked = profile_lock_take(&profile_lock);
    if (route->comm == comm)
        route->comm = NULL;
    profile_lock_give(&profile_lock, locked);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    struct profile_thread *thread = &profile_thread;
    MPI_Count size = 0;
    if ((uintptr_t)type == thread->type)
        return (uint64_t)(count * thread->type_size);
    if (OWN_NEXT(Type_size_c)(type, &size) != MPI_SUCCESS || size < 0)
        return 0;
    if ((uintptr_t)type < IN_TABLE && thread->slice) { /* what it is does not change */
        thread->type = (uintptr_t)type;
        thread->type_size = size;
    }
    return (uint64_t)(count * size);
}

static void slice_count(struct profile_slice *slice, int to, uint64_t bytes)
{
    profile_traffic_add(&slice->size[profile_size_of(bytes)], bytes);
    if (to >= 0)
        profile_traffic_add(&slice->to[to], bytes);
}

/* By a thread that has no slice. */
static COLD void message_count_shared(int to, uint64_t bytes)
{
    struct profile_page *page = atomic_load_explicit(&profile_page, memory_order_relaxed);
    if (!page) /* a callback has forked */
        return;
    bool locked = profile_lock_take(&profile_lock);
    slice_count(&page->slice[PROFILE_SLICES - 1], to, bytes);
    profile_lock_give(&profile_lock, locked);
}

static void message_count(int to, uint64_t bytes)
{
    if (likely(profile_thread.slice))
        slice_count(profile_thread.slice, to, bytes);
    else
        message_count_shared(to, bytes);
}

/* Whatever profile_sent does not do itself. */
void profile_sent_anywhere(MPI_Comm comm, int to, MPI_Count count, MPI_Datatype type)
{
    if (!profile_messages || to < 0) /* MPI_PROC_NULL */
        return;
    message_count(block_of(comm, to), bytes_of(count, type));
}

/* ---- requests that are started again ----------------------------------------------------------------------------- */

static struct profile_made **made_find(MPI_Request request)
{
    struct profile_made **at = &made[bucket_of((uintptr_t)request, BUCKETS)];
    while (*at && (*at)->request != request)
        at = &(*at)->next;
    return at;
}

void profile_made_keep(struct profile_made *one)
{
    bool locked = profile_lock_take(&profile_lock);
    struct profile_made **at = made_find(one->request), *old = *at;
    one->next = old ? old->next : NULL;
    *at = one; /* in the place of one that was freed out of our sight */
    profile_lock_give(&profile_lock, locked);
    free(old);
}

void profile_made(const MPI_Request *request, MPI_Comm comm, int to, MPI_Count count, MPI_Datatype type)
{
    struct profile_made *one = profile_messages && to >= 0 ? malloc(sizeof *one) : NULL;
    if (!one)
        return;
    *one = (struct profile_made){*request, block_of(comm, to), bytes_of(count, type), NULL};
    profile_made_keep(one);
}

void profile_started(MPI_Request request)
{
    bool locked = profile_lock_take(&profile_lock);
    const struct profile_made *one = *made_find(request);
    bool known = one != NULL;
    int to = known ? one->to : -1;
    uint64_t bytes = known ? one->bytes : 0;
    profile_lock_give(&profile_lock, locked);
    if (known)
        message_count(to, bytes);
}

struct profile_made *profile_made_take(MPI_Request request)
{
    bool locked = profile_lock_take(&profile_lock);
    struct profile_made **at = made_find(request), *one = *at;
    if (one)
        *at = one->next;
    profile_lock_give(&profile_lock, locked);
    return one;
}
