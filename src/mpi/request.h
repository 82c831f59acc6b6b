/* Requests: one form for all of them. A request is taken with its kind, published, waited for, told in a status, and
 * given back; what differs is a row of its kind. It holds a reference on its communicator, and by its kind what else
 * the operation needs. */
#pragma once

#include "mpi/check.h"
#include "mpi/comm.h"
#include "mpi/status.h"

#pragma GCC visibility push(hidden)

struct mpi_request;
/* A kind of requests; the file that makes them has the row. */
struct mpi_request_kind {
    enum { NO_OPERATION, SENDS, RECEIVES } operation; /* an operation of the engine is all that is under way */
    /* Without an operation. NULL: complete from the start, or as long as it is active. */
    bool (*done)(struct mpi_request *request);
    /* Tells a complete one in STATUS; its class, not raised. LAST: it is finished with this. NULL: as its operation
     * ended, or without one the empty status. */
    int (*outcome)(struct mpi_request *request, MPI_Status *status, bool last);
    int (*raise)(const char *call, struct mpi_request *request, int class); /* that outcome; NULL: its usual sentence */
    /* of a persistent one. Raises. NULL: nothing is to start */
    int (*start)(const char *call, struct mpi_request *request);
    /* NULL: as its operation; where it has none and is not done: not at all */
    int (*cancel)(struct mpi_request *request);
    int (*freed)(const char *call, struct mpi_request *request); /* by MPI_Request_free; NULL: it goes on unseen */
    /* Gives back what it holds, but its communicator, layout and extra. Requests that have a layout have this. NULL:
     * nothing */
    void (*drop)(struct mpi_request *request);
};

struct mpi_request {
    struct mpi_object object;
    const struct mpi_request_kind *kind;
    bool persistent, active;
    struct mpi_comm *comm;      /* NULL: none */
    const char *call;           /* that made it, for errors that come later */
    void *extra;                /* what its kind keeps with it; freed with the request */
    struct type_layout *layout; /* kept for the time of the request; NULL: none needed */
    struct mpi_request *next;   /* freed by the user while under way */
    struct msg_request operation;
} ALIGNED(CACHE_LINE);

/* Complete from the start, with the status of MPI_PROC_NULL: matched or partitioned. */
extern const struct mpi_request_kind mpi_request_null;
/* Operations (message.c): any; and those that need nothing given back: a message that has left, a receive of flat
 * data. */
extern const struct mpi_request_kind mpi_request_send, mpi_request_receive, mpi_request_sent, mpi_request_posted;

/* Free requests of this thread, taken and given back without a lock. None has a layout or an extra. */
struct mpi_own_requests {
    struct mpi_object *free;
    uint32_t count;
};
#define MPI_OWN_REQUESTS 512 /* more go back to all threads */
extern __thread struct mpi_own_requests mpi_own_requests __attribute__((tls_model("initial-exec")));
extern _Atomic bool mpi_have_orphans;
struct mpi_request *mpi_requests_refill(void) COLD; /* the first free one, NULL: no memory */
void mpi_requests_return(void) COLD;                /* to all threads */

/* A request that only the caller knows, with CALL and a reference on COMM (may be NULL). NULL: no memory. */
MPI_HOT struct mpi_request *mpi_request_take(const struct mpi_request_kind *kind, const char *call,
                                             struct mpi_comm *comm)
{
    struct mpi_request *request = (struct mpi_request *)(void *)mpi_own_requests.free;
    /* relaxed: an orphan seen late is settled later */
    if (unlikely(!request || atomic_load_explicit(&mpi_have_orphans, memory_order_relaxed))) {
        request = mpi_requests_refill();
        if (!request)
            return NULL;
    }
    mpi_own_requests.free = request->object.next_free;
    mpi_own_requests.count--;
    request->kind = kind;
    request->persistent = false;
    request->active = true;
    request->comm = comm;
    request->call = call;
    if (comm)
        mpi_object_keep(comm);
    return request;
}

void mpi_request_empty(struct mpi_request *request); /* of what its kind gave it */
/* The same with an extra of SIZE zeroed bytes. */
struct mpi_request *mpi_request_take_with(const struct mpi_request_kind *kind, const char *call, struct mpi_comm *comm,
                                          size_t size);

MPI_HOT void mpi_request_give(struct mpi_request *request)
{
    if (unlikely(request->kind->drop || request->extra))
        mpi_request_empty(request);
    if (request->comm)
        mpi_comm_drop(request->comm);
    /* relaxed: only a lookup of a stale handle reads it */
    atomic_store_explicit(&request->object.handle, 0, memory_order_relaxed);
    request->object.identity = mpi_next_identity(request->object.identity);
    request->object.next_free = mpi_own_requests.free;
    mpi_own_requests.free = &request->object;
    if (unlikely(++mpi_own_requests.count > MPI_OWN_REQUESTS))
        mpi_requests_return();
}

/* The program's handle of it. */
MPI_HOT MPI_Request mpi_request_publish(struct mpi_request *request)
{
    uintptr_t handle = request->object.identity;
    if (unlikely(mpi_checking))
        mpi_object_made(&request->object);
    /* release: pairs with the acquire in mpi_object_at */
    atomic_store_explicit(&request->object.handle, handle, memory_order_release);
    return (MPI_Request)handle;
}

static inline struct mpi_request *mpi_request_at(MPI_Request handle)
{
    return mpi_object_at(KIND_REQUEST, handle, sizeof(struct mpi_request));
}

static inline bool mpi_request_done(struct mpi_request *request)
{
    const struct mpi_request_kind *kind = request->kind;
    return kind->operation ? vmsg_request_done(&request->operation) : !kind->done || kind->done(request);
}

int mpi_request_wait(struct mpi_request *request) MUST_CHECK; /* an error of the engine: it never will be done */

int mpi_operation_class(const struct msg_result *result, MPI_Status *status) COLD; /* of one that failed, not raised */

/* See `outcome` of its kind. */
MPI_HOT int mpi_request_outcome(struct mpi_request *request, MPI_Status *status, bool last)
{
    const struct mpi_request_kind *kind = request->kind;
    if (unlikely(kind->outcome))
        return kind->outcome(request, status, last);
    if (kind->operation == RECEIVES)
        mpi_status_result(status, &request->operation.result);
    else
        mpi_status_empty(status);
    return likely(!kind->operation || !request->operation.result.error)
               ? MPI_SUCCESS
               : mpi_operation_class(&request->operation.result, status);
}
int mpi_request_raise(const char *call, struct mpi_request *request, int class) COLD;
int mpi_request_failed(const char *call, const struct mpi_request *request, int class) COLD; /* the usual sentence */

/* After the outcome: a persistent one becomes inactive, another one is gone and *HANDLE null. */
void mpi_request_rest(struct mpi_request *request);
MPI_HOT void mpi_request_retire(MPI_Request *handle, struct mpi_request *request)
{
    if (unlikely(request->persistent)) {
        mpi_request_rest(request);
        return;
    }
    *handle = MPI_REQUEST_NULL;
    mpi_request_give(request);
}

/* Waits for a request that only the caller knows and gives it back; what became of it is told in STATUS, and raised. */
int mpi_request_complete(const char *call, struct mpi_request *request, MPI_Status *status);
/* At the end: what is in the buffers of communicators is sent, and requests that the program freed while they were
 * under way are over. */
void mpi_handles_finish(void);

#pragma GCC visibility pop
