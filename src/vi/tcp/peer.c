/* Peers and sessions: who has a connection, who waits for one, who is told what.
 *
 * Two ways lead to a proven link: our call and theirs. Where both are under way, the lower rank decides, at one moment:
 * as caller by sending its proof, as called by its verdict; the other side follows. What decides is the epoch: each side
 * takes only links that are newer than the newest it knows.
 *
 * Proven links wait at the peer, oldest first, and so do sessions (vis) that have none; the first of both go together.
 * tcp_peer_step does whatever can be done now and is called again when something changed: it never waits.
 *
 * A session that is disconnected while it still waits for a link keeps waiting, to send what it was given and to say
 * goodbye: the other side may have opened its half. A link that a newer one replaces is still read for a while: what its
 * other side sent last lies there. */
#include "vi/tcp/tcp.h"
#include "base/clock.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define REPLACED_NS   1000000000ull  /* an old link whose successor waits is read so long */
#define GIVE_UP_NS    30000000000ull /* of nothing but failures */
#define PARKED_MOST   4

struct tcp_peer *tcp_peer_make(struct tcp_nic *nic, uint32_t rank)
{
    struct tcp_peer *peer = nic->peers[rank];

    if (peer)
        return peer;
    peer = calloc(1, sizeof(*peer));
    if (!peer)
        return NULL;
    peer->rank = rank;
    list_init(&peer->waiting);
    list_init(&peer->parked);
    nic->peers[rank] = peer;
    return peer;
}

/* Under nic->lock. */
static void busy(struct tcp_nic *nic, struct tcp_peer *peer)
{
    if (!list_node_linked(&peer->node))
        list_append(&nic->busy, &peer->node);
    tcp_order(nic);
}

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
    peer->vi = vi;
    peer->called = false;
    list_append(&peer->waiting, &vi->node);
    busy(nic, peer);
    return vi;
}

static void session_free(struct tcp_vi *vi)
{
    tcp_writer_forget(vi);
    tcp_queue_drop(&vi->queue);
    free(vi->posted);
    free(vi);
}

/* ---- the caller's operations ---------------------------------------------------------------------------------------- */

/* The address pairs for a card, in fresh memory. */
static int pairs_for(struct tcp_nic *nic, uint32_t rank, const char *card, struct tcp_pair **pair, int *pairs)
{
    struct tcp_cards cards;
    int error = tcp_cards_parse(card, &cards), rails;

    if (error)
        return error;
    *pair = calloc(TCP_PAIRS, sizeof(**pair));
    if (!*pair)
        return vbase_fail(ERR_MEMORY, "the addresses of rank %u", rank);
    *pairs = tcp_cards_match(&nic->cards, &cards, nic->nic.rank < rank, *pair, TCP_PAIRS, &rails);
    if (*pairs > 0)
        return OK;
    free(*pair);
    return vbase_fail(ERR_UNREACHABLE, "no address of this host goes with one of rank %u (%s and %s)", rank, nic->card, card);
}

static int judge_rank(const struct tcp_nic *nic, uint32_t rank)
{
    if (rank >= nic->ranks)
        return vbase_fail(ERR_UNREACHABLE, "tcp: rank %u is not in this job of %u", rank, nic->ranks);
    if (rank == nic->nic.rank)
        return vbase_fail(ERR_UNREACHABLE, "tcp: rank %u is this process itself", rank);
    return OK;
}

/* Under nic->lock. Without a card only a peer who has called can be had. */
static int open_session(struct tcp_nic *nic, uint32_t rank, struct tcp_pair *pair, int pairs, void *owner, struct vi **out)
{
    struct tcp_peer *peer = tcp_peer_make(nic, rank);

    if (!peer)
        return vbase_fail(ERR_MEMORY, "rank %u", rank);
    if (pair) {
        free(peer->pair);
        peer->pair = pair;
        peer->pairs = pairs;
        peer->pair_at = 0;
    }
    if (!peer->vi && !peer->pair && list_empty(&peer->parked))
        return vbase_fail(ERR_UNREACHABLE, "tcp: no card of rank %u, and it has not called", rank);
    if (!peer->vi && !session_make(nic, peer, owner))
        return vbase_fail(ERR_MEMORY, "a connection to rank %u", rank);
    *out = &peer->vi->vi;
    return OK;
}

int tcp_connect(struct vi_nic *base, const struct vi_address *to, void *owner, struct vi **out)
{
    struct tcp_nic *nic = tcp_nic_of(base);
    struct tcp_pair *pair = NULL;
    int error = judge_rank(nic, to->peer), pairs = 0;

    if (!error && to->private_lane)
        error = vbase_fail(ERR_UNSUPPORTED, "tcp: private lanes");
    if (!error && to->card)
        error = pairs_for(nic, to->peer, to->card, &pair, &pairs);
    if (error)
        return error;
    base_lock(&nic->lock);
    error = open_session(nic, to->peer, pair, pairs, owner, out);
    base_unlock(&nic->lock);
    return error;
}

int tcp_accept(struct vi_nic *base, uint32_t rank, void *owner, struct vi **out)
{
    struct tcp_nic *nic = tcp_nic_of(base);
    int error = judge_rank(nic, rank);
    struct tcp_peer *peer;

    if (error)
        return error;
    base_lock(&nic->lock);
    peer = nic->peers[rank];
    if (!peer || (!peer->vi && list_empty(&peer->parked)))
        error = vbase_fail(ERR_NOT_FOUND, "tcp: rank %u has not called", rank);
    else
        error = open_session(nic, rank, NULL, 0, owner, out);
    base_unlock(&nic->lock);
    return error;
}

void tcp_disconnect(struct vi *base)
{
    struct tcp_vi *vi = tcp_vi_of(base);
    struct tcp_nic *nic = tcp_nic_of(base->nic);

    base_lock(&nic->lock);
    vi->open = false;
    vi->peer->vi = NULL;
    base_lock(&vi->lock);
    if (!list_node_linked(&vi->node))
        list_append(&nic->closed, &vi->node);
    else if (tcp_queue_lent(&vi->queue) != TCP_NEVER) { /* it waits for a link; the memory of its puts does not */
        tcp_queue_drop(&vi->queue);
        atomic_store_explicit(&vi->sent, 0, memory_order_relaxed);
    }
    base_unlock(&vi->lock);
    busy(nic, vi->peer);
    base_unlock(&nic->lock);
}

/* ---- the end of a session ------------------------------------------------------------------------------------------- */

/* Freed at the end of this poll: somebody up the stack may still look at it. Under nic->lock. */
static void session_bury(struct tcp_nic *nic, struct tcp_vi *vi)
{
    if (list_node_linked(&vi->node))
        list_remove(&vi->node);
    list_append(&nic->gone_vis, &vi->node);
}

void tcp_vi_break(struct tcp_nic *nic, struct tcp_vi *vi, int cause)
{
    struct tcp_link *link = vi->link;
    bool open;

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
    open = vi->open;
    busy(nic, vi->peer);
    if (!open && vi->leaving)
        session_bury(nic, vi);
    base_unlock(&nic->lock);
    if (!open)
        return;
    tcp_completed(nic, vi, ERR_LINK_DOWN);
    nic->told++;
    nic->nic.sink.down(&vi->vi, cause);
}

/* A disconnected session says goodbye and leaves when its queue is sent. The memory of a put is not ours any more: then
 * the link ends here and now. */
static void see_off(struct tcp_nic *nic, struct tcp_vi *vi)
{
    bool done = vi->leaving;

    vi->leaving = true;
    base_lock(&nic->lock);
    if (!vi->link)
        session_bury(nic, vi);
    else if (!list_node_linked(&vi->node))
        list_append(&nic->leaving, &vi->node);
    base_unlock(&nic->lock);
    if (done || !vi->link)
        return;
    vi->link->phase = TCP_LEAVING;
    tcp_stage_drop(nic, vi->link);
    tcp_say(vi, TCP_GOODBYE, 0);
    if (tcp_queue_lent(&vi->queue) != TCP_NEVER || !tcp_flush(vi))
        tcp_vi_break(nic, vi, ERR_LINK_DOWN);
}

static void closed_step(struct tcp_nic *nic)
{
    for (;;) {
        struct list_node *node;
        base_lock(&nic->lock);
        node = list_take_first(&nic->closed);
        base_unlock(&nic->lock);
        if (!node)
            return;
        see_off(nic, container_of(node, struct tcp_vi, node));
    }
}

/* ---- links and sessions come together ------------------------------------------------------------------------------- */

static void attach(struct tcp_nic *nic, struct tcp_vi *vi, struct tcp_link *link)
{
    link->vi = vi;
    link->phase = TCP_UP;
    link->deadline = TCP_NEVER;
    base_lock(&vi->lock);
    vi->link = link;
    vi->epoch = link->epoch;
    vi->fd = link->fd;
    base_unlock(&vi->lock);
    tcp_watch(nic, link, EPOLLIN);
    tcp_hot(nic, link);
    if (!tcp_flush(vi)) {
        tcp_vi_break(nic, vi, ERR_LINK_DOWN);
    } else if (!atomic_load_explicit(&vi->open, memory_order_relaxed)) {
        see_off(nic, vi);
    } else {
        list_append(&nic->unread, &link->unread); /* looked at in this poll: something may have come already */
    }
}

/* What one step finds to do. */
struct step {
    struct tcp_vi *attach;
    struct tcp_link *link;
    bool dial, call;
};

/* Under nic->lock. True: there was something. */
static bool find_step(struct tcp_peer *peer, uint64_t now, struct step *step)
{
    struct list_node *waiting = list_first(&peer->waiting), *parked = list_first(&peer->parked);
    struct tcp_vi *vi = waiting ? container_of(waiting, struct tcp_vi, node) : NULL;

    *step = (struct step){0};
    if (vi && parked) {
        list_remove(waiting);
        list_remove(parked);
        peer->parked_count--;
        step->attach = vi;
        step->link = container_of(parked, struct tcp_link, node);
    } else if (vi && !peer->dial && peer->pair && now >= peer->dial_at) {
        step->dial = true;
    } else if (!vi && parked && !peer->called && !peer->vi) {
        step->call = peer->called = true;
    }
    return step->attach || step->dial || step->call;
}

static void peer_step(struct tcp_nic *nic, struct tcp_peer *peer, uint64_t now)
{
    struct step step;
    bool more;

    do {
        base_lock(&nic->lock);
        more = find_step(peer, now, &step);
        if (step.dial)
            more = tcp_dial(nic, peer, now) != OK && peer->dial_at <= now;
        base_unlock(&nic->lock);
        if (step.attach)
            attach(nic, step.attach, step.link);
        if (step.call) {
            nic->told++;
            nic->nic.sink.called(&nic->nic, peer->rank);
        }
    } while (more);
}

/* Nothing but failures for too long: every session that waits ends. */
static void give_up(struct tcp_nic *nic, struct tcp_peer *peer)
{
    struct list_node *node;
    int cause = peer->cause;

    peer->failing = 0;
    (void)vbase_fail(cause, "rank %u is not reached: %s", peer->rank, peer->last);
    if (peer->dial)
        tcp_link_close(nic, peer->dial);
    peer->dial = NULL;
    for (;;) {
        base_lock(&nic->lock);
        node = list_take_first(&peer->waiting);
        base_unlock(&nic->lock);
        if (!node)
            return;
        struct tcp_vi *vi = container_of(node, struct tcp_vi, node);
        if (!atomic_load_explicit(&vi->open, memory_order_relaxed))
            vi->leaving = true;
        tcp_vi_break(nic, vi, cause);
    }
}

/* Timers of one peer: an old link that hides a new one, a call that takes too long, the end of patience. */
static void peer_times(struct tcp_nic *nic, struct tcp_peer *peer, uint64_t now)
{
    struct tcp_vi *vi;

    base_lock(&nic->lock);
    vi = peer->vi;
    base_unlock(&nic->lock);
    if (vi && vi->link && now >= vi->link->deadline) {
        (void)vbase_fail(ERR_LINK_DOWN, "rank %u has made a newer connection", peer->rank);
        tcp_vi_break(nic, vi, ERR_LINK_DOWN);
    }
    if (peer->dial && now >= peer->dial->deadline)
        tcp_dial_late(nic, peer, now);
    if (peer->failing && now >= peer->failing + GIVE_UP_NS && !list_empty(&peer->waiting))
        give_up(nic, peer);
}

/* Under nic->lock: still something to wait for? Sets the timer for it. */
static bool still_busy(struct tcp_nic *nic, struct tcp_peer *peer)
{
    bool waiting = !list_empty(&peer->waiting) && peer->pair;

    if (peer->dial)
        tcp_timer(nic, peer->dial->deadline);
    else if (waiting)
        tcp_timer(nic, peer->dial_at);
    if (peer->vi && peer->vi->link)
        tcp_timer(nic, peer->vi->link->deadline);
    return waiting || peer->dial || !list_empty(&peer->parked);
}

void tcp_peers_step(struct tcp_nic *nic, uint64_t now)
{
    struct list round;
    struct list_node *node;

    closed_step(nic);
    list_init(&round);
    base_lock(&nic->lock);
    while ((node = list_take_first(&nic->busy)))
        list_append(&round, node);
    while ((node = list_take_first(&round))) {
        struct tcp_peer *peer = container_of(node, struct tcp_peer, node);
        base_unlock(&nic->lock);
        peer_times(nic, peer, now);
        peer_step(nic, peer, now);
        base_lock(&nic->lock);
        if (still_busy(nic, peer) && !list_node_linked(&peer->node))
            list_append(&nic->busy, &peer->node);
    }
    base_unlock(&nic->lock);
    closed_step(nic);
}

/* A link with a newer epoch than any before: it is the connection now. */
void tcp_peer_commit(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
{
    struct tcp_peer *peer = link->peer;

    base_lock(&nic->lock);
    peer->epoch = link->epoch;
    peer->failing = 0;
    peer->attempts = 0;
    if (peer->dial && peer->dial != link)
        tcp_link_close(nic, peer->dial);
    peer->dial = NULL;
    link->phase = TCP_PARKED;
    tcp_watch(nic, link, 0);
    list_append(&peer->parked, &link->node);
    if (++peer->parked_count > PARKED_MOST) {
        peer->parked_count--;
        tcp_link_close(nic, container_of(list_first(&peer->parked), struct tcp_link, node));
    }
    if (peer->vi && peer->vi->link && peer->vi->link->deadline == TCP_NEVER)
        peer->vi->link->deadline = now + REPLACED_NS;
    busy(nic, peer);
    base_unlock(&nic->lock);
}

/* ---- the end of the nic --------------------------------------------------------------------------------------------- */

static void peer_close(struct tcp_nic *nic, struct tcp_peer *peer)
{
    struct list_node *node;

    if (peer->dial)
        tcp_link_close(nic, peer->dial);
    while ((node = list_first(&peer->parked)))
        tcp_link_close(nic, container_of(node, struct tcp_link, node));
    while ((node = list_take_first(&peer->waiting)))
        session_free(container_of(node, struct tcp_vi, node));
    free(peer->pair);
    free(peer);
}

/* Sessions that still leave have one last try; nobody is waited for. What lies unread is taken from the socket, lest
 * closing it resets what was sent last. */
static void leave_now(struct tcp_nic *nic, struct tcp_vi *vi)
{
    char dropped[4096];

    (void)tcp_flush(vi);
    while (recv(vi->link->fd, dropped, sizeof(dropped), MSG_DONTWAIT) > 0)
        ;
    tcp_vi_break(nic, vi, ERR_LINK_DOWN);
}

void tcp_peers_bury(struct tcp_nic *nic)
{
    struct list_node *node;

    while ((node = list_take_first(&nic->gone_vis)))
        session_free(container_of(node, struct tcp_vi, node));
    while ((node = list_take_first(&nic->gone)))
        free(container_of(node, struct tcp_link, node));
}

void tcp_peers_close(struct tcp_nic *nic)
{
    struct list_node *node;

    closed_step(nic);
    while ((node = list_first(&nic->leaving)))
        leave_now(nic, container_of(node, struct tcp_vi, node));
    for (uint32_t i = 0; nic->peers && i < nic->ranks; i++)
        if (nic->peers[i])
            peer_close(nic, nic->peers[i]);
    tcp_peers_bury(nic);
    free(nic->peers);
}
