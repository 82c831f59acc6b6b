/* Sessions: the vis of the caller, from connect or accept until they are freed. Each takes the first link of its peer
 * that it can get, see peer.c.
 *
 * A session that is disconnected while it still waits for a link keeps waiting, to send what it was given and to say
 * goodbye: the other side may have opened its half. */
#include "vi/tcp/tcp.h"

/* Under nic->lock: a new session at the end of those that wait. */
static struct tcp_vi *session_make(struct tcp_nic *nic, struct tcp_peer *peer, void *owner)
{
    struct tcp_vi *vi = aligned_alloc(CACHE_LINE, (sizeof(*vi) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    if (!vi)
        return NULL;
    memset(vi, 0, sizeof(*vi));
    vi->vi = (struct vi){.ops = nic->nic.ops, .nic = &nic->nic, .owner = owner, .peer = peer->rank};
    vi->peer = peer;
    vi->open = true;
    vi->fd = -1;
    if (!peer->vi) {
        peer->vi = vi;
        peer->since = peer->silent = vbase_clock_ns();
    }
    peer->called = false;
    list_append(&peer->waiting, &vi->node);
    tcp_peer_busy(nic, peer);
    return vi;
}

void tcp_session_free(struct tcp_vi *vi)
{
    tcp_writer_forget(vi);
    tcp_queue_drop(&vi->queue);
    free(vi->posted);
    free(vi);
}

/* ---- the caller's operations ------------------------------------------------------------------------------------- */

/* Those that others could reach, in words. */
static void addresses_text(const struct call_cards *cards, char out[TCP_WHY])
{
    char one[INET6_ADDRSTRLEN];
    size_t used = 0;
    snprintf(out, TCP_WHY, "none");
    for (int i = 0; i < cards->count && used + sizeof(one) + 2 < TCP_WHY; i++)
        if (cards->card[i].kind != CALL_KIND_LOOPBACK) {
            call_address_text(&cards->card[i].address, one, sizeof(one));
            used += (size_t)snprintf(out + used, TCP_WHY - used, "%s%s", used ? " " : "", one);
        }
}

/* Under nic->lock, for a rank of which no way is known yet: from now on the poll takes them as they are. */
static int ways_find(const struct tcp_nic *nic, struct tcp_peer *peer, const char *card)
{
    char mine[TCP_WHY], theirs[TCP_WHY];
    struct call_pair pair[CALL_PAIRS];
    struct call_cards cards;
    int rails, error = call_cards_parse(card, &cards);
    if (error)
        return error;
    int pairs = call_cards_match(&nic->cards, &cards, nic->nic.rank < peer->rank, pair, CALL_PAIRS, &rails);
    for (int i = 0; i < pairs; i++)
        peer->rail[i].pair = pair[i];
    peer->most = (uint32_t)rails;
    memcpy(peer->host, cards.name, sizeof(peer->host));
    peer->pairs = (uint32_t)pairs;
    if (pairs > 0)
        return OK;
    addresses_text(&nic->cards, mine);
    addresses_text(&cards, theirs);
    return vbase_fail(ERR_UNREACHABLE, "no address of this host (%s) goes with one of rank %u's on %s (%s)", mine,
                      peer->rank, cards.name[0] ? cards.name : "its host", theirs);
}

static int judge_rank(const struct tcp_nic *nic, uint32_t rank)
{
    if (rank >= nic->ranks)
        return vbase_fail(ERR_UNREACHABLE, "tcp: rank %u is not in this job of %u", rank, nic->ranks);
    if (rank == nic->nic.rank)
        return vbase_fail(ERR_UNREACHABLE, "tcp: rank %u is this process itself", rank);
    return OK;
}

/* A session that waits takes the link that calls; without an address, where none waits one more is made for it. */
int tcp_connect(struct vi_nic *base, const struct vi_address *to, void *owner, struct vi **out)
{
    struct tcp_nic *nic = tcp_nic_of(base);
    int error = judge_rank(nic, to->peer);
    if (error)
        return error;
    base_lock(&nic->lock);
    struct tcp_peer *peer = tcp_peer_make(nic, to->peer);
    if (!peer)
        error = vbase_fail(ERR_MEMORY, "rank %u", to->peer);
    else if (to->card && peer->pairs == 0)
        error = ways_find(nic, peer, to->card);
    bool called = !error && tcp_peer_parked(peer);
    struct tcp_vi *vi = error || (called && !to->card && peer->vi && peer->vi->rail) ? NULL : peer->vi;
    if (!error && !vi && !called && !to->card)
        error = vbase_fail(ERR_UNREACHABLE, "tcp: no card of rank %u, and it has not called", to->peer);
    if (!error && !vi && !(vi = session_make(nic, peer, owner)))
        error = vbase_fail(ERR_MEMORY, "a connection to rank %u", to->peer);
    if (!error)
        *out = &vi->vi;
    base_unlock(&nic->lock);
    return error;
}

void tcp_disconnect(struct vi *base, bool abrupt)
{
    struct tcp_vi *vi = tcp_vi_of(base);
    struct tcp_nic *nic = tcp_nic_of(base->nic);
    base_lock(&nic->lock);
    vi->abrupt = abrupt;
    vi->open = false;
    if (vi->peer->vi == vi)
        vi->peer->vi = NULL;
    if (vi->rail && vi->rail->vi == vi)
        vi->rail->vi = NULL;
    base_lock(&vi->lock);
    if (!list_node_linked(&vi->node))
        list_append(&nic->closed, &vi->node);
    else if (tcp_queue_lent(&vi->queue) != TCP_NEVER) { /* it waits for a link; the memory of its puts does not */
        tcp_queue_drop(&vi->queue);
        atomic_store_explicit(&vi->sent, 0, memory_order_relaxed);
    }
    base_unlock(&vi->lock);
    tcp_peer_busy(nic, vi->peer);
    base_unlock(&nic->lock);
}

/* ---- the end of a session ---------------------------------------------------------------------------------------- */

/* Freed at the end of this poll: a function up the stack may still use it. Under nic->lock. */
static void session_end_later(struct tcp_nic *nic, struct tcp_vi *vi)
{
    list_leave(&vi->node);
    list_append(&nic->gone_vis, &vi->node);
}

void tcp_vi_break(struct tcp_nic *nic, struct tcp_vi *vi, int cause)
{
    struct tcp_link *link = vi->link;
    base_lock(&nic->lock); /* first: every reader of `up` expects that what is in it has a link */
    list_leave(&vi->up);
    base_unlock(&nic->lock);
    base_lock(&vi->lock);
    vi->fd = -1;
    vi->dead = true;
    vi->link = NULL;
    tcp_queue_drop(&vi->queue);
    base_unlock(&vi->lock);
    tcp_writer_forget(vi);
    if (link)
        tcp_link_close(nic, link);
    base_lock(&nic->lock);
    if (vi->rail && tcp_peer_carried(vi->peer))
        vi->rail->dial_at = vbase_clock_ns() + TUNED_NS(RAIL_LOST);
    bool open = vi->open;
    tcp_peer_busy(nic, vi->peer);
    if (!open && vi->leaving)
        session_end_later(nic, vi);
    base_unlock(&nic->lock);
    if (!open)
        return;
    tcp_completed(nic, vi, ERR_LINK_DOWN);
    nic->told++;
    nic->nic.sink.down(&vi->vi, cause);
}

/* A disconnected session says goodbye and leaves when its queue is sent. The memory of a put is not ours any more: then
 * the link ends here and now. */
void tcp_session_leave(struct tcp_nic *nic, struct tcp_vi *vi)
{
    bool done = vi->leaving;
    vi->leaving = true;
    base_lock(&nic->lock);
    if (!vi->link)
        session_end_later(nic, vi);
    base_unlock(&nic->lock);
    if (done || !vi->link)
        return;
    vi->link->phase = TCP_LEAVING;
    if (vi->rail->link == vi->link)
        vi->rail->link = NULL; /* no rail any more: the next session makes another one */
    tcp_stage_drop(nic, vi->link);
    if (!vi->abrupt)
        tcp_control_send(vi, TCP_GOODBYE, 0);
    if (vi->abrupt || tcp_queue_lent(&vi->queue) != TCP_NEVER || !tcp_flush(vi))
        tcp_vi_break(nic, vi, ERR_LINK_DOWN);
}

void tcp_sessions_leave(struct tcp_nic *nic)
{
    for (;;) {
        struct list_node *node;
        base_lock(&nic->lock);
        node = list_take_first(&nic->closed);
        base_unlock(&nic->lock);
        if (!node)
            return;
        tcp_session_leave(nic, container_of(node, struct tcp_vi, node));
    }
}

