/* Peers and sessions: who has a connection, who waits for one, who is told what.
 *
 * Two ways lead to a proven link over a rail: our call and theirs. Where both are under way, the lower rank decides, at
 * one moment: as caller by sending its proof, as called by its verdict; the other side follows. What decides is the
 * epoch: each side takes only links that are newer than the newest it knows of that rail.
 *
 * Proven links wait at the peer, oldest first, and so do sessions (vis) that have none; the first of both go together,
 * whatever rail the link is of. For links that are left the sink is told that the peer calls: each may become one more
 * session, except where one over the same rail is open still.
 * tcp_peers_step does whatever can be done now and is called again when something changed: it never waits.
 *
 * A session that is disconnected while it still waits for a link keeps waiting, to send what it was given and to say
 * goodbye: the other side may have opened its half. A link that a newer one replaces is read to its end: its other side has
 * closed it. */
#include "vi/tcp/tcp.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/log.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#define AGAIN_NS      50000000ull    /* then a lost rail is called again, if another carries */
#define GIVE_UP_NS    30000000000ull /* of nothing but failures */
#define DRAIN_NS      1000000ull     /* between two looks whether a link that a newer one replaced is read to its end */
#define UNSENT_MOST   (128 << 10)    /* bytes in a socket, with several rails */
#define PARKED_MOST   (TCP_PAIRS + 4)

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
    if (!peer->vi) {
        peer->vi = vi;
        peer->since = vbase_clock_ns();
    }
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

/* The pairs of cards that may reach the owner of CARD. */
static int pairs_for(const struct tcp_nic *nic, uint32_t rank, const char *card, struct tcp_pair pair[TCP_PAIRS],
                     int *pairs, int *rails)
{
    struct tcp_cards cards;
    int error = tcp_cards_parse(card, &cards);

    if (error)
        return error;
    *pairs = tcp_cards_match(&nic->cards, &cards, nic->nic.rank < rank, pair, TCP_PAIRS, rails);
    return *pairs > 0 ? OK : vbase_fail(ERR_UNREACHABLE, "no address of this host goes with one of rank %u (%s and %s)",
                                        rank, nic->card, card);
}

/* Under nic->lock. */
static int peer_pairs(struct tcp_peer *peer, const struct tcp_pair *pair, int pairs, int rails)
{
    for (int i = 0; i < pairs; i++) {
        struct tcp_rail *rail = tcp_rail_make(peer, (uint32_t)i);
        if (!rail)
            return vbase_fail(ERR_MEMORY, "the ways to rank %u", peer->rank);
        if (!rail->dial)
            rail->pair = pair[i];
    }
    peer->pairs = (uint32_t)pairs;
    peer->most = (uint32_t)rails;
    return OK;
}

static int judge_rank(const struct tcp_nic *nic, uint32_t rank)
{
    if (rank >= nic->ranks)
        return vbase_fail(ERR_UNREACHABLE, "tcp: rank %u is not in this job of %u", rank, nic->ranks);
    if (rank == nic->nic.rank)
        return vbase_fail(ERR_UNREACHABLE, "tcp: rank %u is this process itself", rank);
    return OK;
}

/* Under nic->lock: the oldest link that a session may have. */
static struct tcp_link *link_to_take(const struct tcp_peer *peer)
{
    list_for_each(node, &peer->parked) {
        struct tcp_link *link = container_of(node, struct tcp_link, node);
        if (!link->rail->vi)
            return link;
    }
    return NULL;
}

int tcp_connect(struct vi_nic *base, const struct vi_address *to, void *owner, struct vi **out)
{
    struct tcp_nic *nic = tcp_nic_of(base);
    struct tcp_pair pair[TCP_PAIRS];
    struct tcp_peer *peer;
    int error = judge_rank(nic, to->peer), pairs = 0, rails = 0;

    if (!error && to->private_lane)
        error = vbase_fail(ERR_UNSUPPORTED, "tcp: private lanes");
    if (!error && to->card)
        error = pairs_for(nic, to->peer, to->card, pair, &pairs, &rails);
    if (error)
        return error;
    base_lock(&nic->lock);
    peer = tcp_peer_make(nic, to->peer);
    if (!peer)
        error = vbase_fail(ERR_MEMORY, "rank %u", to->peer);
    else if (pairs > 0 && !peer->vi)
        error = peer_pairs(peer, pair, pairs, rails);
    if (!error && !peer->vi && peer->pairs == 0 && list_empty(&peer->parked))
        error = vbase_fail(ERR_UNREACHABLE, "tcp: no card of rank %u, and it has not called", to->peer);
    if (!error && !peer->vi && !session_make(nic, peer, owner))
        error = vbase_fail(ERR_MEMORY, "a connection to rank %u", to->peer);
    if (!error)
        *out = &peer->vi->vi;
    base_unlock(&nic->lock);
    return error;
}

/* A session that waits takes the link that calls; where none does it gets one of its own. */
int tcp_accept(struct vi_nic *base, uint32_t rank, void *owner, struct vi **out)
{
    struct tcp_nic *nic = tcp_nic_of(base);
    int error = judge_rank(nic, rank);
    struct tcp_vi *vi = NULL;
    struct tcp_peer *peer;

    if (error)
        return error;
    base_lock(&nic->lock);
    peer = nic->peers[rank];
    if (peer && peer->vi && (peer->vi->rail == NULL || !link_to_take(peer)))
        vi = peer->vi;
    else if (!peer || !link_to_take(peer))
        error = vbase_fail(ERR_NOT_FOUND, "tcp: rank %u has not called", rank);
    else if (!(vi = session_make(nic, peer, owner)))
        error = vbase_fail(ERR_MEMORY, "a connection to rank %u", rank);
    if (!error)
        *out = &vi->vi;
    base_unlock(&nic->lock);
    return error;
}

void tcp_disconnect(struct vi *base)
{
    struct tcp_vi *vi = tcp_vi_of(base);
    struct tcp_nic *nic = tcp_nic_of(base->nic);

    base_lock(&nic->lock);
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

/* Under nic->lock: an open session has a link. */
static bool carried(const struct tcp_peer *peer)
{
    for (uint32_t i = 0; i < TCP_PAIRS; i++)
        if (peer->rail[i] && peer->rail[i]->vi && peer->rail[i]->vi->link)
            return true;
    return false;
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
    base_lock(&nic->lock);
    if (list_node_linked(&vi->up))
        list_remove(&vi->up);
    base_unlock(&nic->lock);
    if (link)
        tcp_link_close(nic, link);
    base_lock(&nic->lock);
    if (vi->rail && carried(vi->peer))
        vi->rail->dial_at = vbase_clock_ns() + AGAIN_NS;
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
    if (vi->rail->link == vi->link)
        vi->rail->link = NULL; /* no rail any more: the next session makes another one */
    tcp_stage_drop(nic, vi->link);
    if (!vi->vi.abrupt)
        tcp_say(vi, TCP_GOODBYE, 0);
    if (vi->vi.abrupt || tcp_queue_lent(&vi->queue) != TCP_NEVER || !tcp_flush(vi))
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

/* Where there are several rails what is not sent is better off with us: another one may take it. */
static void several(const struct tcp_peer *peer)
{
    int most = UNSENT_MOST, count = 0;

    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < TCP_PAIRS; i++) {
            struct tcp_link *link = peer->rail[i] ? peer->rail[i]->link : NULL;
            if (!link || link->phase != TCP_UP)
                continue;
            count += round == 0;
            if (round == 1 && count > 1)
                setsockopt(link->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof(most));
        }
}

static void attach(struct tcp_nic *nic, struct tcp_vi *vi, struct tcp_link *link)
{
    link->vi = vi;
    link->phase = TCP_UP;
    vi->vi.name = (uint64_t)link->rail->number << 32 | link->epoch;
    link->deadline = TCP_NEVER;
    base_lock(&nic->lock);
    list_append(&nic->up, &vi->up);
    base_unlock(&nic->lock);
    base_lock(&vi->lock);
    vi->link = link;
    vi->epoch = link->epoch;
    vi->fd = link->fd;
    base_unlock(&vi->lock);
    vi->card = (int8_t)tcp_path(nic, link->fd, vi->path, sizeof(vi->path));
    several(link->peer);
    COUNT(rails);
    LOG_INFO("rail %u to rank %u is up: %s", link->rail->number, link->peer->rank, vi->path);
    tcp_watch(nic, link, EPOLLIN);
    tcp_hot(nic, link);
    if (nic->nic.sink.up && atomic_load_explicit(&vi->open, memory_order_relaxed))
        nic->nic.sink.up(&vi->vi);
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

/* Under nic->lock: VI, which waits, gets LINK, which does. */
static void bring_together(struct tcp_peer *peer, struct tcp_vi *vi, struct tcp_link *link)
{
    list_remove(&vi->node);
    list_remove(&link->node);
    peer->parked_count--;
    vi->rail = link->rail;
    if (atomic_load_explicit(&vi->open, memory_order_relaxed))
        link->rail->vi = vi;
}

/* Under nic->lock. True: there was something. */
static bool find_step(struct tcp_nic *nic, struct tcp_peer *peer, uint64_t now, struct step *step)
{
    struct list_node *waiting = list_first(&peer->waiting);
    struct tcp_link *link = link_to_take(peer);
    struct tcp_rail *rail = waiting || carried(peer) ? tcp_rail_due(peer, now) : NULL;

    *step = (struct step){0};
    if (waiting && link) {
        step->attach = container_of(waiting, struct tcp_vi, node);
        step->link = link;
        bring_together(peer, step->attach, link);
    } else if (rail) {
        tcp_rail_dial(nic, rail, now);
        step->dial = true;
    } else if (!waiting && link && !peer->called && !(peer->vi && !peer->vi->rail)) {
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
        more = find_step(nic, peer, now, &step);
        base_unlock(&nic->lock);
        if (step.attach)
            attach(nic, step.attach, step.link);
        if (step.call) {
            nic->told++;
            nic->nic.sink.called(&nic->nic, peer->rank);
        }
    } while (more);
}

static void dials_end(struct tcp_nic *nic, struct tcp_peer *peer)
{
    for (uint32_t i = 0; i < TCP_PAIRS; i++)
        if (peer->rail[i] && peer->rail[i]->dial) {
            tcp_link_close(nic, peer->rail[i]->dial);
            peer->rail[i]->dial = NULL;
        }
}

/* Nothing but failures for too long: every session that waits ends. */
static void give_up(struct tcp_nic *nic, struct tcp_peer *peer)
{
    struct list_node *node;
    int cause = peer->cause;

    peer->failing = 0;
    (void)vbase_fail(cause, "rank %u is not reached: %s", peer->rank, peer->last);
    dials_end(nic, peer);
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

/* What he sent before he closed it is read first; it lies here already, for the newer link was made after that. */
static bool drained(const struct tcp_link *link)
{
    int unread = 0;

    return !list_node_linked(&link->unread) && (ioctl(link->fd, FIONREAD, &unread) < 0 || unread == 0);
}

/* Timers of one rail: an old link that hides a new one, a call that takes too long. True: somebody listens there, perhaps
 * he computes. */
static bool rail_times(struct tcp_nic *nic, struct tcp_rail *rail, uint64_t now)
{
    if (rail->old && now >= rail->old->deadline && !drained(rail->old)) {
        rail->old->deadline = now + DRAIN_NS;
    } else if (rail->old && now >= rail->old->deadline) {
        (void)vbase_fail(ERR_LINK_DOWN, "rank %u has made a newer connection", rail->peer->rank);
        tcp_vi_break(nic, rail->old->vi, ERR_LINK_DOWN);
    }
    if (rail->dial && now >= rail->dial->deadline)
        tcp_rail_failed(nic, rail, ETIMEDOUT, now);
    return rail->dial && rail->dial->phase != TCP_DIALLING;
}

static void peer_times(struct tcp_nic *nic, struct tcp_peer *peer, uint64_t now)
{
    bool heard = false;

    for (uint32_t i = 0; i < TCP_PAIRS; i++)
        if (peer->rail[i])
            heard |= rail_times(nic, peer->rail[i], now);
    if (peer->failing && !heard && now >= peer->failing + GIVE_UP_NS && !list_empty(&peer->waiting))
        give_up(nic, peer);
}

/* Under nic->lock: still something to wait for? Sets the timer for it. */
static bool still_busy(struct tcp_nic *nic, struct tcp_peer *peer, uint64_t now)
{
    uint64_t next = tcp_rails_next(peer, now);

    tcp_timer(nic, next);
    return next != TCP_NEVER || !list_empty(&peer->waiting) || !list_empty(&peer->parked);
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
        if (still_busy(nic, peer, now) && !list_node_linked(&peer->node))
            list_append(&nic->busy, &peer->node);
    }
    base_unlock(&nic->lock);
    closed_step(nic);
}

/* A link with a newer epoch than any before of its rail: it is the connection now. */
void tcp_peer_commit(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
{
    struct tcp_peer *peer = link->peer;
    struct tcp_rail *rail = link->rail;

    base_lock(&nic->lock);
    peer->failing = 0;
    rail->epoch = link->epoch;
    rail->attempts = 0;
    rail->dial_at = now;
    if (rail->dial && rail->dial != link)
        tcp_link_close(nic, rail->dial);
    rail->dial = NULL;
    if (rail->link && rail->link->phase == TCP_UP) {
        rail->old = rail->link;
        rail->old->deadline = now;
    }
    rail->link = link;
    link->phase = TCP_PARKED;
    tcp_watch(nic, link, 0);
    list_append(&peer->parked, &link->node);
    if (++peer->parked_count > PARKED_MOST) {
        peer->parked_count--;
        tcp_link_close(nic, container_of(list_first(&peer->parked), struct tcp_link, node));
    }
    busy(nic, peer);
    base_unlock(&nic->lock);
}

/* ---- the end of the nic --------------------------------------------------------------------------------------------- */

static void peer_close(struct tcp_nic *nic, struct tcp_peer *peer)
{
    struct list_node *node;

    dials_end(nic, peer);
    while ((node = list_first(&peer->parked)))
        tcp_link_close(nic, container_of(node, struct tcp_link, node));
    while ((node = list_take_first(&peer->waiting)))
        session_free(container_of(node, struct tcp_vi, node));
    for (uint32_t i = 0; i < TCP_PAIRS; i++)
        free(peer->rail[i]);
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
