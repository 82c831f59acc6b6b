/* Receiving and probing: look among the messages that are there, else wait in a posted list. The buffer is the engine's
 * until the request is complete; a blocking receive's request lies on the stack. */
#include "msg/engine.h"

static int member_of(const struct msg_where *from, struct msg_member **member)
{
    if (unlikely(!vmsg_engine.open))
        return vmsg_closed();
    if (unlikely(from->tag < 0 && from->tag != MSG_ANY_TAG))
        return vbase_fail(ERR_ARGUMENT, "tag %d of a receive is negative", from->tag);
    *member = NULL;
    return from->rank == MSG_ANY_SOURCE ? OK : vmsg_member_find(from->context, from->rank, member);
}

static void request_prepare(struct msg_request *request, const struct msg_where *from, const struct type_buffer *buffer)
{
    atomic_store_explicit(&request->state, MSG_PENDING, memory_order_relaxed); /* nobody else knows it yet */
    request->kind = MSG_RECEIVE;
    request->mode = MSG_STANDARD;
    msg_phase_set(request, MSG_PHASE_MOVING);
    request->result = (struct msg_result){.source = from->rank, .tag = from->tag};
    request->context = from->context;
    request->peer = NULL;
    request->buffer = *buffer;
    request->total = type_buffer_bytes(buffer);
    request->extra = NULL;
}

int vmsg_recv_start(struct msg_request *request, const struct msg_where *from, const struct type_buffer *buffer)
{
    struct msg_context *context = from->context;
    struct msg_member *member;
    int error = member_of(from, &member);
    if (unlikely(error))
        return error;
    request_prepare(request, from, buffer);

    msg_lock(&context->lock);
    struct msg_message *message = vmsg_match_posting(context, member, from->tag);
    if (message)
        vmsg_match_take(message);
    else
        vmsg_match_post(context, member, request);
    msg_unlock(&context->lock);
    if (message)
        vmsg_message_give(message, request);
    return OK;
}

int vmsg_recv(struct msg_context *context, int rank, int tag, void *data, uint64_t bytes, struct msg_result *result)
{
    struct msg_request request;
    request.completed = NULL;
    struct msg_where from = {context, rank, tag};
    struct type_buffer buffer = {.base = data, .count = bytes};
    int error = vmsg_recv_start(&request, &from, &buffer);
    if (unlikely(error))
        return error;
    error = vmsg_wait(&request);
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
static int look(const struct msg_where *from, bool take, struct msg_message **found, struct msg_result *result)
{
    struct msg_context *context = from->context;
    struct msg_member *member;
    int error = member_of(from, &member);
    if (error)
        return error;
    struct msg_message *message = NULL;
    for (int round = 0; round < 2 && !message; round++) {
        if (round)
            vmsg_progress();
        msg_lock(&context->lock);
        message = vmsg_match_posting(context, member, from->tag);
        if (message) {
            result_of(message, result);
            if (take)
                vmsg_match_take(message);
        }
        msg_unlock(&context->lock);
    }
    *found = message;
    return OK;
}

int vmsg_probe(const struct msg_where *from, bool *found, struct msg_result *result)
{
    struct msg_message *message;
    int error = look(from, false, &message, result);
    if (!error)
        *found = message != NULL;
    return error;
}

int vmsg_message_probe(const struct msg_where *from, struct msg_message **message, struct msg_result *result)
{
    return look(from, true, message, result);
}

int vmsg_message_recv(struct msg_request *request, struct msg_message *message, const struct type_buffer *buffer)
{
    if (unlikely(!vmsg_engine.open))
        return vmsg_closed();
    struct msg_where from = {message->context, message->envelope.source, message->envelope.tag};
    request_prepare(request, &from, buffer);
    vmsg_message_give(message, request);
    return OK;
}
