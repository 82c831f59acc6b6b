/* Messages that come: from the sink or from the own rank, matched at once or kept until a receive or a probe asks.
 *
 * An envelope describes a message while it is looked at. If no receive waits for it, it is copied into a message, with its
 * payload when it has one: payload without a receive is bounded by the window that its sender was given.
 *
 * A note comes in a frame of its own right before its message. It is its peer's last until the next envelope of that peer takes
 * it; it is freed with the envelope. Contexts without notes look at one pointer for this. */
#include "msg/transfer.h"

struct base_pool vmsg_messages;
struct list vmsg_early;

_Static_assert(sizeof(struct msg_note) == 64, "wire");

static __attribute__((noinline)) struct msg_message *message_make(const struct msg_envelope *envelope)
{
    struct msg_engine *engine = &vmsg_engine;
    msg_lock(&engine->leaf);
    struct msg_message *message = vbase_pool_take(&vmsg_messages);
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
        vbase_pool_give(&vmsg_messages, message);
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
    vbase_pool_give(&vmsg_messages, message);
    msg_unlock(&engine->leaf);
}

void vmsg_note_arrived(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    (void)header;
    if (!peer->note) /* else its message did not fit into the lane behind it: the two come again */
        peer->note = malloc(sizeof *peer->note);
    if (peer->note)
        *peer->note = body->note;
}

void vmsg_note_of_self(const struct msg_request *request, struct msg_envelope *envelope)
{
    envelope->note = request->note ? malloc(sizeof *envelope->note) : NULL;
    if (envelope->note)
        *envelope->note = *request->note;
}

/* A message for a context that is not open: it waits. Runs under progress, as opening does. */
static int message_wait(uint32_t context_id, const struct msg_envelope *envelope)
{
    struct msg_message *message = message_make(envelope);
    if (!message)
        return vbase_fail(ERR_MEMORY, "no memory for a message of %llu bytes", (unsigned long long)envelope->total);
    message->context_id = context_id;
    list_append(&vmsg_early, &message->of_context);
    return OK;
}

/* The receive of a message, out of its list but for a listener that may hear it; NULL: it is kept. Context lock held. */
static int match_or_keep(struct msg_context *context, struct msg_envelope *envelope, struct msg_request **found)
{
    struct msg_member *member = context->member[envelope->source];
    int error = likely(member != NULL) ? OK : vmsg_member_make(context, envelope->source, &member);
    if (unlikely(error))
        return error;
    *found = msg_match_arrival(context, member, envelope->tag);
    if (likely(*found != NULL)) {
        bool heard = (*found)->mode == MSG_LISTEN && envelope->frame == MSG_FRAME_EAGER &&
                     envelope->peer->world != vmsg_engine.rank; /* a message to ourselves comes outside progress */
        if (likely(!heard))
            msg_match_unlink(*found);
        return OK;
    }
    struct msg_message *message = message_make(envelope);
    if (!message)
        return vbase_fail(ERR_MEMORY, "no memory for a message of %llu bytes", (unsigned long long)envelope->total);
    vmsg_match_keep(context, member, message);
    if (envelope->local)
        envelope->local->extra = message;
    return OK;
}

/* A listener's receive is still in its list. True: the listener has taken the message. Else the receive has it, unless it was
 * cancelled meanwhile: then *FOUND is NULL. */
static bool listener_takes(struct msg_context *context, const struct msg_envelope *envelope, struct msg_request **found)
{
    if (likely(vmsg_listener_hears(envelope)))
        return true;
    msg_lock(&context->lock);
    if (msg_phase(*found) == MSG_PHASE_POSTED)
        msg_match_unlink(*found);
    else
        *found = NULL;
    msg_unlock(&context->lock);
    return false;
}

/* Matches, and keeps what has no receive. envelope->source is set. */
int vmsg_message_enter(struct msg_context *context, struct msg_envelope *envelope)
{
    struct msg_request *request;
    int error;
    do {
        request = NULL;
        msg_lock(&context->lock);
        error = match_or_keep(context, envelope, &request);
        bool listens = request && msg_phase(request) == MSG_PHASE_POSTED;
        msg_unlock(&context->lock);
        if (likely(!listens))
            break;
        if (listener_takes(context, envelope, &request))
            return OK;
    } while (!request);
    if (likely(request != NULL)) {
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
        msg_credit_owe(envelope->peer, envelope->total + MSG_FRAME_COST);
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

void vmsg_message_give(struct msg_message *message, struct msg_request *request)
{
    vmsg_message_deliver(request, &message->envelope);
    message_free(message);
}

/* Its sender wants it back: nothing of it stays. */
void vmsg_message_forget(struct msg_message *message)
{
    if (message->envelope.frame != MSG_FRAME_ANNOUNCE)
        msg_credit_owe(message->envelope.peer, message->envelope.total + MSG_FRAME_COST);
    message_free(message);
}

/* The same as declining, for a message that was kept. */
void vmsg_message_drop(struct msg_message *message)
{
    if (message->envelope.local)
        msg_complete(message->envelope.local, OK);
    envelope_decline(&message->envelope);
    message_free(message);
}
