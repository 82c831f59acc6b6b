/* Sessions: the vis of the caller, from connect or accept until they are freed. Each takes the first link of its peer
 * that it can get, see peer.c.
 *
 * A session that is disconnected while it still waits for a link keeps waiting, to send what it was given and to say
 * goodbye: the other side may have opened its half. */
#include "vi/call/call.h"

/* Under nic->lock: a new session at the end of those that wait. */
static struct call_vi *session_make(struct call_nic *nic, struct call_peer *peer, void *owner)
{
    size_t size = (nic->provider->vi_size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    struct call_vi *vi = aligned_alloc(CACHE_LINE, size);
    if (!vi)
        return NULL;
    memset(vi, 0, size);
    vi->vi = (struct vi){.ops = nic->nic.ops, .nic = &nic->nic, .owner = owner, .peer = peer->rank};
    vi->peer = peer;
    vi->open = true;
    if (!peer->vi) {
        peer->vi = vi;
        peer->since = peer->silent = vbase_clock_ns();
    }
    peer->called = false;
    list_append(&peer->waiting, &vi->node);
    call_peer_busy(peer);
    return vi;
}

/* ---- the caller's operations ------------------------------------------------------------------------------------- */

/* Those that others could reach, in words. */
static void addresses_text(const struct call_cards *cards, char out[CALL_WHY])
{
    size_t used = 0;
    snprintf(out, CALL_WHY, "none");
    for (int i = 0; i < cards->count && used + sizeof(struct call_text) + 12 < CALL_WHY; i++)
        if (cards->card[i].kind != CALL_KIND_LOOPBACK)
            used += (size_t)snprintf(out + used, CALL_WHY - used, "%s%s%s", used ? ", " : "",
                                     call_address_text(&cards->card[i].address).text,
                                     cards->card[i].kind == CALL_KIND_IWARP ? " of iWARP" : "");
}

static int peer_unreached(const struct call_nic *nic, const struct call_cards *cards, uint32_t rank)
{
    char mine[CALL_WHY], theirs[CALL_WHY];
    addresses_text(&nic->cards, mine);
    addresses_text(cards, theirs);
    return vbase_fail(ERR_UNREACHABLE, "no address of this host (%s) can reach one of rank %u's on %s (%s)", mine, rank,
                      cards->name[0] ? cards->name : "its host", theirs);
}

/* Under nic->lock, for a rank of which no way is known yet: from now on the poll takes them as they are. */
static int ways_find(const struct call_nic *nic, struct call_peer *peer, const char *card)
{
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
    return pairs > 0 ? OK : peer_unreached(nic, &cards, peer->rank);
}

int call_reach(struct vi_nic *base, const struct vi_address *to, struct vi_reach *reach)
{
    const struct call_nic *nic = (struct call_nic *)(void *)base;
    struct call_pair pair[CALL_PAIRS];
    struct call_cards cards;
    int rails, error = call_cards_parse(to->card, &cards);
    if (error)
        return error;
    *reach = (struct vi_reach){{0}};
    if (call_cards_match(&nic->cards, &cards, base->rank < to->peer, pair, CALL_PAIRS, &rails) == 0)
        return peer_unreached(nic, &cards, to->peer);
    call_cards_speeds(pair, rails, reach->speed);
    return OK;
}

/* A session that waits takes the link that calls; without an address, where none waits one more is made for it. */
int call_connect(struct vi_nic *base, const struct vi_address *to, void *owner, struct vi **out)
{
    struct call_nic *nic = (struct call_nic *)(void *)base;
    int error = OK;
    if (to->peer >= nic->ranks || to->peer == nic->nic.rank)
        return vbase_fail(ERR_UNREACHABLE, "rank %u is no other rank of this job of %u", to->peer, nic->ranks);
    base_lock(&nic->lock);
    struct call_peer *peer = call_peer_make(nic, to->peer);
    if (!peer)
        error = vbase_fail(ERR_MEMORY, "rank %u", to->peer);
    else if (to->card && peer->pairs == 0)
        error = ways_find(nic, peer, to->card);
    bool called = !error && call_peer_parked(peer);
    struct call_vi *vi = error || (called && !to->card && peer->vi && peer->vi->rail) ? NULL : peer->vi;
    if (!error && !vi && !called && !to->card)
        error = vbase_fail(ERR_UNREACHABLE, "no card of rank %u, and it has not called", to->peer);
    if (!error && !vi && !(vi = session_make(nic, peer, owner)))
        error = vbase_fail(ERR_MEMORY, "a connection to rank %u", to->peer);
    if (!error)
        *out = &vi->vi;
    base_unlock(&nic->lock);
    return error;
}

void call_disconnect(struct vi *base, bool abrupt)
{
    struct call_vi *vi = (struct call_vi *)(void *)base;
    struct call_nic *nic = vi->peer->nic;
    base_lock(&nic->lock);
    vi->abrupt = abrupt;
    vi->open = false;
    if (vi->peer->vi == vi)
        vi->peer->vi = NULL;
    if (vi->rail && vi->rail->vi == vi)
        vi->rail->vi = NULL;
    if (!list_node_linked(&vi->node)) /* else it waits for a link */
        list_append(&nic->closed, &vi->node);
    call_peer_busy(vi->peer);
    base_unlock(&nic->lock);
}

/* ---- the life of a session --------------------------------------------------------------------------------------- */

void call_path_find(struct call_vi *vi, int fd)
{
    struct call_address mine, theirs;
    snprintf(vi->path, sizeof(vi->path), "a connection that is gone");
    if (!call_end_of(fd, false, &mine) || !call_end_of(fd, true, &theirs))
        return;
    const struct call_card *card = call_card_of(&vi->peer->nic->cards, &mine);
    snprintf(vi->path, sizeof(vi->path), "%s %s - %s", card ? card->name : "?", call_address_text(&mine).text,
             call_address_text(&theirs).text);
    vi->card = card ? card->ordinal : 0;
    vi->near = call_address_equal(&mine, &theirs);
}

void call_up(struct call_vi *vi)
{
    struct call_nic *nic = vi->peer->nic;
    vi->vi.name = (uint64_t)vi->rail->number << 32 | vi->link->epoch;
    base_lock(&nic->lock);
    list_append(&nic->up, &vi->up);
    base_unlock(&nic->lock);
    COUNT(rails);
    LOG_INFO("rail %u to rank %u is up: %s", vi->rail->number, vi->peer->rank, vi->path);
    if (nic->nic.sink.up && atomic_load_explicit(&vi->open, memory_order_relaxed))
        nic->nic.sink.up(&vi->vi);
}

/* Freed at the end of this poll: a function up the stack may still use it. Under nic->lock. */
static void session_end_later(struct call_nic *nic, struct call_vi *vi)
{
    list_leave(&vi->node);
    list_append(&nic->gone_vis, &vi->node);
}

void call_break(struct call_vi *vi, int cause)
{
    struct call_nic *nic = vi->peer->nic;
    struct call_link *link = vi->link;
    base_lock(&nic->lock); /* first: every reader of `up` expects that what is in it has a link */
    list_leave(&vi->up);
    base_unlock(&nic->lock);
    nic->provider->detach(vi);
    if (link)
        call_link_close(link);
    base_lock(&nic->lock);
    if (vi->rail && call_peer_carried(vi->peer))
        vi->rail->dial_at = vbase_clock_ns() + TUNED_NS(RAIL_LOST);
    bool open = vi->open;
    call_peer_busy(vi->peer);
    if (!open && vi->leaving)
        session_end_later(nic, vi);
    base_unlock(&nic->lock);
    if (!open)
        return;
    nic->told++;
    nic->nic.sink.down(&vi->vi, cause);
}

/* A disconnected session says goodbye and leaves when its queue is sent. */
void call_leave(struct call_vi *vi)
{
    struct call_nic *nic = vi->peer->nic;
    bool done = vi->leaving;
    vi->leaving = true;
    base_lock(&nic->lock);
    if (!vi->link)
        session_end_later(nic, vi);
    base_unlock(&nic->lock);
    if (done || !vi->link)
        return;
    vi->link->phase = CALL_LEAVING;
    if (vi->rail->link == vi->link && !nic->provider->single)
        vi->rail->link = NULL; /* no rail any more: the next session makes another one */
    nic->provider->leave(vi);
}

void call_sessions_leave(struct call_nic *nic)
{
    for (;;) {
        base_lock(&nic->lock);
        struct list_node *node = list_take_first(&nic->closed);
        base_unlock(&nic->lock);
        if (!node)
            return;
        call_leave(container_of(node, struct call_vi, node));
    }
}
