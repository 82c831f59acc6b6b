/* What a nic of network cards is called and woken by: its seat at the listener, the descriptors that epoll watches, the
 * timer, and orders from threads that do not poll. Sleeping is on the epoll descriptor, level-triggered: what is there
 * wakes. */
#include "vi/call/call.h"

enum { TIMER_WORD, SEAT_WORD, LISTENER_WORD, OWN_WORD, WORDS }; /* in epoll's data; above: pointers to links */

/* ---- events ------------------------------------------------------------------------------------------------------ */

struct call_link *call_event(struct call_nic *nic, const struct epoll_event *event, uint64_t *now)
{
    struct call_link *link = event->data.u64 < WORDS ? NULL : event->data.ptr;
    uint64_t ticked;
    if (link && (link->phase == CALL_UP || link->phase == CALL_LEAVING))
        return link;
    *now = *now ? *now : vbase_clock_ns();
    if (link)
        call_greet(link, *now);
    else if (event->data.u64 == OWN_WORD)
        nic->own = true;
    else if (event->data.u64 == TIMER_WORD)
        (void)!read(nic->timer, &ticked, sizeof(ticked));
    else if (event->data.u64 == LISTENER_WORD)
        call_seat_listen(nic->seat, *now);
    else if (event->data.u64 == SEAT_WORD && call_seat_step(nic->seat) < 0) {
        LOG_INFO("%s", vbase_error_detail()); /* the other end is the launcher's, and the launcher ends this rank */
        epoll_ctl(nic->epoll, EPOLL_CTL_DEL, nic->seat->fd, NULL);
    }
    return NULL;
}

int call_watch_own(struct call_nic *nic, int fd) { return call_epoll(nic->epoll, EPOLL_CTL_ADD, fd, OWN_WORD); }

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static int seat_take(struct call_nic *nic, const struct vi_setup *setup)
{
    int error = call_seat_join(nic, setup);
    if (error)
        return error;
    nic->cards.port = (uint16_t)nic->seat->note.port;
    if (nic->seat->listener)
        error = call_epoll(nic->epoll, EPOLL_CTL_ADD, call_listener_descriptor(nic->seat->listener), LISTENER_WORD);
    return error ?: call_epoll(nic->epoll, EPOLL_CTL_ADD, nic->seat->fd, SEAT_WORD);
}

/* Those that VIADUCT_TRANSPORTS leaves. */
static int cards_allow(struct call_nic *nic)
{
    struct call_cards *cards = &nic->cards;
    int kept = 0;
    for (int i = 0; i < cards->count; i++)
        if (vi_card_allowed(nic->provider->name, cards->card[i].name))
            cards->card[kept++] = cards->card[i];
    cards->count = kept;
    return kept ? OK
                : vbase_fail(ERR_UNSUPPORTED, "VIADUCT_TRANSPORTS=\"%s\" names no network card of host %s",
                             vbase_settings.transports, cards->name);
}

int call_open(struct call_nic *nic, const struct call_provider *provider, const struct vi_setup *setup)
{
    struct list *lists[] = {&nic->up, &nic->gone, &nic->gone_vis, &nic->busy, &nic->closed, &nic->passed};
    for (size_t i = 0; i < ARRAY_LENGTH(lists); i++)
        list_init(lists[i]);
    nic->nic = (struct vi_nic){.ops = provider->ops, .sink = *setup->sink, .rank = setup->rank, .card = nic->card};
    nic->nic.rails = ((1ull << CALL_PAIRS) - 1) << (provider->number * CALL_PAIRS);
    nic->provider = provider;
    nic->ranks = setup->ranks;
    nic->epoll = nic->timer = -1;
    nic->timer_at = CALL_NEVER;
    if (setup->ranks == 1)
        return vbase_fail(ERR_UNSUPPORTED, "a job of one rank needs no network");
    if (!setup->secret)
        return vbase_fail(ERR_UNSUPPORTED, "this job has no secret, so its ranks could not authenticate each other");
    memcpy(nic->secret, setup->secret, SECRET_SIZE);
    nic->peers = calloc(setup->ranks, sizeof(struct call_peer *));
    int error = nic->peers ? call_cards_for(setup, &nic->cards) : vbase_fail(ERR_MEMORY, "the table of all ranks");
    return error ?: (setup->card ? call_cards_only(&nic->cards, setup->card) : OK)
                 ?: call_epoll_open(&nic->epoll, &nic->timer, TIMER_WORD)
                 ?: (provider->cards ? provider->cards(nic) : cards_allow(nic)) ?: seat_take(nic, setup)
                 ?: call_cards_write(&nic->cards, nic->card, sizeof(nic->card));
}

void call_close(struct call_nic *nic)
{
    call_seat_leave(nic);
    call_peers_close(nic);
    base_close(nic->epoll);
    base_close(nic->timer);
    explicit_bzero(nic->secret, sizeof(nic->secret));
}
