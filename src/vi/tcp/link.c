/* Links and sessions of tcp: what they are beside call's. Called by the poll, but for tcp_disconnect. */
#include "vi/tcp/tcp.h"
#include <linux/tcp.h>

/* ---- stages: the buffers that sockets are read into; a link has one while something lies in it ------------------- */

bool tcp_stage_use(struct tcp_nic *nic, struct tcp_link *link)
{
    if (!link->stage)
        link->stage = nic->spares > 0 ? nic->spare[--nic->spares] : malloc(TUNED(TCP_STAGE));
    return link->stage != NULL;
}

void tcp_stage_drop(struct tcp_nic *nic, struct tcp_link *link)
{
    if (link->stage && nic->spares < (int)TUNED(TCP_SPARES))
        nic->spare[nic->spares++] = link->stage;
    else
        free(link->stage);
    link->stage = NULL;
    link->start = link->end = 0;
}

/* ---- links that are read directly -------------------------------------------------------------------------------- */

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

/* ---- from link to session, and back ------------------------------------------------------------------------------ */

static void session_free(struct call_vi *base)
{
    struct tcp_vi *vi = tcp_vi_of(&base->vi);
    tcp_writer_forget(vi);
    tcp_queue_drop(&vi->queue);
    free(vi->posted);
    free(vi);
}

/* Where there are several rails, data that is not sent yet stays with us and not in the socket: another rail may take
 * it. */
static void rails_several(const struct call_peer *peer)
{
    int fd[CALL_PAIRS], count = 0;
    for (uint32_t i = 0; i < CALL_PAIRS; i++)
        if (peer->rail[i].link && peer->rail[i].link->phase == CALL_UP)
            fd[count++] = peer->rail[i].link->fd;
    for (int i = 0; count > 1 && i < count; i++)
        call_option(fd[i], IPPROTO_TCP, TCP_NOTSENT_LOWAT, (int)TUNED(TCP_UNSENT));
}

static void session_attach(struct call_vi *base, struct call_link *link)
{
    struct tcp_vi *vi = tcp_vi_of(&base->vi);
    struct tcp_nic *nic = tcp_nic_of(base->vi.nic);
    call_path_find(base, link->fd);
    if (base->near) /* no congestion on one host: a congestion control that estimates rates and paces, where it is the
                     * default, only costs time */
        setsockopt(link->fd, IPPROTO_TCP, TCP_CONGESTION, "reno", sizeof("reno") - 1);
    base_lock(&vi->lock);
    base->link = link;
    base_unlock(&vi->lock);
    rails_several(link->peer);
    call_watch(link, EPOLLIN);
    tcp_hot(nic, tcp_link_of(link));
    call_up(base);
    if (!tcp_flush(vi))
        call_break(base, ERR_LINK_DOWN);
    else /* read in this poll: something may have come already */
        list_append(&nic->unread, &tcp_link_of(link)->unread);
}

static void session_detach(struct call_vi *base)
{
    struct tcp_vi *vi = tcp_vi_of(&base->vi);
    struct tcp_link *link = tcp_link_of(base->link);
    base_lock(&vi->lock);
    vi->failed = vi->failed ?: ENOTCONN;
    base->link = NULL;
    tcp_queue_drop(&vi->queue);
    base_unlock(&vi->lock);
    tcp_writer_forget(vi);
    if (link) {
        tcp_cold(tcp_nic_of(base->vi.nic), link);
        tcp_stage_drop(tcp_nic_of(base->vi.nic), link);
        list_leave(&link->owing);
        list_leave(&link->unread);
    }
    tcp_completed(vi, ERR_LINK_DOWN);
}

/* The memory of a put is not ours any more: then the link ends here and now. */
static void session_leave(struct call_vi *base)
{
    struct tcp_vi *vi = tcp_vi_of(&base->vi);
    tcp_stage_drop(tcp_nic_of(base->vi.nic), tcp_link_of(base->link));
    if (!base->abrupt)
        tcp_control_send(vi, TCP_GOODBYE, 0);
    if (base->abrupt || tcp_queue_lent(&vi->queue) != TCP_NONE || !tcp_flush(vi))
        call_break(base, ERR_LINK_DOWN);
}

const struct call_provider tcp_provider = {
    .name = "tcp",
    .ops = &tcp_ops,
    .number = 0,
    .vi_size = sizeof(struct tcp_vi),
    .link_size = sizeof(struct tcp_link),
    .free = session_free,
    .attach = session_attach,
    .detach = session_detach,
    .leave = session_leave,
};

void tcp_disconnect(struct vi *base, bool abrupt)
{
    struct tcp_vi *vi = tcp_vi_of(base);
    base_lock(&vi->lock);
    if (!vi->call.link && tcp_queue_lent(&vi->queue) != TCP_NONE) { /* it waits; the memory of its puts does not */
        tcp_queue_drop(&vi->queue);
        atomic_store_explicit(&vi->sent, 0, memory_order_relaxed);
    }
    base_unlock(&vi->lock);
    call_disconnect(base, abrupt);
}

/* ---- health ------------------------------------------------------------------------------------------------------ */

/* The other side's program may compute or be stopped for hours: its kernel answers for the card. What was sent and not
 * taken there is in doubt until our kernel says that it has arrived. */
static bool vi_in_doubt(const struct tcp_vi *vi)
{
    uint64_t sent = atomic_load_explicit(&vi->sent, memory_order_relaxed);
    return sent != atomic_load_explicit(&vi->doubt, memory_order_relaxed) &&
           sent != atomic_load_explicit(&vi->taken, memory_order_relaxed);
}

/* Data stays unacknowledged, or window probes stay unanswered. */
static bool vi_dead(struct tcp_vi *vi)
{
    uint64_t sent = atomic_load_explicit(&vi->sent, memory_order_relaxed);
    struct tcp_info info;
    socklen_t length = sizeof(info);
    if (getsockopt(vi->call.link->fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
        return false;
    if (info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0 &&
        atomic_load_explicit(&vi->call.vi.waiting, memory_order_relaxed) == 0)
        atomic_store_explicit(&vi->doubt, sent, memory_order_relaxed);
    return (info.tcpi_unacked > 0 && info.tcpi_retransmits >= TUNED(TCP_DEAD_RETRIES) &&
            info.tcpi_last_ack_recv >= TUNED(TCP_DEAD)) ||
           (info.tcpi_probes >= TUNED(TCP_DEAD_PROBES) && info.tcpi_last_ack_recv >= TUNED(TCP_DEAD_PROBED));
}

bool tcp_doubtful(const struct tcp_nic *nic)
{
    list_for_each(node, &nic->call.up)
        if (vi_in_doubt(container_of(node, struct tcp_vi, call.up)))
            return true;
    return false;
}

void tcp_health(struct tcp_nic *nic, uint64_t now)
{
    static const struct linger at_once = {.l_onoff = 1};
    nic->health_at = now + TUNED_NS(TCP_HEALTH);
    list_for_each(node, &nic->call.up) {
        struct tcp_vi *vi = container_of(node, struct tcp_vi, call.up);
        if (!vi_in_doubt(vi) || !vi_dead(vi))
            continue;
        (void)vbase_fail(ERR_LINK_DOWN, "no frame that is sent to rank %u is acknowledged", vi->call.vi.peer);
        setsockopt(vi->call.link->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        call_break(&vi->call, ERR_LINK_DOWN);
    }
}
