/* Sending and receiving in one call. Both operations are under way at once, so rings and exchanges cannot lock up. */
#include "mpi/context.h"
#include "mpi/message.h"
#include "mpi/request.h"

struct pair { /* extra of a request for both */
    struct msg_request send, receive;
    void *copy;                 /* of what is sent; NULL: none */
    struct type_layout *layout; /* of what comes, kept; that of what goes is the request's */
};

/* Both messages of a call. */
struct exchange {
    struct mpi_message send, receive;
    bool replaces; /* what is sent lies where the other message comes to: a copy is sent */
    struct mpi_target to, from;
    struct type_buffer copy;
};

/* Checks both, and makes the copy, which is to be freed. A class that was raised. */
static int exchange_prepare(struct exchange *x)
{
    mpi_doing(x->send.call);
    int error = mpi_message_check(&x->send, false, &x->to) ?: mpi_message_check(&x->receive, true, &x->from);
    if (error || !x->replaces)
        return error;
    struct type_buffer buffer = mpi_buffer((void *)x->send.buffer, (uint64_t)x->send.count, x->to.type);
    uint64_t bytes = type_buffer_bytes(&buffer);
    x->copy = (struct type_buffer){malloc(bytes + 1), bytes, NULL};
    if (!x->copy.base)
        return mpi_engine_error(x->to.comm, x->send.call, vbase_fail(ERR_MEMORY, "%llu bytes for a copy of the message",
                                                                     (unsigned long long)bytes));
    (void)vtype_pack_at(&buffer, 0, x->copy.base, bytes);
    return MPI_SUCCESS;
}

/* A class that was raised. */
static int exchange_start(const struct exchange *x, struct pair *pair)
{
    int error = mpi_operation_start(&pair->receive, &x->receive, &x->from, WAY_RECEIVE, NULL);
    if (!error) {
        error = mpi_operation_start(&pair->send, &x->send, &x->to, WAY_STANDARD, x->replaces ? &x->copy : NULL);
        if (error) { /* the other must not stay behind with a buffer that the caller takes back */
            vmsg_cancel(&pair->receive);
            mpi_wait_here(&pair->receive);
        }
    }
    return error ? mpi_engine_error(x->to.comm, x->send.call, error) : MPI_SUCCESS;
}

static int exchange_run(struct exchange *x, MPI_Status *status)
{
    struct pair pair;
    const char *call = x->send.call;
    int error = exchange_prepare(x) ?: exchange_start(x, &pair);
    if (!error) {
        int send_error = mpi_wait_here(&pair.send), receive_error = mpi_wait_here(&pair.receive);
        mpi_status_result(status, &pair.receive.result);
        if (receive_error)
            error = mpi_receive_error(x->to.comm, call, receive_error, &pair.receive.result);
        else if (send_error)
            error = mpi_engine_error(x->to.comm, call, send_error);
    }
    free(x->copy.base);
    return error;
}

static bool pair_done(struct mpi_request *request)
{
    struct pair *pair = request->extra;
    return vmsg_request_done(&pair->send) && vmsg_request_done(&pair->receive);
}

static int pair_outcome(struct mpi_request *request, MPI_Status *status, bool last)
{
    const struct pair *pair = request->extra;
    (void)last;
    mpi_status_result(status, &pair->receive.result);
    int error = pair->receive.result.error ? mpi_operation_class(&pair->receive.result, status) : MPI_SUCCESS;
    return error || !pair->send.result.error ? error : mpi_operation_class(&pair->send.result, status);
}

static void pair_drop(struct mpi_request *request)
{
    struct pair *pair = request->extra;
    if (mpi_checking) {
        mpi_check_ends(&pair->send);
        mpi_check_ends(&pair->receive);
    }
    free(pair->copy);
    vtype_layout_drop(pair->layout);
}

static const struct mpi_request_kind pair_request = {.done = pair_done, .outcome = pair_outcome, .drop = pair_drop};

static int pair_start(struct exchange *x, MPI_Request *out)
{
    const char *call = x->send.call;
    int error = exchange_prepare(x);
    if (!error && !out)
        error = mpi_null(x->to.comm, call, "request");
    struct mpi_request *request =
        error ? NULL : mpi_request_take_with(&pair_request, call, x->to.comm, sizeof(struct pair));
    if (!request) {
        free(x->copy.base);
        return error ? error : mpi_engine_error(x->to.comm, call, ERR_MEMORY);
    }
    struct pair *pair = request->extra;
    *pair = (struct pair){.copy = x->copy.base, .layout = vtype_layout_keep(x->from.type->layout)};
    request->layout = vtype_layout_keep(x->to.type->layout);
    error = exchange_start(x, pair);
    if (error)
        mpi_request_give(request);
    else
        *out = mpi_request_publish(request);
    return error;
}

/* ---- entries ---- */

#define WHOM int source, int recvtag, MPI_Comm comm
#define BOTH                                                                                                           \
    &(struct exchange){.send = {NAME, sendbuf, sendcount, sendtype, dest, sendtag, comm},                              \
                       .receive = {NAME, recvbuf, recvcount, recvtype, source, recvtag, comm}}
ENTRIES(MPI_Sendrecv, MPI_Sendrecv_c, MPI_EXCHANGED_, (WHOM, MPI_Status *status), return exchange_run(BOTH, status))
ENTRIES(MPI_Isendrecv, MPI_Isendrecv_c, MPI_EXCHANGED_, (WHOM, MPI_Request *request), return pair_start(BOTH, request))

#define BOTH_RANKS int dest, int sendtag, int source, int recvtag, MPI_Comm comm
#define ONE                                                                                                            \
    &(struct exchange){.send = {NAME, buf, count, datatype, dest, sendtag, comm},                                      \
                       .receive = {NAME, buf, count, datatype, source, recvtag, comm}, .replaces = true}
ENTRIES(MPI_Sendrecv_replace, MPI_Sendrecv_replace_c, MPI_DATA_, (BOTH_RANKS, MPI_Status *status),
        return exchange_run(ONE, status))
ENTRIES(MPI_Isendrecv_replace, MPI_Isendrecv_replace_c, MPI_DATA_, (BOTH_RANKS, MPI_Request *request),
        return pair_start(ONE, request))

/* ---- between the leaders of two groups ---- */

struct bridge_part {
    int64_t class; /* why the sender's group has ended; nothing follows then */
    char data[MPI_BRIDGE_MOST];
};
#define PART_HEAD (int)offsetof(struct bridge_part, data)

static int parts_swap(const struct mpi_bridge *bridge, const struct bridge_part *mine, int bytes,
                      struct bridge_part *theirs)
{
    struct mpi_message to = bridge->remote, from = bridge->remote;
    struct mpi_target target;
    struct msg_request send, receive;
    to.buffer = mine;
    to.count = bytes;
    from.buffer = theirs;
    from.count = sizeof *theirs;
    if (mpi_message_check(&to, false, &target))
        return ERR_ARGUMENT; /* not after the first check, in remote_find */
    int error = mpi_operation_start(&receive, &from, &target, WAY_RECEIVE, NULL);
    if (error)
        return error;
    error = mpi_operation_start(&send, &to, &target, WAY_STANDARD, NULL);
    if (error)
        vmsg_cancel(&receive);
    int received = mpi_wait_here(&receive);
    return error ?: mpi_wait_here(&send) ?: received;
}

int mpi_bridge_swap(struct mpi_bridge *bridge, const void *mine, void *theirs, int bytes)
{
    struct bridge_part to = {.class = MPI_SUCCESS}, from = {.class = MPI_SUCCESS}; /* nothing comes of MPI_PROC_NULL */
    memcpy(to.data, mine, (size_t)bytes);
    int error = parts_swap(bridge, &to, PART_HEAD + bytes, &from);
    bridge->parted = error || from.class;
    if (!bridge->parted)
        memcpy(theirs, from.data, (size_t)bytes);
    return error || !from.class ? error
                                : vbase_fail(from.class == MPI_ERR_PROC_ABORTED ? ERR_PEER_DEAD
                                             : from.class == MPI_ERR_NO_MEM     ? ERR_MEMORY
                                                                                : ERR_ARGUMENT,
                                             "the other group has failed: %s", mpi_class_sentence((int)from.class));
}

void mpi_bridge_part(struct mpi_bridge *bridge, int class)
{
    struct bridge_part to = {.class = class}, from;
    if (!bridge->failed && !bridge->parted)
        (void)parts_swap(bridge, &to, PART_HEAD, &from);
}
