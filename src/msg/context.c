/* Contexts: closed worlds of matching. A member is made when it is first used, so a context of many ranks costs one
 * pointer for each and a structure for those that are used. Where its members are not all ranks of the job, it has a
 * number for each of them and for each rank of the job besides.
 *
 * Messages may come before their context is open here (another rank was quicker): they wait in the engine's early list,
 * in order, and enter when it opens. The sink looks the context up without a lock; closing therefore keeps progress
 * out. */
#include "msg/match.h"

#define NOT_ENTERED UINT32_MAX /* the id of a context that has none yet */

static void context_free(struct msg_context *context)
{
    free(context->rank_of);
    free(context->world);
    free(context->rows);
    free(context->member);
    free(context);
}

/* Whether they are all of the world in order: then ranks need no translation. */
static bool members_are_world(const int *members, int size)
{
    int i = 0;
    while (i < size && members[i] == i)
        i++;
    return i == vmsg_engine.size;
}

static int members_copy(struct msg_context *context, const int *members)
{
    context->world = malloc((size_t)context->size * sizeof(int));
    context->rank_of = malloc((size_t)vmsg_engine.size * sizeof(int));
    if (!context->world || !context->rank_of)
        return vbase_fail(ERR_MEMORY, "no memory for the %d members of a context", context->size);
    for (int i = 0; i < vmsg_engine.size; i++)
        context->rank_of[i] = -1;
    for (int i = 0; i < context->size; i++) {
        int world = members[i];
        if (world < 0 || world >= vmsg_engine.size || context->rank_of[world] >= 0)
            return vbase_fail(ERR_ARGUMENT, "member %d of a context is rank %d: not in this job, or there twice", i,
                              world);
        context->world[i] = world;
        context->rank_of[world] = i;
    }
    return OK;
}

int vmsg_context_new(const int *members, int size, int rank, struct msg_context **out)
{
    if (!vmsg_engine.open)
        return vmsg_closed();
    if (size < 1 || rank < MSG_NO_MEMBER || rank >= size || (!members && size != vmsg_engine.size))
        return vbase_fail(ERR_ARGUMENT, "a context of size %d, rank %d", size, rank);
    if (rank != MSG_NO_MEMBER && (members ? members[rank] : rank) != vmsg_engine.rank)
        return vbase_fail(ERR_ARGUMENT, "rank %d of a context is not this process", rank);
    struct msg_context *context = calloc(1, sizeof *context);
    if (!context)
        return vbase_fail(ERR_MEMORY, "no memory for a context");
    context->id = NOT_ENTERED;
    context->size = size;
    context->rank = rank;
    list_init(&context->wildcard);
    list_init(&context->arrivals);
    context->member = calloc((size_t)size, sizeof *context->member);
    int error = context->member ? OK : vbase_fail(ERR_MEMORY, "no memory for the %d members of a context", size);
    if (!error && members && !members_are_world(members, size))
        error = members_copy(context, members);
    if (error) {
        context_free(context);
        return error;
    }
    *out = context;
    return OK;
}

/* The messages that came too early, in their order. Progress is kept out: nothing new comes in between. */
static void early_enter(struct msg_context *context)
{
    list_for_each(node, &vmsg_early) {
        struct msg_message *message = container_of(node, struct msg_message, of_context);
        if (message->context_id != context->id)
            continue;
        list_remove(&message->of_context);
        int rank = vmsg_context_rank_of(context, message->envelope.peer->world);
        struct msg_member *member;
        msg_lock(&context->lock);
        int error = rank < 0 ? ERR_NOT_FOUND : vmsg_member_make(context, rank, &member);
        if (!error) {
            message->envelope.source = rank;
            vmsg_match_keep(context, member, message);
        }
        msg_unlock(&context->lock);
        if (error) {
            vmsg_refused(message->envelope.peer, "a message for a context it is no member of");
            vmsg_message_drop(message);
        }
    }
}

static uint32_t contexts_open; /* with progress kept out; the table is long, and most of it was never touched */

int vmsg_context_enter(struct msg_context *context, uint32_t id)
{
    int error = OK;
    if (id >= MSG_CONTEXTS)
        return vbase_fail(ERR_ARGUMENT, "context id %u", id);
    msg_progress_keep_out();
    if (vmsg_engine.context[id]) {
        error = vbase_fail(ERR_STATE, "context id %u is in use", id);
    } else {
        context->id = id;
        context->eager = msg_header(MSG_FRAME_EAGER, id, 0, 0);
        early_enter(context);
        vmsg_engine.context[id] = context;
        contexts_open++;
    }
    msg_progress_leave();
    return error;
}

static int context_open(int network, uint32_t id, const int *members, int size, int rank, struct msg_context **out)
{
    struct msg_context *context = NULL;
    int error = vmsg_context_new(members, size, rank, &context);
    if (error)
        return error;
    context->network = network;
    error = vmsg_context_enter(context, id);
    if (error)
        context_free(context);
    else
        *out = context;
    return error;
}

int vmsg_context_open(uint32_t id, const int *members, int size, int rank, struct msg_context **out)
{
    return context_open(0, id, members, size, rank, out);
}

int vmsg_context_open_over(int network, uint32_t id, struct msg_context **out)
{
    return context_open(network, id, NULL, vmsg_engine.size, vmsg_engine.rank, out);
}

static void receives_cancel(struct list *posted)
{
    list_take_each(node, posted)
        msg_complete(container_of(node, struct msg_request, link), ERR_CANCELLED);
}

static void member_close(struct msg_member *member)
{
    struct list_node *node;
    while ((node = list_first(&member->unexpected))) {
        struct msg_message *message = container_of(node, struct msg_message, of_member);
        vmsg_match_take(message);
        vmsg_message_drop(message);
    }
    receives_cancel(&member->posted);
    free(member);
}

void vmsg_context_close(struct msg_context *context)
{
    if (!vmsg_engine.open)
        return;
    if (context->id == NOT_ENTERED) {
        context_free(context);
        return;
    }
    msg_progress_keep_out();
    vmsg_engine.context[context->id] = NULL;
    contexts_open--;
    for (int i = 0; i < context->size; i++)
        if (context->member[i])
            member_close(context->member[i]);
    receives_cancel(&context->wildcard);
    vmsg_withdrawals_drop(context);
    msg_progress_leave();
    context_free(context);
}

void vmsg_contexts_close(void)
{
    for (uint32_t id = 0; contexts_open && id < MSG_CONTEXTS; id++)
        if (vmsg_engine.context[id])
            vmsg_context_close(vmsg_engine.context[id]);
    list_take_each(node, &vmsg_early)
        vmsg_message_drop(container_of(node, struct msg_message, of_context));
}

void vmsg_context_noted(struct msg_context *context) { context->noted = true; }
