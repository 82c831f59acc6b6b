/* Remote peers: their rails, what goes over which, and what happens when one is lost. The rules are in replay.c; here
 * they are applied to vis and the rest of the engine. Called by the sink and by senders, with the peer's lock held
 * unless it says otherwise.
 *
 * Ordered frames go over the main rail, peer->vi. When it is lost, the next one gets everything that is not
 * acknowledged. When there is none, a connection is asked for (ways.c); what is sent meanwhile waits in the peer's
 * queue. A provider dials its pairs of cards again by itself, as long as it has one rail or one connect. */
#include "msg/event.h"
#include "msg/transfer.h"

static int rail_of(const struct msg_peer *peer, const struct vi *vi)
{
    for (int i = 0; i < MSG_REPLAY_RAILS; i++)
        if (peer->far->vi[i] == vi)
            return i;
    return MSG_REPLAY_NONE;
}

/* ---- sending ----------------------------------------------------------------------------------------------------- */

_Static_assert(offsetof(struct msg_replay_frame, sequence) + sizeof(struct msg_frame_extension) ==
                   sizeof(struct msg_replay_frame), "a kept frame is sent as it lies in the ring");
_Static_assert(offsetof(struct msg_replay_frame, sequence) - offsetof(struct msg_replay_frame, header) == 16,
               "as struct vi_staying says");

/* A frame without a number, with the acknowledgement of what has come from the peer. */
static int send_on(struct msg_peer *peer, int rail, uint64_t header, const struct iovec *piece, int pieces)
{
    struct msg_replay *replay = &peer->far->replay;
    struct msg_frame_extension extension = {0, replay->arrived};
    struct iovec all[MSG_PIECES + 1];
    all[0] = (struct iovec){&extension, sizeof extension};
    for (int i = 0; i < pieces; i++)
        all[i + 1] = piece[i];
    int error = vi_send_as(peer->far->vi[rail], header, all, pieces + 1, peer->more ? VI_MORE : 0);
    if (likely(!error))
        msg_replay_acknowledge(replay);
    return error;
}

/* On its way, or lost with its link: then the next rail gets it, or the fence is told over another. */
static bool is_given(int error) { return error == OK || error == ERR_LINK_DOWN; }

/* Before each ring. A long frame is sent from the ring itself where the main rail can: such a ring is the provider's
 * memory, which stays until nothing is sent from it. */
struct ring_head {
    ALIGNED(16) struct vi_region region; /* its memory; of no nic: it is not registered */
    const struct vi_nic *asked;          /* to register it; NULL: no frame was long enough for that */
};

static struct ring_head *ring_head_of(void *ring) { return (struct ring_head *)ring - 1; }

/* It is registered with the nic of the main rail, if long frames of the ring before it went. */
static void *ring_take(void *context, uint64_t bytes)
{
    const struct msg_peer *peer = context;
    void *ring = peer->far->replay.ring;
    struct ring_head head = {.asked = ring && ring_head_of(ring)->asked ? peer->vi->nic : NULL};
    bool registered = head.asked && vi_caps(peer->vi)->stays &&
                      vi_reg(peer->vi->nic, NULL, sizeof head + bytes, &head.region) == OK;
    struct ring_head *to = registered ? head.region.address : malloc(sizeof head + bytes);
    if (!registered)
        head.region.nic = NULL;
    if (!to)
        return NULL;
    *to = head;
    return to + 1;
}

static void ring_give(void *ring)
{
    struct vi_region region = ring_head_of(ring)->region;
    if (region.nic)
        vi_dereg(&region);
    else
        free(ring_head_of(ring));
}

void vmsg_rails_open(struct msg_peer *peer)
{
    vmsg_replay_open(&peer->far->replay, vbase_settings.window + TUNED(REPLAY_SLACK),
                     &(struct msg_replay_memory){ring_take, ring_give, peer});
}

/* The ring is registered with this nic, if it can be; else frames are copied out of it. */
static COLD void ring_register(struct msg_replay *replay, const struct vi_nic *nic)
{
    struct ring_head *head = ring_head_of(replay->ring);
    const struct vi_nic *before = head->asked;
    head->asked = nic;
    if (vmsg_replay_renew(replay) != OK)
        head->asked = before;
}

/* The next kept frame goes without a copy, if the main rail can read the ring. */
static __attribute__((noinline)) int long_send(struct msg_peer *peer)
{
    struct msg_replay *replay = &peer->far->replay;
    if (unlikely(ring_head_of(replay->ring)->asked != peer->vi->nic))
        ring_register(replay, peer->vi->nic);
    const struct ring_head *head = ring_head_of(replay->ring);
    bool stays = head->asked == peer->vi->nic && head->region.nic;
    struct msg_replay_frame *frame = vmsg_replay_next(replay);
    struct vi_staying staying = {{&frame->sequence, sizeof(struct msg_frame_extension) + frame->length}, &head->region};
    frame->acknowledgement = replay->arrived;
    return vi_send_as(peer->vi, frame->header, &staying.piece, 1, (peer->more ? VI_MORE : 0) | (stays ? VI_STAYS : 0));
}

/* Sends the next kept frame over the main rail, from its place in the ring. */
static inline __attribute__((always_inline)) int frame_send(struct msg_peer *peer, struct msg_replay_frame *frame)
{
    struct msg_replay *replay = &peer->far->replay;
    struct vi_staying staying = {{&frame->sequence, sizeof(struct msg_frame_extension) + frame->length}, NULL};
    frame->acknowledgement = replay->arrived;
    uint32_t stays = vi_caps(peer->vi)->stays;
    int error = likely(!stays || staying.piece.iov_len < stays)
                    ? vi_send_as(peer->vi, frame->header, &staying.piece, 1,
                                 (peer->more ? VI_MORE : 0) | (stays ? VI_STAYS : 0))
                    : long_send(peer);
    if (likely(!error))
        msg_replay_acknowledge(replay);
    return error;
}

/* What a new main rail has not got yet. */
static bool frames_go(struct msg_peer *peer)
{
    struct msg_replay *replay = &peer->far->replay;
    struct msg_replay_frame *frame;
    bool went = false;
    while (peer->vi && (frame = vmsg_replay_next(replay))) {
        int error = frame_send(peer, frame);
        if (error == ERR_ARGUMENT) /* it was kept when no rail took so little */
            vmsg_failed(error);
        if (!is_given(error))
            break;
        vmsg_replay_went(replay);
        COUNT(replayed);
        went = true;
    }
    return went;
}

int vmsg_peer_send_far(struct msg_peer *peer, uint64_t header, const struct iovec *piece, int pieces)
{
    struct msg_replay *replay = &peer->far->replay;
    struct msg_replay_frame *frame;
    if (msg_header_kind(header) == MSG_FRAME_DATA)
        return send_on(peer, peer->far->over, header, piece, pieces);
    if (unlikely(!msg_replay_ready(replay)))
        return ERR_AGAIN;
    int error = msg_replay_keep(replay, header, piece, pieces, &frame);
    if (unlikely(error))
        return error;
    error = frame_send(peer, frame);
    if (unlikely(!is_given(error))) {
        msg_replay_drop(replay);
        return error;
    }
    msg_replay_kept_went(replay);
    return OK;
}

/* How much has come, of frames and, over one rail, of bulk. */
static bool landed_tell(struct msg_peer *peer, int rail)
{
    struct msg_replay *replay = &peer->far->replay;
    struct msg_frame_rail body = {.name = replay->rail[rail].name};
    body.landed = vmsg_replay_bulk_came(replay, body.name);
    struct iovec piece = {&body, sizeof body};
    /* over a link that is down it is told later, over another one or by a fence: what is owed stays owed till then */
    if (send_on(peer, replay->main, msg_header(MSG_FRAME_LANDED, 0, 0, 0), &piece, 1))
        return false;
    replay->rail[rail].told = body.landed;
    return true;
}

static bool fences_go(struct msg_peer *peer)
{
    struct msg_replay *replay = &peer->far->replay;
    struct msg_frame_rail body = {.name = 0};
    struct iovec piece = {&body, sizeof body};
    bool asking, went = false;
    for (int over; vmsg_replay_fence(replay, &over, &body.name, &asking); went = true) {
        body.landed = vmsg_replay_bulk_came(replay, body.name);
        uint64_t header = msg_header(MSG_FRAME_FENCE, 0, 0, asking ? MSG_FLAG_ASKING : 0);
        if (!is_given(send_on(peer, over, header, &piece, 1)))
            break;
        vmsg_replay_fence_told(replay);
    }
    return went;
}

/* The rail over which something that is owed is to be told, or NONE. */
static int rail_owing(const struct msg_peer *peer)
{
    const struct msg_replay *replay = &peer->far->replay;
    for (int i = 0; i < MSG_REPLAY_RAILS; i++)
        if (peer->far->vi[i] && vmsg_replay_bulk_owes(replay, i))
            return i;
    return msg_replay_owes(replay) ? replay->main : MSG_REPLAY_NONE;
}

bool vmsg_rails_flush(struct msg_peer *peer)
{
    bool went = fences_go(peer);
    if (!peer->vi)
        return went;
    went |= frames_go(peer);
    for (int owing; (owing = rail_owing(peer)) != MSG_REPLAY_NONE && landed_tell(peer, owing);)
        went = true;
    return went;
}

bool vmsg_rails_pend(struct msg_peer *peer)
{
    struct msg_replay *replay = &peer->far->replay;
    struct msg_replay_bulk back;
    uint64_t name;
    bool asking;
    int over;
    if (vmsg_replay_back(replay, &back) || vmsg_ways_pend(peer))
        return true;
    if (!peer->vi)
        return !peer->parted || !msg_replay_quiet(replay);
    return vmsg_replay_next(replay) || vmsg_replay_fence(replay, &over, &name, &asking) ||
           rail_owing(peer) != MSG_REPLAY_NONE;
}

bool vmsg_rails_quiet(struct msg_peer *peer)
{
    msg_lock(&peer->lock);
    bool quiet = peer->gone || !peer->vi || !peer->vi->name || msg_replay_quiet(&peer->far->replay);
    msg_unlock(&peer->lock);
    return quiet;
}

static void flush_soon(struct msg_peer *peer)
{
    (void)vmsg_rails_flush(peer);
    if (vmsg_rails_pend(peer))
        vmsg_peer_stuck(peer);
}

/* ---- rails that come and go -------------------------------------------------------------------------------------- */

/* One that is up comes before one that is not, then the quicker one. */
static bool is_better(const struct msg_far *far, int rail, int best)
{
    bool up = far->replay.rail[rail].name, best_up = far->replay.rail[best].name;
    return up != best_up ? up : vi_caps(far->vi[rail])->trip_ns < vi_caps(far->vi[best])->trip_ns;
}

/* What awaits the peer may poll its only rail alone; of several, a frame may come over any. Release: pairs with
 * msg_progress_for, which holds progress as this does. */
static void lane_set(struct msg_peer *peer)
{
    __atomic_store_n(&peer->lane, peer->far->held == 1 ? peer->vi : NULL, __ATOMIC_RELEASE);
}

static void main_choose(struct msg_peer *peer)
{
    struct msg_far *far = peer->far;
    int best = MSG_REPLAY_NONE;
    for (int i = 0; i < MSG_REPLAY_RAILS; i++)
        if (far->vi[i] && (best == MSG_REPLAY_NONE || is_better(far, i, best)))
            best = i;
    /* waits look at it */
    __atomic_store_n(&peer->vi, best == MSG_REPLAY_NONE ? NULL : far->vi[best], __ATOMIC_RELEASE);
    if (peer->vi)
        vmsg_replay_main(&far->replay, best);
}

void vmsg_rail_measure(struct msg_peer *peer, int rail, uint64_t age_ns)
{
    struct msg_pace *pace = &peer->far->pace[rail];
    uint64_t now = clock_ticks();
    struct vi_state state;
    if (pace->asked && now - pace->asked < vbase_clock_ticks_of_ns(age_ns))
        return;
    if (vi_query(peer->far->vi[rail], &state) != OK)
        return;
    pace->asked = now;
    pace->rate = state.rate;
    pace->backlog = state.backlog;
    pace->score = state.least_trip_ns ? state.least_trip_ns / 2 : vi_caps(peer->far->vi[rail])->trip_ns;
    pace->score += state.rate ? state.crowd * 1000000000 / state.rate : 0;
}

/* A main rail that is quicker by a quarter, when nothing is unacknowledged. */
static void main_better(struct msg_peer *peer)
{
    struct msg_far *far = peer->far;
    int best = far->replay.main;
    if (!msg_replay_quiet(&far->replay) || clock_ticks() - far->judged < vbase_clock_ticks_of_ns(TUNED(RAIL_JUDGE)))
        return;
    far->judged = clock_ticks();
    for (int i = 0; i < MSG_REPLAY_RAILS; i++)
        if (far->vi[i] && far->replay.rail[i].name) {
            vmsg_rail_measure(peer, i, TUNED(RAIL_JUDGE));
            if (far->pace[i].score && far->pace[i].score < far->pace[best].score)
                best = i;
        }
    uint64_t most = far->pace[far->replay.main].score / 100 * TUNED(RAIL_BETTER);
    if (best == far->replay.main || far->pace[best].score > most)
        return;
    __atomic_store_n(&peer->vi, far->vi[best], __ATOMIC_RELEASE);
    vmsg_replay_main(&far->replay, best);
}

void vmsg_rail_add(struct msg_peer *peer, struct vi *vi)
{
    struct msg_far *far = peer->far;
    if (rail_of(peer, vi) != MSG_REPLAY_NONE)
        return; /* both sides called at once */
    int rail = far->held == MSG_RAILS ? MSG_REPLAY_NONE : vmsg_replay_add(&far->replay);
    if (rail == MSG_REPLAY_NONE) {
        vi_disconnect(vi);
        return;
    }
    far->vi[rail] = vi;
    far->pace[rail] = (struct msg_pace){.asked = 0};
    far->held++;
    if (!peer->vi)
        main_choose(peer);
    lane_set(peer);
    if (vmsg_rails_pend(peer))
        vmsg_peer_stuck(peer);
}

static void loss_tell(const struct msg_peer *peer, struct vi *vi, int cause)
{
    struct vi_state state = {.path = NULL};
    COUNT(rails_lost);
    VMSG_EVENT(MSG_EVENT_LINK_DOWN, peer->world, 0);
    (void)vi_query(vi, &state);
    base_count_card(&vbase_counters->lost0, state.card, 1);
    LOG_INFO("rail %u to rank %d is down: %s (%s: %s)%s", (unsigned)(vi->name >> 32), peer->world,
             state.path ? state.path : "unknown cards", vbase_error_name(cause), vbase_error_detail(),
             peer->vi != vi ? "" : peer->far->held > 1 ? "; another one carries" : "; it is called again");
}

/* From here on nothing of it lands any more. CAUSE OK: it is not needed. */
static void rail_lose(struct msg_peer *peer, int rail, int cause)
{
    struct msg_far *far = peer->far;
    struct vi *vi = far->vi[rail];
    if (vi->name && !peer->parted && !vmsg_engine.stopping && cause)
        loss_tell(peer, vi, cause);
    far->vi[rail] = NULL;
    far->held--;
    vmsg_replay_lost(&far->replay, rail);
    vmsg_way_lost(peer, vi);
    vi_disconnect_abruptly(vi);
    vmsg_chunks_lost(peer, rail);
    if (peer->vi == vi)
        main_choose(peer);
    lane_set(peer);
    if (!vmsg_engine.stopping)
        flush_soon(peer);
}

/* No lock held, as in all that follows. */
bool vmsg_rails_end(struct msg_peer *peer)
{
    msg_lock(&peer->lock);
    bool some = peer->far->held > 0;
    for (int i = 0; i < MSG_REPLAY_RAILS; i++)
        if (peer->far->vi[i])
            rail_lose(peer, i, ERR_PEER_DEAD);
    msg_unlock(&peer->lock);
    return some;
}

/* A rail that is up takes the place of a main rail that is not; and slower ones are not needed beside it. */
static void rail_settle(struct msg_peer *peer, const struct vi *vi)
{
    struct msg_far *far = peer->far;
    vmsg_way_up(peer, vi);
    VMSG_EVENT(MSG_EVENT_LINK_UP, peer->world, 0);
    if (!peer->vi->name)
        main_choose(peer);
    for (int i = 0; i < MSG_REPLAY_RAILS; i++)
        if (far->vi[i] && vmsg_way_spare(peer, far->vi[i]))
            rail_lose(peer, i, OK);
    flush_soon(peer);
}

void vmsg_rail_up(struct vi *vi)
{
    struct msg_peer *peer = vi->owner;
    msg_lock(&peer->lock);
    int rail = peer->remote ? rail_of(peer, vi) : MSG_REPLAY_NONE;
    if (rail != MSG_REPLAY_NONE && !vmsg_replay_up(&peer->far->replay, rail, vi->name))
        rail_lose(peer, rail, vbase_fail(ERR_LINK_DOWN, "rank %d has lost it already", peer->world));
    else if (rail != MSG_REPLAY_NONE)
        rail_settle(peer, vi);
    msg_unlock(&peer->lock);
}

void vmsg_rail_down(struct vi *vi, int cause)
{
    struct msg_peer *peer = vi->owner;
    msg_lock(&peer->lock);
    int rail = rail_of(peer, vi);
    bool never = !vi->name, called = peer->far->ways > 0; /* else the peer did, or this rank does so from now on */
    if (rail != MSG_REPLAY_NONE)
        rail_lose(peer, rail, cause);
    bool alone = !peer->vi && !vmsg_ways_pend(peer);
    msg_unlock(&peer->lock);
    if (never && alone && called && !peer->parted && !vmsg_engine.stopping) /* it was called for long enough */
        vmsg_failed(vbase_fail(cause, "%s; viaduct doctor tells more of that host", vbase_error_detail()));
}

/* ---- what comes -------------------------------------------------------------------------------------------------- */

static bool fence_heard(struct msg_peer *peer, struct vi *vi, const struct msg_frame_rail *body, bool asking)
{
    struct msg_replay *replay = &peer->far->replay;
    int over = rail_of(peer, vi), held = vmsg_replay_named(replay, body->name);
    if (over == held)
        return false;
    if (held != MSG_REPLAY_NONE)
        rail_lose(peer, held, vbase_fail(ERR_LINK_DOWN, "rank %d has lost it", peer->world));
    int error = vmsg_replay_fenced(replay, over, body->name, body->landed, asking);
    if (error == ERR_AGAIN)
        rail_lose(peer, over, vbase_fail(ERR_LINK_DOWN, "rank %d has too many fences pending", peer->world));
    if (error == OK)
        flush_soon(peer);
    return error != ERR_PROTOCOL;
}

static bool landed_heard(struct msg_peer *peer, const struct msg_frame_rail *body)
{
    int rail = vmsg_replay_named(&peer->far->replay, body->name);
    return rail == MSG_REPLAY_NONE || vmsg_replay_bulk_told(&peer->far->replay, rail, body->landed);
}

/* Frames about rails, and the notice that bulk has landed. 0: that is all of it. */
static int about_rails(struct msg_peer *peer, struct vi *vi, uint64_t header, const void *data, size_t length)
{
    struct msg_frame_rail body;
    unsigned kind = msg_header_kind(header);
    if (kind == MSG_FRAME_DATA) {
        int rail = rail_of(peer, vi);
        vmsg_replay_bulk_landed(&peer->far->replay, rail);
        return 1;
    }
    if (length != sizeof body)
        return vbase_fail(ERR_PROTOCOL, "a fence of a wrong length");
    memcpy(&body, data, sizeof body);
    bool sane = kind == MSG_FRAME_LANDED ? landed_heard(peer, &body)
                                         : fence_heard(peer, vi, &body, msg_header_flags(header) & MSG_FLAG_ASKING);
    return sane ? 0 : vbase_fail(ERR_PROTOCOL, "it describes a connection that cannot exist");
}

/* 1: the frame is for the engine; 0: it was here before, or was for us; else it makes no sense. */
int vmsg_rail_received(struct vi *vi, uint64_t header, const void *data, size_t length)
{
    struct msg_peer *peer = vi->owner;
    struct msg_replay *replay = &peer->far->replay;
    struct msg_frame_extension extension;
    unsigned kind = msg_header_kind(header);
    if (unlikely(length < sizeof extension))
        return vbase_fail(ERR_PROTOCOL, "a frame without its number");
    memcpy(&extension, data, sizeof extension);
    length -= sizeof extension;
    msg_lock(&peer->lock);
    int verdict = unlikely(peer->vi != vi && rail_of(peer, vi) == MSG_REPLAY_NONE) ? 0
                  : !vmsg_replay_acknowledged(replay, extension.acknowledgement)
                      ? vbase_fail(ERR_PROTOCOL, "it has frames that were never sent")
                  : kind == MSG_FRAME_DATA || kind == MSG_FRAME_FENCE || kind == MSG_FRAME_LANDED
                      ? about_rails(peer, vi, header, (const char *)data + sizeof extension, length)
                      : vmsg_replay_arrived(replay, extension.sequence, (uint32_t)length);
    if (unlikely(kind == MSG_FRAME_GOODBYE && verdict == 1))
        msg_replay_hurry(replay); /* the peer leaves when it knows that this has come */
    if (unlikely(verdict >= 0 && (msg_replay_owes(replay) || kind == MSG_FRAME_DATA) &&
                 rail_owing(peer) != MSG_REPLAY_NONE))
        flush_soon(peer);
    if (unlikely(peer->far->held > 1 && peer->vi))
        main_better(peer);
    if (unlikely(peer->far->lacking && vmsg_ways_due(peer)))
        vmsg_peer_stuck(peer);
    msg_unlock(&peer->lock);
    return verdict;
}

/* A put of the peer is in memory. */
bool vmsg_rail_landed(struct vi *vi)
{
    struct msg_peer *peer = vi->owner;
    msg_lock(&peer->lock);
    int rail = rail_of(peer, vi);
    if (rail != MSG_REPLAY_NONE) {
        vmsg_replay_bulk_landed(&peer->far->replay, rail);
        if (vmsg_replay_bulk_owes(&peer->far->replay, rail))
            flush_soon(peer);
    }
    msg_unlock(&peer->lock);
    return rail != MSG_REPLAY_NONE;
}
