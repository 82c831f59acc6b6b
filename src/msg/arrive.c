/* Messages that arrive, from the sink or from this rank itself: matched at once or kept until a receive or a probe
 * asks.
 *
 * An envelope describes a message while it is looked at. If no receive waits for it, it is copied into a message, with
 * its payload when it has one: payload without a receive is bounded by the window that its sender was given.
 *
 * An envelope points into the frame that came (its payload, its keys, its note); a message has copies. */
#include "msg/transfer.h"

struct base_pool vmsg_messages;
struct list vmsg_early;

_Static_assert(sizeof(struct msg_note) == 64, "wire");

static void message_give_back(struct msg_message *message)
{
    free(message->block);
    free(message->note);
    msg_lock(&vmsg_engine.leaf);
    vbase_pool_give(&vmsg_messages, message);
    msg_unlock(&vmsg_engine.leaf);
}

/* Copies what the envelope points to. Without memory for the payload the message has none, and the receive that gets it
 * says so; without memory for the note it has none to be checked by. */
static void message_fill(struct msg_message *message)
{
    struct msg_envelope *envelope = &message->envelope;
    if (envelope->note) {
        message->note = malloc(sizeof *message->note);
        if (message->note)
            *message->note = *envelope->note;
        envelope->note = message->note;
    }
    if (envelope->keys) {
        message->keys = *envelope->keys;
        envelope->keys = &message->keys;
    }
    if (!envelope->payload)
        return;
    void *place = message->near;
    if (envelope->total > MSG_INLINE)
        place = message->block = malloc(envelope->total);
    if (place) {
        base_copy(place, envelope->payload, envelope->total);
        COUNT_ADD(unexpected_bytes, envelope->total);
    }
    envelope->payload = place;
}

static __attribute__((noinline)) struct msg_message *message_make(const struct msg_envelope *envelope)
{
    msg_lock(&vmsg_engine.leaf);
    struct msg_message *message = vbase_pool_take(&vmsg_messages);
    msg_unlock(&vmsg_engine.leaf);
    if (!message)
        return NULL;
    list_node_init(&message->of_member);
    list_node_init(&message->of_context);
    message->context = NULL;
    message->envelope = *envelope;
    message->block = NULL;
    message->note = NULL;
    message_fill(message);
    return message;
}

static void message_free(struct msg_message *message)
{
    if (message->envelope.payload)
        COUNT_ADD(unexpected_bytes, -message->envelope.total);
    message_give_back(message);
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

/* Finds the receive of a message, and unlinks it unless it LISTENS; NULL: the message is kept. Context lock held. */
static int match_or_keep(struct msg_context *context, struct msg_envelope *envelope, struct msg_request **found,
                         bool *listens)
{
    struct msg_member *member = context->member[envelope->source];
    int error = likely(member != NULL) ? OK : vmsg_member_make(context, envelope->source, &member);
    if (unlikely(error))
        return error;
    *found = msg_match_arrival(context, member, envelope->tag);
    if (likely(*found != NULL)) {
        *listens = msg_match_takes(*found, envelope);
        if (likely(!*listens))
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

/* The receive that a message gets is REQUEST, a taker's, and still in its list. If it declines, the receive has the
 * message, unless it was cancelled meanwhile. */
static int message_take(struct msg_context *context, struct msg_envelope *envelope, struct msg_request *request)
{
    if (likely(vmsg_taker_takes(envelope)))
        return OK;
    msg_lock(&context->lock);
    bool posted = msg_phase(request) == MSG_PHASE_POSTED;
    if (posted)
        msg_match_unlink(request);
    msg_unlock(&context->lock);
    if (!posted)
        return vmsg_message_enter(context, envelope);
    vmsg_message_deliver(request, envelope);
    return OK;
}

/* Matches, and keeps what has no receive. envelope->source is set. */
int vmsg_message_enter(struct msg_context *context, struct msg_envelope *envelope)
{
    struct msg_request *request = NULL;
    bool listens = false;
    msg_lock(&context->lock);
    int error = match_or_keep(context, envelope, &request, &listens);
    msg_unlock(&context->lock);
    if (listens)
        return message_take(context, envelope, request);
    if (likely(request != NULL))
        vmsg_message_deliver(request, envelope);
    return error;
}

void vmsg_message_taken(struct msg_peer *peer, uint64_t header, const void *data, size_t length,
                        struct msg_request *request)
{
    struct msg_context *context = vmsg_engine.context[msg_header_context(header)];
    struct msg_envelope envelope = {.peer = peer,
                                    .payload = length ? data : "",
                                    .total = length,
                                    .source = vmsg_context_rank_of(context, peer->world),
                                    .tag = msg_header_tag(header),
                                    .frame = MSG_FRAME_EAGER};
    int error = message_take(context, &envelope, request);
    if (unlikely(error))
        vmsg_failed(error);
}

/* It will never be received: its sender is told that all that is wanted has come. */
static void envelope_decline(const struct msg_envelope *envelope)
{
    if (envelope->id)
        vmsg_done_tell(envelope->peer, envelope->id);
    if (envelope->frame != MSG_FRAME_ANNOUNCE)
        msg_credit_owe(envelope->peer, envelope->total + MSG_FRAME_COST);
}

/* A message from another rank, from the sink. */
void vmsg_message_arrived(uint32_t context_id, struct msg_envelope *envelope)
{
    struct msg_context *context = vmsg_engine.context[context_id];
    int error;
    if (unlikely(!context)) {
        error = message_wait(context_id, envelope);
    } else {
        envelope->source = vmsg_context_rank_of(context, envelope->peer->world);
        if (unlikely(envelope->source < 0)) {
            vmsg_refused(envelope->peer, "a message for a context it is no member of");
            envelope_decline(envelope);
            return;
        }
        error = vmsg_message_enter(context, envelope);
    }
    if (unlikely(error))
        vmsg_failed(error);
}

/* There was no memory for the payload of a message when it came. */
static bool message_lost(const struct msg_envelope *envelope)
{
    return envelope->frame == MSG_FRAME_EAGER && !envelope->payload;
}

/* The receive of a lost message gets none of its bytes. To its sender it is received. */
static void lost_deliver(struct msg_request *request, const struct msg_envelope *envelope)
{
    request->total = 0;
    msg_receive_found(request, envelope->source, envelope->tag, 0);
    request->result.error = vbase_fail(
        ERR_MEMORY, "no memory was left for the %llu bytes from rank %d with tag %d, which came before their receive",
        (unsigned long long)envelope->total, envelope->source, envelope->tag);
    envelope_decline(envelope);
    msg_over(request);
}

void vmsg_message_give(struct msg_message *message, struct msg_request *request)
{
    if (unlikely(message_lost(&message->envelope)))
        lost_deliver(request, &message->envelope);
    else
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
