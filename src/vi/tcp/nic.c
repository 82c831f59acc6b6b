/* The tcp nic: opening, polling, sleeping, and the end.
 *
 * To look at the network is a system call, so it is done only when it may be worth it. Links that brought something
 * lately are read directly; epoll finds the others and new connections. The longer nothing happens, the longer the gap
 * between two looks, in proportion: a wait grows by a thirtieth at most, and by no more than a few microseconds. With
 * no connection at all the gaps are long, and longest where nothing is awaited. A poll within the gap returns "nothing"
 * and costs one reading of the clock.
 *
 * Sleeping is on the epoll descriptor, level-triggered: what is there wakes. A timer descriptor in it wakes for what is
 * due without being called. */
#include "vi/tcp/tcp.h"
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>

#define EVENTS     16
enum { TIMER_WORD, SEAT_WORD, LISTENER_WORD, WORDS }; /* in epoll's data; above: pointers to links */

/* ---- polling ----------------------------------------------------------------------------------------------------- */

static void link_event(struct tcp_nic *nic, struct tcp_link *link, uint32_t events, int budget, uint64_t *now)
{
    if (link->phase != TCP_UP && link->phase != TCP_LEAVING) {
        *now = *now ? *now : vbase_clock_ns();
        tcp_greet(nic, link, *now);
        return;
    }
    if ((events & EPOLLOUT) && !tcp_flush(link->vi)) {
        tcp_vi_break(nic, link->vi, ERR_LINK_DOWN);
        return;
    }
    if (events & ~(uint32_t)EPOLLOUT) {
        if (link->phase == TCP_UP)
            tcp_hot(nic, link);
        tcp_receive(nic, link, budget);
    }
}

static void calls_take(struct tcp_nic *nic, uint64_t now)
{
    struct call_hello hello;
    int fd, got = 1;
    for (int i = 0; i < EVENTS && (got = call_seat_take(nic->seat, &hello, &fd)) > 0; i++)
        tcp_called(nic, &hello, fd, now);
    if (got < 0) { /* no connections come any more; the other end is the launcher's, and the launcher ends this rank */
        LOG_INFO("%s", vbase_error_detail());
        epoll_ctl(nic->epoll, EPOLL_CTL_DEL, nic->seat, NULL);
    }
}

static void epoll_ask(struct tcp_nic *nic, int budget)
{
    struct epoll_event event[EVENTS];
    int count = epoll_wait(nic->epoll, event, EVENTS, 0);
    uint64_t now = 0, ticked;
    COUNT(net_asks);
    nic->asked = nic->looked;
    for (int i = 0; i < count; i++) {
        if (event[i].data.u64 < WORDS)
            now = now ? now : vbase_clock_ns();
        if (event[i].data.u64 == TIMER_WORD)
            (void)!read(nic->timer, &ticked, sizeof(ticked));
        else if (event[i].data.u64 == LISTENER_WORD)
            call_listener_step(nic->listener, now);
        else if (event[i].data.u64 == SEAT_WORD)
            calls_take(nic, now);
        else
            link_event(nic, event[i].data.ptr, event[i].events, budget - nic->told > 0 ? budget - nic->told : 1, &now);
    }
    nic->moved |= count > 0;
}

static void hot_read(struct tcp_nic *nic, int budget)
{
    int count = nic->hot_count;
    for (int i = 0; i < count && nic->hot_count > 0 && nic->told < budget && !nic->enough; i++) {
        struct tcp_link *link = nic->hot[(nic->hot_first + i) % nic->hot_count];
        if (nic->looked - link->heard > nic->tick_hot)
            tcp_cold(nic, link);
        else
            tcp_receive(nic, link, budget - nic->told);
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
        if (nic->told < budget && !nic->enough)
            tcp_receive(nic, container_of(node, struct tcp_link, unread), budget - nic->told);
        else
            list_append(&nic->unread, node);
    }
}

static void owing_acknowledge(struct tcp_nic *nic)
{
    list_take_each(node, &nic->owing) {
        struct tcp_vi *vi = container_of(node, struct tcp_link, owing)->vi;
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
        due = now >= nic->timer_at;
        if (now >= nic->health_at)
            tcp_health(nic, now);
    }
    if (due)
        nic->timer_at = TCP_NEVER;
    /* acquire: pairs with tcp_order */
    if (due || (atomic_load_explicit(&nic->ordered, memory_order_relaxed) &&
                atomic_exchange_explicit(&nic->ordered, false, memory_order_acquire)))
        tcp_peers_step(nic, now ? now : vbase_clock_ns());
}

static uint64_t gap(const struct tcp_nic *nic, uint64_t now)
{
    uint64_t part = (now - nic->event) >> TUNED(TCP_GAP_SHIFT);
    uint64_t most = nic->rarely ? nic->tick_rare : nic->watched == 0 ? nic->tick_idle : nic->tick_most;
    return part < most ? part : most;
}

static int poll_end(struct tcp_nic *nic)
{
    if (nic->told > 0 || nic->moved)
        nic->event = nic->looked;
    nic->urgent = !list_empty(&nic->unread);
    if (!list_empty(&nic->gone) || !list_empty(&nic->gone_vis))
        tcp_gone_free(nic);
    return nic->told > 0 ? nic->told : nic->bytes >= TUNED(TCP_TRICKLE);
}

int tcp_poll(struct vi_nic *base, struct vi *only, int budget, unsigned flags)
{
    struct tcp_nic *nic = tcp_nic_of(base);
    struct tcp_link *awaited = only ? tcp_vi_of(only)->link : NULL;
    uint64_t now = clock_ticks();
    nic->rarely = flags & VI_RARELY;
    if (!nic->urgent && now - nic->looked < gap(nic, now) && !atomic_load_explicit(&nic->ordered, memory_order_relaxed))
        return 0;
    nic->looked = now;
    nic->urgent = nic->moved = nic->enough = false;
    nic->told = 0;
    nic->bytes = 0;
    if (awaited) {
        tcp_receive(nic, awaited, budget);
        return poll_end(nic);
    }
    timers_step(nic);
    if (atomic_load_explicit(&nic->writing, memory_order_relaxed) > 0)
        tcp_writers_flush(nic, true);
    if (!list_empty(&nic->unread))
        unread_read(nic, budget);
    hot_read(nic, budget);
    if ((nic->told == 0 && !nic->moved && nic->hot_count == 0) || now - nic->asked > nic->tick_soon)
        epoll_ask(nic, budget);
    if (atomic_load_explicit(&nic->ordered, memory_order_relaxed))
        timers_step(nic);
    if (nic->told == 0 && !nic->moved && now - nic->event > nic->tick_settle && !list_empty(&nic->owing))
        owing_acknowledge(nic);
    return poll_end(nic);
}

/* ---- sleeping ---------------------------------------------------------------------------------------------------- */

static int arm_sleep(struct tcp_nic *nic, struct vi_wait *wait)
{
    struct epoll_event event;
    atomic_store_explicit(&nic->asleep, true, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with tcp_order and with writer_add */
    nic->urgent = true;                        /* the next poll looks */
    owing_acknowledge(nic);
    if (!list_empty(&nic->unread) || !tcp_writers_flush(nic, false))
        return ERR_AGAIN;
    if (tcp_doubtful(nic))
        tcp_timer(nic, nic->health_at);
    tcp_timer_set(nic, nic->timer_at == TCP_NEVER ? 0 : nic->timer_at);
    /* only now: a thread that orders sets the timer, too, and the line above has set it anew */
    if (atomic_load_explicit(&nic->ordered, memory_order_relaxed) || epoll_wait(nic->epoll, &event, 1, 0) != 0)
        return ERR_AGAIN;
    *wait = (struct vi_wait){.futex = NULL, .descriptor = nic->epoll, .events = POLLIN};
    return OK;
}

static int tcp_arm(struct vi_nic *base, enum vi_arm what, struct vi_wait *wait)
{
    struct tcp_nic *nic = tcp_nic_of(base);
    if (what == VI_ARM_SLEEP)
        return arm_sleep(nic, wait);
    if (what == VI_ARM_AWAKE && atomic_load_explicit(&nic->asleep, memory_order_relaxed)) {
        atomic_store_explicit(&nic->asleep, false, memory_order_relaxed);
        nic->urgent = true;
    }
    return OK;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static int setup_check(const struct vi_setup *setup)
{
    if (setup->ranks == 1)
        return vbase_fail(ERR_UNSUPPORTED, "tcp: a job of one rank talks to nobody");
    if (!setup->secret)
        return vbase_fail(ERR_UNSUPPORTED, "tcp: this job has no secret, so its ranks could not be told from others");
    if (setup->rank >= setup->ranks)
        return vbase_fail(ERR_ARGUMENT, "tcp: rank %u of %u", setup->rank, setup->ranks);
    return OK;
}

static int epoll_watch(struct tcp_nic *nic, int fd, uint64_t word)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = word};
    return epoll_ctl(nic->epoll, EPOLL_CTL_ADD, fd, &event) < 0
               ? vbase_fail_errno(ERR_SYSTEM, "the descriptors of a tcp nic")
               : OK;
}

static int open_epoll(struct tcp_nic *nic)
{
    nic->epoll = epoll_create1(EPOLL_CLOEXEC);
    nic->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (nic->epoll < 0 || nic->timer < 0)
        return vbase_fail_errno(ERR_SYSTEM, "the descriptors of a tcp nic");
    return epoll_watch(nic, nic->timer, TIMER_WORD);
}

/* A seat at the listener of the node; at a listener of our own where there is none, or it is in another network
 * namespace. */
static int seat_take(struct tcp_nic *nic, const struct vi_setup *setup)
{
    struct call_note note = {.port = 0};
    int rank = (int)setup->rank, error = OK;
    struct vi_setup alone = *setup;
    alone.local_ranks = &rank;
    alone.local_count = 1;
    nic->seat = setup->seat_fd;
    if (nic->seat < 0 || call_seat_note(nic->seat, &note) != OK || note.host != nic->cards.host) {
        error = call_listener_open(&alone, &nic->listener);
        if (error)
            return error;
        nic->seat = call_listener_seat(nic->listener, 0);
        error = epoll_watch(nic, call_listener_descriptor(nic->listener), LISTENER_WORD)
                    ?: call_seat_note(nic->seat, &note);
    }
    nic->cards.port = (uint16_t)note.port;
    return error ? error : epoll_watch(nic, nic->seat, SEAT_WORD);
}

static void nic_prepare(struct tcp_nic *nic, const struct vi_setup *setup)
{
    struct list *lists[] = {&nic->owing, &nic->unread, &nic->gone, &nic->gone_vis, &nic->up,
                            &nic->busy, &nic->closed, &nic->writers};
    for (size_t i = 0; i < ARRAY_LENGTH(lists); i++)
        list_init(lists[i]);
    nic->nic = (struct vi_nic){.ops = &tcp_ops, .sink = *setup->sink, .rank = setup->rank, .card = nic->card};
    nic->nic.caps = (struct vi_caps){.max_send = TCP_MAX_SEND, .max_put = TCP_MAX_PUT, .depth = TCP_DEPTH,
                                     .put_least = 1, .ordered = 1, .put = 1};
    nic->ranks = setup->ranks;
    memcpy(nic->secret, setup->secret, SECRET_SIZE);
    nic->epoll = nic->timer = -1;
    nic->timer_at = TCP_NEVER;
    nic->tick_soon = vbase_clock_ticks_of_ns(TUNED(TCP_ASK));
    nic->tick_most = vbase_clock_ticks_of_ns(TUNED(TCP_GAP_MOST));
    nic->tick_rare = vbase_clock_ticks_of_ns(TUNED(TCP_GAP_RARE));
    nic->tick_idle = vbase_clock_ticks_of_ns(TUNED(TCP_GAP_ALONE));
    nic->tick_hot = vbase_clock_ticks_of_ns(TUNED(TCP_HOT_TIME));
    nic->tick_settle = vbase_clock_ticks_of_ns(TUNED(TCP_SETTLE));
    nic->tick_timer = vbase_clock_ticks_of_ns(TUNED(TCP_TIMERS));
    vbase_pool_open(&nic->regions, sizeof(struct tcp_region), 0);
}

static void tcp_close(struct vi_nic *base)
{
    struct tcp_nic *nic = tcp_nic_of(base);
    if (nic->listener) {
        close(nic->seat);
        call_listener_close(nic->listener);
    }
    tcp_peers_close(nic);
    base_close(nic->epoll);
    base_close(nic->timer);
    vbase_pool_close(&nic->regions);
    while (nic->spares > 0)
        free(nic->spare[--nic->spares]);
    explicit_bzero(nic->secret, sizeof(nic->secret));
    free(nic);
}

static int tcp_open(const struct vi_setup *setup, struct vi_nic **out)
{
    int error = setup_check(setup);
    struct tcp_nic *nic = error ? NULL : calloc(1, sizeof(*nic));
    if (!nic)
        return error ? error : vbase_fail(ERR_MEMORY, "a nic");
    nic_prepare(nic, setup);
    nic->peers = calloc(setup->ranks, sizeof(struct tcp_peer *));
    error = nic->peers ? call_cards_own(&nic->cards) : vbase_fail(ERR_MEMORY, "the table of %u ranks", setup->ranks);
    if (!error && setup->card)
        error = call_cards_only(&nic->cards, setup->card);
    if (!error)
        error = open_epoll(nic) ?: seat_take(nic, setup) ?: call_cards_write(&nic->cards, nic->card, sizeof(nic->card));
    if (error)
        tcp_close(&nic->nic);
    else
        *out = &nic->nic;
    return error;
}

/* What is on its way through the card of VI. */
static uint64_t crowd(struct tcp_nic *nic, const struct tcp_vi *vi)
{
    uint64_t bytes = 0;
    base_lock(&nic->lock);
    list_for_each(node, &nic->up) {
        struct tcp_vi *other = container_of(node, struct tcp_vi, up);
        int unacknowledged = 0;
        /* relaxed: a guess at how much it is */
        if (other->card == vi->card &&
            atomic_load_explicit(&other->sent, memory_order_relaxed) !=
                atomic_load_explicit(&other->doubt, memory_order_relaxed) &&
            ioctl(other->link->fd, SIOCOUTQ, &unacknowledged) == 0)
            bytes += atomic_load_explicit(&other->vi.waiting, memory_order_relaxed) + (uint64_t)unacknowledged;
    }
    base_unlock(&nic->lock);
    return bytes;
}

static int tcp_query(struct vi *base, struct vi_state *state)
{
    struct tcp_vi *vi = tcp_vi_of(base);
    struct tcp_info info = {.tcpi_rtt = 0};
    socklen_t length = sizeof(info);
    uint64_t bytes = crowd(tcp_nic_of(base->nic), vi);
    base_lock(&vi->lock);
    if (vi->fd >= 0)
        (void)getsockopt(vi->fd, IPPROTO_TCP, TCP_INFO, &info, &length);
    *state = (struct vi_state){
        .line = CLASS_REMOTE,
        .usable = !vi->dead && !vi->failed,
        .put = !vi->dead && !vi->failed,
        .backlog = vi->queue.bytes + info.tcpi_notsent_bytes,
        .rate = info.tcpi_delivery_rate,
        .round_trip_ns = info.tcpi_rtt < UINT32_MAX / 1000 ? info.tcpi_rtt * 1000 : UINT32_MAX,
        .least_trip_ns = info.tcpi_min_rtt < UINT32_MAX / 1000 ? info.tcpi_min_rtt * 1000 : UINT32_MAX,
        .crowd = bytes,
        .path = vi->path[0] ? vi->path : NULL,
    };
    base_unlock(&vi->lock);
    return OK;
}

const struct vi_ops tcp_ops = {
    .open = tcp_open,
    .close = tcp_close,
    .connect = tcp_connect,
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
