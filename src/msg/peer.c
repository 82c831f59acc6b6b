/* Peers: one structure per rank that we talk to, made on first use, kept until stop. Its address never changes, so
 * pointers to it may be kept. Everything in it is under its lock, except `heard` and `parted`, which the sink
 * writes. */
#include "msg/transfer.h"

static int rails_open(struct msg_peer *peer)
{
    peer->far = calloc(1, sizeof *peer->far);
    if (!peer->far)
        return ERR_MEMORY;
    vmsg_rails_open(peer);
    return OK;
}

static void rails_close(struct msg_peer *peer)
{
    for (int i = 0; i < MSG_REPLAY_RAILS; i++)
        if (peer->far->vi[i])
            vi_disconnect(peer->far->vi[i]);
    vmsg_replay_close(&peer->far->replay);
    free(peer->far);
}

/* In a node what is eager in each class: see vmsg_send_launch. A setting stands for a node, and over a network for as
 * many times it as the table says. */
static int64_t eager_most(bool remote)
{
    uint64_t inside = vbase_tuned(TUNABLE_EAGER_MOST, CLASS_NEAR);
    uint64_t most = vbase_tuned(TUNABLE_EAGER_MOST, remote ? CLASS_REMOTE : CLASS_SLOW);
    return (int64_t)(vbase_settings.eager ? vbase_settings.eager * (remote ? most / inside : 1) : most);
}

static struct msg_peer *peer_make(int network, int world)
{
    struct msg_peer *peer = aligned_alloc(CACHE_LINE, sizeof *peer);
    if (!peer)
        return NULL;
    memset(peer, 0, sizeof *peer);
    peer->world = world;
    peer->network = network;
    peer->remote = vmsg_nic_remote(network, world);
    peer->short_limit = -1;
    peer->window = (int64_t)vbase_settings.window;
    peer->window_half = peer->window * (int64_t)TUNED(CREDIT_TOLD) / 100 + 1;
    peer->eager = eager_most(peer->remote); /* lowered to what the rail can when there is one */
    list_init(&peer->queue);
    list_init(&peer->control);
    list_init(&peer->turns[0]);
    list_init(&peer->turns[1]);
    if (peer->remote && rails_open(peer) != OK) {
        free(peer);
        return NULL;
    }
    vmsg_engine.peer[network * vmsg_engine.size + world] = peer;
    if (world != vmsg_engine.rank)
        COUNT(peers);
    return peer;
}

int vmsg_peer_find(int network, int world, struct msg_peer **out)
{
    network = world == vmsg_engine.rank ? 0 : network;
    if (world < 0 || world >= vmsg_engine.size)
        return vbase_fail(ERR_ARGUMENT, "rank %d is not in this job of %d", world, vmsg_engine.size);
    msg_lock(&vmsg_engine.leaf);
    struct msg_peer *peer = vmsg_engine.peer[network * vmsg_engine.size + world];
    if (!peer)
        peer = peer_make(network, world);
    msg_unlock(&vmsg_engine.leaf);
    if (!peer)
        return vbase_fail(ERR_MEMORY, "no memory for the peer structure of rank %d", world);
    *out = peer;
    return OK;
}

struct msg_peer *vmsg_peer_known(int network, int world)
{
    msg_lock(&vmsg_engine.leaf);
    struct msg_peer *peer = vmsg_engine.peer[network * vmsg_engine.size + world];
    msg_unlock(&vmsg_engine.leaf);
    return peer;
}

void vmsg_peer_stuck(struct msg_peer *peer)
{
    if (unlikely(peer->gone))
        return;
    msg_lock(&vmsg_engine.leaf);
    if (!list_node_linked(&peer->stuck)) {
        msg_chore(&vmsg_engine.stuck, &peer->stuck);
        if (peer->remote)
            msg_await();
    }
    msg_unlock(&vmsg_engine.leaf);
}

static void controls_drop(struct msg_peer *peer)
{
    list_take_each(node, &peer->control)
        free(container_of(node, struct msg_control, link));
}

void vmsg_peer_gone(struct msg_peer *peer)
{
    peer->gone = true;
    controls_drop(peer);
    msg_lock(&vmsg_engine.leaf);
    if (list_node_linked(&peer->stuck)) {
        msg_chore_remove(&peer->stuck);
        if (peer->remote)
            msg_await_end();
    }
    msg_unlock(&vmsg_engine.leaf);
}

/* The peer is not reachable any more: calls that need it fail, and if it has not said goodbye the job is lost. Whether
 * it has died is told by the launcher. */
int vmsg_peer_lost(struct msg_peer *peer, int cause)
{
    if (peer->parted)
        return vbase_fail(ERR_PEER_DEAD, "rank %d has left the job", peer->world);
    int error = vbase_fail(ERR_PEER_DEAD, "the connection to rank %d is lost (%s), and it has not ended MPI",
                           peer->world, vbase_error_name(cause));
    vmsg_failed(error);
    return error;
}

void vmsg_peers_close(void)
{
    for (int i = 0; i < vmsg_engine.size * MSG_NETWORKS; i++) {
        struct msg_peer *peer = vmsg_engine.peer[i];
        if (!peer)
            continue;
        controls_drop(peer);
        if (peer->remote)
            rails_close(peer);
        else if (peer->vi)
            vi_disconnect(peer->vi);
        free(peer);
        vmsg_engine.peer[i] = NULL;
    }
}
