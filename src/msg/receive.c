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
    request->awaited = false;
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
    if (unlikely(vmsg_engine.expected.header))
        vmsg_expected_post(); /* it was first */

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

/* ---- the blocking receive ------------------------------------------------------------------------------------------ */

void vmsg_expected_post(void)
{
    struct msg_expected *expected = &vmsg_engine.expected;
    struct msg_context *context = vmsg_engine.context[msg_header_context(expected->header)];
    struct msg_where from = {context, expected->member->rank, msg_header_tag(expected->header)};
    struct type_buffer buffer = expected->request->buffer;
    expected->header = 0;
    request_prepare(expected->request, &from, &buffer);
    vmsg_match_post(context, expected->member, expected->request);
}

/* Nothing of this sender is here and no other receive could get what he sends next. */
static inline bool may_expect(const struct msg_context *context, const struct msg_member *member)
{
    const struct msg_engine *engine = &vmsg_engine;
    return !engine->threads && engine->open && !engine->expected.header && list_empty(&member->unexpected) &&
           list_empty(&member->posted) && list_empty(&context->wildcard) && member->peer->world != engine->rank;
}

/* Looks at the awaited lane first, and alone, if that is all there is to do. */
static inline int wait_expected(struct msg_request *request, const struct msg_peer *peer)
{
    struct msg_engine *engine = &vmsg_engine;
    if (likely(++engine->straight % 16) && likely(peer->vi != NULL) && vi_poll_only(peer->vi, 1) > 0 &&
        likely(vmsg_request_done(request)))
        return request->result.error; /* by the straight way or, too long, by matching */
    if (unlikely(peer->remote))
        msg_await();
    int error = vmsg_wait(request);
    if (unlikely(peer->remote))
        msg_await_end();
    engine->expected.header = 0; /* where the wait failed */
    return error;
}

static int recv_slowly(struct msg_request *request, const struct msg_where *from)
{
    struct type_buffer buffer = request->buffer;
    int error = vmsg_recv_start(request, from, &buffer);
    return error ? error : vmsg_wait(request);
}

int vmsg_recv(struct msg_context *context, int rank, int tag, void *data, uint64_t bytes, struct msg_result *result)
{
    struct msg_request request;
    struct msg_member *member = NULL;
    int error;
    request.completed = NULL;
    request.buffer = (struct type_buffer){.base = data, .count = bytes};
    if (likely((unsigned)rank < (unsigned)context->size))
        member = __atomic_load_n(&context->member[rank], __ATOMIC_ACQUIRE); /* pairs with vmsg_member_make */
    if (likely(member && tag >= 0 && may_expect(context, member))) {
        request.total = bytes;
        request.result = (struct msg_result){.source = rank, .tag = tag};
        atomic_store_explicit(&request.state, MSG_PENDING, memory_order_relaxed); /* nobody else knows it yet */
        vmsg_engine.expected = (struct msg_expected){msg_header(MSG_FRAME_EAGER, context->id, tag, 0), member->peer,
                                                     &request, member};
        error = wait_expected(&request, member->peer);
    } else {
        error = recv_slowly(&request, &(struct msg_where){context, rank, tag});
    }
    if (result && !(error && error != request.result.error))
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
    bool far = vmsg_engine.networked && (!member || member->peer->remote);
    for (int round = 0; round < 2 && !message; round++) {
        if (round && far)
            msg_await();
        if (round)
            vmsg_progress();
        if (round && far)
            msg_await_end();
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
