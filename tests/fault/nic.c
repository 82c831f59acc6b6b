/* The fault provider's nic: the same operations as the provider below, with accidents in between.
 *
 * A vi here wraps a vi there, whose owner it is. Events come up through our own sink, which holds them back or passes
 * them on. A dropped link is a disconnect below and a "down" above: the other side sees its own. */
#include "fault/held.h"
#include "vi/each.h"
#include <signal.h>

static const struct vi_ops fault_ops;

/* Counts a frame of this vi, and lets happen what happens at its number. */
static void count_frame(struct fault_vi *vi)
{
    struct fault_nic *nic = fault_nic_of(vi->vi.nic);
    const struct fault_script *script = &nic->script;
    base_lock(&nic->lock);
    nic->frames++;
    vi->frames++;
    if (script->drop_at > 0 && vi->frames == script->drop_at && vi->vi.peer == script->drop_peer)
        vi->drop = true;
    bool die = script->die_at > 0 && nic->frames >= script->die_at;
    base_unlock(&nic->lock);
    if (die)
        kill(getpid(), SIGKILL);
}

/* ---- the sink below ------------------------------------------------------------------------------------------------- */

static bool holding(const struct fault_vi *vi)
{
    const struct fault_script *script = &fault_nic_of(vi->vi.nic)->script;
    return script->delay_ns > 0 || script->reorder > 0 || !list_empty(&vi->held);
}

static bool one_received(struct vi *inner, uint64_t header, const void *data, size_t length)
{
    struct fault_vi *vi = inner->owner;
    bool enough = false;
    if (vi->drop || vi->ghost || vi->gone)
        return false; /* lost, or disconnected by the sink a moment ago */
    if (!holding(vi) ||
        !fault_hold(vi, &(struct fault_event){.kind = FAULT_RECEIVED, .header = header, .length = length}, data))
        enough = vi->vi.nic->sink.received(&vi->vi, header, data, length, 1);
    count_frame(vi);
    return enough;
}

static bool received(struct vi *inner, uint64_t header, const void *data, size_t length, uint32_t count)
{
    return vi_each(one_received, inner, header, data, length, count);
}

static void arrived(struct vi *inner, uint32_t immediate, uint64_t length)
{
    struct fault_vi *vi = inner->owner;
    if (!vi->drop && !vi->ghost &&
        !(holding(vi) && fault_hold(vi, &(struct fault_event){.kind = FAULT_ARRIVED, .immediate = immediate, .bytes = length}, NULL)))
        vi->vi.nic->sink.arrived(&vi->vi, immediate, length);
}

static void done(struct vi *inner, void *cookie, int status)
{
    struct fault_vi *vi = inner->owner;
    if (!(holding(vi) &&
          fault_hold(vi, &(struct fault_event){.kind = FAULT_DONE, .cookie = cookie, .status = status}, NULL)))
        vi->vi.nic->sink.done(&vi->vi, cookie, status);
}

static void down(struct vi *inner, int cause)
{
    struct fault_vi *vi = inner->owner;
    if (vi->ghost) {
        vi->haunted = true;
        inner->waiting = 0;
    }
    if (vi->drop || vi->ghost)
        return;
    if (holding(vi) && fault_hold(vi, &(struct fault_event){.kind = FAULT_DOWN, .status = cause}, NULL))
        return;
    vi->down = true;
    vi->vi.nic->sink.down(&vi->vi, cause);
}

static void up(struct vi *inner)
{
    struct fault_vi *vi = inner->owner;
    vi->vi.name = inner->name;
    if (vi->vi.nic->sink.up && !vi->drop)
        vi->vi.nic->sink.up(&vi->vi);
}

static void called(struct vi_nic *inner, uint32_t peer)
{
    struct fault_nic *nic = inner->sink.context;
    nic->nic.sink.called(&nic->nic, peer);
}

/* ---- life ----------------------------------------------------------------------------------------------------------- */

const char *fault_words;

static int open_plain(const struct vi_provider *provider, const struct vi_setup *setup, struct vi_nic **out)
{
    int error = provider->ops->open(setup, out);
    if (!error)
        (*out)->provider = provider;
    return error;
}

static int open_wrapped(const struct vi_provider *provider, const struct vi_setup *setup, struct vi_nic **out)
{
    const char *words = fault_words ? fault_words : getenv("FAULT");
    if (!words || !*words)
        return open_plain(provider, setup, out);
    struct fault_nic *nic = calloc(1, sizeof(*nic));
    struct vi_sink sink = {nic, received, arrived, done, called, down, up};
    struct vi_setup below = *setup;
    if (!nic)
        return vbase_fail(ERR_MEMORY, "a fault nic");
    int error = fault_script_parse(words, &nic->script);
    if (error)
        goto failed;
    if (nic->script.rank != FAULT_ALL_RANKS && nic->script.rank != setup->rank)
        nic->script = (struct fault_script){.seed = nic->script.seed};
    below.sink = &sink;
    error = open_plain(provider, &below, &nic->inner);
    if (error)
        goto failed;
    nic->nic = (struct vi_nic){.ops = &fault_ops, .provider = provider, .sink = *setup->sink};
    nic->nic.caps = nic->inner->caps;
    nic->nic.caps.source = 0;
    nic->nic.rank = setup->rank;
    nic->nic.card = nic->inner->card;
    nic->nic.rails = nic->inner->rails;
    nic->nic.asleep = nic->inner->asleep;
    nic->random = nic->script.seed << 32 ^ setup->rank;
    list_init(&nic->vis);
    *out = &nic->nic;
    return OK;
failed:
    free(nic);
    return error;
}

__attribute__((constructor)) static void wrap(void) { vi_wrap(open_wrapped); }

static void ghost_end(struct fault_vi *vi)
{
    vi->ghost = 0;
    vi_disconnect_abruptly(vi->inner);
    vi->inner = NULL;
    fault_lose(vi);
}

static void free_vi(struct fault_vi *vi)
{
    vi->gone = true;
    if (vi->ghost)
        ghost_end(vi);
    fault_lose(vi);
    base_lock(&fault_nic_of(vi->vi.nic)->lock);
    list_remove(&vi->link);
    base_unlock(&fault_nic_of(vi->vi.nic)->lock);
    free(vi);
}

static void close_nic(struct vi_nic *base)
{
    struct fault_nic *nic = fault_nic_of(base);
    list_for_each(node, &nic->vis)
        free_vi(container_of(node, struct fault_vi, link));
    vi_nic_close(nic->inner);
    free(nic);
}

/* The provider below may give a vi that is there already: then ours is. */
static int connect_vi(struct vi_nic *base, const struct vi_address *to, void *owner, struct vi **out)
{
    struct fault_nic *nic = fault_nic_of(base);
    struct fault_vi *made = calloc(1, sizeof(*made));
    if (!made)
        return vbase_fail(ERR_MEMORY, "a fault vi");
    made->vi = (struct vi){&fault_ops, base, owner, to->peer};
    list_init(&made->held);
    list_init(&made->transfers);
    int error = vi_connect(nic->inner, to, made, &made->inner);
    struct fault_vi *vi = error ? NULL : made->inner->owner;
    if (vi && vi->ghost) {
        ghost_end(vi);
        free(made);
        return connect_vi(base, to, owner, out);
    }
    if (vi != made) {
        free(made);
    } else {
        base_lock(&nic->lock);
        list_append(&nic->vis, &vi->link);
        base_unlock(&nic->lock);
    }
    if (vi)
        *out = &vi->vi;
    return error;
}

static void disconnect_vi(struct vi *base, bool abrupt)
{
    struct fault_vi *vi = fault_vi_of(base);
    if (vi->inner && !vi->ghost) {
        vi->inner->ops->disconnect(vi->inner, abrupt);
        vi->inner = NULL;
    }
    vi->gone = true;
    if (vi->ghost)
        return;
    if (!fault_nic_of(base->nic)->polling)
        free_vi(vi);
}

/* ---- down the wire -------------------------------------------------------------------------------------------------- */

static bool refuse(struct fault_nic *nic)
{
    base_lock(&nic->lock);
    bool refused = fault_chance(nic, nic->script.refuse);
    base_unlock(&nic->lock);
    if (refused)
        COUNT(lane_full);
    return refused;
}

static bool is_lost(const struct fault_vi *vi) { return !vi->inner || vi->drop || vi->down; }

static int send_on(struct vi *base, uint64_t header, const struct iovec *piece, int pieces, unsigned flags)
{
    struct fault_vi *vi = fault_vi_of(base);
    if (is_lost(vi))
        return ERR_LINK_DOWN;
    if (refuse(fault_nic_of(base->nic)))
        return ERR_AGAIN;
    int error = vi_send_as(vi->inner, header, piece, pieces, flags);
    if (!error)
        count_frame(vi);
    return error;
}

static int transfer_on(struct vi *base, const struct vi_transfer *transfer, enum fault_way way)
{
    struct fault_vi *vi = fault_vi_of(base);
    const struct fault_script *script = &fault_nic_of(base->nic)->script;
    if (is_lost(vi))
        return ERR_LINK_DOWN;
    if (script->ghosts && way == FAULT_PUT && ++vi->puts == script->ghosts)
        vi->drop = true;
    if (script->late_put)
        return fault_hold_transfer(vi, transfer, way);
    return way == FAULT_PUT ? vi_put(vi->inner, transfer) : vi_get(vi->inner, transfer);
}

static int put_on(struct vi *base, const struct vi_transfer *transfer) { return transfer_on(base, transfer, FAULT_PUT); }

static int get_on(struct vi *base, const struct vi_transfer *transfer) { return transfer_on(base, transfer, FAULT_GET); }

static int reg_on(struct vi_nic *base, void *address, uint64_t length, struct vi_region *region)
{
    return vi_reg(fault_nic_of(base)->inner, address, length, region); /* region->nic is the one below: vi_dereg too */
}

static int map_on(struct vi *base, struct vi_key key, uint64_t offset, uint64_t length, void **pointer)
{
    struct fault_vi *vi = fault_vi_of(base);
    return vi->inner ? vi_map(vi->inner, key, offset, length, pointer) : ERR_LINK_DOWN;
}

static int query_on(struct vi *base, struct vi_state *state)
{
    struct fault_vi *vi = fault_vi_of(base);
    int error = vi->inner ? vi_query(vi->inner, state) : OK;
    if (error)
        return error;
    if (!vi->inner)
        *state = (struct vi_state){.usable = false};
    state->usable &= !is_lost(vi);
    return OK;
}

static int wake_on(struct vi *base)
{
    struct fault_vi *vi = fault_vi_of(base);
    return vi->inner ? vi_wake(vi->inner) : ERR_LINK_DOWN;
}

/* ---- polling and sleeping ------------------------------------------------------------------------------------------- */

static int lose_link(struct fault_vi *vi)
{
    if (!fault_nic_of(vi->vi.nic)->script.ghosts || !fault_haunt(vi)) {
        vi_disconnect(vi->inner);
        vi->inner = NULL;
        fault_lose(vi);
    }
    vi->down = true;
    vi->drop = false;
    vi->vi.nic->sink.down(&vi->vi, ERR_LINK_DOWN);
    return 1;
}

/* The puts of a lost link, in its name, as if they had been on their way. */
static void ghost_step(struct fault_vi *vi)
{
    if (vbase_clock_ns() < vi->ghost)
        return;
    list_for_each(node, &vi->transfers)
        if (!vi->haunted)
            (void)!vi_put(vi->inner, &container_of(node, struct fault_event, link)->transfer);
    if (vi->haunted && vi->inner->waiting == 0)
        ghost_end(vi);
    else
        vi->haunted = true;
}

/* Loses the links whose time has come, frees the vis whose user has gone. */
static int sweep(struct fault_nic *nic)
{
    int events = 0;
    for (struct fault_vi *vi = fault_next(nic, NULL), *next; vi; vi = next) {
        if (vi->drop && vi->inner && !vi->down && !vi->gone)
            events += lose_link(vi);
        if (vi->ghost)
            ghost_step(vi);
        next = fault_next(nic, vi);
        if (vi->gone && !vi->ghost)
            free_vi(vi);
    }
    return events;
}

static int poll_on(struct vi_nic *base, struct vi *only, int budget, unsigned flags)
{
    struct fault_nic *nic = fault_nic_of(base);
    (void)only; /* what is held back may be of any vi */
    nic->polling = true;
    int events = nic->inner->ops->poll(nic->inner, NULL, budget, flags);
    events += fault_release(nic, budget);
    events += sweep(nic);
    nic->polling = false;
    return events;
}

static int arm_on(struct vi_nic *base, enum vi_arm what, struct vi_wait *wait)
{
    struct fault_nic *nic = fault_nic_of(base);
    if (what == VI_ARM_SLEEP && fault_holds(nic))
        return ERR_AGAIN;
    return vi_arm(nic->inner, what, wait);
}

/* What opens it is not here, and regions are those of the provider below. */
static int fault_reach(struct vi_nic *base, const struct vi_address *to, struct vi_reach *reach)
{
    struct vi_nic *inner = fault_nic_of(base)->inner;
    return inner->ops->reach(inner, to, reach);
}

static const struct vi_ops fault_ops = {
    .reach = fault_reach,
    .close = close_nic,
    .connect = connect_vi,
    .disconnect = disconnect_vi,
    .send = send_on,
    .put = put_on,
    .get = get_on,
    .reg = reg_on,
    .map = map_on,
    .poll = poll_on,
    .arm = arm_on,
    .query = query_on,
    .wake = wake_on,
};

/* ---- for tests ------------------------------------------------------------------------------------------------------ */

void fault_drop(struct vi_nic *base, uint32_t peer)
{
    struct fault_nic *nic = fault_nic_of(base);
    list_for_each(node, &nic->vis) {
        struct fault_vi *vi = container_of(node, struct fault_vi, link);
        if (vi->vi.peer == peer)
            vi->drop = true;
    }
}

uint64_t fault_frames(const struct vi_nic *nic) { return ((const struct fault_nic *)(const void *)nic)->frames; }
