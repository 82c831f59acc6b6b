/* Links: sockets from birth to the end of their greeting. Called by the poll; nothing here blocks, nothing is told to
 * the sink.
 *
 * During a greeting nothing is read beyond the message awaited: frames follow the last one, and receive.c reads those.
 * A caller waits for the welcome as long as it takes: the listener at the other end is alive. */
#include "vi/tcp/tcp.h"
#include <linux/tcp.h>

/* Sets how long the kernel waits for an acknowledgement, and makes it probe soon an idle connection; 0: the kernel's
 * own time. */
static void unanswered(int fd, int ms)
{
    call_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, ms ? 1 : 10);
    call_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, ms ? 1 : 5);
    call_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, ms);
}

struct tcp_link *tcp_link_make(int fd, enum tcp_phase phase)
{
    struct tcp_link *link = calloc(1, sizeof(*link));
    if (!link)
        return NULL;
    link->fd = fd;
    link->phase = phase;
    link->deadline = TCP_NEVER;
    call_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    call_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    call_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
    unanswered(fd, 0);
    return link;
}

void tcp_link_close(struct tcp_nic *nic, struct tcp_link *link)
{
    if (link->phase == TCP_GONE)
        return;
    tcp_watch(nic, link, 0); /* a child after fork may hold the socket: closing does not end the watch */
    tcp_cold(nic, link);
    tcp_stage_drop(nic, link);
    list_leave(&link->owing);
    list_leave(&link->unread);
    list_leave(&link->node);
    if (link->rail && link->rail->link == link)
        link->rail->link = NULL;
    close(link->fd);
    link->fd = -1;
    link->phase = TCP_GONE;
    list_append(&nic->gone, &link->node);
}

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

/* ---- the greeting ------------------------------------------------------------------------------------------------ */

static int greet_connected(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
{
    int number = 0, error;
    socklen_t length = sizeof(number);
    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &number, &length) < 0 || number != 0) {
        tcp_rail_failed(nic, link->rail, number ? number : errno, now);
        return ERR_AGAIN; /* it is over already */
    }
    error = call_hello_make(&link->hello, nic->nic.rank, link->peer->rank, link->rail->number, link->epoch);
    if (error)
        return error;
    unanswered(link->fd, (int)TUNED(TCP_GREETING)); /* a card that fails now would block this connection for a quarter
                                                     * of an hour */
    if (!call_greeting_say(link->fd, &link->hello, sizeof(link->hello)))
        return vbase_fail_errno(ERR_LINK_DOWN, "a hello to rank %u", link->peer->rank);
    link->phase = TCP_GREETING;
    link->deadline = TCP_NEVER;
    link->met = now;
    tcp_watch(nic, link, EPOLLIN);
    return OK;
}

/* Of two calls that cross, the one of the lower rank stays. */
static bool rank_decides(const struct tcp_nic *nic, const struct tcp_peer *peer)
{
    return nic->nic.rank < peer->rank;
}

static int greet_welcome(struct tcp_nic *nic, struct tcp_link *link)
{
    struct tcp_peer *peer = link->peer;
    struct call_proof proof;
    int error = call_greeting_hear(link->fd, &link->welcome, sizeof(link->welcome), &link->greeted) ?:
                call_welcome_judge(&link->welcome, &link->hello, nic->secret);
    if (error)
        return error;
    call_proof_make(&proof, &link->hello, &link->welcome, nic->secret);
    if (!call_greeting_say(link->fd, &proof, sizeof(proof)))
        return vbase_fail_errno(ERR_LINK_DOWN, "a proof to rank %u", peer->rank);
    link->phase = TCP_PROVED; /* from here on the called side may take it for the connection */
    base_lock(&nic->lock);
    if (rank_decides(nic, peer))
        link->rail->epoch = link->epoch; /* so it is: calls of the other side are crossed */
    base_unlock(&nic->lock);
    return OK;
}

static int greet_verdict(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
{
    struct tcp_rail *rail = link->rail;
    int error = call_greeting_hear(link->fd, &link->verdict, sizeof(link->verdict), &link->greeted);
    if (error)
        return error;
    if (link->verdict.word == CALL_ACCEPTED) {
        unanswered(link->fd, 0); /* a rank may leave its socket full as long as it likes */
        tcp_peer_commit(nic, link, now);
        return OK;
    }
    rail->floor = link->verdict.epoch > rail->floor ? link->verdict.epoch : rail->floor;
    tcp_rail_over(nic, rail, OK, link->verdict.word == CALL_CROSSED ? TUNED_NS(TCP_CROSSED) : 0, now);
    return ERR_AGAIN;
}

/* Under nic->lock: does this side hold a link of the rail, or its own call that it has decided for? */
static bool has_link(const struct tcp_nic *nic, const struct tcp_rail *rail)
{
    return rail->link || (rank_decides(nic, rail->peer) && rail->dial && rail->dial->phase == TCP_PROVED);
}

/* The calling rank is authenticated; the verdict whether this connection is the one to keep is still to be sent. */
void tcp_called(struct tcp_nic *nic, const struct call_hello *hello, int fd, uint64_t now)
{
    struct call_verdict verdict = {.word = CALL_ACCEPTED};
    struct tcp_link *link = tcp_link_make(fd, TCP_CALLED);
    if (!link) {
        close(fd);
        return;
    }
    base_lock(&nic->lock);
    link->peer = tcp_peer_make(nic, hello->from);
    link->rail = link->peer ? &link->peer->rail[hello->rail] : NULL;
    if (link->rail && hello->epoch <= link->rail->epoch)
        verdict = (struct call_verdict){has_link(nic, link->rail) ? CALL_CROSSED : CALL_STALE, link->rail->epoch};
    base_unlock(&nic->lock);
    link->epoch = hello->epoch;
    if (!link->rail || !call_greeting_say(link->fd, &verdict, sizeof(verdict)) || verdict.word != CALL_ACCEPTED)
        tcp_link_close(nic, link);
    else
        tcp_peer_commit(nic, link, now);
}

void tcp_greet(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
{
    int error = link->phase == TCP_DIALLING ? greet_connected(nic, link, now)
              : link->phase == TCP_GREETING ? greet_welcome(nic, link)
              : link->phase == TCP_PROVED ? greet_verdict(nic, link, now) : OK;
    if (error && error != ERR_AGAIN)
        tcp_rail_over(nic, link->rail, error, 0, now);
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
    if (getsockopt(vi->link->fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
        return false;
    if (info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0 &&
        atomic_load_explicit(&vi->vi.waiting, memory_order_relaxed) == 0)
        atomic_store_explicit(&vi->doubt, sent, memory_order_relaxed);
    return (info.tcpi_unacked > 0 && info.tcpi_retransmits >= 2 && info.tcpi_last_ack_recv >= TUNED(TCP_DEAD)) ||
           (info.tcpi_probes >= 3 && info.tcpi_last_ack_recv >= TUNED(TCP_DEAD_PROBED));
}

bool tcp_doubtful(const struct tcp_nic *nic)
{
    list_for_each(node, &nic->up)
        if (vi_in_doubt(container_of(node, struct tcp_vi, up)))
            return true;
    return false;
}

void tcp_health(struct tcp_nic *nic, uint64_t now)
{
    static const struct linger at_once = {.l_onoff = 1};
    nic->health_at = now + TUNED_NS(TCP_HEALTH);
    list_for_each(node, &nic->up) {
        struct tcp_vi *vi = container_of(node, struct tcp_vi, up);
        if (!vi_in_doubt(vi) || !vi_dead(vi))
            continue;
        (void)vbase_fail(ERR_LINK_DOWN, "nothing that is sent to rank %u arrives", vi->vi.peer);
        setsockopt(vi->link->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        tcp_vi_break(nic, vi, ERR_LINK_DOWN);
    }
}
