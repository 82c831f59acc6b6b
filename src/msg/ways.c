/* The ways to a remote peer: the nics of several providers that reach it. Which of them are called, and when; the rules
 * stand in docs/design.md, section 5. Peer lock held.
 *
 * A rank that was only called by its peer has no ways of its own: the peer decides. It finds them when it has to call
 * itself. */
#include "msg/peer.h"

static struct vi_nic *const *candidates(int network, uint32_t *count)
{
    *count = network ? 1 : vmsg_engine.usual;
    return network ? &vmsg_networks.nic[network] : vmsg_engine.nic;
}

/* ---- which ------------------------------------------------------------------------------------------------------- */

static void way_add(struct msg_far *far, struct vi_nic *nic)
{
    int at = far->ways++;
    for (; at > 0 && nic->caps.trip_ns < far->way[at - 1].nic->caps.trip_ns; at--)
        far->way[at] = far->way[at - 1];
    far->way[at] = (struct msg_way){.nic = nic};
}

static void way_remove(struct msg_far *far, int way)
{
    far->ways--;
    memmove(&far->way[way], &far->way[way + 1], (size_t)(far->ways - way) * sizeof *far->way);
}

/* What a way adds to the cards of the quicker ones. */
static bool way_adds(const struct vi_reach *reach, uint32_t quicker[VI_CARDS])
{
    uint64_t before = 0, more = 0;
    for (int i = 0; i < VI_CARDS; i++) {
        before += quicker[i];
        more += quicker[i] ? 0 : reach->speed[i];
        quicker[i] = quicker[i] ? quicker[i] : reach->speed[i];
    }
    return more >= before * TUNED(WAY_SHARE) / 100;
}

/* Those of which no card goes with one of the peer's are none. */
static int ways_weigh(struct msg_peer *peer, const char *text)
{
    struct msg_far *far = peer->far;
    uint32_t quicker[VI_CARDS] = {0};
    char card[MSG_CARD_TEXT];
    int error = OK;
    for (int i = 0; i < far->ways;) {
        struct vi_reach reach;
        (void)vmsg_card_find(text, far->way[i].nic, card);
        error = vi_reach(far->way[i].nic, &(struct vi_address){(uint32_t)peer->world, card}, &reach);
        if (!error) {
            far->way[i++].at_once = way_adds(&reach, quicker);
            continue;
        }
        LOG_INFO("rank %d is not reached by %s: %s", peer->world, far->way[i].nic->provider->name,
                 vbase_error_detail());
        way_remove(far, i);
    }
    return far->ways ? OK : error;
}

static int ways_find(struct msg_peer *peer, const char *text)
{
    uint32_t count;
    struct vi_nic *const *nic = candidates(peer->network, &count);
    char card[MSG_CARD_TEXT];
    for (uint32_t i = 0; i < count && peer->far->ways < MSG_WAYS; i++)
        if (nic[i]->card && vmsg_card_find(text, nic[i], card))
            way_add(peer->far, nic[i]);
    if (!peer->far->ways)
        return vbase_fail(ERR_UNREACHABLE, "rank %d uses no network that this rank uses", peer->world);
    peer->far->way[0].at_once = true;
    return peer->far->ways > 1 ? ways_weigh(peer, text) : OK;
}

uint64_t vmsg_ways_room(const struct msg_peer *peer, const struct vi *vi)
{
    uint32_t count, most = vi_caps(vi)->max_send;
    struct vi_nic *const *nic = candidates(peer->network, &count);
    for (uint32_t i = 0; peer->remote && i < count; i++)
        if (!nic[i]->caps.node && nic[i]->caps.max_send < most)
            most = nic[i]->caps.max_send;
    return most - (peer->remote ? sizeof(struct msg_frame_extension) : 0);
}

/* ---- when -------------------------------------------------------------------------------------------------------- */

/* A rail of this nic, or one of its adapters; UP: that is up. */
static bool rail_by(const struct msg_far *far, const struct vi_nic *nic, bool up)
{
    for (int i = 0; i < MSG_REPLAY_RAILS; i++)
        if (far->vi[i] && far->vi[i]->nic->rails == nic->rails && (far->vi[i]->name || !up))
            return true;
    return false;
}

/* By one of the first COUNT ways. */
static bool is_up(const struct msg_far *far, int count)
{
    for (int i = 0; i < count; i++)
        if (rail_by(far, far->way[i].nic, true))
            return true;
    return false;
}

static bool are_given_up(const struct msg_far *far, int count)
{
    for (int i = 0; i < count; i++)
        if (!far->way[i].given_up)
            return false;
    return true;
}

/* Now or later, as things are. */
static bool is_wanted(const struct msg_peer *peer, int i)
{
    const struct msg_far *far = peer->far;
    const struct msg_way *way = &far->way[i];
    return (!way->given_up || peer->parted) && (way->at_once || !is_up(far, i)) && !rail_by(far, way->nic, false);
}

static bool is_due(const struct msg_peer *peer, int i, uint64_t now)
{
    const struct msg_far *far = peer->far;
    bool waits = !far->way[i].at_once && !are_given_up(far, i);
    return is_wanted(peer, i) && now >= far->way[i].not_before &&
           (!waits || now - far->bare >= vbase_clock_ticks_of_ns(TUNED_NS(WAY_ALONE)));
}

/* The next one; far->ways: none is due. */
static int way_due(const struct msg_peer *peer)
{
    uint64_t now = clock_ticks();
    int way = 0;
    while (way < peer->far->ways && !is_due(peer, way, now))
        way++;
    return way;
}

static bool any_wanted(const struct msg_peer *peer)
{
    for (int i = 0; peer->far->ways > 1 && i < peer->far->ways && !peer->parted; i++)
        if (is_wanted(peer, i))
            return true;
    return false;
}

bool vmsg_ways_due(const struct msg_peer *peer) { return any_wanted(peer) && way_due(peer) < peer->far->ways; }
bool vmsg_ways_pend(const struct msg_peer *peer) { return any_wanted(peer) && !is_up(peer->far, peer->far->ways); }

static int ways_ready(struct msg_peer *peer, char text[MSG_CARDS_TEXT])
{
    int error = vmsg_cards_get(peer->world, vmsg_networks.tried_as[peer->network], text);
    if (error || peer->far->ways)
        return error;
    peer->far->bare = clock_ticks();
    return ways_find(peer, text);
}

int vmsg_way_call(struct msg_peer *peer, struct vi **vi)
{
    struct msg_far *far = peer->far;
    char text[MSG_CARDS_TEXT], card[MSG_CARD_TEXT];
    int error = far->ways && way_due(peer) == far->ways ? ERR_AGAIN : ways_ready(peer, text);
    if (error)
        return error;
    int number = way_due(peer);
    struct msg_way *way = &far->way[number];
    if (number == far->ways || !vmsg_card_find(text, way->nic, card))
        return ERR_AGAIN;
    error = vi_connect(way->nic, &(struct vi_address){(uint32_t)peer->world, card}, peer, vi);
    if (far->ways > 1)
        way->not_before = clock_ticks() + vbase_clock_ticks_of_ns(TUNED_NS(WAY_AGAIN));
    if (error && error != ERR_AGAIN && far->ways > 1) { /* the others may do better */
        LOG_INFO("rank %d is not reached by %s: %s", peer->world, way->nic->provider->name, vbase_error_detail());
        way_remove(far, number);
        error = ERR_AGAIN;
    }
    far->lacking = any_wanted(peer);
    return error;
}

/* ---- what became of it ------------------------------------------------------------------------------------------- */

static struct msg_way *way_of(struct msg_far *far, const struct vi *vi)
{
    for (int i = 0; i < far->ways; i++)
        if (far->way[i].nic->rails == vi->nic->rails)
            return &far->way[i];
    return NULL;
}

void vmsg_way_up(struct msg_peer *peer, const struct vi *vi)
{
    struct msg_far *far = peer->far;
    struct msg_way *way = way_of(far, vi);
    for (int i = 0; i < far->ways; i++)
        far->way[i].given_up = false;
    if (way) {
        way->failures = 0;
        way->not_before = 0;
    }
    far->lacking = any_wanted(peer);
}

/* VI is a rail no more. */
void vmsg_way_lost(struct msg_peer *peer, const struct vi *vi)
{
    struct msg_far *far = peer->far;
    struct msg_way *way = way_of(far, vi);
    if (!is_up(far, far->ways) && vi->name)
        far->bare = clock_ticks();
    if (way && !vi->name && far->ways > 1) {
        way->given_up = !is_up(far, far->ways);
        way->not_before = clock_ticks() + vbase_clock_ticks_of_ns(TUNED_NS(WAY_AGAIN) << way->failures);
        way->failures += way->failures < TUNED(WAY_AGAIN_DOUBLED);
    }
    far->lacking = any_wanted(peer);
}

bool vmsg_way_spare(const struct msg_peer *peer, const struct vi *vi)
{
    struct msg_far *far = peer->far;
    const struct msg_way *way = way_of(far, vi);
    return way && !way->at_once && is_up(far, (int)(way - far->way));
}
