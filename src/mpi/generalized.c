/* Generalized requests: those of the program itself, which tells when one is complete. */
#include "mpi/request.h"

struct general { /* extra of the request */
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *state;
    _Atomic int news; /* COMPLETE, FREED (by MPI_Request_free), both */
};
#define COMPLETE 1
#define FREED 2

static bool general_done(struct mpi_request *request)
{
    struct general *general = request->extra;
    /* acquire: pairs with the release in general_settle */
    return atomic_load_explicit(&general->news, memory_order_acquire) & COMPLETE;
}

static int general_free(const struct general *general)
{
    return general->free ? general->free(general->state) : MPI_SUCCESS;
}

static int general_outcome(struct mpi_request *request, MPI_Status *status, bool last)
{
    MPI_Status own, *place = status == MPI_STATUS_IGNORE ? &own : status;
    const struct general *general = request->extra;
    mpi_status_empty(place);
    int error = general->query ? general->query(general->state, place) : MPI_SUCCESS;
    int error_of_free = last ? general_free(general) : MPI_SUCCESS;
    return error ? error : error_of_free;
}

static int general_cancel(struct mpi_request *request)
{
    const struct general *general = request->extra;
    return general->cancel ? general->cancel(general->state, general_done(request)) : MPI_SUCCESS;
}

/* NEWS: it is complete, or freed; after the second of these its own function frees it. The handle is good until
 * then. */
static int general_settle(const char *call, struct mpi_request *request, int news)
{
    struct general *general = request->extra;
    /* both ways: pairs with itself in another thread, and with the acquire in general_done */
    int all = news | atomic_fetch_or_explicit(&general->news, news, memory_order_acq_rel);
    if (all != (COMPLETE | FREED))
        return MPI_SUCCESS;
    int error = general_free(general);
    mpi_request_give(request);
    return error ? mpi_error(NULL, call, error, "the free function of the request failed") : MPI_SUCCESS;
}

static int general_freed(const char *call, struct mpi_request *request) { return general_settle(call, request, FREED); }

static const struct mpi_request_kind general_request = {
    .done = general_done, .outcome = general_outcome, .cancel = general_cancel, .freed = general_freed};

ENTRY(MPI_Grequest_start)(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free_fn,
                          MPI_Grequest_cancel_function *cancel, void *state, MPI_Request *out)
{
    int error = CHECK(RUNNING, GIVEN_AS(out, "request"));
    if (error)
        return error;
    struct mpi_request *request = mpi_request_take_with(&general_request, NAME, NULL, sizeof(struct general));
    if (!request)
        return mpi_error(NULL, NAME, MPI_ERR_NO_MEM, "no memory for a request");
    *(struct general *)request->extra = (struct general){query, free_fn, cancel, state, 0};
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

ENTRY(MPI_Grequest_complete)(MPI_Request handle)
{
    mpi_enter(NAME);
    struct mpi_request *request = mpi_request_at(handle);
    if (!request || request->kind != &general_request)
        return mpi_error(NULL, NAME, MPI_ERR_REQUEST, "%p is not a request of MPI_Grequest_start", (void *)handle);
    int error = general_settle(NAME, request, COMPLETE);
    vmsg_wake();
    return error;
}
