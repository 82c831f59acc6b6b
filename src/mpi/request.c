/* Requests: their life, cancelling, and starting persistent ones. The families of calls that wait for and test requests
 * are in wait.c.
 *
 * A request belongs to the holder of its handle; two threads must not finish the same one. Freed while under way, it
 * goes on a list of orphans, which is looked through when requests are made and at the end. */
#include "mpi/request.h"
#include "mpi/message.h"
#include <pthread.h>

const struct mpi_kind_row mpi_kind_request = {
    MPI_KIND(KIND_REQUEST, "request", struct mpi_request, MPI_ERR_REQUEST, MPI_REQUEST_NULL)};

/* ---- free ones ---- */

#define REFILL 64

__thread struct mpi_own_requests mpi_own_requests;
_Atomic bool mpi_have_orphans;
static pthread_key_t ending; /* of threads that have free ones */
static pthread_once_t ending_once = PTHREAD_ONCE_INIT;

static void thread_ends(void *unused)
{
    (void)unused;
    mpi_requests_return();
}
static void ending_open(void)
{
    if (pthread_key_create(&ending, thread_ends))
        ending = 0; /* the free ones of threads that end are lost, no more */
}

void mpi_requests_return(void)
{
    struct mpi_table *table = &mpi_tables[KIND_REQUEST];
    mpi_lock(&table->lock);
    while (mpi_own_requests.free) {
        struct mpi_object *object = mpi_own_requests.free;
        mpi_own_requests.free = object->next_free;
        object->next_free = table->free;
        table->free = object;
    }
    mpi_own_requests.count = 0;
    mpi_unlock(&table->lock);
}

static void orphans_settle(void);

struct mpi_request *mpi_requests_refill(void)
{
    orphans_settle();
    if (!mpi_own_requests.free && mpi_threads && pthread_once(&ending_once, ending_open) == 0)
        pthread_setspecific(ending, &mpi_own_requests);
    for (int i = 0; i < REFILL && mpi_own_requests.count < REFILL; i++) {
        struct mpi_object *object = mpi_object_take_raw(&mpi_kind_request);
        if (!object)
            break;
        object->next_free = mpi_own_requests.free;
        mpi_own_requests.free = object;
        mpi_own_requests.count++;
    }
    return (struct mpi_request *)(void *)mpi_own_requests.free;
}

void mpi_request_empty(struct mpi_request *request)
{
    if (request->kind->drop)
        request->kind->drop(request);
    free(request->extra);
    if (request->layout)
        vtype_layout_drop(request->layout);
    request->extra = NULL;
    request->layout = NULL;
}

struct mpi_request *mpi_request_take_with(const struct mpi_request_kind *kind, const char *call, struct mpi_comm *comm,
                                          size_t size)
{
    void *extra = calloc(1, size);
    struct mpi_request *request = extra ? mpi_request_take(kind, call, comm) : NULL;
    if (request)
        request->extra = extra;
    else
        free(extra);
    return request;
}

/* ---- waiting and finishing ---- */

static bool request_ready(void *request) { return mpi_request_done(request); }

int mpi_request_wait(struct mpi_request *request)
{
    if (!request->kind->operation)
        return mpi_request_done(request) ? OK : vmsg_wait_until(request_ready, request);
    int error = vmsg_wait(&request->operation); /* its own error, unless the engine gave up waiting */
    return vmsg_request_done(&request->operation) ? OK : error;
}

int mpi_operation_class(const struct msg_result *result, MPI_Status *status)
{
    if (result->error != ERR_CANCELLED)
        return mpi_engine_class(result->error);
    if (status != MPI_STATUS_IGNORE)
        mpi_status_cancel(status, true);
    return MPI_SUCCESS;
}

void mpi_request_rest(struct mpi_request *request)
{
    request->active = false;
    if (mpi_checking && request->kind->operation)
        mpi_check_ends(&request->operation);
}

int mpi_request_failed(const char *call, const struct mpi_request *request, int class)
{
    return mpi_error(request->comm, call, class, "the request of %s failed: %s", request->call,
                     mpi_class_sentence(class));
}

int mpi_request_raise(const char *call, struct mpi_request *request, int class)
{
    if (request->kind->raise)
        return request->kind->raise(call, request, class);
    const struct msg_result *result = &request->operation.result;
    if (request->kind->operation == RECEIVES && result->error == ERR_TRUNCATED)
        return mpi_receive_error(request->comm, call, ERR_TRUNCATED, result);
    if (request->kind->operation == RECEIVES && result->error == ERR_MEMORY)
        return mpi_error(request->comm, call, class, "no memory was left for the message from rank %d with tag %d",
                         result->source, result->tag);
    return mpi_request_failed(call, request, class);
}

static int null_outcome(struct mpi_request *request, MPI_Status *status, bool last)
{
    (void)request, (void)last;
    mpi_status_proc_null(status);
    return MPI_SUCCESS;
}
const struct mpi_request_kind mpi_request_null = {.outcome = null_outcome};

/* ---- freed by the user ---- */

static struct base_lock orphan_lock;
static struct mpi_request *orphans;

static void orphan_add(struct mpi_request *request)
{
    atomic_store_explicit(&request->object.handle, 0, memory_order_relaxed);
    mpi_lock(&orphan_lock);
    request->next = orphans;
    orphans = request;
    atomic_store_explicit(&mpi_have_orphans, true, memory_order_relaxed);
    mpi_unlock(&orphan_lock);
}

/* Takes the complete ones (ALL: any) off the list. */
static struct mpi_request *orphans_take(bool all)
{
    struct mpi_request *taken = NULL;
    mpi_lock(&orphan_lock);
    for (struct mpi_request **place = &orphans; *place;) {
        struct mpi_request *request = *place;
        if (!all && !mpi_request_done(request)) {
            place = &request->next;
            continue;
        }
        *place = request->next;
        request->next = taken;
        taken = request;
    }
    atomic_store_explicit(&mpi_have_orphans, orphans != NULL, memory_order_relaxed);
    mpi_unlock(&orphan_lock);
    return taken;
}

static void orphans_finish(struct mpi_request *list, bool wait)
{
    while (list) {
        struct mpi_request *request = list;
        list = request->next;
        if (wait && request->kind->operation == SENDS && !mpi_request_done(request))
            continue; /* the engine's goodbye delivers it, or learns that its receiver has left without it */
        if (wait && mpi_request_wait(request))
            continue; /* the job is lost: what is left of it is not touched again */
        mpi_request_outcome(request, MPI_STATUS_IGNORE, true);
        mpi_request_give(request);
    }
}

static void orphans_settle(void)
{
    /* relaxed: an orphan seen late is settled later */
    if (atomic_load_explicit(&mpi_have_orphans, memory_order_relaxed))
        orphans_finish(orphans_take(false), false);
}

static void orphans_end(void)
{
    /* a receive that is never answered must not hold the end of the program */
    for (struct mpi_request *request = orphans; request; request = request->next)
        if (request->kind->operation == RECEIVES)
            vmsg_cancel(&request->operation);
    orphans_finish(orphans_take(true), true);
}

void mpi_handles_finish(void)
{
    for (uint32_t i = 0; i < mpi_tables[KIND_COMM].objects; i++) {
        struct mpi_comm *comm = mpi_slot(KIND_COMM, i, sizeof *comm);
        /* relaxed: no other thread calls any more */
        if (atomic_load_explicit(&comm->thing.object.references, memory_order_relaxed) > 0)
            (void)mpi_buffer_flush("MPI_Finalize", &comm->thing, &comm->buffer);
    }
    orphans_end();
}

ENTRY(MPI_Request_free)(MPI_Request *handle)
{
    struct mpi_request *request;
    ENTER("MPI_Request_free");
    int error = CHECK({WANT_BEHIND, &mpi_kind_request, handle, "request", &request});
    if (error)
        return error;
    *handle = MPI_REQUEST_NULL;
    if (request->kind->freed)
        return request->kind->freed(NAME, request);
    if (request->active)
        orphan_add(request);
    else
        mpi_request_give(request);
    return MPI_SUCCESS;
}

/* ---- cancelling and starting ---- */

ENTRY(MPI_Cancel)(MPI_Request *handle)
{
    struct mpi_request *request;
    ENTER("MPI_Cancel");
    int error = CHECK({WANT_BEHIND, &mpi_kind_request, handle, "request", &request});
    if (error)
        return error;
    const struct mpi_request_kind *kind = request->kind;
    if (kind->cancel)
        return kind->cancel(request);
    if (!kind->operation && kind->done)
        return mpi_error(request->comm, NAME, MPI_ERR_REQUEST, "a request of %s cannot be cancelled", request->call);
    if (!request->active)
        return mpi_error(request->comm, NAME, MPI_ERR_REQUEST, "the persistent request of %s is not active",
                         request->call);
    if (kind->operation)
        vmsg_cancel(&request->operation);
    return MPI_SUCCESS; /* without an operation it is complete: too late */
}

static int request_start(const char *call, MPI_Request handle)
{
    struct mpi_request *request = mpi_request_at(handle);
    if (!request)
        return mpi_wrong(NULL, call, &mpi_kind_request, handle);
    if (!request->persistent || request->active)
        return mpi_error(request->comm, call, MPI_ERR_REQUEST, "the request of %s is %s", request->call,
                         request->persistent ? "active already" : "not persistent");
    request->active = true;
    int error = request->kind->start ? request->kind->start(call, request) : MPI_SUCCESS;
    request->active = !error;
    return error;
}

ENTRY(MPI_Start)(MPI_Request *request)
{
    ENTER("MPI_Start");
    return request ? request_start(NAME, *request) : mpi_null(NULL, NAME, "request");
}

ENTRY(MPI_Startall)(int count, MPI_Request requests[])
{
    ENTER("MPI_Startall");
    if (count < 0 || (count > 0 && !requests))
        return mpi_error(NULL, NAME, count < 0 ? MPI_ERR_COUNT : MPI_ERR_ARG, "%d requests at %p", count,
                         (void *)requests);
    int error = MPI_SUCCESS;
    for (int i = 0; i < count && !error; i++)
        error = request_start(NAME, requests[i]);
    return error;
}
