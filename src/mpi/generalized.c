/* Generalized requests: those of the program itself, which tells when one is complete. */
#include "mpi/request.h"

struct general { /* extra of the request */
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *state;
    bool fortran; /* the functions are called as Fortran's: the error is a last argument */
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

typedef void fortran_query(void *state, MPI_Status *status, int *error);
typedef void fortran_free(void *state, int *error);
typedef void fortran_cancel(void *state, int *complete, int *error);

static int general_free(const struct general *general)
{
    int error = MPI_SUCCESS;
    if (general->fortran && general->free)
        ((fortran_free *)(void *)general->free)(general->state, &error);
    else if (general->free)
        error = general->free(general->state);
    return error;
}

static int general_query(const struct general *general, MPI_Status *status)
{
    int error = MPI_SUCCESS;
    if (general->fortran && general->query)
        ((fortran_query *)(void *)general->query)(general->state, status, &error);
    else if (general->query)
        error = general->query(general->state, status);
    return error;
}

static int general_outcome(struct mpi_request *request, MPI_Status *status, bool last)
{
    MPI_Status own, *place = status == MPI_STATUS_IGNORE ? &own : status;
    const struct general *general = request->extra;
    mpi_status_empty(place);
    int error = general_query(general, place);
    int error_of_free = last ? general_free(general) : MPI_SUCCESS;
    return error ? error : error_of_free;
}

static int general_cancel(struct mpi_request *request)
{
    const struct general *general = request->extra;
    int error = MPI_SUCCESS, complete = general_done(request);
    if (general->fortran && general->cancel)
        ((fortran_cancel *)(void *)general->cancel)(general->state, &complete, &error);
    else if (general->cancel)
        error = general->cancel(general->state, complete);
    return error;
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
    *(struct general *)request->extra = (struct general){query, free_fn, cancel, state, false, 0};
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

void mpi_general_fortran(MPI_Request handle)
{
    struct mpi_request *request = mpi_request_at(handle);
    if (request && request->kind == &general_request)
        ((struct general *)request->extra)->fortran = true;
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
