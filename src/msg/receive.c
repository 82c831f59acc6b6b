/* Receiving and probing: search the messages that are there, else wait in a posted list. The buffer is the engine's
 * until the request is complete; the request of a blocking receive lies on the stack. */
#include "msg/transfer.h"
#include "msg/wait.h"

/* The member from which a receive awaits its message; *MEMBER NULL: any. */
static inline __attribute__((always_inline)) int member_of(const struct msg_where *from, struct msg_member **member)
{
    struct msg_member *made; /* apart: the usual one stays in a register */
    *member = NULL;
    if (unlikely(!vmsg_engine.open))
        return vmsg_closed();
    if (unlikely(from->tag < MSG_ANY_TAG))
        return vbase_fail(ERR_ARGUMENT, "tag %d of a receive is negative", from->tag);
    if (from->rank == MSG_ANY_SOURCE || likely(*member = msg_member_at(from->context, from->rank)))
        return OK;
    int error = vmsg_member_find(from->context, from->rank, &made);
    *member = made;
    return error;
}

static inline __attribute__((always_inline)) void request_prepare(struct msg_request *request,
                                                                  const struct msg_where *from,
                                                                  const struct type_buffer *buffer, enum msg_mode mode)
{
    atomic_init(&request->state, MSG_PENDING); /* no other thread knows it yet */
    request->kind = MSG_RECEIVE;
    request->mode = (uint8_t)mode;
    request->phase = MSG_PHASE_MOVING;
    request->awaited = request->waited = false;
    request->result = (struct msg_result){.source = from->rank, .tag = from->tag};
    request->context = from->context;
    request->peer = NULL;
    request->buffer.base = buffer->base; /* one by one: as a whole it would be read back before it is written */
    request->buffer.count = buffer->count;
    request->buffer.layout = buffer->layout;
    request->total = type_buffer_bytes(buffer);
    request->extra = NULL;
}

static inline __attribute__((always_inline)) int receive_start(struct msg_request *request,
                                                               const struct msg_where *from,
                                                               const struct type_buffer *buffer, enum msg_mode mode)
{
    struct msg_context *context = from->context;
    struct msg_member *member;
    int error = member_of(from, &member);
    if (unlikely(error))
        return error;
    request_prepare(request, from, buffer, mode);
    if (likely(member != NULL))
        request->peer = member->peer; /* the waiting thread polls this peer first */
    msg_lock(&context->lock);
    struct msg_message *message = msg_match_posting(context, member, from->tag);
    bool never = !message && member && msg_dead(member->peer->world);
    if (message)
        vmsg_match_take(message);
    else if (!never)
        msg_match_post(context, member, request);
    msg_unlock(&context->lock);
    if (message)
        vmsg_message_give(message, request);
    return never ? vbase_fail(ERR_PEER_DEAD, "rank %d is dead", member->peer->world) : OK;
}

int vmsg_recv_start(struct msg_request *request, const struct msg_where *from, const struct type_buffer *buffer)
{
    return receive_start(request, from, buffer, MSG_STANDARD);
}

int vmsg_recv_take(struct msg_request *request, const struct msg_where *from, const struct type_buffer *buffer,
                   const struct msg_taker *taker)
{
    vmsg_engine.taker = taker;
    return receive_start(request, from, buffer, MSG_TAKE);
}

int vmsg_recv(struct msg_context *context, int rank, int tag, void *data, uint64_t bytes, struct msg_result *result)
{
    struct msg_request request;
    struct msg_where from = {context, rank, tag};
    struct type_buffer buffer = {.base = data, .count = bytes};
    if (unlikely(rank == MSG_ANY_SOURCE && msg_context_of_pack(context) &&
                 atomic_load_explicit(&vmsg_engine.deaths, memory_order_relaxed)))
        return vbase_fail(ERR_PEER_DEAD, "a rank has died"); /* as such a wait ends at each death */
    request.completed = NULL;
    request.note = NULL;
    int error = receive_start(&request, &from, &buffer, MSG_AT_ONCE);
    if (unlikely(error))
        return error;
    error = msg_wait(&request, false, 1);
    if (result)
        *result = request.result;
    return error;
}

static void result_of(const struct msg_message *message, struct msg_result *result)
{
    const struct msg_envelope *envelope = &message->envelope;
    *result = (struct msg_result){.source = envelope->source, .tag = envelope->tag, .bytes = envelope->total};
}

/* Looks for a message, once before and once after a round of progress; TAKE: out of matching. */
static int message_look(const struct msg_where *from, bool take, struct msg_message **found, struct msg_result *result)
{
    struct msg_context *context = from->context;
    struct msg_member *member;
    int error = member_of(from, &member);
    if (error)
        return error;
    struct msg_message *message = NULL;
    bool never = false, far = vmsg_engine.networked && (!member || member->peer->remote);
    for (int round = 0; round < 2 && !message && !never; round++) {
        if (round && far)
            msg_await();
        if (round)
            vmsg_progress();
        if (round && far)
            msg_await_end();
        msg_lock(&context->lock);
        message = msg_match_posting(context, member, from->tag);
        never = !message && member && msg_dead(member->peer->world);
        if (message) {
            result_of(message, result);
            if (take)
                vmsg_match_take(message);
        }
        msg_unlock(&context->lock);
    }
    *found = message;
    if (unlikely(never))
        return vbase_fail(ERR_PEER_DEAD, "rank %d is dead", member->peer->world);
    return message ? OK : vmsg_failure();
}

int vmsg_probe(const struct msg_where *from, bool *found, struct msg_result *result)
{
    struct msg_message *message;
    int error = message_look(from, false, &message, result);
    if (!error)
        *found = message != NULL;
    return error;
}

int vmsg_message_probe(const struct msg_where *from, struct msg_message **message, struct msg_result *result)
{
    return message_look(from, true, message, result);
}

int vmsg_message_recv(struct msg_request *request, struct msg_message *message, const struct type_buffer *buffer)
{
    if (unlikely(!vmsg_engine.open))
        return vmsg_closed();
    struct msg_where from = {message->context, message->envelope.source, message->envelope.tag};
    request_prepare(request, &from, buffer, MSG_STANDARD);
    vmsg_message_give(message, request);
    return OK;
}
