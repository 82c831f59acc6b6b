/* Sending and receiving in one call. Both operations are under way at once, so rings and exchanges cannot lock up. */
#include "mpi/inside.h"

/* Both messages of a call, checked. */
struct exchange {
    struct mpi_message send, receive;
    struct mpi_target to, from;
};

static int check(struct exchange *x)
{
    mpi_doing(x->send.call);
    return mpi_message_check(&x->send, false, &x->to) ?: mpi_message_check(&x->receive, true, &x->from);
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

/* REPLACES: what is sent lies where the other message comes to. */
static int exchange(struct exchange *x, bool replaces, MPI_Status *status)
{
    struct type_buffer copy = {NULL, 0, NULL};
    int error = check(x);
    if (!error && replaces && (error = copy_out(x, &copy)))
        error = mpi_engine_error(x->to.comm, x->send.call, error);
    if (!error)
        error = sendrecv(x, replaces ? &copy : NULL, status);
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

static int iexchange(struct exchange *x, bool replaces, MPI_Request *out)
{
    const char *call = x->send.call;
    int error = check(x);
    if (!error && !out)
        error = mpi_null(x->to.comm, call, "request");
    if (error)
        return error;
    struct mpi_comm *comm = x->to.comm;
    struct type_buffer copy = {NULL, 0, NULL};
    struct held *held = calloc(1, sizeof *held);
    struct mpi_request *request = NULL;
    error = !held ? ERR_MEMORY : replaces ? copy_out(x, &copy) : OK;
    if (!error && !(request = mpi_request_take(REQUEST_PAIR, call, comm, NULL)))
        error = ERR_MEMORY;
    if (error) {
        free(copy.base);
        free(held);
        return mpi_engine_error(comm, call, error);
    }
    held->copy = copy.base;
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

/* ---- entries ---------------------------------------------------------------------------------------------------- */

#define BOTH(number)                                                                                                   \
    const void *out, number count, MPI_Datatype type, int rank, int tag, void *in, number count_in,                    \
        MPI_Datatype type_in, int source, int tag_in, MPI_Comm comm
#define BOTH_ARE                                                                                                       \
    &(struct exchange){.send = {NAME, out, count, type, rank, tag, comm},                                              \
                       .receive = {NAME, in, count_in, type_in, source, tag_in, comm}}
#define BOTH_DONE(number) BOTH(number), MPI_Status *status
#define BOTH_STARTED(number) BOTH(number), MPI_Request *request
ENTRIES(MPI_Sendrecv, MPI_Sendrecv_c, BOTH_DONE, exchange(BOTH_ARE, false, status))
ENTRIES(MPI_Isendrecv, MPI_Isendrecv_c, BOTH_STARTED, iexchange(BOTH_ARE, false, request))

#define ONE(number)                                                                                                    \
    void *buffer, number count, MPI_Datatype type, int rank, int tag, int source, int tag_in, MPI_Comm comm
#define ONE_IS                                                                                                         \
    &(struct exchange){.send = {NAME, buffer, count, type, rank, tag, comm},                                           \
                       .receive = {NAME, buffer, count, type, source, tag_in, comm}}
#define ONE_DONE(number) ONE(number), MPI_Status *status
#define ONE_STARTED(number) ONE(number), MPI_Request *request
ENTRIES(MPI_Sendrecv_replace, MPI_Sendrecv_replace_c, ONE_DONE, exchange(ONE_IS, true, status))
ENTRIES(MPI_Isendrecv_replace, MPI_Isendrecv_replace_c, ONE_STARTED, iexchange(ONE_IS, true, request))
