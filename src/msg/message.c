/* Messages that come: from the sink or from ourselves, matched at once or kept until a receive or a probe asks.
 *
 * An envelope describes a message while it is looked at. If no receive waits for it, it is copied into a message, with
 * its payload when it has one: payload without a receive is bounded by the window that we gave its sender. Delivering
 * moves the payload, or starts the rendezvous, and gives the window back; it runs without the context's lock, since a
 * matched request and a matched message belong to nobody else. */
#include "msg/engine.h"

static struct msg_message *message_make(const struct msg_envelope *envelope)
{
    struct msg_engine *engine = &vmsg_engine;
    msg_lock(&engine->leaf);
    struct msg_message *message = vbase_pool_take(&engine->messages);
    msg_unlock(&engine->leaf);
    if (!message)
        return NULL;
    list_node_init(&message->of_member);
    list_node_init(&message->of_context);
    message->context = NULL;
    message->envelope = *envelope;
    message->block = NULL;
    if (!envelope->payload)
        return message;
    void *place = message->near;
    if (envelope->total > MSG_INLINE)
        place = message->block = malloc(envelope->total);
    if (!place) {
        msg_lock(&engine->leaf);
        vbase_pool_give(&engine->messages, message);
        msg_unlock(&engine->leaf);
        return NULL;
    }
    memcpy(place, envelope->payload, envelope->total);
    message->envelope.payload = place;
    COUNT_ADD(unexpected_bytes, envelope->total);
    return message;
}

static void message_free(struct msg_message *message)
{
    struct msg_engine *engine = &vmsg_engine;
    if (message->envelope.payload)
        COUNT_ADD(unexpected_bytes, -message->envelope.total);
    free(message->block);
    free(message->envelope.note);
    msg_lock(&engine->leaf);
    vbase_pool_give(&engine->messages, message);
    msg_unlock(&engine->leaf);
}

/* A message for a context that is not open: it waits. Runs under progress, as opening does. */
static int message_wait(uint32_t context_id, const struct msg_envelope *envelope)
{
    struct msg_message *message = message_make(envelope);
    if (!message)
        return vbase_fail(ERR_MEMORY, "no memory for a message of %llu bytes", (unsigned long long)envelope->total);
    message->context_id = context_id;
    list_append(&vmsg_engine.early, &message->of_context);
    return OK;
}

/* Matches, and keeps what has no receive. envelope->source is set. */
int vmsg_message_enter(struct msg_context *context, struct msg_envelope *envelope)
{
    struct msg_member *member;
    struct msg_request *request = NULL;
    if (unlikely(vmsg_engine.expected.header))
        vmsg_expected_post();
    msg_lock(&context->lock);
    int error = vmsg_member_make(context, envelope->source, &member);
    if (likely(!error)) {
        request = vmsg_match_arrival(context, member, envelope->tag);
        if (!request) {
            struct msg_message *message = message_make(envelope);
            if (message)
                vmsg_match_keep(context, member, message);
            else
                error = vbase_fail(ERR_MEMORY, "no memory for a message of %llu bytes",
                                   (unsigned long long)envelope->total);
            if (message && envelope->local)
                envelope->local->extra = message;
        }
    }
    msg_unlock(&context->lock);
    if (request) {
        vmsg_message_deliver(request, envelope);
        if (unlikely(envelope->note != NULL))
            free(envelope->note);
    }
    return error;
}

/* Nobody will ever receive it: its sender is told that all that is wanted has come. */
static void envelope_decline(const struct msg_envelope *envelope)
{
    if (envelope->id) {
        struct msg_frame_id body = {envelope->id};
        enum msg_frame kind = envelope->frame == MSG_FRAME_EAGER_SYNC ? MSG_FRAME_ACK : MSG_FRAME_FINISH;
        vmsg_peer_control(envelope->peer, msg_header(kind, 0, 0, 0), &body, sizeof body);
    }
    if (envelope->frame != MSG_FRAME_ANNOUNCE)
        vmsg_credit_owe(envelope->peer, envelope->total + MSG_FRAME_COST);
}

/* A message from another rank, from the sink. */
void vmsg_message_arrived(uint32_t context_id, struct msg_envelope *envelope)
{
    struct msg_context *context = vmsg_engine.context[context_id];
    int error;
    if (unlikely(envelope->peer->note != NULL)) {
        envelope->note = envelope->peer->note;
        envelope->peer->note = NULL;
    }
    if (unlikely(!context)) {
        error = message_wait(context_id, envelope);
    } else {
        envelope->source = vmsg_context_rank_of(context, envelope->peer->world);
        if (unlikely(envelope->source < 0)) {
            vmsg_refused(envelope->peer, "a message for a context it is no member of");
            envelope_decline(envelope);
            free(envelope->note);
            return;
        }
        error = vmsg_message_enter(context, envelope);
    }
    if (unlikely(error))
        vmsg_failed(error);
}

static void payload_move(const struct msg_request *request, const void *payload, uint64_t bytes)
{
    if (likely(type_buffer_contiguous(&request->buffer)))
        memcpy(request->buffer.base, payload, bytes);
    else
        (void)vtype_unpack_at(&request->buffer, 0, payload, bytes);
}

static void deliver_payload(struct msg_request *request, const struct msg_envelope *envelope, uint64_t want)
{
    struct msg_peer *peer = envelope->peer;
    if (want)
        payload_move(request, envelope->payload, want);
    uint64_t id = envelope->frame == MSG_FRAME_EAGER_SYNC ? envelope->id : 0;
    vmsg_credit_owe(peer, envelope->total + MSG_FRAME_COST);
    if (unlikely(id)) {
        struct msg_frame_id ack = {id};
        vmsg_peer_control(peer, msg_header(MSG_FRAME_ACK, 0, 0, 0), &ack, sizeof ack);
    }
    vmsg_complete(request, request->result.error);
}

/* REQUEST and the message belong together and to us alone. request->total is the room of its buffer. */
void vmsg_message_deliver(struct msg_request *request, const struct msg_envelope *envelope)
{
    uint64_t room = request->total, want = envelope->total < room ? envelope->total : room;
    request->total = envelope->total;
    request->result = (struct msg_result){.source = envelope->source, .tag = envelope->tag, .bytes = want};
    if (unlikely(envelope->total > room))
        request->result.error =
            vbase_fail(ERR_TRUNCATED, "%llu bytes came from rank %d with tag %d, there is room for %llu",
                       (unsigned long long)envelope->total, envelope->source, envelope->tag, (unsigned long long)room);
    COUNT(recv_messages);
    COUNT_ADD(recv_bytes, want);
    if (unlikely(envelope->note != NULL))
        vmsg_note_give(request, envelope->note);
    if (envelope->local)
        vmsg_self_copy(request, envelope->local);
    else if (envelope->frame == MSG_FRAME_ANNOUNCE)
        vmsg_rendezvous_matched(request, envelope, want);
    else
        deliver_payload(request, envelope, want);
}

void vmsg_message_give(struct msg_message *message, struct msg_request *request)
{
    vmsg_message_deliver(request, &message->envelope);
    message_free(message);
}

/* Its sender wants it back: nothing of it stays. */
void vmsg_message_forget(struct msg_message *message)
{
    if (message->envelope.frame != MSG_FRAME_ANNOUNCE)
        vmsg_credit_owe(message->envelope.peer, message->envelope.total + MSG_FRAME_COST);
    message_free(message);
}

/* The same as declining, for a message that was kept. */
void vmsg_message_drop(struct msg_message *message)
{
    if (message->envelope.local)
        vmsg_complete(message->envelope.local, OK);
    envelope_decline(&message->envelope);
    message_free(message);
}
