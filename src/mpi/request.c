/* Requests: their life, and finishing one. The families of calls that wait for and test requests are in wait.c.
 *
 * A request belongs to whoever has its handle; two threads must not finish the same one. Freed while under way, it goes
 * on a list of orphans, which is looked through when requests are made and at the end. */
#include "mpi/inside.h"
#include <pthread.h>

static struct base_lock orphan_lock;
static struct mpi_request *orphans;
_Atomic bool mpi_have_orphans;

/* ---- free ones -------------------------------------------------------------------------------------------------- */

#define REFILL 64

__thread struct mpi_own_requests mpi_own_requests;
static pthread_key_t ending; /* of threads that have free ones */
static pthread_once_t ending_once = PTHREAD_ONCE_INIT;

static void thread_ends(void *unused)
{
    (void)unused;
    mpi_own_requests_return();
}
static void ending_open(void)
{
    if (pthread_key_create(&ending, thread_ends))
        ending = 0; /* the free ones of threads that end are lost, no more */
}

void mpi_own_requests_return(void)
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

static void refill(void)
{
    if (mpi_threads && pthread_once(&ending_once, ending_open) == 0)
        pthread_setspecific(ending, &mpi_own_requests);
    for (int i = 0; i < REFILL; i++) {
        struct mpi_object *object = mpi_object_take_raw(KIND_REQUEST, sizeof(struct mpi_request));
        if (!object)
            return;
        object->next_free = mpi_own_requests.free;
        mpi_own_requests.free = object;
        mpi_own_requests.count++;
    }
}

struct mpi_request *mpi_request_take(enum mpi_request_kind kind, const char *call, struct mpi_comm *comm,
                                     struct type_layout *layout)
{
    /* relaxed: an orphan seen late is settled later */
    if (unlikely(atomic_load_explicit(&mpi_have_orphans, memory_order_relaxed)))
        mpi_requests_settle();
    if (unlikely(!mpi_own_requests.free))
        refill();
    struct mpi_request *request = (struct mpi_request *)(void *)mpi_own_requests.free;
    if (unlikely(!request))
        return NULL;
    mpi_own_requests.free = request->object.next_free;
    mpi_own_requests.count--;
    request->kind = (uint8_t)kind;
    request->persistent = request->simple = false;
    request->active = true;
    request->comm = comm;
    request->layout = layout;
    request->call = call;
    if (comm)
        mpi_object_keep(comm);
    if (layout)
        vtype_layout_keep(layout);
    return request;
}

/* What belongs to one kind only. */
static void give_parts(struct mpi_request *request)
{
    switch (request->kind) {
    case REQUEST_SEND:
    case REQUEST_RECEIVE:
        if (mpi_checking)
            mpi_check_ends(&request->operation);
        mpi_saved_drop(request);
        break;
    case REQUEST_BUFFERED:
    case REQUEST_NOTHING:
        mpi_saved_drop(request);
        break;
    case REQUEST_COLLECTIVE:
        vcoll_release(request->schedule);
        mpi_collective_drop(request->extra);
        break;
    case REQUEST_PAIR:
        mpi_pair_drop(&request->pair);
        break;
    case REQUEST_PARTITIONED:
        mpi_partitioned_drop(request);
        break;
    default:
        break;
    }
}

void mpi_request_give(struct mpi_request *request)
{
    give_parts(request);
    free(request->extra);
    if (request->layout)
        vtype_layout_drop(request->layout);
    request->extra = NULL;
    request->layout = NULL;
    mpi_request_give_short(request);
}

bool mpi_request_done(struct mpi_request *request)
{
    switch (request->kind) {
    case REQUEST_SEND:
    case REQUEST_RECEIVE:
        return vmsg_request_done(&request->operation);
    case REQUEST_PAIR:
        return vmsg_request_done(&request->pair.send) && vmsg_request_done(&request->pair.receive);
    case REQUEST_COLLECTIVE:
        return vcoll_done(request->schedule);
    case REQUEST_COMM: /* acquire: pairs with the release of the agreement's end */
        return atomic_load_explicit(&request->birth->agreement.done, memory_order_acquire);
    case REQUEST_PARTITIONED:
        return mpi_partitioned_done(request);
    case REQUEST_FLUSH:
        return mpi_buffer_flushed(request->flush.buffer, request->flush.last);
    case REQUEST_GENERAL: /* acquire: pairs with the release in settle_general */
        return atomic_load_explicit(&request->general->state, memory_order_acquire) & GENERAL_COMPLETE;
    default:
        return true;
    }
}

static bool ready(void *request) { return mpi_request_done(request); }

static bool is_operation(const struct mpi_request *request)
{
    return request->kind == REQUEST_SEND || request->kind == REQUEST_RECEIVE;
}

int mpi_request_wait(struct mpi_request *request, struct mpi_request *last)
{
    if (is_operation(request)) {
        bool ends = last && last->active && is_operation(last);
        /* the operation's own error, unless the engine gave up waiting */
        int error = vmsg_wait_first(&request->operation, ends ? &last->operation : NULL);
        return vmsg_request_done(&request->operation) ? OK : error;
    }
    return mpi_request_done(request) ? OK : vmsg_wait_until(ready, request);
}

/* ---- finishing -------------------------------------------------------------------------------------------------- */

static int free_general(const struct mpi_general *general)
{
    return general->free ? general->free(general->extra) : MPI_SUCCESS;
}

static int general_outcome(struct mpi_request *request, MPI_Status *status, bool last)
{
    MPI_Status own, *place = status == MPI_STATUS_IGNORE ? &own : status;
    const struct mpi_general *general = request->general;
    mpi_status_empty(place);
    int error = general->query ? general->query(general->extra, place) : MPI_SUCCESS;
    int error_of_free = last ? free_general(general) : MPI_SUCCESS;
    return error ? error : error_of_free;
}

static int operation_outcome(const struct msg_request *operation, bool receive, MPI_Status *status)
{
    const struct msg_result *result = &operation->result;
    if (receive)
        mpi_status_result(status, result);
    else
        mpi_status_empty(status);
    if (result->error != ERR_CANCELLED)
        return mpi_engine_class(result->error);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_internal[MPI_STATUS_CANCELLED] = 1;
    return MPI_SUCCESS;
}

static int pair_outcome(const struct mpi_pair *pair, MPI_Status *status)
{
    int error = operation_outcome(&pair->send, false, status);
    return operation_outcome(&pair->receive, true, status) ?: error;
}

int mpi_request_outcome(struct mpi_request *request, MPI_Status *status, bool last)
{
    switch (request->kind) {
    case REQUEST_SEND:
        return operation_outcome(&request->operation, false, status);
    case REQUEST_RECEIVE:
        return operation_outcome(&request->operation, true, status);
    case REQUEST_PAIR:
        return pair_outcome(&request->pair, status);
    case REQUEST_PARTITIONED:
        return mpi_partitioned_outcome(request, status);
    case REQUEST_GENERAL:
        return general_outcome(request, status, last);
    case REQUEST_NOTHING:
        mpi_status_proc_null(status);
        return MPI_SUCCESS;
    case REQUEST_COLLECTIVE:
        mpi_status_empty(status);
        return mpi_engine_class(vcoll_error(request->schedule));
    case REQUEST_COMM:
        mpi_status_empty(status);
        return last ? mpi_birth_finish(request) : MPI_SUCCESS;
    default:
        mpi_status_empty(status);
        return MPI_SUCCESS;
    }
}

void mpi_request_retire(MPI_Request *handle, struct mpi_request *request)
{
    if (request->persistent) {
        request->active = false;
        if (mpi_checking && (request->kind == REQUEST_SEND || request->kind == REQUEST_RECEIVE))
            mpi_check_ends(&request->operation);
        return;
    }
    *handle = MPI_REQUEST_NULL;
    mpi_request_give(request);
}

int mpi_request_raise(const char *call, struct mpi_request *request, int class)
{
    if (request->kind == REQUEST_RECEIVE && request->operation.result.error == ERR_TRUNCATED)
        return mpi_receive_error(request->comm, call, ERR_TRUNCATED, &request->operation.result);
    if (request->kind == REQUEST_COMM)
        return request->birth->error
                   ? mpi_error(request->comm, call, class, "the copy function of an attribute failed")
                   : mpi_engine_error(request->comm, call, request->birth->agreement.error);
    return mpi_error(request->comm, call, class, "the request of %s failed: %s", request->call,
                     mpi_class_sentence(class));
}

/* ---- freed by the user ------------------------------------------------------------------------------------------ */

static void adopt(struct mpi_request *request)
{
    atomic_store_explicit(&request->object.handle, 0, memory_order_relaxed);
    mpi_lock(&orphan_lock);
    request->next = orphans;
    orphans = request;
    atomic_store_explicit(&mpi_have_orphans, true, memory_order_relaxed);
    mpi_unlock(&orphan_lock);
}

/* Takes the complete ones (ALL: any) off the list. */
static struct mpi_request *take_orphans(bool all)
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

static void finish_orphans(struct mpi_request *list, bool wait)
{
    while (list) {
        struct mpi_request *request = list;
        list = request->next;
        if (wait && request->kind == REQUEST_SEND && !mpi_request_done(request))
            continue; /* the engine's goodbye delivers it, or learns that its receiver has left without it */
        if (wait && mpi_request_wait(request, NULL))
            continue; /* the job is lost: what is left of it is not touched again */
        if (request->kind == REQUEST_COMM)
            mpi_request_outcome(request, MPI_STATUS_IGNORE, true);
        mpi_request_give(request);
    }
}

void mpi_requests_settle(void) { finish_orphans(take_orphans(false), false); }

void mpi_requests_finish(void)
{
    /* a receive that nobody will answer must not hold the end of the program */
    for (struct mpi_request *request = orphans; request; request = request->next)
        if (request->kind == REQUEST_RECEIVE)
            vmsg_cancel(&request->operation);
    finish_orphans(take_orphans(true), true);
}

/* A request of the program is told that it is complete, or freed; after the second its own function frees it. The handle is
 * good until then. */
static int settle_general(const char *call, struct mpi_request *request, int news)
{
    /* both ways: pairs with itself in another thread, and with the acquire in mpi_request_done */
    int all = news | atomic_fetch_or_explicit(&request->general->state, news, memory_order_acq_rel);
    if (all != (GENERAL_COMPLETE | GENERAL_FREED))
        return MPI_SUCCESS;
    int error = free_general(request->general);
    mpi_request_give(request);
    return error ? mpi_error(NULL, call, error, "the free function of the request failed") : MPI_SUCCESS;
}

ENTRY(MPI_Request_free)(MPI_Request *handle)
{
    struct mpi_request *request;
    ENTER("MPI_Request_free");
    int error = CHECK({WANT_BEHIND | KIND_REQUEST, handle, "request", &request});
    if (error)
        return error;
    *handle = MPI_REQUEST_NULL;
    if (request->kind == REQUEST_GENERAL)
        return settle_general(NAME, request, GENERAL_FREED);
    if (request->active)
        adopt(request);
    else
        mpi_request_give(request);
    return MPI_SUCCESS;
}

ENTRY(MPI_Cancel)(MPI_Request *handle)
{
    struct mpi_request *request;
    ENTER("MPI_Cancel");
    int error = CHECK({WANT_BEHIND | KIND_REQUEST, handle, "request", &request});
    if (error)
        return error;
    switch (request->kind) {
    case REQUEST_SEND:
    case REQUEST_RECEIVE:
        if (!request->active)
            break;
        vmsg_cancel(&request->operation);
        return MPI_SUCCESS;
    case REQUEST_GENERAL: {
        const struct mpi_general *general = request->general;
        return general->cancel ? general->cancel(general->extra, mpi_request_done(request)) : MPI_SUCCESS;
    }
    case REQUEST_NOTHING:
    case REQUEST_SENT:
    case REQUEST_BUFFERED:
        if (request->active)
            return MPI_SUCCESS; /* complete: too late */
        break;
    default:
        return mpi_error(request->comm, NAME, MPI_ERR_REQUEST, "a request of %s cannot be cancelled",
                         request->call);
    }
    return mpi_error(request->comm, NAME, MPI_ERR_REQUEST, "the persistent request of %s is not active",
                     request->call);
}

/* ---- requests of the program ------------------------------------------------------------------------------------ */

ENTRY(MPI_Grequest_start)(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free_,
                          MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *out)
{
    int error = CHECK(RUNNING, GIVEN_AS(out, "request"));
    if (error)
        return error;
    struct mpi_request *request = mpi_request_take(REQUEST_GENERAL, NAME, NULL, NULL);
    struct mpi_general *general = request ? malloc(sizeof *general) : NULL;
    if (!general) {
        if (request)
            mpi_request_give(request);
        return mpi_error(NULL, NAME, MPI_ERR_NO_MEM, "no memory for a request");
    }
    *general = (struct mpi_general){query, free_, cancel, extra, 0};
    request->general = request->extra = general;
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

ENTRY(MPI_Grequest_complete)(MPI_Request handle)
{
    mpi_enter(NAME);
    struct mpi_request *request = mpi_request_at(handle);
    if (!request || request->kind != REQUEST_GENERAL)
        return mpi_error(NULL, NAME, MPI_ERR_REQUEST, "%p is not a request of MPI_Grequest_start",
                         (void *)handle);
    int error = settle_general(NAME, request, GENERAL_COMPLETE);
    vmsg_wake();
    return error;
}
