/* The connection to a peer, and what it is sent beside messages: answers and credit.
 *
 * An answer is never lost and never waits behind messages: an answer for which the lane has no room waits in `control`,
 * in order.
 *
 * Credit bounds the unmatched payload that one rank may leave at another. The sender counts down its window by payload
 * + MSG_FRAME_COST for each eager message; when it is used up, messages travel as bare envelopes and their payload
 * stays where it is. The receiver counts what it matched and returns it in a CREDIT frame at half a window, before the
 * call that matched returns. Frames themselves are never refused: a posted receive is reached past any number of
 * unmatched messages. What cannot be told now, because the lane is full or memory is short, is kept and returned later;
 * it is one number, so nothing accumulates. */
#include "msg/transfer.h"

/* From now on small messages may take the short way. A frame that is kept may go over any rail in the end. */
static void vi_add(struct msg_peer *peer, struct vi *vi)
{
    uint64_t most = vmsg_ways_room(peer, vi);
    if (!peer->frame_most || peer->frame_most > most)
        peer->frame_most = most;
    if (peer->eager > (int64_t)most)
        peer->eager = (int64_t)most;
    if (peer->remote) {
        vmsg_rail_add(peer, vi);
    } else { /* waits look at both */
        __atomic_store_n(&peer->vi, vi, __ATOMIC_RELEASE);
        __atomic_store_n(&peer->lane, vi, __ATOMIC_RELEASE);
    }
    if (list_empty(&peer->queue))
        peer->short_limit = peer->parted ? -1 : peer->eager;
}

/* A rank of this node, by the first nic that reaches it. */
static int node_connect(const struct msg_peer *peer, struct vi **vi)
{
    int error = vbase_fail(ERR_UNREACHABLE, "no transport is open, so rank %d is not reached", peer->world);
    for (uint32_t i = 0; i < vmsg_engine.usual && error && error != ERR_AGAIN; i++)
        error = vi_connect(vmsg_engine.nic[i], &(struct vi_address){.peer = (uint32_t)peer->world}, (void *)peer, vi);
    return error;
}

int vmsg_peer_call(struct msg_peer *peer)
{
    struct vi *vi;
    int error = OK;
    while (!error && (!peer->vi || (peer->remote && vmsg_ways_due(peer)))) {
        error = peer->remote ? vmsg_way_call(peer, &vi) : node_connect(peer, &vi);
        if (!error)
            vi_add(peer, vi);
        if (!error && !peer->vi) /* there is no place for it now */
            error = ERR_AGAIN;
    }
    return peer->vi ? OK : error;
}

int vmsg_peer_connect(struct msg_peer *peer)
{
    if (peer->vi)
        return OK;
    TRACE("connect");
    return vmsg_peer_call(peer);
}

int vmsg_route(struct msg_context *context, int rank, struct msg_route *route)
{
    struct msg_peer *peer;
    struct vi_state state = {.path = NULL};
    if (!vmsg_engine.open)
        return vmsg_closed();
    int error = vmsg_peer_find(context->network, vmsg_context_world(context, rank), &peer);
    if (error)
        return error;
    msg_lock(&peer->lock);
    error = vmsg_peer_connect(peer) ?: vi_query(peer->vi, &state);
    if (!error) {
        route->transport = peer->vi->nic->provider->name;
        snprintf(route->path, sizeof route->path, "%s", state.path ? state.path : "");
    }
    msg_unlock(&peer->lock);
    return error;
}

static void control_keep(struct msg_peer *peer, uint64_t header, const void *body, uint32_t length)
{
    struct msg_control *control = malloc(sizeof *control + length);
    if (!control) {
        vmsg_failed(vbase_fail(ERR_MEMORY, "no memory for an answer to rank %d", peer->world));
        return;
    }
    control->header = header;
    control->length = length;
    if (length)
        memcpy(control->body, body, length);
    list_append(&peer->control, &control->link);
    vmsg_peer_stuck(peer);
}

/* False: not now. An answer that cannot be sent at all is waited for: the job is lost. */
static bool answer_send(struct msg_peer *peer, uint64_t header, const void *body, uint32_t length)
{
    struct iovec piece = {(void *)(uintptr_t)body, length};
    int error = msg_peer_send(peer, header, &piece, 1);
    if (likely(!error) || error == ERR_AGAIN || error == VI_HELD)
        return !error;
    if (error != ERR_PEER_DEAD)
        vmsg_failed(error);
    return true;
}

/* Sends an answer now, or keeps it. */
void vmsg_peer_answer(struct msg_peer *peer, uint64_t header, const void *body, uint32_t length)
{
    if (unlikely(peer->gone))
        return;
    if (!peer->vi || !list_empty(&peer->control) || !answer_send(peer, header, body, length))
        control_keep(peer, header, body, length);
}

void vmsg_peer_control(struct msg_peer *peer, uint64_t header, const void *body, uint32_t length)
{
    msg_lock(&peer->lock);
    vmsg_peer_answer(peer, header, body, length);
    msg_unlock(&peer->lock);
}

bool vmsg_answers_flush(struct msg_peer *peer)
{
    bool went = false;
    for (struct list_node *node; (node = list_first(&peer->control));) {
        struct msg_control *control = container_of(node, struct msg_control, link);
        if (!answer_send(peer, control->header, control->body, control->length))
            break;
        list_remove(node);
        free(control);
        went = true;
    }
    return went;
}

int vmsg_peer_accept(struct vi_nic *nic, uint32_t world)
{
    struct msg_peer *peer;
    int network = 0;
    for (int i = 1; i < MSG_NETWORKS; i++)
        network = vmsg_networks.nic[i] == nic ? i : network;
    int error = vmsg_peer_find(network, (int)world, &peer);
    if (error)
        return error;
    struct vi *vi;
    msg_lock(&peer->lock);
    bool unknown = !peer->frame_most;
    error = vi_accept(nic, world, peer, &vi);
    if (error == OK) {
        vi_add(peer, vi);
        atomic_store_explicit(&peer->heard, true, memory_order_relaxed);
    }
    if (error == OK && unknown && vmsg_engine.leaving)
        vmsg_peer_answer(peer, msg_header(MSG_FRAME_GOODBYE, 0, vmsg_engine.lives, 0), NULL, 0);
    msg_unlock(&peer->lock);
    return error;
}

/* ---- credits ----------------------------------------------------------------------------------------------------- */

bool vmsg_credit_tell(struct msg_peer *peer)
{
    struct msg_frame_credit body = {(uint64_t)peer->owed};
    struct iovec piece = {&body, sizeof body};
    int error = OK;
    if (peer->world == vmsg_engine.rank) /* no frame goes to ourselves */
        peer->window += peer->owed;
    else
        error = msg_peer_send(peer, msg_header(MSG_FRAME_CREDIT, 0, 0, 0), &piece, 1);
    if (unlikely(error && error != ERR_PEER_DEAD))
        return false;
    peer->owed = 0;
    return true;
}

void vmsg_credit_returned(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    (void)header;
    msg_lock(&peer->lock);
    bool sane = body->credit.bytes <= vbase_settings.window - (uint64_t)peer->window;
    if (sane)
        peer->window += (int64_t)body->credit.bytes;
    msg_unlock(&peer->lock);
    if (!sane)
        vmsg_refused(peer, "it returned more credit than was used");
}
