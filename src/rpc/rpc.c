/* rpc: start and end, messages that come and that leave. */
#include "rpc/rpc.h"

#define RPC_CHANNEL 1 /* its number among pack's own */

struct rpc vrpc;

int vrpc_check_open(void)
{
    return vrpc.open ? OK : vbase_fail(ERR_STATE, "vd_rpc_start must come before, and vd_finalize after");
}

vd_call *vrpc_call_make(void)
{
    vd_call *call = vbase_pool_take(&vrpc.calls);
    if (call)
        *call = (vd_call){.place = vbase_pool_index(call)};
    return call;
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

vd_connection *vrpc_begin(int remote, const struct rpc_head *head)
{
    vd_connection *connection = vd_begin_packing(vrpc.channel, remote);
    if (!connection)
        return NULL;
    connection->copies = true;
    memcpy(connection->frame, head, sizeof *head);
    connection->fill = sizeof *head;
    return connection;
}

int vrpc_leave(vd_connection *connection)
{
    struct rpc_head head;
    uint32_t frames;
    memcpy(&head, connection->frame, sizeof head);
    int error = vpack_seal(connection, &frames, &head.alone);
    head.frames = frames < UINT16_MAX ? (uint16_t)frames : UINT16_MAX;
    memcpy(connection->frame, &head, sizeof head);
    if (error)
        return vpack_packing_over(connection);
    connection->copies = false; /* all is sealed, and may leave */
    error = vd_end_packing_start(connection);
    if (vpack_parts_test(connection) != ERR_AGAIN)
        return vpack_packing_over(connection);
    rpc_lock();
    list_append(&vrpc.ending, &connection->link);
    rpc_unlock();
    return error;
}

static __attribute__((noinline)) int head_send_slowly(int remote, const struct rpc_head *head)
{
    vd_connection *connection = vrpc_begin(remote, head);
    return connection ? vrpc_leave(connection) : vd_error();
}

/* By the engine's short path, from where HEAD lies. */
int vrpc_tell(int remote, const struct rpc_head *head)
{
    vd_channel *channel = vrpc.channel;
    int error = ERR_AGAIN;
    if (unlikely(vpack_threads))
        base_lock(&channel->first_out);
    if (likely(!channel->check))
        error = vmsg_send_now(channel->context, remote, PACK_TAG_FIRST, head, sizeof *head);
    channel->sent[remote] += !error;
    if (unlikely(vpack_threads))
        base_unlock(&channel->first_out);
    return unlikely(error == ERR_AGAIN) ? head_send_slowly(remote, head) : error;
}

/* It is being sent or dropped. OK: done. */
static int connection_step(vd_connection *connection)
{
    if (connection->unpacking)
        return vpack_drop(connection);
    if (vpack_parts_test(connection) == ERR_AGAIN)
        return ERR_AGAIN;
    int error = vpack_packing_over(connection);
    if (error && error != ERR_CANCELLED)
        LOG_WARN("an answer or a call could not be sent: %s", vbase_error_sentence(error));
    return OK;
}

void vrpc_sweep_all(void)
{
    struct list round, left;
    list_init(&round);
    list_init(&left);
    rpc_lock();
    list_move(&round, &vrpc.ending);
    rpc_unlock();
    list_take_each(node, &round)
        if (connection_step(container_of(node, vd_connection, link)) == ERR_AGAIN)
            list_append(&left, node);
    rpc_lock();
    list_move(&vrpc.ending, &left);
    rpc_unlock();
}

void vrpc_drop(vd_connection *connection)
{
    if (!connection)
        return;
    vpack_abandon(connection);
    if (vpack_drop(connection) == OK)
        return;
    rpc_lock();
    list_append(&vrpc.ending, &connection->link);
    rpc_unlock();
}

/* ---- coming ------------------------------------------------------------------------------------------------------ */

static void frame_arrived(struct msg_request *request);
static const struct msg_taker taker;

static int receive_post(vd_connection *into)
{
    struct msg_where from = {vrpc.channel->context, MSG_ANY_SOURCE, PACK_TAG_FIRST};
    vrpc.coming = into;
    if (!into)
        return vd_error();
    struct type_buffer buffer = {.base = vrpc.coming->frame, .count = PACK_FRAME};
    vrpc.request.completed = frame_arrived;
    return vmsg_recv_take(&vrpc.request, &from, &buffer, &taker);
}

static COLD void frame_refuse(int remote)
{
    static struct base_log_gate gate;
    char more[LOG_MORE];
    COUNT(refused);
    if (vbase_log_gate_open(&gate, 10, more))
        LOG_WARN("rank %d sent an invalid remote call, which was dropped%s", remote, more);
}

/* When the message has its place in a queue, or is dropped: vd_finalize takes what is counted for handled, unless it
 * waits there. */
static inline void first_frame_heard(int source)
{
    uint32_t *heard = &vrpc.channel->heard[source]; /* release: pairs with calls_are_here of pack */
    __atomic_store_n(heard, *heard + 1, __ATOMIC_RELEASE);
}

/* The message whose first frame, of BYTES, lies in CONNECTION. */
static void message_begun(vd_connection *connection, const struct msg_result *result)
{
    struct rpc_head head;
    vpack_begun(connection, result, vrpc.channel->heard[result->source]);
    connection->kept = true;
    if (result->bytes < sizeof head)
        return;
    memcpy(&head, connection->frame, sizeof head);
    connection->fill = sizeof head;
    connection->counted = head.frames < UINT16_MAX;
    connection->frames_left = head.frames;
    connection->alone_left = head.alone;
}

vd_connection *vrpc_nothing(int remote)
{
    vd_connection *connection = vpack_take(vrpc.channel, true);
    if (!connection)
        return NULL;
    vpack_begun(connection, &(struct msg_result){.source = remote}, 0);
    connection->kept = connection->counted = true;
    connection->frames_left = connection->alone_left = 0;
    return connection;
}

/* CONNECTION NULL: the head is all of it. */
static void head_handle(int remote, const struct rpc_head *head, vd_connection *connection)
{
    switch (head->kind) {
    case RPC_CALL:
    case RPC_ONE_WAY:
        vrpc_called(remote, head, connection);
        return;
    case RPC_REPLY:
        vrpc_answered(remote, head, connection);
        return;
    case RPC_CANCEL:
        vrpc_cancel_asked(remote, head->id);
        break;
    case RPC_CREDIT:
        vrpc_place_free(remote, (uint32_t)head->code, true);
        break;
    default:
        frame_refuse(remote);
    }
    vrpc_drop(connection);
}

/* A first frame, where it lies. */
static enum msg_taken frame_take(int source, const void *data, uint64_t bytes)
{
    struct rpc_head head;
    vd_connection *connection = NULL;
    if (unlikely(bytes < sizeof head || bytes > PACK_FRAME))
        return MSG_DECLINED;
    memcpy(&head, data, sizeof head);
    if (unlikely(bytes != sizeof head || head.frames || head.alone)) {
        connection = vpack_take(vrpc.channel, true);
        if (!connection)
            return MSG_DECLINED;
        base_copy(connection->frame, data, bytes);
        message_begun(connection, &(struct msg_result){.source = source, .bytes = bytes});
    }
    head_handle(source, &head, connection);
    first_frame_heard(source);
    return head.kind <= RPC_ONE_WAY ? MSG_TAKEN_TURN : MSG_TAKEN;
}

static void message_handle(vd_connection *connection, const struct msg_result *result)
{
    struct rpc_head head;
    message_begun(connection, result);
    if (likely(!result->error && result->bytes >= sizeof head)) {
        memcpy(&head, connection->frame, sizeof head);
        head_handle(result->source, &head, connection);
    } else { /* longer than any frame, or too short */
        frame_refuse(result->source);
        vrpc_drop(connection);
    }
}

/* There is no memory to receive the next message in: this one gives its place. What follows its first frame, and
 * the part of the sender's window that it takes, is kept until the channel is freed. */
static COLD void message_turn_away(const vd_connection *connection, const struct msg_result *result)
{
    struct rpc_head head;
    if (result->error || result->bytes < sizeof head) {
        frame_refuse(result->source);
        return;
    }
    memcpy(&head, connection->frame, sizeof head);
    if (result->bytes == sizeof head && !head.frames && !head.alone)
        head_handle(result->source, &head, NULL);
    else
        vrpc_turn_away(result->source, &head);
}

/* A first frame is here. The next receive is posted when this one has its place in a queue, so that the order stays. */
static void frame_arrived(struct msg_request *request)
{
    vd_connection *connection = vrpc.coming, *next;
    const struct msg_result *result = &request->result;
    if (result->error == ERR_CANCELLED) { /* the end */
        vpack_give(connection);
        vrpc.coming = NULL;
        return;
    }
    next = vpack_take(vrpc.channel, true);
    if (likely(next)) {
        message_handle(connection, result);
    } else {
        message_turn_away(connection, result);
        next = connection;
    }
    first_frame_heard(result->source);
    int error = receive_post(next);
    if (error)
        LOG_ERROR("remote calls end here: %s", vbase_error_detail());
    vrpc_sweep();
    vrpc_run_at_once();
}

static void round_after(void)
{
    vrpc_sweep();
    vrpc_run_at_once();
}

static const struct msg_taker taker = {.take = frame_take, .behind = round_after};

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool no_message_leaves(void *unused)
{
    (void)unused;
    vrpc_sweep();
    rpc_lock();
    bool none = list_empty(&vrpc.ending);
    rpc_unlock();
    return none;
}

static bool no_message_comes(void *unused)
{
    (void)unused;
    return !vrpc.coming;
}

/* All but the functions, which may be registered before. */
static void memory_give(void)
{
    vbase_pool_close(&vrpc.calls);
    free(vrpc.remote);
    vrpc = (struct rpc){.functions = vrpc.functions, .pooled = vrpc.pooled};
}

static void functions_free(void)
{
    for (uint32_t i = 0; i < vrpc.functions.capacity; i++)
        free(vrpc.functions.entry[i].value);
    vbase_map_close(&vrpc.functions);
    vrpc = (struct rpc){.open = false};
    vpack_end = NULL;
}

void vrpc_end(bool close)
{
    if (!vrpc.open) {
        if (close)
            functions_free();
        return;
    }
    int error = vmsg_wait_until(vrpc_idle, NULL);
    if (!close)
        return;
    list_for_each(node, &vrpc.ending) { /* no handler runs any more that would unpack it */
        vd_connection *connection = container_of(node, vd_connection, link);
        connection->frames_left = connection->alone_left = 0;
        vpack_cancel(connection);
    }
    if (!error)
        error = vmsg_wait_until(no_message_leaves, NULL);
    vrpc_pool_close();
    if (vrpc.coming)
        vmsg_cancel(&vrpc.request);
    if (!error)
        error = vmsg_wait_until(no_message_comes, NULL);
    if (error)
        return; /* the job is lost: the engine may still point at our memory */
    vpack_calls = NULL;
    vpack_channel_free(vrpc.channel);
    memory_give();
    functions_free();
}

VEXPORT int vd_rpc_start(int threads)
{
    int error = vpack_start();
    if (!error && vrpc.open)
        error = vbase_fail(ERR_STATE, "vd_rpc_start was called before");
    if (!error && (threads < 0 || threads > 1024))
        error = vbase_fail(ERR_ARGUMENT, "vd_rpc_start: %d threads", threads);
    if (!error && !threads && vrpc.pooled)
        error = vbase_fail(ERR_ARGUMENT, "vd_rpc_start: %s is for the pool, but no threads are asked for", vrpc.pooled);
    if (!error && threads)
        error = vd_threads();
    if (!error)
        error = vpack_channel_open(vpack_own_id(RPC_CHANNEL), "of remote calls", &vrpc.channel);
    if (error)
        return error;
    list_init(&vrpc.at_once);
    list_init(&vrpc.queue);
    list_init(&vrpc.runs);
    list_init(&vrpc.ending);
    vbase_pool_open(&vrpc.calls, sizeof(struct vd_call), 0);
    vrpc.remote = calloc((size_t)vrpc.channel->size, sizeof *vrpc.remote);
    error = vrpc.remote ? vrpc_pool_open(threads) : vbase_fail(ERR_MEMORY, "no memory for remote calls");
    if (!error) { /* another thread may run the first calls before the receive is posted */
        vrpc.open = true;
        vpack_calls = vrpc.channel;
        vpack_end = vrpc_end;
        error = receive_post(vpack_take(vrpc.channel, true));
    }
    if (error) {
        vpack_calls = NULL;
        vrpc_pool_close();
        vpack_channel_free(vrpc.channel);
        memory_give();
        return error;
    }
    return OK;
}
