/* Rails: which pairs of cards are called, when, and what is known of those that do not answer. Called by the poll.
 *
 * The best pair is called first. All others that use a card of their own are called as soon as it is up or has failed,
 * or if it does not answer at once. The first that connects is used; the sink is told of the others as they come. Pairs
 * that share a card with a better one are called only where the better ones did not connect: they may reach a card of
 * one subnet that is not used yet, or be the only way. A pair that does not answer is called again, ever less often;
 * the reason is logged once. */
#include "vi/call/call.h"

/* ---- which, and when --------------------------------------------------------------------------------------------- */

static uint32_t rails_living(const struct call_peer *peer)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < CALL_PAIRS; i++)
        count += peer->rail[i].link != NULL;
    return count;
}

/* Every pair with a card of its own is up or has failed. */
static bool peer_settled(const struct call_peer *peer)
{
    for (uint32_t i = 0; i < peer->most; i++)
        if (!peer->rail[i].link && peer->rail[i].attempts == 0)
            return false;
    return true;
}

/* A pair that shares a card: is its other card idle? */
static bool uses_idle_card(const struct call_peer *peer, const struct call_rail *rail)
{
    bool mine = true, theirs = true;
    for (uint32_t i = 0; i < peer->pairs; i++)
        if (peer->rail[i].link) {
            mine &= peer->rail[i].pair.mine.ordinal != rail->pair.mine.ordinal;
            theirs &= peer->rail[i].pair.theirs.ordinal != rail->pair.theirs.ordinal;
        }
    return mine || theirs;
}

static uint64_t time_later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* When the rail of PAIR, which has no link, is to be called, as things are: ns; CALL_NEVER. */
static uint64_t due_at(const struct call_peer *peer, uint32_t pair, uint32_t alive)
{
    const struct call_rail *rail = &peer->rail[pair];
    if (pair == 0)
        return rail->dial_at;
    if (pair < peer->most)
        return alive > 0 || peer->rail[0].attempts > 0
                   ? rail->dial_at
                   : time_later(rail->dial_at, peer->since + TUNED_NS(RAIL_ALONE));
    if (alive == 0)
        return peer_settled(peer) ? rail->dial_at : time_later(rail->dial_at, peer->since + TUNED_NS(RAIL_SILENT));
    return alive < peer->most && peer_settled(peer) && rail->pair.local && uses_idle_card(peer, rail) ? rail->dial_at
                                                                                                      : CALL_NEVER;
}

uint64_t call_rails_look(struct call_peer *peer, uint64_t now, struct call_rail **due)
{
    uint32_t alive = rails_living(peer);
    uint64_t next = CALL_NEVER;
    *due = NULL;
    for (uint32_t i = 0; i < CALL_PAIRS; i++) {
        struct call_rail *rail = &peer->rail[i];
        bool callable = !rail->link && !rail->dial && i < peer->pairs;
        uint64_t at = rail->dial ? rail->dial->deadline : callable ? due_at(peer, i, alive) : CALL_NEVER;
        if (at > now && at < next)
            next = at;
        if (callable && at <= now && !*due)
            *due = rail;
    }
    return next;
}

/* ---- calling ----------------------------------------------------------------------------------------------------- */

const char *call_rail_last(const struct call_rail *rail) { return rail->last ? rail->last : "no memory for its words"; }

/* A later time that a connect has set meanwhile stays. */
void call_peer_excuse(struct call_peer *peer, uint64_t ns, uint64_t now)
{
    uint64_t silent = peer->silent;
    (void)atomic_compare_exchange_strong(&peer->silent, &silent, silent + ns < now ? silent + ns : now);
}

/* This call is over. CAUSE is why, OK where it says nothing about the way there. */
void call_rail_over(struct call_rail *rail, int cause, uint64_t wait, uint64_t now)
{
    struct call_peer *peer = rail->peer;
    bool spare = rails_living(peer) > 0;
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
        call_peer_excuse(peer, now - rail->dial->met, now); /* its listener answered; the rank may be computing */
    if (rail->dial)
        call_link_close(rail->dial);
    rail->dial = NULL;
    if (cause) {
        peer->cause = cause == ERR_LINK_DOWN ? ERR_UNREACHABLE : cause; /* there was none to be lost */
        free(rail->last);
        rail->last = strdup(vbase_error_detail());
        peer->failed = rail;
        if (rail->attempts++ == 0) { /* the first is told; the others would say the same */
            COUNT(rails_failed);
            LOG_INFO("rail %u to rank %u does not come up: %s", rail->number, peer->rank, call_rail_last(rail));
        }
    }
    again += again / 4 * (peer->nic->nic.rank % 7) / 7; /* not all at once */
    rail->dial_at = now + (wait > again ? wait : again);
    call_order(peer->nic);
}

void call_rail_failed(struct call_rail *rail, int number, uint64_t now)
{
    errno = number;
    call_rail_over(rail, vbase_fail_errno(ERR_UNREACHABLE, "connecting from %s (%s) to %s port %u",
                                          call_address_text(&rail->pair.mine.address).text, rail->pair.mine.name,
                                          call_address_text(&rail->pair.theirs.address).text, rail->pair.port), 0, now);
}

/* Bound to our address of the pair and to our card: else the kernel could choose another card that leads there. If no
 * route leads there by this card, every other call is not bound to the card: its address may be reachable by others. */
static int rail_call(const struct call_rail *rail)
{
    const struct call_pair *pair = &rail->pair;
    bool keep = !call_address_equal(&pair->mine.address, &pair->theirs.address) &&
                (pair->local || rail->attempts % 2 == 0 || rails_living(rail->peer) > 0);
    union call_place to;
    socklen_t length = call_address_place(&pair->theirs.address, pair->port, &to);
    int fd = call_card_socket(&pair->mine, 0, keep, true);
    return fd < 0 || connect(fd, &to.any, length) == 0 || errno == EINPROGRESS ? fd : call_close_failed(fd);
}

void call_rail_dial(struct call_rail *rail, uint64_t now)
{
    uint64_t patience = TUNED_NS(RAIL_CONNECT) << (rail->attempts < 4 ? rail->attempts : 4);
    int fd = rail_call(rail);
    if (fd < 0)
        return call_rail_failed(rail, errno, now);
    rail->dial = call_link_make(rail->peer->nic, fd, CALL_DIALLING);
    if (!rail->dial)
        return call_rail_failed(rail, ENOMEM, now);
    rail->dial->rail = rail;
    rail->dial->peer = rail->peer;
    rail->dial->epoch = (rail->epoch > rail->floor ? rail->epoch : rail->floor) + 1;
    rail->dial->deadline =
        now + (patience < TUNED_NS(RAIL_CONNECT_MOST) ? patience : TUNED_NS(RAIL_CONNECT_MOST));
    call_watch(rail->dial, EPOLLOUT);
}
