/* What a nic of network cards is called and woken by: its seat at the listener, the descriptors that epoll watches, the
 * timer, and orders from threads that do not poll. Sleeping is on the epoll descriptor, level-triggered: what is there
 * wakes. */
#include "vi/call/call.h"

enum { TIMER_WORD, SEAT_WORD, LISTENER_WORD, OWN_WORD, WORDS }; /* in epoll's data; above: pointers to links */

/* ---- what is watched --------------------------------------------------------------------------------------------- */

void call_watch(struct call_link *link, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = link};
    int what = !link->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    if (events == link->events)
        return;
    if (what != EPOLL_CTL_MOD)
        link->nic->watched += what == EPOLL_CTL_ADD ? 1 : -1;
    link->events = events;
    if (epoll_ctl(link->nic->epoll, what, link->fd, &event) < 0)
        LOG_ERROR("epoll_ctl %d on a socket of our own: %s", what, strerror(errno));
}

int call_watch_own(struct call_nic *nic, int fd) { return call_epoll(nic->epoll, EPOLL_CTL_ADD, fd, OWN_WORD); }

void call_order(struct call_nic *nic)
{
    atomic_store_explicit(&nic->ordered, true, memory_order_release); /* pairs with the exchange of the poll */
    /* seq_cst: pairs with the provider's arm: either it sees the order, or we see that it sleeps */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&nic->asleep, memory_order_relaxed))
        call_timer_set(nic->timer, 1);
}

void call_timer(struct call_nic *nic, uint64_t at_ns)
{
    if (at_ns < nic->timer_at)
        nic->timer_at = at_ns;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void calls_take(struct call_nic *nic, uint64_t now)
{
    struct call_hello hello;
    int fd, got = 1;
    for (int i = 0; i < (int)TUNED(LISTENER_STEP) && (got = call_seat_take(nic->seat, &hello, &fd)) > 0; i++)
        call_called(nic, &hello, fd, now);
    if (got < 0) { /* no connections come any more; the other end is the launcher's, and the launcher ends this rank */
        LOG_INFO("%s", vbase_error_detail());
        epoll_ctl(nic->epoll, EPOLL_CTL_DEL, nic->seat, NULL);
    }
}

struct call_link *call_event(struct call_nic *nic, const struct epoll_event *event, uint64_t *now)
{
    struct call_link *link = event->data.u64 < WORDS ? NULL : event->data.ptr;
    uint64_t ticked;
    if (link && (link->phase == CALL_UP || link->phase == CALL_LEAVING))
        return link;
    *now = *now ? *now : vbase_clock_ns();
    if (link)
        call_greet(link, *now);
    else if (event->data.u64 == TIMER_WORD)
        (void)!read(nic->timer, &ticked, sizeof(ticked));
    else if (event->data.u64 == LISTENER_WORD)
        call_listener_step(nic->listener, *now);
    else if (event->data.u64 == SEAT_WORD)
        calls_take(nic, *now);
    return NULL;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

/* A seat at the listener of the node; at a listener of our own where there is none, or it is in another network
 * namespace. */
static int seat_take(struct call_nic *nic, const struct vi_setup *setup)
{
    struct call_note note = {.port = 0};
    int rank = (int)setup->rank, error = OK;
    struct vi_setup alone = {.secret = setup->secret, .ranks = setup->ranks, .local_ranks = &rank, .local_count = 1};
    nic->seat = setup->seat_fd;
    if (nic->seat < 0 || call_seat_note(nic->seat, &note) != OK || note.host != nic->cards.host) {
        error = call_listener_open(&alone, &nic->listener);
        if (error)
            return error;
        nic->seat = call_listener_seat(nic->listener, 0);
        error = call_epoll(nic->epoll, EPOLL_CTL_ADD, call_listener_descriptor(nic->listener), LISTENER_WORD)
                    ?: call_seat_note(nic->seat, &note);
    }
    nic->cards.port = (uint16_t)note.port;
    return error ?: call_epoll(nic->epoll, EPOLL_CTL_ADD, nic->seat, SEAT_WORD);
}

int call_open(struct call_nic *nic, const struct call_provider *provider, const struct vi_setup *setup)
{
    struct list *lists[] = {&nic->up, &nic->gone, &nic->gone_vis, &nic->busy, &nic->closed};
    for (size_t i = 0; i < ARRAY_LENGTH(lists); i++)
        list_init(lists[i]);
    nic->nic = (struct vi_nic){.ops = provider->ops, .sink = *setup->sink, .rank = setup->rank, .card = nic->card};
    nic->provider = provider;
    nic->ranks = setup->ranks;
    nic->epoll = nic->timer = -1;
    nic->timer_at = CALL_NEVER;
    if (setup->ranks == 1)
        return vbase_fail(ERR_UNSUPPORTED, "a job of one rank talks to nobody");
    if (!setup->secret)
        return vbase_fail(ERR_UNSUPPORTED, "this job has no secret, so its ranks could not be told from others");
    memcpy(nic->secret, setup->secret, SECRET_SIZE);
    nic->peers = calloc(setup->ranks, sizeof(struct call_peer *));
    int error = nic->peers ? call_cards_for(setup, &nic->cards) : vbase_fail(ERR_MEMORY, "the table of all ranks");
    return error ?: (setup->card ? call_cards_only(&nic->cards, setup->card) : OK)
                 ?: call_epoll_open(&nic->epoll, &nic->timer, TIMER_WORD)
                 ?: (provider->cards ? provider->cards(nic) : OK) ?: seat_take(nic, setup)
                 ?: call_cards_write(&nic->cards, nic->card, sizeof(nic->card));
}

void call_close(struct call_nic *nic)
{
    if (nic->listener) {
        close(nic->seat);
        call_listener_close(nic->listener);
    }
    call_peers_close(nic);
    base_close(nic->epoll);
    base_close(nic->timer);
    explicit_bzero(nic->secret, sizeof(nic->secret));
}
