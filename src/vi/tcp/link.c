/* Links: sockets from birth to the end of their greeting. Called by the poll; nothing here blocks, nothing is told to
 * the sink.
 *
 * A call tries one address pair after the other, round and round, patiently where the other side is there but silent (it
 * may compute), not so where nobody answers. What comes during a greeting is never read beyond the message awaited: what
 * follows the last one are frames, and they are read by others. */
#include "vi/tcp/tcp.h"
#include "vi/tcp/hello.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define CONNECT_FIRST_NS 250000000ull  /* the patience of connect(2), doubled with each round of all pairs */
#define CONNECT_MOST_NS  2000000000ull
#define SILENT_NS        2000000000ull /* of a greeting, where there is another pair to try */
#define CROSSED_NS       1000000000ull /* the other side's call should have come by then */
#define AGAIN_FIRST_NS   5000000ull    /* between two rounds, doubled with each */
#define AGAIN_MOST_SHIFT 6

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
    close(link->fd);
    link->fd = -1;
    link->phase = TCP_GONE;
    list_append(&nic->gone, &link->node);
}

/* ---- calling -------------------------------------------------------------------------------------------------------- */

/* This call is over. CAUSE is why, OK where it says nothing about the way there. The next one tries the next pair. */
static void dial_over(struct tcp_nic *nic, struct tcp_peer *peer, int cause, uint64_t wait, uint64_t now)
{
    if (peer->dial)
        tcp_link_close(nic, peer->dial);
    peer->dial = NULL;
    if (cause) {
        peer->cause = cause;
        peer->failing = peer->failing ? peer->failing : now;
        snprintf(peer->last, sizeof(peer->last), "%s", vbase_error_detail());
    } else {
        peer->failing = 0;
    }
    peer->pair_at = peer->pair_at + 1 < peer->pairs ? peer->pair_at + 1 : 0;
    if (peer->pair_at == 0) {
        uint32_t round = peer->attempts++;
        uint64_t again = AGAIN_FIRST_NS << (round < AGAIN_MOST_SHIFT ? round : AGAIN_MOST_SHIFT);
        again += again / 4 * (nic->nic.rank % 7) / 7; /* not all at once */
        wait = wait > again ? wait : again;
    }
    peer->dial_at = now + wait;
    tcp_order(nic);
}

static int dial_failed(struct tcp_nic *nic, struct tcp_peer *peer, const struct tcp_pair *pair, int number, uint64_t now)
{
    char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];

    tcp_address_text(&pair->mine.address, from, sizeof(from));
    tcp_address_text(&pair->theirs.address, to, sizeof(to));
    errno = number;
    int error = vbase_fail_errno(ERR_UNREACHABLE, "connecting from %s to %s port %u", from, to, pair->port);
    dial_over(nic, peer, error, 0, now);
    return error;
}

/* A socket on our address of PAIR. Where both ends are on one subnet it is bound to the card, too, if the kernel allows. */
static int bound_socket(const struct tcp_pair *pair)
{
    struct sockaddr_storage from;
    socklen_t length = tcp_address_socket(&pair->mine.address, 0, &from);
    int fd = socket(pair->mine.address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    if (pair->local && pair->mine.kind != TCP_KIND_LOOPBACK && memcmp(&pair->mine.address, &pair->theirs.address,
                                                                      sizeof(pair->mine.address)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, pair->mine.name, (socklen_t)strlen(pair->mine.name));
    if (bind(fd, (struct sockaddr *)&from, length) < 0) {
        int number = errno;
        close(fd);
        errno = number;
        return -1;
    }
    return fd;
}

int tcp_dial(struct tcp_nic *nic, struct tcp_peer *peer, uint64_t now)
{
    const struct tcp_pair *pair = &peer->pair[peer->pair_at];
    uint64_t patience = CONNECT_FIRST_NS << (peer->attempts < 4 ? peer->attempts : 4);
    struct sockaddr_storage to;
    socklen_t length = tcp_address_socket(&pair->theirs.address, pair->port, &to);
    int fd = bound_socket(pair);

    if (fd < 0)
        return dial_failed(nic, peer, pair, errno, now);
    if (connect(fd, (struct sockaddr *)&to, length) < 0 && errno != EINPROGRESS) {
        int number = errno;
        close(fd);
        return dial_failed(nic, peer, pair, number, now);
    }
    peer->dial = tcp_link_make(fd, TCP_DIALLING);
    if (!peer->dial) {
        close(fd);
        return dial_failed(nic, peer, pair, ENOMEM, now);
    }
    peer->dial->peer = peer;
    peer->dial->epoch = (peer->epoch > peer->floor ? peer->epoch : peer->floor) + 1;
    peer->dial->deadline = now + (patience < CONNECT_MOST_NS ? patience : CONNECT_MOST_NS);
    tcp_watch(nic, peer->dial, EPOLLOUT);
    return OK;
}

void tcp_dial_late(struct tcp_nic *nic, struct tcp_peer *peer, uint64_t now)
{
    if (peer->dial->phase == TCP_DIALLING)
        (void)dial_failed(nic, peer, &peer->pair[peer->pair_at], ETIMEDOUT, now);
    else
        dial_over(nic, peer, OK, 0, now);
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

static int greet_connected(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
{
    struct tcp_peer *peer = link->peer;
    int number = 0, error;
    socklen_t length = sizeof(number);

    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &number, &length) < 0 || number != 0) {
        (void)dial_failed(nic, peer, &peer->pair[peer->pair_at], number ? number : errno, now);
        return ERR_AGAIN; /* it is over already */
    }
    error = tcp_hello_make(&link->hello, nic->nic.rank, peer->rank, 0, link->epoch);
    if (error)
        return error;
    if (!say(link, &link->hello, sizeof(link->hello)))
        return vbase_fail_errno(ERR_LINK_DOWN, "a hello to rank %u", peer->rank);
    link->phase = TCP_GREETING;
    link->deadline = peer->pairs > 1 ? now + SILENT_NS : TCP_NEVER;
    tcp_timer(nic, link->deadline);
    tcp_watch(nic, link, EPOLLIN);
    return OK;
}

static int greet_welcome(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
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
    if (nic->nic.rank < peer->rank)
        tcp_peer_commit(nic, link, now);
    else
        link->phase = TCP_PROVED;
    return OK;
}

static int greet_verdict(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
{
    struct tcp_peer *peer = link->peer;
    struct tcp_verdict verdict;
    int error = hear(link, sizeof(verdict));

    if (error)
        return error;
    memcpy(&verdict, link->greeting, sizeof(verdict));
    if (verdict.word == TCP_ACCEPTED) {
        tcp_peer_commit(nic, link, now);
        return OK;
    }
    peer->floor = verdict.epoch > peer->floor ? verdict.epoch : peer->floor;
    dial_over(nic, peer, OK, verdict.word == TCP_CROSSED ? CROSSED_NS : 0, now);
    return ERR_AGAIN;
}

/* Under nic->lock: does this side hold a link to the peer, or one that waits? */
static bool has_link(const struct tcp_peer *peer)
{
    return !list_empty(&peer->parked) || (peer->vi && peer->vi->link);
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
    if (link->peer && hello->epoch <= link->peer->epoch)
        verdict = (struct tcp_verdict){has_link(link->peer) ? TCP_CROSSED : TCP_STALE, link->peer->epoch};
    base_unlock(&nic->lock);
    link->epoch = hello->epoch;
    if (!link->peer || (nic->nic.rank < link->peer->rank && !say(link, &verdict, sizeof(verdict))) ||
        verdict.word != TCP_ACCEPTED)
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
        error = greet_welcome(nic, link, now);
        break;
    case TCP_PROVED:
        error = greet_verdict(nic, link, now);
        break;
    default:
        return;
    }
    if (error && error != ERR_AGAIN)
        dial_over(nic, link->peer, error, 0, now);
}
