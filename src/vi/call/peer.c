/* Peers: links and sessions (session.c) come together here, and the sink is told.
 *
 * A proven link over a rail comes from our call or from theirs. The epoch decides which link is newer: each side takes
 * only links that are newer than the newest it knows of that rail, and its own call is known from the proof on. Where
 * two of one epoch are under way, the lower rank decides, at one moment: as caller by sending its proof, as called by
 * its verdict; the other side follows.
 *
 * Proven links wait at the peer, oldest first, and so do sessions (vis) that have none; the first of both go together,
 * whatever rail the link is of. For links that are left the sink is told that the peer calls: each may become one more
 * session, except where one over the same rail is open still.
 * call_peers_step does whatever can be done now and is called again when something changed: it never waits.
 *
 * A rank that computes, or is stopped, for longer than its patience comes back to timers that are long due: that time
 * does not count, so it calls again before it gives up.
 *
 * A link that a newer one replaces is read to its end, for its other side has closed it: what was sent before lies here
 * already. Fallback connections are closed once the preferred pairs are connected. */
#include "vi/call/call.h"
#include <poll.h>

#define PARKED_MOST   (CALL_PAIRS + 4)

struct call_peer *call_peer_make(struct call_nic *nic, uint32_t rank)
{
    struct call_peer *peer = nic->peers[rank];
    if (peer)
        return peer;
    peer = calloc(1, sizeof(*peer));
    if (!peer)
        return NULL;
    peer->nic = nic;
    peer->rank = rank;
    list_init(&peer->waiting);
    list_init(&peer->parked);
    for (uint32_t i = 0; i < CALL_PAIRS; i++) {
        peer->rail[i].number = nic->provider->number * CALL_PAIRS + i;
        peer->rail[i].peer = peer;
    }
    nic->peers[rank] = peer;
    return peer;
}

/* Under nic->lock. */
void call_peer_busy(struct call_peer *peer)
{
    list_enter(&peer->nic->busy, &peer->node);
    call_order(peer->nic);
}

/* Under nic->lock. */
bool call_peer_carried(const struct call_peer *peer)
{
    for (uint32_t i = 0; i < CALL_PAIRS; i++)
        if (peer->rail[i].vi && peer->rail[i].vi->link)
            return true;
    return false;
}

/* Under nic->lock. */
struct call_link *call_peer_parked(const struct call_peer *peer)
{
    list_for_each(node, &peer->parked) {
        struct call_link *link = container_of(node, struct call_link, node);
        if (!link->rail->vi)
            return link;
    }
    return NULL;
}

/* ---- links and sessions come together ---------------------------------------------------------------------------- */

/* Under nic->lock: VI, which waits, gets LINK, which does. */
static void bring_together(struct call_peer *peer, struct call_vi *vi, struct call_link *link)
{
    list_remove(&vi->node);
    list_remove(&link->node);
    peer->parked_count--;
    vi->rail = link->rail;
    link->vi = vi;
    if (atomic_load_explicit(&vi->open, memory_order_relaxed))
        link->rail->vi = vi;
}

/* True: there was something to do. */
static bool peer_step(struct call_nic *nic, struct call_peer *peer, uint64_t now)
{
    struct call_rail *due = NULL;
    bool call = false;
    base_lock(&nic->lock);
    struct list_node *waiting = list_first(&peer->waiting);
    struct call_link *link = call_peer_parked(peer);
    struct call_vi *vi = waiting && link ? container_of(waiting, struct call_vi, node) : NULL;
    if (!vi && (waiting || call_peer_carried(peer)))
        (void)call_rails_look(peer, now, &due);
    if (vi)
        bring_together(peer, vi, link);
    else if (due)
        call_rail_dial(due, now);
    else if (!waiting && link && !peer->called && !nic->closing && !(peer->vi && !peer->vi->rail))
        call = peer->called = true;
    base_unlock(&nic->lock);
    if (vi) {
        link->phase = CALL_UP;
        nic->provider->attach(vi, link);
        if (!atomic_load_explicit(&vi->open, memory_order_relaxed))
            call_leave(vi);
    }
    if (call) {
        nic->told++;
        nic->nic.sink.called(&nic->nic, peer->rank);
    }
    return vi || due || call;
}

static void dials_end(struct call_peer *peer)
{
    for (uint32_t i = 0; i < CALL_PAIRS; i++)
        if (peer->rail[i].dial) {
            call_link_close(peer->rail[i].dial);
            peer->rail[i].dial = NULL;
        }
}

/* Which peer is not reached, and why: one of our calls failed last. */
static int death_cause(const struct call_peer *peer)
{
    return vbase_fail(peer->cause, "no rail to rank %u on %s (%s) for %.3g s; the last error: %s", peer->rank,
                      peer->host[0] ? peer->host : "its host",
                      call_address_text(&peer->rail[0].pair.theirs.address).text,
                      (double)vbase_settings.patience / 1e9, call_rail_last(peer->failed));
}

/* Only failures for too long: every session that waits ends. */
static void give_up(struct call_peer *peer)
{
    struct call_nic *nic = peer->nic;
    int cause = OK;
    for (;;) {
        base_lock(&nic->lock);
        struct list_node *node = list_take_first(&peer->waiting);
        base_unlock(&nic->lock);
        if (!node)
            return;
        if (!cause) {
            cause = death_cause(peer);
            dials_end(peer);
        }
        struct call_vi *vi = container_of(node, struct call_vi, node);
        if (!atomic_load_explicit(&vi->open, memory_order_relaxed))
            vi->leaving = true;
        call_break(vi, cause);
    }
}

/* A fallback pair may have connected first. When the preferred ones are connected, it would only share their cards. */
static void last_resort_drop(struct call_peer *peer)
{
    struct call_link *last = NULL;
    uint32_t up = 0;
    for (uint32_t i = 0; i < peer->pairs; i++)
        if (peer->rail[i].link && peer->rail[i].link->phase == CALL_UP) {
            up++;
            last = i >= peer->most ? peer->rail[i].link : NULL;
        }
    if (!last || up <= peer->most)
        return;
    (void)vbase_fail(ERR_LINK_DOWN, "better pairs of cards are up than %s", last->vi->path);
    call_break(last->vi, ERR_LINK_DOWN);
}

/* A call that got through while nobody looked is not late, however long that was. */
static bool call_is_late(const struct call_link *dial, uint64_t now)
{
    struct pollfd through = {.fd = dial->fd, .events = POLLOUT};
    return now >= dial->deadline && poll(&through, 1, 0) == 0;
}

/* LATE: ns, for which nobody has looked. */
static void peer_times(struct call_peer *peer, uint64_t late, uint64_t now)
{
    bool heard = false; /* the listener answers, the rank may be computing */
    for (uint32_t i = 0; i < CALL_PAIRS; i++) {
        struct call_rail *rail = &peer->rail[i];
        if (rail->dial && call_is_late(rail->dial, now))
            call_rail_failed(rail, ETIMEDOUT, now);
        heard |= rail->dial && rail->dial->phase != CALL_DIALLING;
    }
    if (late)
        call_peer_excuse(peer, late, now);
    if (peer->cause && !heard && now >= peer->silent + vbase_settings.patience)
        give_up(peer);
}

/* Under nic->lock: still something to wait for? Sets the timer for it. A call that has no deadline may fail, and is
 * made again. */
static bool peer_busy(struct call_peer *peer, uint64_t now)
{
    struct call_rail *due;
    uint64_t next = call_rails_look(peer, now, &due), end = peer->silent + vbase_settings.patience;
    bool busy = next != CALL_NEVER || !list_empty(&peer->waiting) || !list_empty(&peer->parked);
    for (uint32_t i = 0; i < CALL_PAIRS; i++)
        busy |= peer->rail[i].dial != NULL;
    call_timer(peer->nic, next);
    if (end > now && !list_empty(&peer->waiting))
        call_timer(peer->nic, end);
    return busy;
}

void call_peers_step(struct call_nic *nic, uint64_t now)
{
    struct list round;
    uint64_t late = now > nic->timer_at ? now - nic->timer_at : 0;
    if (now >= nic->timer_at)
        nic->timer_at = CALL_NEVER;
    call_called(nic, now);
    call_sessions_leave(nic);
    list_init(&round);
    base_lock(&nic->lock);
    list_move(&round, &nic->busy);
    list_take_each(node, &round) {
        struct call_peer *peer = container_of(node, struct call_peer, node);
        base_unlock(&nic->lock);
        peer_times(peer, late, now);
        while (peer_step(nic, peer, now))
            ;
        last_resort_drop(peer);
        base_lock(&nic->lock);
        if (peer_busy(peer, now) && !list_node_linked(&peer->node))
            list_append(&nic->busy, &peer->node);
    }
    base_unlock(&nic->lock);
    call_sessions_leave(nic);
}

/* A link with a newer epoch than any before of its rail: it is the connection now. */
void call_peer_commit(struct call_link *link, uint64_t now)
{
    struct call_peer *peer = link->peer;
    struct call_rail *rail = link->rail;
    struct call_nic *nic = link->nic;
    base_lock(&nic->lock);
    peer->silent = now;
    peer->cause = OK;
    rail->epoch = link->epoch;
    rail->attempts = 0;
    rail->dial_at = now;
    if (rail->dial && rail->dial != link)
        call_link_close(rail->dial);
    rail->dial = NULL;
    if (rail->link && rail->link->phase == CALL_UP)
        shutdown(rail->link->fd, SHUT_RD); /* its end comes behind what lies here already */
    rail->link = link;
    link->phase = CALL_PARKED;
    call_watch(link, 0);
    list_append(&peer->parked, &link->node);
    if (++peer->parked_count > PARKED_MOST) {
        peer->parked_count--;
        call_link_close(container_of(list_first(&peer->parked), struct call_link, node));
    }
    call_peer_busy(peer);
    base_unlock(&nic->lock);
}

/* ---- the end of the nic ------------------------------------------------------------------------------------------ */

static void peer_close(struct call_peer *peer)
{
    dials_end(peer);
    list_take_each(node, &peer->parked)
        call_link_close(container_of(node, struct call_link, node));
    list_take_each(node, &peer->waiting)
        peer->nic->provider->free(container_of(node, struct call_vi, node));
    for (uint32_t i = 0; i < CALL_PAIRS; i++)
        free(peer->rail[i].last);
    free(peer);
}

void call_gone_free(struct call_nic *nic)
{
    list_take_each(node, &nic->gone_vis)
        nic->provider->free(container_of(node, struct call_vi, node));
    list_take_each(node, &nic->gone)
        free(container_of(node, struct call_link, node));
}

void call_peers_close(struct call_nic *nic)
{
    call_gone_free(nic); /* sessions know their peers to the end */
    for (uint32_t i = 0; nic->peers && i < nic->ranks; i++)
        if (nic->peers[i])
            peer_close(nic->peers[i]);
    call_gone_free(nic);
    free(nic->peers);
}
