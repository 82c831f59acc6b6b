/* Ranks that withdraw from an operation of all members of a context, because they have no memory for their part.
 *
 * Which operation that is a tag says, as messages of it have it. Others wait for what never comes, some of them for
 * members that wait themselves. So the rank tells each member (MSG_FRAME_WITHDRAW), and a member that takes part keeps
 * a request for the time: the guard, which a withdrawal ends, or the death of a member.
 *
 * A withdrawal is kept until its context is closed: a member may take part later, or begin the same again. Guards and
 * withdrawals lie under leaf, so whichever comes second finds the first. A few withdrawals need no memory of malloc:
 * there is likely to be none.
 *
 * A withdrawal may come when its context is closed here, and another one has the id. It counts for contexts only that
 * its sender is a member of, and a rank that has withdrawn from a context uses the id for no other one
 * (vmsg_context_withdrew): so it is never taken for one from another context. */
#include "msg/match.h"
#include "msg/wait.h"

struct withdrawal {
    struct list_node link;
    uint32_t context;
    int tag, world;
    bool used; /* of the reserve */
};
static struct withdrawal reserve[TUNED(WITHDRAWALS_RESERVED)]; /* under leaf */

static struct withdrawal *withdrawal_take(void)
{
    struct withdrawal *withdrawal = malloc(sizeof *withdrawal);
    for (size_t i = 0; i < TUNED(WITHDRAWALS_RESERVED) && !withdrawal; i++)
        withdrawal = reserve[i].used ? NULL : &reserve[i];
    if (withdrawal)
        withdrawal->used = true;
    return withdrawal;
}

static void withdrawal_give(struct withdrawal *withdrawal)
{
    list_remove(&withdrawal->link);
    withdrawal->used = false;
    if (withdrawal < reserve || withdrawal >= reserve + TUNED(WITHDRAWALS_RESERVED))
        free(withdrawal);
}

static int withdrawn_error(int world)
{
    return vbase_fail(ERR_MEMORY, "rank %d of the job has no memory for its part of a collective", world);
}

/* Of a member of CONTEXT; under leaf. */
static const struct withdrawal *withdrawal_find(const struct msg_context *context, int tag)
{
    list_for_each(node, &vmsg_engine.withdrawals) {
        const struct withdrawal *withdrawal = container_of(node, struct withdrawal, link);
        if (withdrawal->context == context->id && withdrawal->tag == tag &&
            vmsg_context_rank_of(context, withdrawal->world) >= 0)
            return withdrawal;
    }
    return NULL;
}

/* Under leaf. */
static bool withdrawal_is_kept(uint32_t context, int tag, int world)
{
    list_for_each(node, &vmsg_engine.withdrawals) {
        const struct withdrawal *withdrawal = container_of(node, struct withdrawal, link);
        if (withdrawal->context == context && withdrawal->tag == tag && withdrawal->world == world)
            return true;
    }
    return false;
}

/* Under leaf. False: there is no memory. */
static bool withdrawal_keep(uint32_t context, int tag, int world)
{
    if (withdrawal_is_kept(context, tag, world))
        return true;
    struct withdrawal *withdrawal = withdrawal_take();
    if (!withdrawal)
        return false;
    withdrawal->context = context;
    withdrawal->tag = tag;
    withdrawal->world = world;
    list_append(&vmsg_engine.withdrawals, &withdrawal->link);
    return true;
}

void vmsg_withdrawals_drop(const struct msg_context *context)
{
    msg_lock(&vmsg_engine.leaf);
    list_for_each(node, &vmsg_engine.withdrawals) {
        struct withdrawal *withdrawal = container_of(node, struct withdrawal, link);
        if (!context || withdrawal->context == context->id)
            withdrawal_give(withdrawal);
    }
    msg_unlock(&vmsg_engine.leaf);
}

/* ---- guards ---- */

int vmsg_guard_start(struct msg_request *guard, struct msg_context *context, int tag, const int *members, int size)
{
    struct msg_engine *engine = &vmsg_engine;
    int error = OK;
    guard->kind = MSG_WORD;
    guard->awaited = guard->waited = false;
    guard->context = context;
    guard->peer = NULL;
    guard->result.tag = tag;
    guard->buffer.base = (void *)members;
    guard->buffer.count = (uint64_t)size;
    msg_phase_set(guard, MSG_PHASE_POSTED);
    atomic_store_explicit(&guard->state, MSG_PENDING, memory_order_relaxed);
    msg_lock(&engine->leaf);
    if (unlikely(!list_empty(&engine->withdrawals))) {
        const struct withdrawal *withdrawal = withdrawal_find(context, tag);
        error = withdrawal ? withdrawn_error(withdrawal->world) : OK;
    }
    if (likely(!error))
        list_append(&engine->guards, &guard->link);
    msg_unlock(&engine->leaf);
    if (unlikely(atomic_load_explicit(&engine->deaths, memory_order_relaxed)))
        msg_death_again();
    return error;
}

bool vmsg_guard_end(struct msg_request *guard)
{
    msg_lock(&vmsg_engine.leaf);
    bool posted = msg_phase(guard) == MSG_PHASE_POSTED;
    if (posted) {
        list_remove(&guard->link);
        msg_phase_set(guard, MSG_PHASE_OVER);
    }
    msg_unlock(&vmsg_engine.leaf);
    return posted;
}

/* Whether GUARD is of an operation that the rank takes part in. */
static bool guard_is_with(const struct msg_request *guard, int world)
{
    const int *members = guard->buffer.base;
    int rank = vmsg_context_rank_of(guard->context, world);
    uint64_t i = 0;
    while (members && i < guard->buffer.count && members[i] != rank)
        i++;
    return rank >= 0 && (!members || i < guard->buffer.count);
}

/* Those with the rank: all, or those of context ID and TAG. */
static void guards_end(int world, uint32_t id, int tag, int error)
{
    struct list over;
    list_init(&over);
    msg_lock(&vmsg_engine.leaf);
    list_for_each(node, &vmsg_engine.guards) {
        struct msg_request *guard = container_of(node, struct msg_request, link);
        bool ends = tag == MSG_ANY_TAG || (guard->context->id == id && guard->result.tag == tag);
        if (!ends || !guard_is_with(guard, world))
            continue;
        list_remove(node);
        msg_phase_set(guard, MSG_PHASE_MOVING);
        list_append(&over, node);
    }
    msg_unlock(&vmsg_engine.leaf);
    list_take_each(node, &over)
        msg_complete(container_of(node, struct msg_request, link), error);
}

void vmsg_guards_end(int world, int error) { guards_end(world, 0, MSG_ANY_TAG, error); }

/* ---- withdrawing ---- */

/* Where even that finds no memory the job is lost, as it is without memory for an envelope. */
static void withdrawal_note(uint32_t context, int tag, int world)
{
    msg_lock(&vmsg_engine.leaf);
    bool kept = withdrawal_keep(context, tag, world);
    msg_unlock(&vmsg_engine.leaf);
    if (!kept)
        vmsg_failed(vbase_fail(ERR_MEMORY, "no memory to know that rank %d has none for a collective", world));
}

void vmsg_withdrawn(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    uint32_t id = msg_header_context(header);
    const struct msg_context *context = vmsg_engine.context[id];
    int tag = msg_header_tag(header);
    (void)body;
    if (context && vmsg_context_rank_of(context, peer->world) < 0)
        return; /* from the one that had the id before */
    withdrawal_note(id, tag, peer->world);
    guards_end(peer->world, id, tag, withdrawn_error(peer->world));
}

static int withdrawal_tell(const struct msg_context *context, int rank, int tag)
{
    struct msg_peer *peer;
    int error = vmsg_peer_find(context->network, vmsg_context_world(context, rank), &peer);
    if (error)
        return error;
    msg_lock(&peer->lock);
    error = vmsg_peer_connect(peer);
    if (!error || error == ERR_AGAIN) /* not now: the frame waits for it */
        vmsg_peer_answer(peer, msg_header(MSG_FRAME_WITHDRAW, context->id, tag, 0), NULL, 0);
    msg_unlock(&peer->lock);
    return error == ERR_AGAIN || error == ERR_PEER_DEAD ? OK : error;
}

bool vmsg_context_withdrew(const struct msg_context *context) { return context->withdrew; }

void vmsg_withdraw(struct msg_context *context, const int *members, int size, int tag)
{
    if (!vmsg_engine.open)
        return;
    context->withdrew = true;
    withdrawal_note(context->id, tag, vmsg_engine.rank);
    for (int i = 0; i < size; i++) {
        int rank = members ? members[i] : i;
        if (rank != context->rank && withdrawal_tell(context, rank, tag))
            vmsg_failed(vbase_fail(ERR_MEMORY, "no memory to tell rank %d that this one has none for a collective",
                                   vmsg_context_world(context, rank)));
    }
}
