/* Sending and receiving in one call. Both operations are under way at once, so rings and exchanges cannot lock up. */
#include "mpi/inside.h"
#include <stdlib.h>

/* Both messages of a call, checked. */
struct exchange {
    struct mpi_message send, receive;
    struct mpi_target to, from;
};

static int check(struct exchange *x)
{
    mpi_doing(x->send.call);
    int error = mpi_message_check(&x->send, false, &x->to);
    return error ? error : mpi_message_check(&x->receive, true, &x->from);
}

/* DATA: what is sent; NULL: what the message says. */
static int start_both(const struct exchange *x, const struct type_buffer *data, struct mpi_pair *pair)
{
    int error = OK;
    if (x->receive.rank != MPI_PROC_NULL)
        error = mpi_operation_start(&pair->receive, &x->receive, &x->from, WAY_RECEIVE, NULL);
    pair->receives = !error && x->receive.rank != MPI_PROC_NULL;
    if (!error && x->send.rank != MPI_PROC_NULL)
        error = mpi_operation_start(&pair->send, &x->send, &x->to, WAY_STANDARD, data);
    pair->sends = !error && x->send.rank != MPI_PROC_NULL;
    if (error && pair->receives) { /* it must not stay behind with a buffer that the caller takes back */
        vmsg_cancel(&pair->receive);
        mpi_wait_here(&pair->receive);
    }
    return error;
}

static int sendrecv(struct exchange *x, const struct type_buffer *data, MPI_Status *status)
{
    struct mpi_pair pair = {.sends = false};
    struct mpi_comm *comm = x->to.comm;
    int error = start_both(x, data, &pair);
    if (error)
        return mpi_engine_error(comm, x->send.call, error);
    int send_error = pair.sends ? mpi_wait_here(&pair.send) : OK;
    mpi_status_proc_null(status);
    if (pair.receives) {
        error = mpi_wait_here(&pair.receive);
        mpi_status_result(status, &pair.receive.result);
        if (error)
            return mpi_receive_error(comm, x->receive.call, &pair.receive.result);
    }
    return send_error ? mpi_engine_error(comm, x->send.call, send_error) : MPI_SUCCESS;
}

/* A copy of the data that is sent, for the calls that receive into the same buffer; to be freed. */
static int copy_out(const struct exchange *x, struct type_buffer *copy)
{
    struct type_buffer buffer = mpi_buffer((void *)x->send.buffer, (uint64_t)x->send.count, x->to.type);
    uint64_t bytes = type_buffer_bytes(&buffer);
    *copy = (struct type_buffer){malloc(bytes + 1), bytes, NULL};
    if (!copy->base)
        return vbase_fail(ERR_MEMORY, "%llu bytes for a copy of the message", (unsigned long long)bytes);
    mpi_pack(&buffer, copy->base);
    return OK;
}

static int exchange(struct exchange *x, MPI_Status *status)
{
    int error = check(x);
    return error ? error : sendrecv(x, NULL, status);
}

static int replace(struct exchange *x, MPI_Status *status)
{
    struct type_buffer copy;
    int error = check(x);
    if (error)
        return error;
    error = copy_out(x, &copy);
    if (error)
        return mpi_engine_error(x->to.comm, x->send.call, error);
    error = sendrecv(x, &copy, status);
    free(copy.base);
    return error;
}

/* ---- non-blocking ----------------------------------------------------------------------------------------------- */

struct held { /* lives as long as the request */
    struct mpi_pair pair;
    void *copy;
};

void mpi_pair_drop(struct mpi_pair *pair)
{
    struct held *held = container_of(pair, struct held, pair);
    if (mpi_checking) {
        mpi_check_ends(&pair->send);
        mpi_check_ends(&pair->receive);
    }
    if (pair->send_layout)
        vtype_layout_drop(pair->send_layout);
    if (pair->receive_layout)
        vtype_layout_drop(pair->receive_layout);
    free(held->copy);
}

static int start_exchange(struct exchange *x, bool replaces, MPI_Request *out)
{
    const char *call = x->send.call;
    struct mpi_comm *comm = x->to.comm;
    struct held *held = calloc(1, sizeof *held);
    if (!held)
        return mpi_engine_error(comm, call, ERR_MEMORY);
    struct type_buffer copy = {NULL, 0, NULL};
    int error = replaces ? copy_out(x, &copy) : OK;
    held->copy = copy.base;
    struct mpi_request *request = error ? NULL : mpi_request_take(REQUEST_PAIR, call, comm, NULL);
    if (!request) {
        free(held->copy);
        free(held);
        return mpi_engine_error(comm, call, error ? error : ERR_MEMORY);
    }
    request->pair = &held->pair;
    request->extra = held;
    held->pair.send_layout = vtype_layout_keep(x->to.type->layout);
    held->pair.receive_layout = vtype_layout_keep(x->from.type->layout);
    error = start_both(x, replaces ? &copy : NULL, &held->pair);
    if (error) {
        mpi_request_give(request);
        return mpi_engine_error(comm, call, error);
    }
    *out = mpi_request_publish(request);
    return MPI_SUCCESS;
}

static int iexchange(struct exchange *x, bool replaces, MPI_Request *out)
{
    int error = check(x);
    if (!error && !out)
        error = mpi_error(x->to.comm, x->send.call, MPI_ERR_ARG, "request is NULL");
    return error ? error : start_exchange(x, replaces, out);
}

/* ---- entries ---------------------------------------------------------------------------------------------------- */

#define BOTH(number)                                                                                                   \
    const void *out, number count, MPI_Datatype type, int rank, int tag, void *in, number count_in,                    \
        MPI_Datatype type_in, int source, int tag_in, MPI_Comm comm
#define BOTH_ARE                                                                                                       \
    &(struct exchange){.send = {NAME, out, count, type, rank, tag, comm},                                              \
                       .receive = {NAME, in, count_in, type_in, source, tag_in, comm}}
#define BOTH_DONE(number) BOTH(number), MPI_Status *status
#define BOTH_STARTED(number) BOTH(number), MPI_Request *request
ENTRIES(MPI_Sendrecv, MPI_Sendrecv_c, BOTH_DONE, exchange(BOTH_ARE, status))
ENTRIES(MPI_Isendrecv, MPI_Isendrecv_c, BOTH_STARTED, iexchange(BOTH_ARE, false, request))

#define ONE(number)                                                                                                    \
    void *buffer, number count, MPI_Datatype type, int rank, int tag, int source, int tag_in, MPI_Comm comm
#define ONE_IS                                                                                                         \
    &(struct exchange){.send = {NAME, buffer, count, type, rank, tag, comm},                                           \
                       .receive = {NAME, buffer, count, type, source, tag_in, comm}}
#define ONE_DONE(number) ONE(number), MPI_Status *status
#define ONE_STARTED(number) ONE(number), MPI_Request *request
ENTRIES(MPI_Sendrecv_replace, MPI_Sendrecv_replace_c, ONE_DONE, replace(ONE_IS, status))
ENTRIES(MPI_Isendrecv_replace, MPI_Isendrecv_replace_c, ONE_STARTED, iexchange(ONE_IS, true, request))
