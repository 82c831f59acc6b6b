/* Peers: one structure per rank that we talk to, made on first use, kept until stop. Its address never changes;
 * pointers to it are handed around freely. Everything in it is under its lock, except `heard` and `parted` (written by
 * the sink).
 *
 * What a full lane turns away waits here: messages in `queue`, in the order of their sending, and answers in `control`.
 * A request in the queue is not launched: whether it goes eagerly or is announced is decided when its turn comes. A
 * peer with something queued has short_limit -1, so that no later message passes by. */
#include "msg/engine.h"

static struct msg_peer *peer_make(int network, int world)
{
    struct msg_engine *engine = &vmsg_engine;
    struct msg_peer *peer = aligned_alloc(CACHE_LINE, sizeof *peer);
    if (!peer)
        return NULL;
    memset(peer, 0, sizeof *peer);
    peer->world = world;
    peer->network = network;
    peer->remote = vmsg_nic_remote(network, world);
    peer->short_limit = -1;
    peer->window = (int64_t)vbase_settings.window;
    peer->window_half = peer->window / 2 + 1;
    peer->eager = (int64_t)vbase_settings.eager; /* lowered to what the rail can when there is one */
    list_init(&peer->queue);
    list_init(&peer->control);
    list_init(&peer->turns[0]);
    list_init(&peer->turns[1]);
    if (peer->remote && vmsg_rails_open(peer) != OK) {
        free(peer);
        return NULL;
    }
    engine->peer[network * engine->size + world] = peer;
    if (world != engine->rank)
        COUNT(peers);
    return peer;
}

int vmsg_peer_find(int network, int world, struct msg_peer **out)
{
    struct msg_engine *engine = &vmsg_engine;
    network = world == engine->rank ? 0 : network;
    if (world < 0 || world >= engine->size)
        return vbase_fail(ERR_ARGUMENT, "rank %d is not in this job of %d", world, engine->size);
    msg_lock(&engine->leaf);
    struct msg_peer *peer = engine->peer[network * engine->size + world];
    if (!peer)
        peer = peer_make(network, world);
    msg_unlock(&engine->leaf);
    if (!peer)
        return vbase_fail(ERR_MEMORY, "no memory for what is kept about rank %d", world);
    *out = peer;
    return OK;
}

struct msg_peer *vmsg_peer_known(int network, int world)
{
    struct msg_engine *engine = &vmsg_engine;
    msg_lock(&engine->leaf);
    struct msg_peer *peer = engine->peer[network * engine->size + world];
    msg_unlock(&engine->leaf);
    return peer;
}

/* The first vi of a peer carries: from now on small messages may take the short way. */
static void vi_add(struct msg_peer *peer, struct vi *vi)
{
    if (!peer->nic) {
        peer->nic = vi->nic;
        if (peer->remote)
            peer->eager *= MSG_FAR_EAGER;
        if (peer->eager > (int64_t)msg_frame_most(peer))
            peer->eager = (int64_t)msg_frame_most(peer);
    }
    if (peer->remote)
        vmsg_rail_add(peer, vi);
    else
        peer->vi = vi;
    if (list_empty(&peer->queue))
        peer->short_limit = peer->parted ? -1 : peer->eager;
}

int vmsg_peer_connect(struct msg_peer *peer)
{
    if (peer->vi)
        return OK;
    TRACE("connect");
    struct vi *vi;
    int error = vmsg_nic_connect(peer, &vi);
    if (error == OK)
        vi_add(peer, vi);
    return error;
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

int vmsg_peer_accept(struct vi_nic *nic, uint32_t world)
{
    struct msg_peer *peer;
    int network = 0;
    for (int i = 1; i < MSG_NETWORKS; i++)
        network = vmsg_engine.network[i] == nic ? i : network;
    int error = vmsg_peer_find(network, (int)world, &peer);
    if (error)
        return error;
    struct vi *vi;
    msg_lock(&peer->lock);
    bool unknown = !peer->nic;
    error = vi_accept(nic, world, peer, &vi);
    if (error == OK) {
        vi_add(peer, vi);
        peer->heard = true;
    }
    if (error == OK && unknown && vmsg_engine.leaving)
        vmsg_peer_answer(peer, msg_header(MSG_FRAME_GOODBYE, 0, 0, 0), NULL, 0);
    msg_unlock(&peer->lock);
    return error;
}

void vmsg_peer_stuck(struct msg_peer *peer)
{
    struct msg_engine *engine = &vmsg_engine;
    if (unlikely(peer->gone))
        return;
    msg_lock(&engine->leaf);
    if (!peer->stuck) {
        msg_chore(&engine->stuck, &peer->stuck_link);
        if (peer->remote)
            msg_await();
    }
    peer->stuck = true;
    msg_unlock(&engine->leaf);
}

void vmsg_peer_queue(struct msg_peer *peer, struct msg_request *request)
{
    msg_phase_set(request, MSG_PHASE_QUEUED);
    peer->short_limit = -1;
    list_append(&peer->queue, &request->link);
    vmsg_peer_stuck(peer);
    vmsg_wake(); /* the caller may go and compute */
}

/* A frame for this peer was turned away although he has taken all that we sent: what it needs is held up by others. They
 * may compute for hours, and he may be waiting; so he is reached by what needs less. */
bool vmsg_peer_starved(struct msg_peer *peer)
{
    return vi_taken(peer->vi);
}

static void controls_drop(struct msg_peer *peer)
{
    struct msg_engine *engine = &vmsg_engine;
    struct list_node *node;
    while ((node = list_take_first(&peer->control))) {
        msg_lock(&engine->leaf);
        vbase_pool_give(&engine->controls, container_of(node, struct msg_control, link));
        msg_unlock(&engine->leaf);
    }
}

void vmsg_peer_gone(struct msg_peer *peer)
{
    struct msg_engine *engine = &vmsg_engine;
    peer->gone = true;
    controls_drop(peer);
    msg_lock(&engine->leaf);
    if (peer->stuck) {
        msg_chore_remove(&peer->stuck_link);
        if (peer->remote)
            msg_await_end();
    }
    peer->stuck = false;
    msg_unlock(&engine->leaf);
}

static void control_keep(struct msg_peer *peer, uint64_t header, const void *body, uint32_t length)
{
    struct msg_engine *engine = &vmsg_engine;
    msg_lock(&engine->leaf);
    struct msg_control *control = vbase_pool_take(&engine->controls);
    msg_unlock(&engine->leaf);
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

/* False: not now. Without memory it can neither be sent nor waited with: the other side would wait for ever. */
static bool answer_send(struct msg_peer *peer, uint64_t header, const void *body, uint32_t length)
{
    struct iovec piece = {(void *)(uintptr_t)body, length};
    int error = msg_peer_send(peer, header, &piece, 1);
    if (unlikely(error == ERR_MEMORY))
        vmsg_failed(error);
    return error != ERR_AGAIN;
}

/* Sends an answer now, or keeps it: an answer is never lost and never waits behind messages. */
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

static bool flush_control(struct msg_peer *peer)
{
    struct msg_engine *engine = &vmsg_engine;
    bool went = false;
    struct list_node *node;
    while ((node = list_first(&peer->control))) {
        struct msg_control *control = container_of(node, struct msg_control, link);
        if (!answer_send(peer, control->header, control->body, control->length))
            break;
        list_remove(node);
        msg_lock(&engine->leaf);
        vbase_pool_give(&engine->controls, control);
        msg_unlock(&engine->leaf);
        went = true;
    }
    return went;
}

static bool flush_queue(struct msg_peer *peer)
{
    bool went = false;
    peer->lagging = 0;
    struct list_node *node;
    while ((node = list_first(&peer->queue))) {
        struct msg_request *request = container_of(node, struct msg_request, link);
        list_remove(node);
        if (peer->vi)
            peer->vi->hold = peer->remote && !list_empty(&peer->queue);
        int error = vmsg_send_launch(request);
        if (error == ERR_AGAIN) {
            list_prepend(&peer->queue, node);
            msg_phase_set(request, MSG_PHASE_QUEUED);
            if (peer->vi)
                peer->vi->hold = false;
            return went;
        }
        if (error)
            vmsg_complete(request, error);
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
    int error = vmsg_peer_connect(peer);
    if (error == OK) {
        went = peer->remote && vmsg_rails_flush(peer);
        went |= flush_control(peer);
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
    struct msg_engine *engine = &vmsg_engine;
    struct list stuck;
    list_init(&stuck);
    bool went = false;
    /* Each stuck peer gets one turn: those that stay stuck are appended behind. */
    msg_lock(&engine->leaf);
    struct list_node *last = list_empty(&engine->stuck) ? NULL : engine->stuck.head.previous, *node = NULL;
    while (last && node != last) {
        node = list_first(&engine->stuck);
        msg_chore_remove(node);
        struct msg_peer *peer = container_of(node, struct msg_peer, stuck_link);
        peer->stuck = false;
        if (peer->remote)
            msg_await_end();
        msg_unlock(&engine->leaf);
        msg_lock(&peer->lock);
        went |= vmsg_peer_flush(peer);
        msg_unlock(&peer->lock);
        msg_lock(&engine->leaf);
    }
    msg_unlock(&engine->leaf);
    return went;
}

/* He said goodbye: what he has not received by now he never will. Stop does not wait for it, nor does anybody else. */
void vmsg_peer_parted(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body)
{
    (void)header, (void)body;
    struct msg_engine *engine = &vmsg_engine;
    msg_lock(&engine->leaf);
    bool some = peer->pending_sends;
    engine->pending_sends -= peer->pending_sends;
    peer->pending_sends = 0;
    peer->parted = true;
    msg_unlock(&engine->leaf);

    msg_lock(&peer->lock);
    peer->short_limit = -1;
    list_for_each(node, &peer->queue)
        vmsg_send_forsake(container_of(node, struct msg_request, link));
    struct msg_transfer *transfer;
    for (uint32_t i = 0; some && (transfer = vmsg_transfer_next(peer, &i));)
        if (transfer->sender && transfer->phase == MSG_TRANSFER_ANNOUNCED)
            vmsg_send_forsake(transfer->request);
    msg_unlock(&peer->lock);
}

/* He is reached no more: whoever talks to him hears of it, and if he has not said goodbye the job is
 * lost. His death, if it is one, is the launcher's to tell. */
int vmsg_peer_lost(struct msg_peer *peer, int cause)
{
    if (peer->parted)
        return vbase_fail(ERR_PEER_DEAD, "rank %d has left the job", peer->world);
    int error = vbase_fail(ERR_PEER_DEAD, "the connection to rank %d is lost (%s) and he has said no goodbye",
                           peer->world, vbase_error_name(cause));
    vmsg_failed(error);
    return error;
}

void vmsg_peers_close(void)
{
    struct msg_engine *engine = &vmsg_engine;
    for (int i = 0; i < engine->size * MSG_NETWORKS; i++) {
        struct msg_peer *peer = engine->peer[i];
        if (!peer)
            continue;
        if (peer->remote)
            vmsg_rails_close(peer);
        else if (peer->vi)
            vi_disconnect(peer->vi);
        free(peer->note);
        free(peer);
        engine->peer[i] = NULL;
    }
}
