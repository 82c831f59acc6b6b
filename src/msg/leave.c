/* Ranks that leave: by a goodbye, or by a death that does not end the job.
 *
 * The launcher counts deaths in the handover; waits look at that count when they yield or sleep. A dead rank is one
 * that has said goodbye, and more: receives from it end, transfers to and from it end, and answers for it are dropped.
 * From then on the short ways are closed, because they check nothing.
 *
 * After a death no fence keeps a rank that leaves in order until all have left. So the launcher then counts each rank
 * that ends among the dead. What that rank sent before is here or lies in its lane, and is delivered first. A rank that
 * was killed may also take messages with it that waited for a link, or for room on one.
 *
 * A network may use the memory that it was given until it knows that the link is gone. So the rails to a dead rank are
 * closed before its transfers end: its host may be silent, and then its connections stay. */
#include "msg/transfer.h"
#include "msg/wait.h"

/* The receiver has said goodbye. What was sent at once is complete; a send that waits for the receiver's answer is
 * given up, unless it is being cancelled: the receiver still answers that. Peer lock held. */
void vmsg_send_forsake(struct msg_request *request)
{
    struct msg_transfer *transfer = request->extra;
    enum msg_phase phase = msg_phase(request);
    if (phase == MSG_PHASE_QUEUED)
        list_remove(&request->link);
    else if (phase != MSG_PHASE_ANNOUNCED || transfer->cancelling)
        return;
    else
        request->peer->forsaken++;
    int error =
        vbase_fail(ERR_PEER_DEAD, "rank %d has left the job and receives nothing any more", request->peer->world);
    if (transfer)
        vmsg_transfer_give(transfer);
    msg_complete(request, error);
}

/* The peer said goodbye: it will not receive any more. Stop does not wait for sends to it, nor does anything else. */
static void peer_parted(struct msg_peer *peer)
{
    msg_lock(&vmsg_engine.leaf);
    bool some = peer->pending_sends;
    vmsg_engine.pending_sends -= peer->pending_sends;
    peer->pending_sends = 0;
    peer->parted = true;
    msg_unlock(&vmsg_engine.leaf);

    msg_lock(&peer->lock);
    peer->short_limit = -1;
    list_for_each(node, &peer->queue)
        vmsg_send_forsake(container_of(node, struct msg_request, link));
    struct msg_transfer *transfer;
    for (uint32_t i = 0; some && (transfer = vmsg_transfer_next(peer, &i));)
        if (transfer->sender && transfer->request && transfer->phase == MSG_WAITING)
            vmsg_send_forsake(transfer->request);
    msg_unlock(&peer->lock);
    vmsg_wake(); /* another thread may wait for goodbyes */
}

/* One of an earlier life comes late: all have met since. */
void vmsg_peer_goodbye(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    (void)body;
    if (msg_header_tag(header) < vmsg_engine.lives)
        return;
    peer->goodbye = msg_header_tag(header);
    peer_parted(peer);
}

static int dead_error(int world) { return vbase_fail(ERR_PEER_DEAD, "rank %d is dead", world); }

/* Under progress. Receives of a list of CONTEXT end; with WAITS only those that have no callback, which are waited
 * for. */
static void receives_end(struct msg_context *context, struct list *posted, bool waits, int world)
{
    struct list over;
    list_init(&over);
    msg_lock(&context->lock);
    list_for_each(node, posted) {
        struct msg_request *request = container_of(node, struct msg_request, link);
        if (waits && request->completed)
            continue;
        list_remove(node);
        list_append(&over, node);
        msg_phase_set(request, MSG_PHASE_MOVING);
    }
    msg_unlock(&context->lock);
    list_take_each(node, &over)
        msg_complete(container_of(node, struct msg_request, link), dead_error(world));
}

/* Those from the dead rank; and in contexts of pack waits for any rank, so that pack can check which ranks are left. */
static void context_end(struct msg_context *context, int world)
{
    int rank = vmsg_context_rank_of(context, world);
    struct msg_member *member = rank < 0 ? NULL : context->member[rank];
    if (member)
        receives_end(context, &member->posted, false, world);
    if (msg_context_of_pack(context))
        receives_end(context, &context->wildcard, true, world);
}

/* Under progress. */
static void transfers_end(struct msg_peer *peer)
{
    struct msg_transfer *transfer;
    bool rails = peer->far && vmsg_rails_end(peer);
    for (uint32_t i = 0; i < vmsg_engine.nics && rails; i++)
        (void)vi_poll(vmsg_engine.nic[i], 1); /* from here on the network has nothing of ours */
    msg_lock(&peer->lock); /* a cancel of another thread looks at them under it */
    for (uint32_t i = 0; (transfer = vmsg_transfer_next(peer, &i));)
        vmsg_transfer_end(transfer, dead_error(peer->world));
    msg_unlock(&peer->lock);
}

/* Under progress. */
static void rank_end(int world)
{
    for (int network = 0; network < MSG_NETWORKS; network++) {
        struct msg_peer *peer = vmsg_peer_known(network, world);
        if (!peer)
            continue;
        if (!peer->gone) {
            peer_parted(peer);
            msg_lock(&peer->lock);
            vmsg_peer_gone(peer);
            msg_unlock(&peer->lock);
        }
        transfers_end(peer);
    }
    for (uint32_t id = 0; id < MSG_CONTEXTS; id++)
        if (vmsg_engine.context[id])
            context_end(vmsg_engine.context[id], world);
    vmsg_words_end(world, dead_error(world));
    vmsg_guards_end(world, dead_error(world));
}

/* Under progress. What a rank of this node sent before it ended lies in its lane. */
static void lanes_drain(int world)
{
    for (int network = 0; network < MSG_NETWORKS; network++) {
        struct msg_peer *peer = vmsg_peer_known(network, world);
        while (peer && !peer->remote && peer->vi && vi_poll_only(peer->vi, TUNED(POLL_EVENTS)) > 0)
            continue;
    }
}

/* Under progress: the launcher has told more deaths. */
static void deaths_mark(void)
{
    for (uint32_t i = 0; i < vmsg_engine.nics; i++)
        (void)vi_poll(vmsg_engine.nic[i], TUNED(POLL_EVENTS)); /* a lane that was not in use yet is known then */
    for (int world = 0; world < vmsg_engine.size; world++)
        if (world != vmsg_engine.rank && !vmsg_engine.dead[world] && vboot_dead(vmsg_engine.job, world)) {
            lanes_drain(world);
            atomic_store_explicit(&vmsg_engine.dead[world], true, memory_order_relaxed); /* the count orders it */
        }
}

void vmsg_death_look(void)
{
    uint32_t deaths = vboot_deaths(vmsg_engine.job);
    if (likely(deaths == atomic_load_explicit(&vmsg_engine.deaths, memory_order_relaxed) &&
               !atomic_load_explicit(&vmsg_engine.death_again, memory_order_relaxed)))
        return;
    msg_progress_keep_out();
    if (!vmsg_engine.dead)
        vmsg_engine.dead = calloc((size_t)vmsg_engine.size, sizeof *vmsg_engine.dead);
    atomic_store_explicit(&vmsg_engine.death_again, false, memory_order_relaxed);
    if (vmsg_engine.dead) {
        deaths_mark();
        atomic_store_explicit(&vmsg_engine.deaths, deaths, memory_order_release); /* pairs with msg_dead */
    }
    for (int world = 0; world < vmsg_engine.size && vmsg_engine.dead; world++)
        if (vmsg_engine.dead[world])
            rank_end(world);
    msg_progress_leave();
    vmsg_wake();
}

uint32_t vmsg_deaths(void)
{
    if (!vmsg_engine.open)
        return 0;
    vmsg_death_look();
    return atomic_load_explicit(&vmsg_engine.deaths, memory_order_relaxed);
}

bool vmsg_dead(int world) { return msg_dead(world); }

bool vmsg_left(int world)
{
    bool left = msg_dead(world);
    for (int network = 0; network < MSG_NETWORKS; network++) {
        const struct msg_peer *peer = vmsg_peer_known(network, world);
        left |= peer && peer->parted;
    }
    return left;
}
