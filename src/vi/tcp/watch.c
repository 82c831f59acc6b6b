/* What wakes a tcp nic: the sockets that epoll watches, those that are read directly, the timer, and orders from
 * threads that do not poll. */
#include "vi/tcp/tcp.h"
#include <sys/timerfd.h>

void tcp_watch(struct tcp_nic *nic, struct tcp_link *link, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = link};
    int what = !link->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    if (events == link->events)
        return;
    if (what != EPOLL_CTL_MOD)
        nic->watched += what == EPOLL_CTL_ADD ? 1 : -1;
    link->events = events;
    if (epoll_ctl(nic->epoll, what, link->fd, &event) < 0)
        LOG_ERROR("epoll_ctl %d on a socket of our own: %s", what, strerror(errno));
}

void tcp_cold(struct tcp_nic *nic, struct tcp_link *link)
{
    for (int i = 0; i < nic->hot_count; i++)
        if (nic->hot[i] == link) {
            nic->hot[i] = nic->hot[--nic->hot_count];
            return;
        }
}

void tcp_hot(struct tcp_nic *nic, struct tcp_link *link)
{
    int oldest = 0;
    link->heard = nic->looked;
    for (int i = 0; i < nic->hot_count; i++) {
        if (nic->hot[i] == link)
            return;
        if (nic->hot[i]->heard < nic->hot[oldest]->heard)
            oldest = i;
    }
    nic->hot[nic->hot_count < (int)TUNED(TCP_HOT) ? nic->hot_count++ : oldest] = link;
}

void tcp_timer_set(struct tcp_nic *nic, uint64_t at)
{
    struct itimerspec when = {.it_value = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)}};
    timerfd_settime(nic->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

void tcp_order(struct tcp_nic *nic)
{
    atomic_store_explicit(&nic->ordered, true, memory_order_release); /* pairs with the exchange of the poll */
    /* seq_cst: pairs with tcp_arm: either it sees the order, or we see that it sleeps */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&nic->asleep, memory_order_relaxed))
        tcp_timer_set(nic, 1);
}

void tcp_timer(struct tcp_nic *nic, uint64_t at_ns)
{
    if (at_ns < nic->timer_at)
        nic->timer_at = at_ns;
}
