/* What this process waits for, written where other processes read it: viaduct jobs, stuck, and the launcher. Only
 * before it sleeps, so it costs nothing that is awaited soon. Called by the thread that watches, holding nothing.
 *
 * With what is awaited goes a message that came and that nobody receives, if there is one: most often that is the
 * awaited one, sent with another tag, on another communicator, or by another rank. */
#include "msg/transfer.h"
#include "msg/wait.h"
#include <stdlib.h>

static struct base_message message_of(const struct msg_message *message, uint32_t context)
{
    const struct msg_envelope *envelope = &message->envelope;
    return (struct base_message){.peer = envelope->peer->world,
                                 .tag = envelope->tag,
                                 .context = context,
                                 .there = 1,
                                 .bytes = envelope->total};
}

/* The first one in the list of this context, from PEER if it is given. */
static bool unexpected_of(struct msg_context *context, const struct msg_peer *peer, struct base_message *found)
{
    msg_lock(&context->lock);
    list_for_each(node, &context->arrivals) {
        struct msg_message *message = container_of(node, struct msg_message, of_context);
        if (!found->there && (!peer || message->envelope.peer == peer))
            *found = message_of(message, context->id);
    }
    msg_unlock(&context->lock);
    return found->there;
}

/* A message without a receive: in the awaited context from the awaited peer, else from there, else from anyone; then in
 * other contexts, but for those of collectives: what other ranks have begun there is no message of the user's. Under
 * progress, so that none of them is closed meanwhile. */
static struct base_message unexpected_find(struct msg_context *context, const struct msg_peer *peer)
{
    struct base_message found = {.there = 0};
    if (context && ((peer && unexpected_of(context, peer, &found)) || unexpected_of(context, NULL, &found)))
        return found;
    for (uint32_t id = 0; id < MSG_CONTEXTS && !found.there; id++)
        if (vmsg_engine.context[id] && vmsg_engine.context[id] != context && !vmsg_context_id_collects(id))
            (void)unexpected_of(vmsg_engine.context[id], peer, &found);
    return found;
}

/* A send may outlive its context. */
static struct base_message sent_by(const struct msg_request *request, struct msg_peer **peer)
{
    *peer = request->peer;
    return (struct base_message){.peer = request->peer->world,
                                 .tag = msg_header_tag(request->order),
                                 .context = msg_header_context(request->order),
                                 .bytes = request->total};
}

static struct base_message awaited_by(struct msg_request *request, struct msg_peer **peer)
{
    if (request->kind == MSG_SEND)
        return sent_by(request, peer);
    struct msg_context *context = request->context;
    struct base_message message = {.peer = -1, .tag = -1, .context = context->id};
    if (request->kind == MSG_WORD)
        return message;
    msg_lock(&context->lock);
    *peer = __atomic_load_n(&request->peer, __ATOMIC_ACQUIRE); /* as its wait reads it */
    message.peer = *peer ? (*peer)->world : -1;
    /* The thread that matches it writes the other fields, after it has left the lock */
    if (!vmsg_engine.threads || msg_phase(request) == MSG_PHASE_POSTED) {
        message.tag = request->result.tag;
        message.bytes = request->total;
    }
    msg_unlock(&context->lock);
    return message;
}

/* Most sub-communicators have ranks at equal distances, or are a few such rows. */
static COLD struct base_members members_find(const struct msg_context *context)
{
    struct base_members members = {.size = (uint32_t)context->size};
    struct base_member_row *row = members.row;
    for (int i = 0; i < context->size; i++) {
        int rank = context->world[i];
        if (row->count == 1)
            row->stride = rank - row->first;
        bool fits = row->count && rank == row->first + (int64_t)row->stride * row->count;
        if (row->count && !fits && ++row == members.row + BASE_MEMBER_ROWS)
            break;
        if (!fits)
            row->first = rank;
        row->count++;
    }
    return members;
}

/* Found once and kept with the context: a rank may wait in it very often. Under progress. */
static struct base_members members_of(struct msg_context *context)
{
    if (!context)
        return (struct base_members){.size = 0};
    if (!context->world)
        return (struct base_members){.size = (uint32_t)context->size, .row = {{0, 1, (uint32_t)context->size}}};
    if (context->rows)
        return *context->rows;
    struct base_members members = members_find(context);
    context->rows = malloc(sizeof members);
    if (context->rows) /* else it is found again */
        *context->rows = members;
    return members;
}

/* A message inside a collective is the library's own: the user has called the collective. */
static enum base_waits kind_of(const struct msg_request *request, uint32_t id)
{
    if (request->kind == MSG_WORD || vmsg_context_id_collects(id))
        return WAITS_COLLECTIVE;
    return request->kind == MSG_SEND ? WAITS_SEND : WAITS_RECEIVE;
}

void vmsg_waits_tell(struct msg_request *request, struct msg_context *context, const int *group_tag, bool fence,
                     uint64_t ticks)
{
    struct base_message awaited = {.peer = -1, .tag = -1}, other = {.there = 0};
    struct msg_peer *peer = NULL;
    struct base_members members = {.size = 0};
    enum base_waits kind = group_tag ? WAITS_GROUP
                           : context ? WAITS_COLLECTIVE
                           : fence   ? WAITS_FENCE
                                     : WAITS_ELSE;
    if (request) {
        awaited = awaited_by(request, &peer);
        kind = kind_of(request, awaited.context);
    } else if (context) {
        awaited.context = context->id;
        awaited.tag = group_tag ? *group_tag : -1;
    }
    if (kind == WAITS_COLLECTIVE)
        awaited.peer = awaited.tag = -1;
    if ((request || context) && msg_progress_enter()) { /* no context is closed meanwhile */
        context = vmsg_engine.context[awaited.context];
        members = members_of(context);
        /* relaxed: others may count */
        if (request && kind != WAITS_COLLECTIVE && __atomic_load_n(&vbase_counters->unexpected_now, __ATOMIC_RELAXED))
            other = unexpected_find(context, peer);
        msg_progress_leave();
    }
    struct base_waiting *waiting = vbase_waiting_begin();
    waiting->kind = kind;
    waiting->since_ns = vbase_clock_ns() - vbase_clock_ns_of_ticks(ticks);
    waiting->members = members;
    waiting->several = vmsg_engine.threads;
    waiting->message = awaited;
    waiting->other = other;
    vbase_waiting_end(waiting);
}

/* A reader adds the time of a waiting that goes on: it must never see the same time in both. */
void vmsg_waits_end(uint64_t ticks)
{
    uint64_t ns = vbase_clock_ns_of_ticks(ticks);
    if (likely(vbase_counters->waiting.kind == WAITS_NOT)) {
        COUNT_ADD(waited, ns);
        return;
    }
    struct base_waiting *waiting = vbase_waiting_begin();
    COUNT_ADD(waited, ns);
    waiting->kind = WAITS_NOT;
    vbase_waiting_end(waiting);
}
