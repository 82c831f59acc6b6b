/* Links: sockets from birth to the end of their greeting. Called by the poll; nothing here blocks, nothing is told to
 * the sink.
 *
 * What comes during a greeting is never read beyond the message awaited: what follows the last one are frames, and they
 * are read by others. A caller waits for his welcome as long as it takes: who listens there is alive. */
#include "vi/tcp/tcp.h"
#include <linux/tcp.h>

#define GREETING_MS 2000         /* until his kernel acknowledges what was said in it */
#define CROSSED_NS  1000000000ull /* the other side's call should have come by then */
#define HEALTH_NS      50000000ull /* between two looks at it */
#define DEAD_MS        400u        /* without an acknowledgement, */
#define DEAD_PROBED_MS 3000u       /* where room is asked for */

struct tcp_link *tcp_link_make(int fd, enum tcp_phase phase)
{
    struct tcp_link *link = calloc(1, sizeof(*link));
    int on = 1, idle = 10, gap = 5, tries = 4;
    if (!link)
        return NULL;
    link->fd = fd;
    link->phase = phase;
    link->deadline = TCP_NEVER;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &gap, sizeof(gap));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
    return link;
}

void tcp_link_close(struct tcp_nic *nic, struct tcp_link *link)
{
    if (link->phase == TCP_GONE)
        return;
    tcp_watch(nic, link, 0); /* a child after fork may hold the socket: closing does not end the watch */
    tcp_cold(nic, link);
    tcp_stage_drop(nic, link);
    if (list_node_linked(&link->owing))
        list_remove(&link->owing);
    if (list_node_linked(&link->unread))
        list_remove(&link->unread);
    if (list_node_linked(&link->node))
        list_remove(&link->node);
    if (link->rail && link->rail->link == link)
        link->rail->link = NULL;
    if (link->rail && link->rail->old == link)
        link->rail->old = NULL;
    close(link->fd);
    link->fd = -1;
    link->phase = TCP_GONE;
    list_append(&nic->gone, &link->node);
}

/* ---- the greeting --------------------------------------------------------------------------------------------------- */

static bool say(struct tcp_link *link, const void *message, size_t length)
{
    return send(link->fd, message, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length;
}

/* Reads the message awaited. OK: it is whole; ERR_AGAIN: not yet; else the link is of no use. */
static int hear(struct tcp_link *link, size_t length)
{
    ssize_t got = recv(link->fd, link->greeting + link->greeted, length - link->greeted, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? ERR_AGAIN : vbase_fail_errno(ERR_LINK_DOWN, "its greeting");
    if (got == 0)
        return vbase_fail(ERR_LINK_DOWN, "it closed the connection before it had proved anything");
    link->greeted += (uint32_t)got;
    if (link->greeted < length)
        return ERR_AGAIN;
    link->greeted = 0;
    return OK;
}

/* How long the kernel waits for an acknowledgement, and asks soon where nothing is under way; 0: its own time. */
static void unanswered(const struct tcp_link *link, int ms)
{
    int idle = ms ? 1 : 10, gap = ms ? 1 : 5;
    setsockopt(link->fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(link->fd, IPPROTO_TCP, TCP_KEEPINTVL, &gap, sizeof(gap));
    setsockopt(link->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
}

static int greet_connected(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
{
    int number = 0, error;
    socklen_t length = sizeof(number);
    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &number, &length) < 0 || number != 0) {
        tcp_rail_failed(nic, link->rail, number ? number : errno, now);
        return ERR_AGAIN; /* it is over already */
    }
    error = tcp_hello_make(&link->hello, nic->nic.rank, link->peer->rank, link->rail->number, link->epoch);
    if (error)
        return error;
    unanswered(link, GREETING_MS); /* a card that goes dead now would keep us for a quarter of an hour */
    if (!say(link, &link->hello, sizeof(link->hello)))
        return vbase_fail_errno(ERR_LINK_DOWN, "a hello to rank %u", link->peer->rank);
    link->phase = TCP_GREETING;
    link->deadline = TCP_NEVER;
    link->met = now;
    tcp_watch(nic, link, EPOLLIN);
    return OK;
}

/* Of two calls that cross, the one of the lower rank stays. */
static bool decides(const struct tcp_nic *nic, const struct tcp_peer *peer) { return nic->nic.rank < peer->rank; }

static int greet_welcome(struct tcp_nic *nic, struct tcp_link *link)
{
    struct tcp_peer *peer = link->peer;
    struct tcp_proof proof;
    int error = hear(link, sizeof(link->welcome));
    if (error)
        return error;
    memcpy(&link->welcome, link->greeting, sizeof(link->welcome));
    error = tcp_welcome_judge(&link->welcome, &link->hello, nic->secret);
    if (error)
        return error;
    tcp_proof_make(&proof, &link->hello, &link->welcome, nic->secret);
    if (!say(link, &proof, sizeof(proof)))
        return vbase_fail_errno(ERR_LINK_DOWN, "a proof to rank %u", peer->rank);
    link->phase = TCP_PROVED;
    link->deadline = TCP_NEVER; /* from here on he may take it for the connection */
    base_lock(&nic->lock);
    if (decides(nic, peer))
        link->rail->epoch = link->epoch; /* so it is: his own calls are crossed */
    base_unlock(&nic->lock);
    return OK;
}

static int greet_verdict(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
{
    struct tcp_rail *rail = link->rail;
    struct tcp_verdict verdict;
    int error = hear(link, sizeof(verdict));
    if (error)
        return error;
    memcpy(&verdict, link->greeting, sizeof(verdict));
    if (verdict.word == TCP_ACCEPTED) {
        unanswered(link, 0); /* a rank may leave its socket full as long as it likes */
        tcp_peer_commit(nic, link, now);
        return OK;
    }
    rail->floor = verdict.epoch > rail->floor ? verdict.epoch : rail->floor;
    tcp_rail_over(nic, rail, OK, verdict.word == TCP_CROSSED ? CROSSED_NS : 0, now);
    return ERR_AGAIN;
}

/* Under nic->lock: does this side hold a link of the rail, or its own call that it has decided for? */
static bool has_link(const struct tcp_nic *nic, const struct tcp_rail *rail)
{
    return rail->link || (decides(nic, rail->peer) && rail->dial && rail->dial->phase == TCP_PROVED);
}

/* The rank that it comes from has proved who he is; whether this connection is the one to keep is to be said. */
void tcp_called(struct tcp_nic *nic, const struct tcp_hello *hello, int fd, uint64_t now)
{
    struct tcp_verdict verdict = {.word = TCP_ACCEPTED};
    struct tcp_link *link = tcp_link_make(fd, TCP_CALLED);
    if (!link) {
        close(fd);
        return;
    }
    base_lock(&nic->lock);
    link->peer = tcp_peer_make(nic, hello->from);
    link->rail = link->peer ? tcp_rail_make(link->peer, hello->rail) : NULL;
    if (link->rail && hello->epoch <= link->rail->epoch)
        verdict = (struct tcp_verdict){has_link(nic, link->rail) ? TCP_CROSSED : TCP_STALE, link->rail->epoch};
    base_unlock(&nic->lock);
    link->epoch = hello->epoch;
    if (!link->rail || !say(link, &verdict, sizeof(verdict)) || verdict.word != TCP_ACCEPTED)
        tcp_link_close(nic, link);
    else
        tcp_peer_commit(nic, link, now);
}

void tcp_greet(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
{
    int error;
    switch (link->phase) {
    case TCP_DIALLING:
        error = greet_connected(nic, link, now);
        break;
    case TCP_GREETING:
        error = greet_welcome(nic, link);
        break;
    case TCP_PROVED:
        error = greet_verdict(nic, link, now);
        break;
    default:
        return;
    }
    if (error && error != ERR_AGAIN)
        tcp_rail_over(nic, link->rail, error, 0, now);
}

/* ---- health --------------------------------------------------------------------------------------------------------- */

/* The other side's program may compute or be stopped for hours: its kernel answers for the card. What was sent and not taken
 * there is in doubt until our kernel says that it has arrived. */
static bool in_doubt(const struct tcp_vi *vi)
{
    uint64_t sent = atomic_load_explicit(&vi->sent, memory_order_relaxed);
    return sent != atomic_load_explicit(&vi->doubt, memory_order_relaxed) && sent != atomic_load_explicit(&vi->taken, memory_order_relaxed);
}

/* Data that nobody acknowledges, or questions for room that nobody answers. */
static bool is_dead(struct tcp_vi *vi)
{
    uint64_t sent = atomic_load_explicit(&vi->sent, memory_order_relaxed);
    struct tcp_info info;
    socklen_t length = sizeof(info);
    if (getsockopt(vi->link->fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
        return false;
    if (info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0 &&
        atomic_load_explicit(&vi->vi.waiting, memory_order_relaxed) == 0)
        atomic_store_explicit(&vi->doubt, sent, memory_order_relaxed);
    return (info.tcpi_unacked > 0 && info.tcpi_retransmits >= 2 && info.tcpi_last_ack_recv >= DEAD_MS) ||
           (info.tcpi_probes >= 3 && info.tcpi_last_ack_recv >= DEAD_PROBED_MS);
}

bool tcp_doubtful(const struct tcp_nic *nic)
{
    list_for_each(node, &nic->up)
        if (in_doubt(container_of(node, struct tcp_vi, up)))
            return true;
    return false;
}

void tcp_health(struct tcp_nic *nic, uint64_t now)
{
    static const struct linger at_once = {.l_onoff = 1};
    nic->health_at = now + HEALTH_NS;
    list_for_each(node, &nic->up) {
        struct tcp_vi *vi = container_of(node, struct tcp_vi, up);
        if (!in_doubt(vi) || !is_dead(vi))
            continue;
        (void)vbase_fail(ERR_LINK_DOWN, "nothing that is sent to rank %u arrives", vi->vi.peer);
        setsockopt(vi->link->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        tcp_vi_break(nic, vi, ERR_LINK_DOWN);
    }
}
