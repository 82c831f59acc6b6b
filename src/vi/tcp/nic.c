/* The tcp nic: opening, polling, sleeping, and the end.
 *
 * To look at the network is a system call, so it is done only when it may be worth it. Links that brought something
 * lately are read directly; epoll finds the others and new connections. The longer nothing happens, the longer the gap
 * between two looks, in proportion: a wait grows by a thirtieth at most, and by no more than a few microseconds. With
 * no connection at all the gaps are long, and longest where nothing is awaited. A poll within the gap returns "nothing"
 * and costs one reading of the clock. */
#include "vi/tcp/tcp.h"
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>


/* ---- polling ----------------------------------------------------------------------------------------------------- */

static void link_event(struct tcp_nic *nic, struct tcp_link *link, uint32_t events, int budget)
{
    if ((events & EPOLLOUT) && !tcp_flush(tcp_link_vi(link))) {
        call_break(link->call.vi, ERR_LINK_DOWN);
        return;
    }
    if (events & ~(uint32_t)EPOLLOUT) {
        if (link->call.phase == CALL_UP)
            tcp_hot(nic, link);
        tcp_receive(nic, link, budget);
    }
}

static void epoll_ask(struct tcp_nic *nic, int budget)
{
    struct epoll_event event[TUNED(TCP_EVENTS)];
    int count = epoll_wait(nic->call.epoll, event, (int)TUNED(TCP_EVENTS), 0);
    uint64_t now = 0;
    COUNT(net_asks);
    nic->asked = nic->looked;
    for (int i = 0; i < count; i++) {
        struct call_link *link = call_event(&nic->call, &event[i], &now);
        int left = budget - nic->call.told;
        if (link)
            link_event(nic, tcp_link_of(link), event[i].events, left > 0 ? left : 1);
    }
    nic->moved |= count > 0;
}

static void hot_read(struct tcp_nic *nic, int budget)
{
    int count = nic->hot_count;
    for (int i = 0; i < count && nic->hot_count > 0 && nic->call.told < budget && !nic->enough; i++) {
        struct tcp_link *link = nic->hot[(nic->hot_first + i) % nic->hot_count];
        if (nic->looked - link->heard > nic->tick_hot)
            tcp_cold(nic, link);
        else
            tcp_receive(nic, link, budget - nic->call.told);
    }
    nic->hot_first++;
}

/* Links with frames that were not taken yet. */
static void unread_read(struct tcp_nic *nic, int budget)
{
    struct list round;
    list_init(&round);
    list_move(&round, &nic->unread);
    list_take_each(node, &round) {
        if (nic->call.told < budget && !nic->enough)
            tcp_receive(nic, container_of(node, struct tcp_link, unread), budget - nic->call.told);
        else
            list_append(&nic->unread, node);
    }
}

static void owing_acknowledge(struct tcp_nic *nic)
{
    list_take_each(node, &nic->owing) {
        struct tcp_vi *vi = tcp_link_vi(container_of(node, struct tcp_link, owing));
        if (atomic_load_explicit(&vi->took, memory_order_relaxed) !=
            atomic_load_explicit(&vi->told, memory_order_relaxed))
            tcp_control_send(vi, TCP_TAKEN, 0);
    }
}

static void timers_step(struct tcp_nic *nic)
{
    bool due = false;
    uint64_t now = 0;
    if (nic->looked - nic->timed > nic->tick_timer) {
        nic->timed = nic->looked;
        now = vbase_clock_ns();
        due = now >= nic->call.timer_at;
        if (now >= nic->health_at)
            tcp_health(nic, now);
    }
    /* acquire: pairs with call_order */
    if (due || (atomic_load_explicit(&nic->call.ordered, memory_order_relaxed) &&
                atomic_exchange_explicit(&nic->call.ordered, false, memory_order_acquire)))
        call_peers_step(&nic->call, now ? now : vbase_clock_ns());
}

static uint64_t ask_gap(const struct tcp_nic *nic, uint64_t now)
{
    uint64_t part = (now - nic->event) >> TUNED(TCP_GAP_SHIFT);
    uint64_t most = nic->rarely ? nic->tick_rare : nic->call.watched == 0 ? nic->tick_idle : nic->tick_most;
    return part < most ? part : most;
}

static int poll_end(struct tcp_nic *nic)
{
    if (nic->call.told > 0 || nic->moved)
        nic->event = nic->looked;
    nic->urgent = !list_empty(&nic->unread);
    /* A thread may sleep on the socket that this one has emptied. */
    if (unlikely(nic->urgent) && !nic->call.nic.alone &&
        atomic_load_explicit(&nic->call.asleep, memory_order_relaxed))
        call_timer_set(nic->call.timer, 1);
    if (!list_empty(&nic->call.gone) || !list_empty(&nic->call.gone_vis))
        call_gone_free(&nic->call);
    return nic->call.told > 0 ? nic->call.told : nic->bytes >= TUNED(TCP_TRICKLE);
}

static int tcp_poll(struct vi_nic *base, struct vi *only, int budget, unsigned flags)
{
    struct tcp_nic *nic = tcp_nic_of(base);
    struct call_link *awaited = only ? tcp_vi_of(only)->call.link : NULL;
    uint64_t now = clock_ticks();
    nic->rarely = flags & VI_RARELY;
    if (!nic->urgent && now - nic->looked < ask_gap(nic, now) &&
        !atomic_load_explicit(&nic->call.ordered, memory_order_relaxed))
        return 0;
    nic->looked = now;
    nic->urgent = nic->moved = nic->enough = false;
    nic->call.told = 0;
    nic->bytes = 0;
    if (awaited) {
        tcp_receive(nic, tcp_link_of(awaited), budget);
        return poll_end(nic);
    }
    timers_step(nic);
    if (atomic_load_explicit(&nic->writing, memory_order_relaxed) > 0)
        tcp_writers_flush(nic, true);
    if (!list_empty(&nic->unread))
        unread_read(nic, budget);
    hot_read(nic, budget);
    if ((nic->call.told == 0 && !nic->moved && nic->hot_count == 0) || now - nic->asked > nic->tick_soon)
        epoll_ask(nic, budget);
    if (atomic_load_explicit(&nic->call.ordered, memory_order_relaxed))
        timers_step(nic);
    if (nic->call.told == 0 && !nic->moved && now - nic->event > nic->tick_settle && !list_empty(&nic->owing))
        owing_acknowledge(nic);
    return poll_end(nic);
}

/* ---- sleeping ---------------------------------------------------------------------------------------------------- */

static int arm_sleep(struct tcp_nic *nic, struct vi_wait *wait)
{
    struct epoll_event event;
    atomic_store_explicit(&nic->call.asleep, true, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with call_order and with writer_add */
    nic->urgent = true;                        /* the next poll looks */
    owing_acknowledge(nic);
    if (!list_empty(&nic->unread) || !tcp_writers_flush(nic, false))
        return ERR_AGAIN;
    if (tcp_doubtful(nic))
        call_timer(&nic->call, nic->health_at);
    call_timer_set(nic->call.timer, nic->call.timer_at);
    /* only now: a thread that orders sets the timer, too, and the line above has set it anew */
    if (atomic_load_explicit(&nic->call.ordered, memory_order_relaxed) ||
        epoll_wait(nic->call.epoll, &event, 1, 0) != 0)
        return ERR_AGAIN;
    *wait = (struct vi_wait){.futex = NULL, .descriptor = nic->call.epoll, .events = POLLIN};
    return OK;
}

static int tcp_arm(struct vi_nic *base, enum vi_arm what, struct vi_wait *wait)
{
    struct tcp_nic *nic = tcp_nic_of(base);
    if (what == VI_ARM_SLEEP)
        return arm_sleep(nic, wait);
    if (what == VI_ARM_AWAKE && atomic_load_explicit(&nic->call.asleep, memory_order_relaxed)) {
        atomic_store_explicit(&nic->call.asleep, false, memory_order_relaxed);
        nic->urgent = true;
    }
    return OK;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

/* Sessions that still leave have one last try; no peer is waited for. What lies unread is taken from the socket, lest
 * closing it resets what was sent last. */
static void tcp_close(struct vi_nic *base)
{
    struct tcp_nic *nic = tcp_nic_of(base);
    char dropped[4096];
    struct list_node *node;
    call_sessions_leave(&nic->call);
    while ((node = list_first(&nic->call.up))) {
        struct tcp_vi *vi = container_of(node, struct tcp_vi, call.up);
        (void)tcp_flush(vi);
        while (recv(vi->call.link->fd, dropped, sizeof(dropped), MSG_DONTWAIT) > 0)
            ;
        call_break(&vi->call, ERR_LINK_DOWN);
    }
    call_close(&nic->call);
    vbase_pool_close(&nic->regions);
    while (nic->spares > 0)
        free(nic->spare[--nic->spares]);
    free(nic);
}

static int tcp_open(const struct vi_setup *setup, struct vi_nic **out)
{
    struct tcp_nic *nic = calloc(1, sizeof(*nic));
    if (!nic)
        return vbase_fail(ERR_MEMORY, "a nic");
    struct list *lists[] = {&nic->owing, &nic->unread, &nic->writers};
    for (size_t i = 0; i < ARRAY_LENGTH(lists); i++)
        list_init(lists[i]);
    nic->tick_soon = vbase_clock_ticks_of_ns(TUNED(TCP_ASK));
    nic->tick_most = vbase_clock_ticks_of_ns(TUNED(TCP_GAP_MOST));
    nic->tick_rare = vbase_clock_ticks_of_ns(TUNED(TCP_GAP_RARE));
    nic->tick_idle = vbase_clock_ticks_of_ns(TUNED(TCP_GAP_ALONE));
    nic->tick_hot = vbase_clock_ticks_of_ns(TUNED(TCP_HOT_TIME));
    nic->tick_settle = vbase_clock_ticks_of_ns(TUNED(TCP_SETTLE));
    nic->tick_timer = vbase_clock_ticks_of_ns(TUNED(TCP_TIMERS));
    vbase_pool_open(&nic->regions, sizeof(struct tcp_region), 0);
    int error = call_open(&nic->call, &tcp_provider, setup);
    nic->call.nic.caps = (struct vi_caps){.max_send = TCP_MAX_SEND, .max_put = TCP_MAX_PUT, .depth = TUNED(TCP_DEPTH),
                                          .trip_ns = TUNED(TCP_TRIP), .put_least = 1, .ordered = 1, .put = 1,
                                          .polls_cost = 1};
    if (error)
        tcp_close(&nic->call.nic);
    else
        *out = &nic->call.nic;
    return error;
}

/* What is on its way through the card of VI. */
static uint64_t socket_crowd(struct tcp_nic *nic, const struct tcp_vi *vi)
{
    uint64_t bytes = 0;
    base_lock(&nic->call.lock);
    list_for_each(node, &nic->call.up) {
        struct tcp_vi *other = container_of(node, struct tcp_vi, call.up);
        int unacknowledged = 0;
        /* relaxed: a guess at how much it is */
        if (other->call.card == vi->call.card &&
            atomic_load_explicit(&other->sent, memory_order_relaxed) !=
                atomic_load_explicit(&other->doubt, memory_order_relaxed) &&
            ioctl(other->call.link->fd, SIOCOUTQ, &unacknowledged) == 0)
            bytes += atomic_load_explicit(&other->call.vi.waiting, memory_order_relaxed) + (uint64_t)unacknowledged;
    }
    base_unlock(&nic->call.lock);
    return bytes;
}

static int tcp_query(struct vi *base, struct vi_state *state)
{
    struct tcp_vi *vi = tcp_vi_of(base);
    struct tcp_info info = {.tcpi_rtt = 0};
    socklen_t length = sizeof(info);
    uint64_t bytes = socket_crowd(tcp_nic_of(base->nic), vi);
    base_lock(&vi->lock);
    if (vi->call.link)
        (void)getsockopt(vi->call.link->fd, IPPROTO_TCP, TCP_INFO, &info, &length);
    *state = (struct vi_state){
        .line = CLASS_REMOTE,
        .usable = !vi->failed,
        .put = !vi->failed,
        .backlog = vi->queue.bytes + info.tcpi_notsent_bytes,
        .rate = info.tcpi_delivery_rate,
        .round_trip_ns = info.tcpi_rtt < UINT32_MAX / 1000 ? info.tcpi_rtt * 1000 : UINT32_MAX,
        .least_trip_ns = info.tcpi_min_rtt < UINT32_MAX / 1000 ? info.tcpi_min_rtt * 1000 : UINT32_MAX,
        .crowd = bytes,
        .path = vi->call.path[0] ? vi->call.path : NULL,
        .card = vi->call.card,
    };
    base_unlock(&vi->lock);
    return OK;
}

const struct vi_ops tcp_ops = {
    .open = tcp_open,
    .close = tcp_close,
    .connect = call_connect,
    .reach = call_reach,
    .disconnect = tcp_disconnect,
    .send = tcp_send,
    .put = tcp_put,
    .get = vi_no_get,
    .wake = vi_no_wake,
    .reg = tcp_reg,
    .dereg = tcp_dereg,
    .map = vi_no_map,
    .poll = tcp_poll,
    .arm = tcp_arm,
    .query = tcp_query,
};
