/* The shm nic: opening, connecting, and the end of both.
 *
 * A connection costs nothing to make: every pair has its lanes, and the first message calls the receiver by a bit in
 * the receiver's bitmap. Connections of one pair follow each other in sessions, each closed by a goodbye in both lanes.
 * What comes before the goodbye of a session that has ended here is dropped; what comes after it belongs to the next
 * session. */
#include "vi/shm/shm.h"

#include <fcntl.h>

static int setup_check(const struct vi_setup *setup)
{
    if (setup->node_fd < 0)
        return vbase_fail(ERR_UNSUPPORTED, "shm: this node has no segment");
    if (setup->local_count < 1 || setup->local_count > SHM_MAX_RANKS || setup->local_index >= setup->local_count)
        return vbase_fail(ERR_ARGUMENT, "shm: process %u of %u on this node", setup->local_index, setup->local_count);
    return OK;
}

static struct vi_caps nic_capabilities(const struct vi_setup *setup)
{
    return (struct vi_caps){
        .max_send = SHM_MAX_SEND,
        .max_put = 1ull << 30,
        .depth = SHM_DEPTH + 1, /* and one by turn */
        .ordered = 1,
        .get = vbase_settings.single_copy,
        .put = vbase_settings.single_copy && setup->direct_children,
        .map = 1,
        .source = 1,
        .node = 1,
    };
}

/* Makes this rank's entry ours and shows the cookie. An entry serves one life: positions in lanes die with the
 * process. */
static int entry_take(struct shm_nic *nic)
{
    struct shm_identity *identity = shm_identity_of(&nic->segment, nic->index);
    uint32_t free = SHM_ENTRY_FREE;
    int error = vbase_random(nic->cookie, sizeof(nic->cookie));
    if (error)
        return error;
    if (!atomic_compare_exchange_strong_explicit(&identity->state, &free, SHM_ENTRY_OPENING, memory_order_relaxed,
                                                 memory_order_relaxed))
        return vbase_fail(ERR_STATE, "place %u in the node's segment was used before", nic->index);
    identity->pid = (uint32_t)getpid();
    identity->cookie_address = (uintptr_t)nic->cookie;
    memcpy(identity->cookie, nic->cookie, sizeof(nic->cookie));
    /* release: pairs with shm_reach_prove */
    atomic_store_explicit(&identity->state, SHM_ENTRY_OPEN, memory_order_release);
    return OK;
}

static int tables_allocate(struct shm_nic *nic, const struct vi_setup *setup)
{
    uint32_t count = setup->local_count;
    nic->hot = calloc(count, sizeof(*nic->hot));
    nic->peers = calloc(count, sizeof(*nic->peers));
    nic->local_ranks = calloc(count, sizeof(*nic->local_ranks));
    if (!nic->hot || !nic->peers || !nic->local_ranks)
        return vbase_fail(ERR_MEMORY, "the tables of %u peers", count);
    memcpy(nic->local_ranks, setup->local_ranks, count * sizeof(*nic->local_ranks));
    return OK;
}

static void nic_free(struct shm_nic *nic)
{
    if (nic->peers)
        for (uint32_t i = 0; i < nic->segment.ranks; i++)
            free(atomic_load_explicit(&nic->peers[i], memory_order_relaxed));
    free((void *)nic->peers);
    free((void *)nic->hot);
    free(nic->local_ranks);
    base_close(nic->wake_fd);
    free(nic);
}

static int nic_open(const struct vi_setup *setup, struct vi_nic **out)
{
    int error = setup_check(setup);
    struct shm_nic *nic = error ? NULL : calloc(1, sizeof(*nic));
    if (!nic)
        return error ? error : vbase_fail(ERR_MEMORY, "a nic");
    nic->wake_fd = -1;
    error = shm_segment_open(setup->node_fd, setup->local_count, &nic->segment);
    if (error)
        goto free_nic;
    nic->nic = (struct vi_nic){.ops = &shm_ops, .provider = NULL, .sink = *setup->sink, .rank = setup->rank};
    nic->nic.caps = nic_capabilities(setup);
    nic->nic.asleep = nic->asleep = &((struct shm_header *)(void *)nic->segment.base)->asleep;
    nic->index = setup->local_index;
    nic->direct_children = setup->direct_children;
    nic->bell = shm_bell_of(&nic->segment, nic->index);
    nic->bits = shm_bits_of(&nic->segment, nic->index);
    nic->tick_gap = vbase_clock_ticks_of_ns(TUNED(SHM_TICK));
    nic->settle = vbase_clock_ticks_of_ns(TUNED(SHM_SETTLE));
    shm_heap_open(&nic->heap, shm_heap_of(&nic->segment, nic->index));
    error = tables_allocate(nic, setup);
    if (error)
        goto unmap;
    error = entry_take(nic);
    if (!error && setup->descriptors)
        error = shm_wake_open(nic);
    if (error)
        goto unmap;
    shm_allow_peers(setup->launcher_pid ? setup->launcher_pid : getppid());
    *out = &nic->nic;
    return OK;
unmap:
    shm_segment_close(&nic->segment);
free_nic:
    nic_free(nic);
    return error;
}

static void nic_close(struct vi_nic *base)
{
    struct shm_nic *nic = shm_nic_of(base);
    atomic_store_explicit(&nic->bell->processor, 0, memory_order_relaxed);
    atomic_store_explicit(&shm_identity_of(&nic->segment, nic->index)->state, SHM_ENTRY_CLOSED, memory_order_release);
    shm_region_close(nic);
    shm_segment_close(&nic->segment);
    nic_free(nic);
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

/* The index on the node of a rank of the job, SHM_NOWHERE if it is on another node. */
static uint32_t index_of(const struct shm_nic *nic, uint32_t rank)
{
    for (uint32_t i = 0; i < nic->segment.ranks; i++)
        if ((uint32_t)nic->local_ranks[i] == rank)
            return i;
    return SHM_NOWHERE;
}

struct shm_vi *shm_peer_make(struct shm_nic *nic, uint32_t index)
{
    const struct shm_segment *s = &nic->segment;
    struct shm_vi *vi = atomic_load_explicit(&nic->peers[index], memory_order_relaxed);
    if (vi)
        return vi;
    vi = aligned_alloc(CACHE_LINE, (sizeof(*vi) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    if (!vi)
        return NULL;
    memset(vi, 0, sizeof(*vi));
    vi->vi = (struct vi){.ops = nic->nic.ops, .nic = &nic->nic, .peer = (uint32_t)nic->local_ranks[index]};
    vi->index = index;
    vi->place = SHM_NOWHERE;
    vi->bundle.length = SHM_NO_BUNDLE;
    vi->out = shm_lane_of(s, index, nic->index);
    vi->credit = shm_credit_of(s, nic->index, index);
    vi->bell = shm_bell_of(s, index);
    vi->in = shm_lane_of(s, nic->index, index);
    shm_in_begin(vi, 0);
    vi->turn = shm_turn_of(s, nic->index, index);
    vi->turn_in = nic->index < index ? 2 : 1;
    atomic_store_explicit(&vi->turn_out, nic->index < index ? 1 : 0, memory_order_relaxed);
    vi->told_line = shm_credit_of(s, index, nic->index);
    memset(vi->slab, SHM_NO_SLAB, sizeof(vi->slab));
    /* release: pairs with the acquire of readers that walk the table without the lock */
    atomic_store_explicit(&nic->peers[index], vi, memory_order_release);
    return vi;
}

void shm_update_deliver(struct shm_vi *vi)
{
    bool broken = atomic_load_explicit(&vi->broken, memory_order_relaxed);
    /* release: pairs with the acquire of the poll, which goes on to the vi's owner without the lock */
    atomic_store_explicit(&vi->deliver, vi->open && vi->behind == 0 && !broken, memory_order_release);
}

/* Under nic->lock. */
static int vi_open(struct shm_nic *nic, struct shm_vi *vi, void *owner)
{
    if (atomic_load_explicit(&vi->broken, memory_order_relaxed))
        return vbase_fail(ERR_LINK_DOWN, "rank %u wrote invalid data into shared memory before", vi->vi.peer);
    if (vi->open)
        return OK;
    if (shm_lane_in_flight(vi) > SHM_DEPTH)
        return ERR_AGAIN;
    vi->vi.owner = owner;
    vi->open = true;
    atomic_store_explicit(&vi->limit, SHM_DEPTH, memory_order_relaxed);
    shm_update_deliver(vi);
    if (vi->waiting) {
        vi->waiting = false;
        shm_inbox_call(nic, vi->index);
    }
    return OK;
}

static int peer_connect(struct vi_nic *base, const struct vi_address *to, void *owner, struct vi **out)
{
    struct shm_nic *nic = shm_nic_of(base);
    uint32_t index = index_of(nic, to->peer);
    if (index == SHM_NOWHERE || index == nic->index)
        return vbase_fail(ERR_UNREACHABLE, "shm: rank %u is %s", to->peer,
                          index == nic->index ? "this process itself" : "not on this node");
    base_lock(&nic->lock);
    struct shm_vi *vi = shm_peer_make(nic, index);
    int error = vi ? vi_open(nic, vi, owner) : vbase_fail(ERR_MEMORY, "a connection to rank %u", to->peer);
    base_unlock(&nic->lock);
    if (!error)
        *out = &vi->vi;
    return error;
}

/* A put is complete when it returns, so an abrupt end needs nothing more. */
static void peer_disconnect(struct vi *base, bool abrupt)
{
    (void)abrupt;
    struct shm_vi *vi = shm_vi_of(base);
    struct shm_nic *nic = shm_nic_of(base->nic);
    base_lock(&nic->lock);
    if (vi->open) {
        vi->open = false;
        atomic_store_explicit(&vi->limit, 0, memory_order_relaxed);
        if (!atomic_load_explicit(&vi->broken, memory_order_relaxed)) {
            shm_goodbye(vi);
            vi->behind++;
        }
        shm_update_deliver(vi);
        shm_inbox_call(nic, vi->index);
    }
    base_unlock(&nic->lock);
}

static int peer_query(struct vi *base, struct vi_state *state)
{
    struct shm_vi *vi = shm_vi_of(base);
    shm_reach_prove(vi);
    bool get = atomic_load_explicit(&vi->get_reach, memory_order_relaxed) == SHM_REACHED;
    bool put = atomic_load_explicit(&vi->put_reach, memory_order_relaxed) == SHM_REACHED;
    /* what we have measured, while another thread does */
    unsigned told = shm_class_told(vi), ours = shm_class_in(vi->told_line);
    *state = (struct vi_state){
        .line = told < CLASSES ? (enum base_class)told : ours < CLASSES ? (enum base_class)ours : CLASS_SLOW,
        .usable = atomic_load_explicit(&vi->limit, memory_order_relaxed) != 0,
        .get = get,
        .put = put,
    };
    return OK;
}

const struct vi_ops shm_ops = {
    .open = nic_open,
    .close = nic_close,
    .connect = peer_connect,
    .reach = vi_no_reach,
    .disconnect = peer_disconnect,
    .send = shm_send,
    .put = shm_put,
    .get = shm_get,
    .wake = shm_wake,
    .reg = shm_reg,
    .dereg = shm_dereg,
    .map = shm_map,
    .poll = shm_poll,
    .arm = shm_arm,
    .query = peer_query,
};
