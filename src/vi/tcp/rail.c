/* Rails: which pairs of cards are called, when, and what is known of those that do not answer. Called by the poll.
 *
 * The best pair is called first. All others that use a card of their own are called as soon as it is up or has failed,
 * or if it does not answer at once. The first that connects is used; the sink is told of the others as they come. Pairs
 * that share a card with a better one are called only where the better ones did not connect: they may reach a card of
 * one subnet that is not used yet, or be the only way. A pair that does not answer is called again, ever less often;
 * the reason is logged once. */
#include "vi/tcp/tcp.h"

/* ---- which, and when --------------------------------------------------------------------------------------------- */

static uint32_t living(const struct tcp_peer *peer)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < CALL_PAIRS; i++)
        count += peer->rail[i].link != NULL;
    return count;
}

/* Every pair with a card of its own is up or has failed. */
static bool peer_settled(const struct tcp_peer *peer)
{
    for (uint32_t i = 0; i < peer->most; i++)
        if (!peer->rail[i].link && peer->rail[i].attempts == 0)
            return false;
    return true;
}

/* A pair that shares a card: is its other card idle? */
static bool uses_idle_card(const struct tcp_peer *peer, const struct tcp_rail *rail)
{
    bool mine = true, theirs = true;
    for (uint32_t i = 0; i < peer->pairs; i++)
        if (peer->rail[i].link) {
            mine &= peer->rail[i].pair.mine.ordinal != rail->pair.mine.ordinal;
            theirs &= peer->rail[i].pair.theirs.ordinal != rail->pair.theirs.ordinal;
        }
    return mine || theirs;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* When RAIL, which has no link, is to be called, as things are: ns; TCP_NEVER. */
static uint64_t due_at(const struct tcp_peer *peer, const struct tcp_rail *rail, uint32_t alive)
{
    if (rail->number == 0)
        return rail->dial_at;
    if (rail->number < peer->most)
        return alive > 0 || peer->rail[0].attempts > 0
                   ? rail->dial_at
                   : later(rail->dial_at, peer->since + TUNED_NS(RAIL_ALONE));
    if (alive == 0)
        return peer_settled(peer) ? rail->dial_at : later(rail->dial_at, peer->since + TUNED_NS(RAIL_SILENT));
    return alive < peer->most && peer_settled(peer) && rail->pair.local && uses_idle_card(peer, rail) ? rail->dial_at
                                                                                                      : TCP_NEVER;
}

uint64_t tcp_rails_look(struct tcp_peer *peer, uint64_t now, struct tcp_rail **due)
{
    uint32_t alive = living(peer);
    uint64_t next = TCP_NEVER;
    *due = NULL;
    for (uint32_t i = 0; i < CALL_PAIRS; i++) {
        struct tcp_rail *rail = &peer->rail[i];
        bool callable = !rail->link && !rail->dial && i < peer->pairs;
        uint64_t at = rail->dial ? rail->dial->deadline : callable ? due_at(peer, rail, alive) : TCP_NEVER;
        if (at > now && at < next)
            next = at;
        if (callable && at <= now && !*due)
            *due = rail;
    }
    return next;
}

/* ---- calling ----------------------------------------------------------------------------------------------------- */

const char *tcp_rail_last(const struct tcp_rail *rail) { return rail->last ? rail->last : "no memory for its words"; }

/* The first failure of a rail is told; the others would say the same. */
static void failure_report(const struct tcp_rail *rail)
{
    COUNT(rails_failed);
    LOG_INFO("rail %u to rank %u does not come up: %s", rail->number, rail->peer->rank, tcp_rail_last(rail));
}

/* The peer's listener answered for NS; the rank may be computing. A later time that a connect has set meanwhile
 * stays. */
static void listener_answered(struct tcp_peer *peer, uint64_t ns, uint64_t now)
{
    uint64_t silent = peer->silent;
    (void)atomic_compare_exchange_strong(&peer->silent, &silent, silent + ns < now ? silent + ns : now);
}

/* This call is over. CAUSE is why, OK where it says nothing about the way there. */
void tcp_rail_over(struct tcp_nic *nic, struct tcp_rail *rail, int cause, uint64_t wait, uint64_t now)
{
    struct tcp_peer *peer = rail->peer;
    bool spare = living(peer) > 0;
    uint32_t most = !spare        ? (uint32_t)TUNED(RAIL_AGAIN_DOUBLED)
                    : rail->epoch ? (uint32_t)TUNED(RAIL_LOST_DOUBLED)
                                  : (uint32_t)TUNED(RAIL_SPARE_DOUBLED);
    uint64_t again = (!spare        ? TUNED_NS(RAIL_AGAIN)
                      : rail->epoch ? TUNED_NS(RAIL_LOST)
                                    : TUNED_NS(RAIL_SPARE))
                     << (rail->attempts < most ? rail->attempts : most);
    if (!cause)
        peer->silent = now;
    else if (rail->dial && rail->dial->met)
        listener_answered(peer, now - rail->dial->met, now);
    if (rail->dial)
        tcp_link_close(nic, rail->dial);
    rail->dial = NULL;
    if (cause) {
        peer->cause = cause == ERR_LINK_DOWN ? ERR_UNREACHABLE : cause; /* there was none to be lost */
        free(rail->last);
        rail->last = strdup(vbase_error_detail());
        peer->failed = rail;
        if (rail->attempts++ == 0)
            failure_report(rail);
    }
    again += again / 4 * (nic->nic.rank % 7) / 7; /* not all at once */
    rail->dial_at = now + (wait > again ? wait : again);
    tcp_order(nic);
}

void tcp_rail_failed(struct tcp_nic *nic, struct tcp_rail *rail, int number, uint64_t now)
{
    char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];
    call_address_text(&rail->pair.mine.address, from, sizeof(from));
    call_address_text(&rail->pair.theirs.address, to, sizeof(to));
    errno = number;
    tcp_rail_over(nic, rail, vbase_fail_errno(ERR_UNREACHABLE, "connecting from %s (%s) to %s port %u", from,
                                              rail->pair.mine.name, to, rail->pair.port), 0, now);
}

/* Bound to our address of the pair and to our card: else the kernel could choose another card that leads there. If no
 * route leads there by this card, every other call is not bound to the card: its address may be reachable by others. */
static int call(const struct tcp_rail *rail)
{
    const struct call_pair *pair = &rail->pair;
    bool keep = !call_address_equal(&pair->mine.address, &pair->theirs.address) &&
                (pair->local || rail->attempts % 2 == 0 || living(rail->peer) > 0);
    union call_place to;
    socklen_t length = call_address_place(&pair->theirs.address, pair->port, &to);
    int fd = call_card_socket(&pair->mine, 0, keep, true);
    return fd < 0 || connect(fd, &to.any, length) == 0 || errno == EINPROGRESS ? fd : call_close_failed(fd);
}

void tcp_rail_dial(struct tcp_nic *nic, struct tcp_rail *rail, uint64_t now)
{
    uint64_t patience = TUNED_NS(RAIL_CONNECT) << (rail->attempts < 4 ? rail->attempts : 4);
    int fd = call(rail);
    if (fd >= 0) {
        rail->dial = tcp_link_make(fd, TCP_DIALLING);
        if (!rail->dial)
            close(fd);
        errno = ENOMEM;
    }
    if (!rail->dial)
        return tcp_rail_failed(nic, rail, errno, now);
    rail->dial->rail = rail;
    rail->dial->peer = rail->peer;
    rail->dial->epoch = (rail->epoch > rail->floor ? rail->epoch : rail->floor) + 1;
    rail->dial->deadline =
        now + (patience < TUNED_NS(RAIL_CONNECT_MOST) ? patience : TUNED_NS(RAIL_CONNECT_MOST));
    tcp_watch(nic, rail->dial, EPOLLOUT);
}

/* ---- in words ---------------------------------------------------------------------------------------------------- */

void tcp_path(const struct tcp_nic *nic, struct tcp_vi *vi, int fd)
{
    char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];
    struct call_address mine, theirs;
    snprintf(vi->path, sizeof(vi->path), "a connection that is gone");
    if (!call_end_of(fd, false, &mine) || !call_end_of(fd, true, &theirs))
        return;
    const struct call_card *card = call_card_of(&nic->cards, &mine);
    call_address_text(&mine, from, sizeof(from));
    call_address_text(&theirs, to, sizeof(to));
    snprintf(vi->path, sizeof(vi->path), "%s %s - %s", card ? card->name : "?", from, to);
    vi->card = card ? card->ordinal : 0;
    vi->near = call_address_equal(&mine, &theirs);
}
