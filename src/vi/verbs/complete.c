/* What completes, one after the other: requests of ours, whose blocks and memory are free then, and what came; and the
 * poll. Whatever comes is checked; what makes no sense ends the connection. */
#include "vi/verbs/verbs.h"
#include <arpa/inet.h>

#define POLLED 16

/* ---- completions ------------------------------------------------------------------------------------------------- */

/* For the first poll, and where the end of a queue pair polls while others wait to be told. */
static COLD bool events_grow(struct verbs_adapter *adapter)
{
    uint32_t room = 2 * (adapter->polled + POLLED);
    struct ibverbs_wc *event = realloc(adapter->event, room * sizeof(*event));
    adapter->event = event ? event : adapter->event;
    struct verbs_vi **vis = realloc(adapter->event_vi, room * sizeof(struct verbs_vi *));
    adapter->event_vi = vis ? vis : adapter->event_vi;
    adapter->event_room = event && vis ? room : adapter->event_room;
    return event && vis;
}

/* Under adapter->lock. What comes is mostly of the same one as before. */
static struct verbs_vi *vi_find(struct verbs_adapter *adapter, uint32_t number)
{
    if (unlikely(!adapter->latest || adapter->latest_number != number)) {
        adapter->latest = vbase_map_get(&adapter->vis, number);
        adapter->latest_number = number;
    }
    return adapter->latest;
}

/* Adds what has completed to what waits to be told. Without memory for it, it stays in the completion queue. */
bool verbs_events_poll(struct verbs_adapter *adapter)
{
    if (adapter->told == adapter->polled)
        adapter->told = adapter->polled = 0;
    if (unlikely(adapter->polled + POLLED > adapter->event_room) && !events_grow(adapter))
        return false;
    const struct ibverbs_wc *wc = adapter->event + adapter->polled;
    struct verbs_vi **vi = adapter->event_vi + adapter->polled;
    int count = adapter->port.context->ops.poll_cq(adapter->cq, POLLED, adapter->event + adapter->polled);
    for (int i = 0; i < count; i++) {
        uint64_t tag = wc[i].wr_id & VERBS_TAGS;
        vi[i] = likely(tag == VERBS_OF_RECEIVE) ? vi_find(adapter, wc[i].qp_num) : NULL;
        if (unlikely(tag == VERBS_OF_DRAIN))
            ((struct verbs_vi *)(uintptr_t)(wc[i].wr_id & ~(uint64_t)VERBS_TAGS))->drained = true;
    }
    adapter->polled += count > 0 ? (uint32_t)count : 0;
    return count > 0;
}

static bool event_there(struct verbs_adapter *adapter)
{
    return adapter->told != adapter->polled || verbs_events_poll(adapter);
}

bool verbs_event_there(struct verbs_adapter *adapter)
{
    base_lock(&adapter->lock);
    bool there = event_there(adapter);
    base_unlock(&adapter->lock);
    return there;
}

/* ---- our requests ------------------------------------------------------------------------------------------------ */

/* A short request has made the trip there and back; the least of the trips that are seen creeps up to later ones. */
static void trip_note(struct verbs_pace *pace)
{
    uint64_t ns = vbase_clock_ns_of_ticks(clock_ticks() - pace->at);
    uint32_t trip = ns < UINT32_MAX ? (uint32_t)ns + 1 : UINT32_MAX;
    uint32_t least = atomic_load_explicit(&pace->least, memory_order_relaxed);
    least = least == 0 || trip < least ? trip : least + (trip - least) / TUNED(VERBS_LEAST_CREEPS);
    atomic_store_explicit(&pace->trip, trip, memory_order_relaxed);
    atomic_store_explicit(&pace->least, least, memory_order_relaxed);
}

/* The requests before it are complete, too. Those of them with something to do have had completions of their own: each
 * of these asks for one. */
static void place_end(struct verbs_vi *vi, struct verbs_place *at, int status)
{
    base_lock(&vi->lock);
    struct verbs_place place = *at;
    *at = (struct verbs_place){.vi = vi};
    vi->over += ((uint64_t)(at - vi->place) - vi->over) % VERBS_PLACES + 1;
    vi->blocks -= place.block != NULL;
    if (vi->over == vi->pace.timed + 1 && !place.transfer && !status)
        trip_note(&vi->pace);
    verbs_places_less(vi);
    base_unlock(&vi->lock);
    if (place.block)
        verbs_block_give(vi->adapter, place.block);
    if (place.memory)
        verbs_memory_give(vi->adapter, place.memory);
    if (place.transfer)
        verbs_transfer_end(vi, place.transfer, status);
    if (place.last)
        verbs_break_later(vi, vbase_fail(ERR_LINK_DOWN, "the goodbye has arrived"));
}

void verbs_places_end(struct verbs_vi *vi, int status)
{
    while (vi->over < vi->posted)
        place_end(vi, &vi->place[vi->over % VERBS_PLACES], status);
    verbs_written_end(vi, status);
}

static COLD void request_failed(struct verbs_vi *vi, uint32_t status)
{
    const struct verbs_adapter *adapter = vi->adapter;
    base_lock(&vi->lock);
    vi->failed = true;
    base_unlock(&vi->lock);
    verbs_break_later(vi, vbase_fail(ERR_LINK_DOWN, "%s, port %u, to rank %u: %s", adapter->name, adapter->port.number,
                                     vi->call.vi.peer, adapter->home->library->ibv_wc_status_str((int)status)));
}

static void request_complete(struct verbs_place *place, uint32_t status)
{
    struct verbs_vi *vi = place->vi;
    if (unlikely(vi->state == VERBS_ENDED && vi->over == vi->posted)) /* it was given up before */
        return;
    if (unlikely(status))
        request_failed(vi, status);
    place_end(vi, place, status ? ERR_LINK_DOWN : OK);
}

/* ---- what came --------------------------------------------------------------------------------------------------- */

/* What the other side has taken of ours; false: we have sent less. */
static inline __attribute__((always_inline)) bool credit_take(struct verbs_vi *vi, uint32_t word)
{
    uint64_t taken = atomic_load_explicit(&vi->taken, memory_order_relaxed);
    /* acquire: pair with unsent_count and verbs_count; in this order, so that what is counted here is counted there */
    uint64_t unsent = atomic_load_explicit(&vi->unsent, memory_order_acquire);
    uint64_t sent = atomic_load_explicit(&vi->sent, memory_order_acquire);
    uint32_t more = word - (uint32_t)taken;
    if (more > sent - unsent - taken)
        return false;
    atomic_store_explicit(&vi->taken, taken + more, memory_order_relaxed);
    return true;
}

/* One that took credit. */
static inline void count_one(struct verbs_vi *vi)
{
    uint32_t took = atomic_load_explicit(&vi->took, memory_order_relaxed) + 1;
    atomic_store_explicit(&vi->took, took, memory_order_relaxed);
    if (unlikely(took - atomic_load_explicit(&vi->told, memory_order_relaxed) >= VERBS_DEPTH / 2))
        verbs_control_send(vi, VERBS_TAKEN);
}

static __attribute__((noinline)) void arrived_take(struct verbs_vi *vi, uint32_t immediate, uint32_t length)
{
    struct verbs_nic *nic = verbs_home(vi);
    if (atomic_load_explicit(&vi->call.open, memory_order_relaxed)) {
        nic->call.told++;
        nic->call.nic.sink.arrived(&vi->call.vi, immediate, length);
    }
    count_one(vi);
}

static void written_take(struct verbs_vi *vi)
{
    count_one(vi);
    verbs_control_send(vi, VERBS_TAKEN);
}

static COLD void refuse(struct verbs_vi *vi, const char *fault)
{
    vi->refused = true;
    call_refuse(vi->call.link ? vi->call.link->fd : -1, fault);
    verbs_break_later(vi, vbase_fail(ERR_PROTOCOL, "rank %u sends %s", vi->call.vi.peer, fault));
}

/* The first that comes: so the other side is ready, too. False: this one is not, and the other side knows it. */
static COLD bool early_take(struct verbs_vi *vi)
{
    if (vi->state == VERBS_READY)
        verbs_session_up(vi);
    else
        refuse(vi, "before it may");
    return vi->state == VERBS_UP;
}

/* It makes no sense, or is no send. */
static COLD void frame_other_take(struct verbs_vi *vi, const struct verbs_frame *frame, uint32_t length)
{
    const char *fault = verbs_frame_fault(frame, length);
    if (!fault && !credit_take(vi, frame->taken))
        fault = "a credit for what was not sent";
    if (fault) {
        refuse(vi, fault);
    } else if (frame->kind == VERBS_GOODBYE) {
        verbs_break_later(vi, vbase_fail(ERR_LINK_DOWN, "rank %u has disconnected", vi->call.vi.peer));
    } else if (frame->kind == VERBS_ARRIVED) {
        arrived_take(vi, (uint32_t)(frame->word >> 32), (uint32_t)frame->word);
    } else if (frame->kind == VERBS_WRITTEN) {
        written_take(vi);
    } else {
        verbs_written_end(vi, OK);
    }
}

static inline void frame_take(struct verbs_nic *nic, struct verbs_vi *vi, const uint8_t *block, uint32_t length)
{
    struct verbs_frame frame;
    memcpy(&frame, block, sizeof(frame)); /* a block has so much, whatever came */
    bool fits = length - sizeof(frame) <= VERBS_MAX_SEND; /* and is no less than a frame */
    if (unlikely(!fits || frame.kind != VERBS_SEND || !credit_take(vi, frame.taken))) {
        frame_other_take(vi, &frame, length);
        return;
    }
    if (likely(atomic_load_explicit(&vi->call.open, memory_order_relaxed))) {
        nic->call.told++;
        nic->enough |= nic->call.nic.sink.received(&vi->call.vi, frame.word, block + sizeof(frame),
                                                   length - sizeof(frame), 1);
    }
    count_one(vi);
}

static inline __attribute__((always_inline)) void
receive_complete(struct verbs_adapter *adapter, struct verbs_receive *receive, struct verbs_vi *vi, uint32_t status,
                 uint32_t opcode, uint32_t length, uint32_t immediate)
{
    if (likely(vi && !vi->refused && !status && (vi->state >= VERBS_UP || early_take(vi)))) {
        if (unlikely(opcode == IBVERBS_WC_RECV_RDMA_WITH_IMM))
            arrived_take(vi, ntohl(immediate), length);
        else
            frame_take(adapter->home, vi, (const uint8_t *)(uintptr_t)receive->whole.addr, length);
    } else if (vi && status) {
        request_failed(vi, status);
    }
    receive->wr.next = adapter->back; /* its block is free: it is posted again together with others */
    adapter->back = &receive->wr;
    if (unlikely(++adapter->backs >= TUNED(VERBS_BACK)) && verbs_receives_post(adapter) != OK)
        LOG_ERROR("%s", vbase_error_detail());
}

static inline __attribute__((always_inline)) bool events_tell(struct verbs_adapter *adapter, int budget)
{
    const struct verbs_nic *nic = adapter->home;
    bool moved = false;
    do {
        base_lock(&adapter->lock);
        if (!event_there(adapter)) {
            base_unlock(&adapter->lock);
            return moved;
        }
        const struct ibverbs_wc *wc = &adapter->event[adapter->told];
        uint64_t id = wc->wr_id;
        uint32_t status = wc->status, opcode = wc->opcode, length = wc->byte_len, immediate = wc->imm_data;
        struct verbs_vi *vi = adapter->event_vi[adapter->told++];
        base_unlock(&adapter->lock); /* what has completed may lie elsewhere from now on */
        void *of = (void *)(uintptr_t)(id & ~(uint64_t)VERBS_TAGS);
        if (likely((id & VERBS_TAGS) == VERBS_OF_RECEIVE))
            receive_complete(adapter, of, vi, status, opcode, length, immediate);
        else if ((id & VERBS_TAGS) == VERBS_OF_PLACE) /* not of a drain: verbs_events_poll has noted it */
            request_complete(of, status);
        moved = true;
    } while (nic->call.told < budget && !nic->enough);
    return true;
}

bool verbs_complete(struct verbs_adapter *adapter) { return events_tell(adapter, 0); }

/* Each time another adapter is the first: where one uses up the budget the others have turns. */
static COLD bool several_tell(struct verbs_nic *nic, int budget)
{
    bool moved = false;
    nic->first = (nic->first + 1) % nic->adapters;
    for (int i = 0; i < nic->adapters && nic->call.told < budget && !nic->enough; i++)
        moved |= events_tell(nic->adapter[(nic->first + i) % nic->adapters], budget);
    return moved;
}

int verbs_poll(struct vi_nic *base, struct vi *only, int budget, unsigned flags)
{
    struct verbs_nic *nic = verbs_nic_of(base);
    (void)flags;
    nic->call.told = 0;
    nic->enough = false;
    /* that of the awaited vi alone, a hint: it is written by who sends, and NULL until then */
    struct verbs_adapter *adapter = nic->adapters == 1 ? nic->adapter[0] : NULL;
    if (only)
        adapter = __atomic_load_n(&verbs_vi_of(only)->adapter, __ATOMIC_RELAXED);
    /* credit or room, too, lets a queue go on */
    bool moved = likely(adapter) ? events_tell(adapter, budget) : several_tell(nic, budget);
    if (unlikely(atomic_load_explicit(&nic->writing, memory_order_relaxed) > 0))
        verbs_writers_flush(nic);
    if (moved)
        nic->busy++;
    else if (!only)
        nic->busy = VERBS_DEPTH;
    if (unlikely((!only && (nic->busy >= VERBS_DEPTH || nic->asked == 0)) ||
                 atomic_load_explicit(&nic->call.ordered, memory_order_relaxed)))
        verbs_sockets_look(nic);
    return nic->call.told ? nic->call.told : moved;
}
