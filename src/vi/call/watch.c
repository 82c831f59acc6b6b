/* What wakes a nic of network cards: links that epoll watches, orders from threads that do not poll, and the timer. */
#include "vi/call/call.h"

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
