/* Peers: links and sessions (session.c) come together here, and the sink is told.
 *
 * A proven link over a rail comes from our call or from theirs. Where both are under way, the lower rank decides, at
 * one moment: as caller by sending its proof, as called by its verdict; the other side follows. The epoch decides which
 * link is newer: each side takes only links that are newer than the newest it knows of that rail.
 *
 * Proven links wait at the peer, oldest first, and so do sessions (vis) that have none; the first of both go together,
 * whatever rail the link is of. For links that are left the sink is told that the peer calls: each may become one more
 * session, except where one over the same rail is open still.
 * tcp_peers_step does whatever can be done now and is called again when something changed: it never waits.
 *
 * A link that a newer one replaces is read to its end, for its other side has closed it: what was sent before lies here
 * already. Fallback connections are closed once the preferred pairs are connected. */
#include "vi/tcp/tcp.h"
#include <linux/tcp.h>
#include <poll.h>

#define PARKED_MOST   (CALL_PAIRS + 4)

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
    for (uint32_t i = 0; i < CALL_PAIRS; i++) {
        peer->rail[i].number = i;
        peer->rail[i].peer = peer;
    }
    nic->peers[rank] = peer;
    return peer;
}

/* Under nic->lock. */
void tcp_peer_busy(struct tcp_nic *nic, struct tcp_peer *peer)
{
    list_enter(&nic->busy, &peer->node);
    tcp_order(nic);
}

/* Under nic->lock. */
bool tcp_peer_carried(const struct tcp_peer *peer)
{
    for (uint32_t i = 0; i < CALL_PAIRS; i++)
        if (peer->rail[i].vi && peer->rail[i].vi->link)
            return true;
    return false;
}

/* Under nic->lock. */
struct tcp_link *tcp_peer_parked(const struct tcp_peer *peer)
{
    list_for_each(node, &peer->parked) {
        struct tcp_link *link = container_of(node, struct tcp_link, node);
        if (!link->rail->vi)
            return link;
    }
    return NULL;
}

/* ---- links and sessions come together ---------------------------------------------------------------------------- */

/* Where there are several rails, data that is not sent yet stays with us and not in the socket: another rail may take
 * it. */
static void rails_several(const struct tcp_peer *peer)
{
    int fd[CALL_PAIRS], count = 0;
    for (uint32_t i = 0; i < CALL_PAIRS; i++)
        if (peer->rail[i].link && peer->rail[i].link->phase == TCP_UP)
            fd[count++] = peer->rail[i].link->fd;
    for (int i = 0; count > 1 && i < count; i++)
        call_option(fd[i], IPPROTO_TCP, TCP_NOTSENT_LOWAT, (int)TUNED(TCP_UNSENT));
}

static void vi_attach(struct tcp_nic *nic, struct tcp_vi *vi, struct tcp_link *link)
{
    link->vi = vi;
    link->phase = TCP_UP;
    vi->vi.name = (uint64_t)link->rail->number << 32 | link->epoch;
    tcp_path(nic, vi, link->fd);
    if (vi->near) /* no congestion on one host: a congestion control that estimates rates and paces, where it is the
                   * default, only costs time */
        setsockopt(link->fd, IPPROTO_TCP, TCP_CONGESTION, "reno", sizeof("reno") - 1);
    base_lock(&vi->lock);
    vi->link = link;
    vi->fd = link->fd;
    base_unlock(&vi->lock);
    base_lock(&nic->lock);
    list_append(&nic->up, &vi->up);
    base_unlock(&nic->lock);
    rails_several(link->peer);
    COUNT(rails);
    LOG_INFO("rail %u to rank %u is up: %s", link->rail->number, link->peer->rank, vi->path);
    tcp_watch(nic, link, EPOLLIN);
    tcp_hot(nic, link);
    if (nic->nic.sink.up && atomic_load_explicit(&vi->open, memory_order_relaxed))
        nic->nic.sink.up(&vi->vi);
    if (!tcp_flush(vi)) {
        tcp_vi_break(nic, vi, ERR_LINK_DOWN);
    } else if (!atomic_load_explicit(&vi->open, memory_order_relaxed)) {
        tcp_session_leave(nic, vi);
    } else {
        list_append(&nic->unread, &link->unread); /* read in this poll: something may have come already */
    }
}

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

/* True: there was something to do. */
static bool peer_step(struct tcp_nic *nic, struct tcp_peer *peer, uint64_t now)
{
    struct tcp_rail *due = NULL;
    bool call = false;
    base_lock(&nic->lock);
    struct list_node *waiting = list_first(&peer->waiting);
    struct tcp_link *link = tcp_peer_parked(peer);
    struct tcp_vi *vi = waiting && link ? container_of(waiting, struct tcp_vi, node) : NULL;
    if (!vi && (waiting || tcp_peer_carried(peer)))
        (void)tcp_rails_look(peer, now, &due);
    if (vi)
        bring_together(peer, vi, link);
    else if (due)
        tcp_rail_dial(nic, due, now);
    else if (!waiting && link && !peer->called && !(peer->vi && !peer->vi->rail))
        call = peer->called = true;
    base_unlock(&nic->lock);
    if (vi)
        vi_attach(nic, vi, link);
    if (call) {
        nic->told++;
        nic->nic.sink.called(&nic->nic, peer->rank);
    }
    return vi || due || call;
}

static void dials_end(struct tcp_nic *nic, struct tcp_peer *peer)
{
    for (uint32_t i = 0; i < CALL_PAIRS; i++)
        if (peer->rail[i].dial) {
            tcp_link_close(nic, peer->rail[i].dial);
            peer->rail[i].dial = NULL;
        }
}

/* Which peer is not reached, and why: one of our calls failed last. */
static int death_cause(const struct tcp_peer *peer)
{
    char address[INET6_ADDRSTRLEN];
    call_address_text(&peer->rail[0].pair.theirs.address, address, sizeof(address));
    return vbase_fail(peer->cause, "no rail to rank %u on %s (%s) for %.3g s; the last error: %s", peer->rank,
                      peer->host[0] ? peer->host : "its host", address, (double)vbase_settings.patience / 1e9,
                      tcp_rail_last(peer->failed));
}

/* Only failures for too long: every session that waits ends. */
static void give_up(struct tcp_nic *nic, struct tcp_peer *peer)
{
    int cause = OK;
    for (;;) {
        base_lock(&nic->lock);
        struct list_node *node = list_take_first(&peer->waiting);
        base_unlock(&nic->lock);
        if (!node)
            return;
        if (!cause) {
            cause = death_cause(peer);
            dials_end(nic, peer);
        }
        struct tcp_vi *vi = container_of(node, struct tcp_vi, node);
        if (!atomic_load_explicit(&vi->open, memory_order_relaxed))
            vi->leaving = true;
        tcp_vi_break(nic, vi, cause);
    }
}

/* A fallback pair may have connected first. When the preferred ones are connected, it would only share their cards. */
static void last_resort_drop(struct tcp_nic *nic, struct tcp_peer *peer)
{
    struct tcp_link *last = NULL;
    uint32_t up = 0;
    for (uint32_t i = 0; i < peer->pairs; i++)
        if (peer->rail[i].link && peer->rail[i].link->phase == TCP_UP) {
            up++;
            last = i >= peer->most ? peer->rail[i].link : NULL;
        }
    if (!last || up <= peer->most)
        return;
    (void)vbase_fail(ERR_LINK_DOWN, "better pairs of cards are up than %s", last->vi->path);
    tcp_vi_break(nic, last->vi, ERR_LINK_DOWN);
}

/* A call that got through while nobody looked is not late, however long that was. */
static bool call_is_late(const struct tcp_link *dial, uint64_t now)
{
    struct pollfd through = {.fd = dial->fd, .events = POLLOUT};
    return now >= dial->deadline && poll(&through, 1, 0) == 0;
}

static void peer_times(struct tcp_nic *nic, struct tcp_peer *peer, uint64_t now)
{
    bool heard = false; /* the listener answers, the rank may be computing */
    for (uint32_t i = 0; i < CALL_PAIRS; i++) {
        struct tcp_rail *rail = &peer->rail[i];
        if (rail->dial && call_is_late(rail->dial, now))
            tcp_rail_failed(nic, rail, ETIMEDOUT, now);
        heard |= rail->dial && rail->dial->phase != TCP_DIALLING;
    }
    if (peer->cause && !heard && now >= peer->silent + vbase_settings.patience)
        give_up(nic, peer);
}

/* Under nic->lock: still something to wait for? Sets the timer for it. A call that has no deadline may fail, and is
 * made again. */
static bool peer_busy(struct tcp_nic *nic, struct tcp_peer *peer, uint64_t now)
{
    struct tcp_rail *due;
    uint64_t next = tcp_rails_look(peer, now, &due), end = peer->silent + vbase_settings.patience;
    bool busy = next != TCP_NEVER || !list_empty(&peer->waiting) || !list_empty(&peer->parked);
    for (uint32_t i = 0; i < CALL_PAIRS; i++)
        busy |= peer->rail[i].dial != NULL;
    tcp_timer(nic, next);
    if (end > now && !list_empty(&peer->waiting))
        tcp_timer(nic, end);
    return busy;
}

void tcp_peers_step(struct tcp_nic *nic, uint64_t now)
{
    struct list round;
    tcp_sessions_leave(nic);
    list_init(&round);
    base_lock(&nic->lock);
    list_move(&round, &nic->busy);
    list_take_each(node, &round) {
        struct tcp_peer *peer = container_of(node, struct tcp_peer, node);
        base_unlock(&nic->lock);
        peer_times(nic, peer, now);
        while (peer_step(nic, peer, now))
            ;
        last_resort_drop(nic, peer);
        base_lock(&nic->lock);
        if (peer_busy(nic, peer, now) && !list_node_linked(&peer->node))
            list_append(&nic->busy, &peer->node);
    }
    base_unlock(&nic->lock);
    tcp_sessions_leave(nic);
}

/* A link with a newer epoch than any before of its rail: it is the connection now. */
void tcp_peer_commit(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
{
    struct tcp_peer *peer = link->peer;
    struct tcp_rail *rail = link->rail;
    base_lock(&nic->lock);
    peer->silent = now;
    peer->cause = OK;
    rail->epoch = link->epoch;
    rail->attempts = 0;
    rail->dial_at = now;
    if (rail->dial && rail->dial != link)
        tcp_link_close(nic, rail->dial);
    rail->dial = NULL;
    if (rail->link && rail->link->phase == TCP_UP)
        shutdown(rail->link->fd, SHUT_RD); /* its end comes behind what lies here already */
    rail->link = link;
    link->phase = TCP_PARKED;
    tcp_watch(nic, link, 0);
    list_append(&peer->parked, &link->node);
    if (++peer->parked_count > PARKED_MOST) {
        peer->parked_count--;
        tcp_link_close(nic, container_of(list_first(&peer->parked), struct tcp_link, node));
    }
    tcp_peer_busy(nic, peer);
    base_unlock(&nic->lock);
}

/* ---- the end of the nic ------------------------------------------------------------------------------------------ */

static void peer_close(struct tcp_nic *nic, struct tcp_peer *peer)
{
    dials_end(nic, peer);
    list_take_each(node, &peer->parked)
        tcp_link_close(nic, container_of(node, struct tcp_link, node));
    list_take_each(node, &peer->waiting)
        tcp_session_free(container_of(node, struct tcp_vi, node));
    for (uint32_t i = 0; i < CALL_PAIRS; i++)
        free(peer->rail[i].last);
    free(peer);
}

/* Sessions that still leave have one last try; no peer is waited for. What lies unread is taken from the socket, lest
 * closing it resets what was sent last. */
static void leave_now(struct tcp_nic *nic, struct tcp_vi *vi)
{
    char dropped[4096];
    (void)tcp_flush(vi);
    while (recv(vi->link->fd, dropped, sizeof(dropped), MSG_DONTWAIT) > 0)
        ;
    tcp_vi_break(nic, vi, ERR_LINK_DOWN);
}

void tcp_gone_free(struct tcp_nic *nic)
{
    list_take_each(node, &nic->gone_vis)
        tcp_session_free(container_of(node, struct tcp_vi, node));
    list_take_each(node, &nic->gone)
        free(container_of(node, struct tcp_link, node));
}

void tcp_peers_close(struct tcp_nic *nic)
{
    struct list_node *node;
    tcp_sessions_leave(nic);
    while ((node = list_first(&nic->up)))
        leave_now(nic, container_of(node, struct tcp_vi, up));
    for (uint32_t i = 0; nic->peers && i < nic->ranks; i++)
        if (nic->peers[i])
            peer_close(nic, nic->peers[i]);
    tcp_gone_free(nic);
    free(nic->peers);
}
