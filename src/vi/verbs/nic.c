/* The verbs nic: opening, looking at sockets, sleeping, and the end. Its poll is in complete.c.
 *
 * To look at completions is to read memory, so it is done at every poll. To look at sockets, by which connections come
 * and end, is a system call: done every now and then, and when something is ordered; by polls that find completions,
 * once in VERBS_DEPTH of them, and never by one of a single connection. */
#include "vi/verbs/verbs.h"
#include <poll.h>

#define EVENTS 16

/* ---- looking at sockets ------------------------------------------------------------------------------------------ */

/* Takes the event away that woke us, and asks for none until the next sleep. */
static void adapter_disarm(struct verbs_adapter *adapter)
{
    const struct ibverbs_library *library = adapter->home->library;
    struct ibverbs_cq *cq;
    void *own;
    if (adapter->armed && library->ibv_get_cq_event(adapter->channel, &cq, &own) == 0) {
        library->ibv_ack_cq_events(cq, 1);
        adapter->armed = false;
    }
}

/* Those of iWARP. As many in one look as the listener of TCP accepts in one step: any process may call. */
static void connections_look(struct verbs_adapter *adapter)
{
    struct verbs_vi *vi;
    int result;
    for (int i = 0; i < (int)TUNED(LISTENER_STEP) && verbs_iwarp_step(adapter, &vi, &result); i++)
        if (result)
            verbs_break_later(vi, result);
}

/* Its connections end at once when its port does: requests would be repeated for seconds. SAYS: one of its
 * descriptors, or of another one, says something. */
static void adapter_look(struct verbs_adapter *adapter, bool says)
{
    if (says)
        connections_look(adapter);
    base_lock(&adapter->lock);
    if (says)
        verbs_adapter_events(adapter);
    bool failed = adapter->failed, few = adapter->few;
    adapter->failed = adapter->few = false;
    base_unlock(&adapter->lock);
    if (few)
        verbs_receives_fill(adapter);
    list_for_each(node, &adapter->home->attached) {
        struct verbs_vi *vi = container_of(node, struct verbs_vi, attached);
        if (failed && vi->adapter == adapter)
            verbs_break_later(vi, verbs_adapter_fault(adapter));
    }
}

/* What verbs_break_later has left to do is done here as well: it has set `ordered`. */
void verbs_sockets_look(struct verbs_nic *nic)
{
    struct epoll_event event[EVENTS];
    uint64_t now = clock_ticks();
    if (now - nic->asked <= nic->tick_ask && !atomic_load_explicit(&nic->call.ordered, memory_order_relaxed))
        return;
    nic->busy = 0;
    nic->asked = now;
    now = vbase_clock_ns();
    int count = epoll_wait(nic->call.epoll, event, EVENTS, 0);
    COUNT(net_asks);
    for (int i = 0; i < count; i++) {
        struct call_link *link = call_event(&nic->call, &event[i], &now);
        if (link)
            verbs_link_event(link);
    }
    for (int i = 0; i < nic->adapters; i++)
        adapter_look(nic->adapter[i], nic->call.own);
    nic->call.own = false;
    bool due = now >= nic->call.timer_at;
    /* acquire: pairs with call_order */
    if (atomic_exchange_explicit(&nic->call.ordered, false, memory_order_acquire) || due) {
        call_peers_step(&nic->call, now);
        verbs_iwarp_say(nic, now);
    }
    verbs_broken_end(nic);
    call_gone_free(&nic->call);
}

/* ---- sleeping ---------------------------------------------------------------------------------------------------- */

/* Whatever completes from now on is told; what has completed meanwhile is found by the look behind it. */
static bool adapter_arm(struct verbs_adapter *adapter)
{
    if (!adapter->armed)
        (void)adapter->port.context->ops.req_notify_cq(adapter->cq, 0);
    adapter->armed = true;
    return !verbs_event_there(adapter);
}

static int arm_sleep(struct verbs_nic *nic, struct vi_wait *wait)
{
    struct epoll_event event;
    bool quiet = list_empty(&nic->broken) && atomic_load_explicit(&nic->writing, memory_order_relaxed) == 0;
    atomic_store_explicit(&nic->call.asleep, true, memory_order_relaxed);
    /* seq_cst: pairs with call_order: either it sees that we sleep, or we see the order */
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i < nic->adapters; i++)
        quiet = adapter_arm(nic->adapter[i]) && quiet;
    call_timer_set(nic->call.timer, nic->call.timer_at);
    /* only now: a thread that orders sets the timer, too, and the line above has set it anew */
    if (!quiet || atomic_load_explicit(&nic->call.ordered, memory_order_relaxed) ||
        epoll_wait(nic->call.epoll, &event, 1, 0) != 0) {
        nic->asked = 0; /* the next poll of all looks */
        return ERR_AGAIN;
    }
    *wait = (struct vi_wait){.futex = NULL, .descriptor = nic->call.epoll, .events = POLLIN};
    return OK;
}

static int verbs_arm(struct vi_nic *base, enum vi_arm what, struct vi_wait *wait)
{
    struct verbs_nic *nic = verbs_nic_of(base);
    for (int i = 0; i < nic->adapters && (what == VI_ARM_SLEEP || what == VI_ARM_AWAKE); i++)
        adapter_disarm(nic->adapter[i]);
    if (what == VI_ARM_SLEEP)
        return arm_sleep(nic, wait);
    if (what == VI_ARM_AWAKE && atomic_load_explicit(&nic->call.asleep, memory_order_relaxed)) {
        atomic_store_explicit(&nic->call.asleep, false, memory_order_relaxed);
        nic->asked = 0;
    }
    return OK;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static bool something_leaves(const struct verbs_nic *nic)
{
    list_for_each(node, &nic->attached)
        if (container_of(node, struct verbs_vi, attached)->state == VERBS_UP)
            return true;
    return false;
}

/* What was said last is on its way: it is waited for, as long as devices answer each other. */
static void verbs_close(struct vi_nic *base)
{
    struct verbs_nic *nic = (struct verbs_nic *)(void *)base;
    uint64_t until = vbase_clock_ns() + TUNED_NS(VERBS_CLOSE);
    struct list_node *node;
    nic->call.closing = true;
    call_sessions_leave(&nic->call);
    while (something_leaves(nic) && vbase_clock_ns() < until)
        (void)verbs_poll(base, NULL, INT_MAX, 0);
    while ((node = list_first(&nic->attached)))
        call_break(&container_of(node, struct verbs_vi, attached)->call, ERR_LINK_DOWN);
    call_close(&nic->call);
    verbs_adapters_close(nic);
    free(nic);
}

static int verbs_open(const struct vi_setup *setup, struct vi_nic **out)
{
    struct verbs_nic *nic = calloc(1, sizeof(*nic));
    if (!nic)
        return vbase_fail(ERR_MEMORY, "a nic");
    list_init(&nic->attached);
    list_init(&nic->broken);
    list_init(&nic->writers);
    nic->tick_ask = vbase_clock_ticks_of_ns(TUNED(VERBS_ASK));
    int error = call_open(&nic->call, &verbs_provider, setup);
    if (error)
        verbs_close(&nic->call.nic);
    else
        *out = &nic->call.nic;
    return error;
}

static int verbs_query(struct vi *base, struct vi_state *state)
{
    struct verbs_vi *vi = verbs_vi_of(base);
    base_lock(&vi->lock);
    *state = (struct vi_state){
        .line = CLASS_REMOTE,
        .usable = !vi->failed,
        .get = !vi->failed && vi_caps(base)->get,
        .put = !vi->failed,
        .backlog = atomic_load_explicit(&vi->call.vi.waiting, memory_order_relaxed),
        .rate = atomic_load_explicit(&vi->pace.rate, memory_order_relaxed),
        .round_trip_ns = atomic_load_explicit(&vi->pace.trip, memory_order_relaxed),
        .least_trip_ns = atomic_load_explicit(&vi->pace.least, memory_order_relaxed),
        .path = vi->call.path[0] ? vi->call.path : NULL,
        .card = vi->call.card,
    };
    base_unlock(&vi->lock);
    return OK;
}

const struct vi_ops verbs_ops = {
    .open = verbs_open,
    .close = verbs_close,
    .connect = call_connect,
    .reach = call_reach,
    .disconnect = verbs_disconnect,
    .send = verbs_send,
    .put = verbs_put,
    .get = verbs_get,
    .wake = vi_no_wake,
    .reg = verbs_reg,
    .dereg = verbs_dereg,
    .map = vi_no_map,
    .poll = verbs_poll,
    .arm = verbs_arm,
    .query = verbs_query,
};
