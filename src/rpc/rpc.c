/* rpc: its life, and what comes and leaves. */
#include "rpc/rpc.h"
#include "base/counters.h"
#include "base/log.h"
#include <stdlib.h>
#include <string.h>

#define RPC_CHANNEL 1 /* its number among pack's */

struct rpc vrpc;

int vrpc_check_open(void)
{
    return vrpc.open ? OK : vbase_fail(ERR_STATE, "vd_rpc_start must come before, and vd_finalize after");
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

vd_connection *vrpc_begin(int remote, const struct rpc_head *head)
{
    vd_connection *connection = vd_begin_packing(vrpc.channel, remote);
    if (!connection)
        return NULL;
    connection->copies = true;
    connection->id = head->kind == RPC_REPLY ? head->id : UINT64_MAX;
    int error = vd_pack(connection, head, sizeof *head, VD_SEND_SAFER, VD_RECEIVE_EXPRESS);
    if (error) {
        (void)vpack_packing_over(connection);
        return vpack_fail(error);
    }
    return connection;
}

int vrpc_leave(vd_connection *connection)
{
    int error = vd_end_packing_start(connection);
    if (vpack_parts_test(connection) != ERR_AGAIN)
        return vpack_packing_over(connection);
    rpc_lock();
    list_append(&vrpc.ending, &connection->link);
    rpc_unlock();
    return error;
}

void vrpc_sweep(void)
{
    struct list_node *node;
    if (!vpack_threads && likely(list_empty(&vrpc.ending)))
        return;
    struct list gone;
    list_init(&gone);
    rpc_lock();
    list_for_each(each, &vrpc.ending)
    {
        vd_connection *connection = container_of(each, vd_connection, link);
        if (vpack_parts_test(connection) == ERR_AGAIN)
            continue;
        list_remove(each);
        list_append(&gone, each);
    }
    rpc_unlock();
    while ((node = list_take_first(&gone))) {
        int error = vpack_packing_over(container_of(node, vd_connection, link));
        if (error && error != ERR_CANCELLED)
            LOG_WARN("an answer or a call could not be sent: %s", vbase_error_sentence(error));
    }
}

/* ---- coming ------------------------------------------------------------------------------------------------------ */

static void arrived(struct msg_request *request);

static int await(void)
{
    struct msg_where from = {vrpc.channel->context, MSG_ANY_SOURCE, PACK_TAG_FIRST};
    vrpc.coming = pack_take(vrpc.channel, 1);
    if (!vrpc.coming)
        return vd_error();
    struct type_buffer buffer = {.base = vrpc.coming->frame, .count = PACK_FRAME};
    vrpc.request.completed = arrived;
    return vmsg_recv_start(&vrpc.request, &from, &buffer);
}

static COLD void refuse(const vd_connection *connection)
{
    static struct base_log_gate gate;
    char more[LOG_MORE];
    COUNT(refused);
    if (vbase_log_gate_open(&gate, 10, more))
        LOG_WARN("rank %d sent a remote call that makes no sense; it was dropped%s", connection->remote, more);
}

static void handle(vd_connection *connection)
{
    struct rpc_head head;
    int error = vd_unpack(connection, &head, sizeof head, VD_SEND_SAFER, VD_RECEIVE_EXPRESS);
    if (unlikely(error))
        head.kind = 0;
    switch (head.kind) {
    case RPC_CALL:
    case RPC_ONE_WAY:
        vrpc_called(connection, &head);
        return;
    case RPC_REPLY:
        vrpc_answered(connection, &head);
        return;
    case RPC_CANCEL:
    case RPC_UNWANTED:
        vrpc_cancel_asked(connection->remote, head.id, head.kind == RPC_UNWANTED);
        break;
    case RPC_CREDIT:
        vrpc_place_free(connection->remote, (uint32_t)head.code);
        break;
    default:
        refuse(connection);
    }
    vpack_drop(connection);
}

/* A first frame is here. The next receive is posted when this one has its place in a queue, so that the order stays. */
static void arrived(struct msg_request *request)
{
    vd_connection *connection = vrpc.coming;
    const struct msg_result *result = &request->result;
    if (result->error == ERR_CANCELLED) { /* the end */
        pack_give(connection);
        vrpc.coming = NULL;
        return;
    }
    vpack_begun(connection, result, vrpc.channel->heard[result->source]++);
    if (likely(!result->error)) {
        connection->kept = true;
        handle(connection);
    } else { /* longer than any frame */
        refuse(connection);
        vpack_drop(connection);
    }
    int error = await();
    if (error)
        LOG_ERROR("remote calls end here: %s", vbase_error_detail());
    vrpc_sweep();
    vrpc_run_at_once();
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool nothing_ends(void *unused)
{
    (void)unused;
    vrpc_sweep();
    rpc_lock();
    bool none = list_empty(&vrpc.ending);
    rpc_unlock();
    return none;
}

static bool nothing_comes(void *unused)
{
    (void)unused;
    return !vrpc.coming;
}

static void memory_give(void)
{
    struct list_node *node;
    while ((node = list_take_first(&vrpc.spare)))
        free(container_of(node, vd_call, link));
    vbase_map_close(&vrpc.functions);
    vbase_pool_close(&vrpc.calls);
    free(vrpc.out);
    free(vrpc.owed);
    memset(&vrpc, 0, sizeof vrpc);
}

static void functions_free(void)
{
    for (uint32_t i = 0; i < vrpc.functions.capacity; i++)
        free(vrpc.functions.entry[i].value);
}

static void end(bool close)
{
    int error = vmsg_wait_until(vrpc_idle, NULL);
    if (!close)
        return;
    list_for_each(node, &vrpc.ending) /* nobody runs any more who would unpack it */
        vpack_cancel(container_of(node, vd_connection, link));
    if (!error)
        error = vmsg_wait_until(nothing_ends, NULL);
    vrpc_pool_close();
    if (vrpc.coming)
        vmsg_cancel(&vrpc.request);
    if (!error)
        error = vmsg_wait_until(nothing_comes, NULL);
    if (error)
        return; /* the job is lost: the engine may still point at our memory */
    vpack_channel_free(vrpc.channel);
    functions_free();
    memory_give();
    vpack_end = NULL;
}

VEXPORT int vd_rpc_start(int threads)
{
    int error = vpack_start();
    if (!error && vrpc.open)
        error = vbase_fail(ERR_STATE, "vd_rpc_start was called before");
    if (!error && (threads < 0 || threads > 1024))
        error = vbase_fail(ERR_ARGUMENT, "vd_rpc_start: %d threads", threads);
    if (!error && threads)
        error = vd_threads();
    if (!error)
        error = vpack_channel_open(RPC_CHANNEL, "of remote calls", &vrpc.channel);
    if (error)
        return error;
    vrpc.channel->listed = true;
    list_init(&vrpc.at_once);
    list_init(&vrpc.queue);
    list_init(&vrpc.runs);
    list_init(&vrpc.spare);
    list_init(&vrpc.ending);
    vbase_pool_open(&vrpc.calls, sizeof(struct vd_call), 0);
    vrpc.out = calloc((size_t)vrpc.channel->size, sizeof *vrpc.out);
    vrpc.owed = calloc((size_t)vrpc.channel->size, sizeof *vrpc.owed);
    error = vrpc.out && vrpc.owed ? vrpc_pool_open(threads) : vbase_fail(ERR_MEMORY, "no memory for remote calls");
    if (!error)
        error = await();
    if (error) {
        vrpc_pool_close();
        vpack_channel_free(vrpc.channel);
        memory_give();
        return error;
    }
    vrpc.open = true;
    vpack_end = end;
    return OK;
}
