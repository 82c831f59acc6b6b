/* What waits for room on the way to a peer, and how it leaves.
 *
 * Messages wait in `queue`, in the order of their sending. A request there is not launched: whether it goes eagerly or
 * is announced is decided when its turn comes. A peer with something queued has short_limit -1, so that no later
 * message passes. */
#include "msg/transfer.h"

/* Chunks that did not land over lost rails go back to their messages; without memory they wait. */
static bool backs_go(struct msg_peer *peer)
{
    struct msg_replay *replay = &peer->far->replay;
    struct msg_replay_bulk back;
    bool went = false;
    for (; vmsg_replay_back(replay, &back) && vmsg_bond_back(peer, &back); went = true)
        vmsg_replay_back_taken(replay);
    return went;
}

void vmsg_peer_queue(struct msg_peer *peer, struct msg_request *request)
{
    msg_phase_set(request, MSG_PHASE_QUEUED);
    peer->short_limit = -1;
    list_append(&peer->queue, &request->link);
    vmsg_peer_stuck(peer);
    vmsg_wake(); /* the caller may go and compute */
}

static bool flush_queue(struct msg_peer *peer)
{
    bool went = false;
    peer->lagging = 0;
    for (struct list_node *node; (node = list_first(&peer->queue));) {
        struct msg_request *request = container_of(node, struct msg_request, link);
        list_remove(node);
        peer->more = !list_empty(&peer->queue);
        int error = vmsg_send_launch(request);
        if (error == ERR_AGAIN) {
            list_prepend(&peer->queue, node);
            msg_phase_set(request, MSG_PHASE_QUEUED);
            peer->more = false;
            return went;
        }
        if (error)
            msg_complete(request, error);
        went = true;
    }
    peer->short_limit = peer->parted ? -1 : peer->eager;
    return went;
}

bool vmsg_peer_flush(struct msg_peer *peer)
{
    bool went = false;
    if (unlikely(peer->gone))
        return false;
    int error = vmsg_peer_call(peer);
    if (error == OK) {
        went = peer->remote && backs_go(peer);
        went |= peer->remote && vmsg_rails_flush(peer);
        went |= vmsg_answers_flush(peer);
        if (list_empty(&peer->control)) {
            if (peer->owed >= peer->window_half)
                went |= vmsg_credit_tell(peer);
            went |= flush_queue(peer);
        }
    } else if (error != ERR_AGAIN) {
        vmsg_failed(error);
    }
    if (!list_empty(&peer->control) || !list_empty(&peer->queue) || peer->owed >= peer->window_half ||
        (peer->remote && vmsg_rails_pend(peer)))
        vmsg_peer_stuck(peer);
    return went;
}

bool vmsg_peers_flush(void)
{
    bool went = false;
    /* Each stuck peer gets one turn: those that stay stuck are appended behind. */
    msg_lock(&vmsg_engine.leaf);
    struct list_node *last = list_empty(&vmsg_engine.stuck) ? NULL : vmsg_engine.stuck.head.previous, *node = NULL;
    while (last && node != last) {
        node = list_first(&vmsg_engine.stuck);
        msg_chore_remove(node);
        struct msg_peer *peer = container_of(node, struct msg_peer, stuck);
        if (peer->remote)
            msg_await_end();
        msg_unlock(&vmsg_engine.leaf);
        msg_lock(&peer->lock);
        went |= vmsg_peer_flush(peer);
        msg_unlock(&peer->lock);
        msg_lock(&vmsg_engine.leaf);
    }
    msg_unlock(&vmsg_engine.leaf);
    return went;
}
