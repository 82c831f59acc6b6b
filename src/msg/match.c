/* Matching: which receive gets which message. Called with the context's lock held, by the sink (a message came), by
 * posting and by probes. Owns nothing: it links requests and messages into lists and hands them back.
 *
 * MPI's order has two halves. Among messages of one sender that a receive fits, the first sent is taken: the unexpected
 * messages of each member are kept in that order, and all of the context once more in the order of their coming, for
 * receives from any source. Among receives that fit a message, the first posted is taken: a member's receives and the
 * wildcard ones are two lists, and the posting number tells which of the two heads was first. The usual case looks at
 * one head of one list. */
#include "msg/event.h"
#include "msg/match.h"
#include "msg/wait.h"

int vmsg_context_world(const struct msg_context *context, int rank)
{
    return context->world ? context->world[rank] : rank;
}

int vmsg_member_make(struct msg_context *context, int rank, struct msg_member **out)
{
    struct msg_member *member = context->member[rank];
    if (!member) {
        struct msg_peer *peer;
        int error = vmsg_peer_find(context->network, vmsg_context_world(context, rank), &peer);
        if (error)
            return error;
        member = malloc(sizeof *member);
        if (!member)
            return vbase_fail(ERR_MEMORY, "no memory for rank %d of context %u", rank, context->id);
        *member = (struct msg_member){.peer = peer, .rank = rank};
        list_init(&member->posted);
        list_init(&member->unexpected);
        /* release: pairs with the acquire in vmsg_member_find of another thread */
        __atomic_store_n(&context->member[rank], member, __ATOMIC_RELEASE);
    }
    *out = member;
    return OK;
}

int vmsg_member_find(struct msg_context *context, int rank, struct msg_member **member)
{
    if (rank < 0 || rank >= context->size)
        return vbase_fail(ERR_ARGUMENT, "rank %d is not in context %u of %d ranks", rank, context->id, context->size);
    *member = __atomic_load_n(&context->member[rank], __ATOMIC_ACQUIRE);
    if (likely(*member != NULL))
        return OK;
    msg_lock(&context->lock);
    int error = vmsg_member_make(context, rank, member);
    msg_unlock(&context->lock);
    return error;
}

static bool tag_fits(int wanted, int tag) { return wanted == tag || wanted == MSG_ANY_TAG; }

static struct msg_request *first_fitting(const struct list *posted, int tag)
{
    list_for_each(node, posted)
    {
        struct msg_request *request = container_of(node, struct msg_request, link);
        if (tag_fits(request->result.tag, tag))
            return request;
    }
    return NULL;
}

/* The receive that a message of MEMBER gets, left in its list; NULL: none was posted. */
struct msg_request *vmsg_match_arrival(struct msg_context *context, struct msg_member *member, int tag)
{
    struct msg_request *any = first_fitting(&context->wildcard, tag), *found = first_fitting(&member->posted, tag);
    return !found || (any && any->order < found->order) ? any : found;
}

struct msg_message *vmsg_match_search(const struct list *unexpected, bool of_member, int tag)
{
    list_for_each(node, unexpected)
    {
        struct msg_message *message = of_member ? container_of(node, struct msg_message, of_member)
                                                : container_of(node, struct msg_message, of_context);
        if (tag_fits(tag, message->envelope.tag))
            return message;
    }
    return NULL;
}

void vmsg_match_keep(struct msg_context *context, struct msg_member *member, struct msg_message *message)
{
    message->context = context;
    list_append(&member->unexpected, &message->of_member);
    list_append(&context->arrivals, &message->of_context);
    COUNT(recv_unexpected);
    COUNT(unexpected_now);
    VMSG_EVENT(MSG_EVENT_UNEXPECTED, message->envelope.peer->world, message->envelope.total);
    if (unlikely(vmsg_engine.threads))
        vmsg_wait_looked_for(); /* those that wait until a probe finds something */
}

void vmsg_match_take(struct msg_message *message)
{
    list_remove(&message->of_member);
    list_remove(&message->of_context);
    if (message->envelope.local)
        message->envelope.local->extra = NULL; /* from now on a cancel comes too late */
    COUNT_ADD(unexpected_now, -1);
}

/* The unmatched message of MEMBER that its sender calls ID. */
struct msg_message *vmsg_match_sent(struct msg_member *member, uint64_t id)
{
    list_for_each(node, &member->unexpected)
    {
        struct msg_message *message = container_of(node, struct msg_message, of_member);
        if (message->envelope.id == id)
            return message;
    }
    return NULL;
}
