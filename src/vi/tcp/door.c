/* The door: where strangers knock. One port on every chosen card. A stranger costs a descriptor and half a kilobyte for
 * five seconds at most; sixty-four of them may stand here, and when there is no room the one who has been silent
 * longest goes. Nobody is shown the door before he had a moment to speak: while the sixty-four are fresh, others wait in
 * the kernel's queue. A rank of this job that was sent away calls again. */
#include "vi/tcp/tcp.h"
#include "base/counters.h"
#include "base/log.h"
#include "base/settings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PATIENCE_NS 5000000000ull /* with a stranger */
#define MOMENT_NS   2000000ull    /* to speak, before somebody else gets the place */
#define DEAF_NS     100000000ull  /* when no descriptor is left */
#define A_POLL      16            /* strangers let in at once */
#define PORT_TRIES  32
#define GATE_S      60            /* a line in the log at most every so often */

/* The ports that may be used, 0 to 0: any. */
static int port_range(uint32_t *low, uint32_t *high)
{
    const char *text = vbase_environment("MPIEXEC_PORT_RANGE");
    char end;

    *low = *high = 0;
    if (!text || text[0] == '\0')
        return OK;
    if (sscanf(text, "%u:%u%c", low, high, &end) != 2 || *low == 0 || *low > *high || *high > 65535)
        return vbase_fail(ERR_ARGUMENT, "MPIEXEC_PORT_RANGE is \"%s\", not two ports like 20000:20100", text);
    return OK;
}

static int listen_on(const struct tcp_address *address, uint16_t port, bool chosen)
{
    struct sockaddr_storage where;
    socklen_t length = tcp_address_socket(address, port, &where);
    int fd = socket(address->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, number;

    if (fd < 0)
        return -1;
    if (address->family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (chosen)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&where, length) == 0 && listen(fd, 4096) == 0)
        return fd;
    number = errno;
    close(fd);
    errno = number;
    return -1;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage where;
    socklen_t length = sizeof(where);

    if (getsockname(fd, (struct sockaddr *)&where, &length) < 0)
        return 0;
    return ntohs(where.ss_family == AF_INET ? ((struct sockaddr_in *)&where)->sin_port
                                            : ((struct sockaddr_in6 *)&where)->sin6_port);
}

static void stop_listening(struct tcp_nic *nic)
{
    while (nic->listeners > 0)
        close(nic->listener[--nic->listeners]);
}

/* All cards on one port; false: some address has no such port. */
static bool listen_at(struct tcp_nic *nic, uint16_t port, bool chosen)
{
    for (int i = 0; i < nic->cards.count; i++) {
        int fd = listen_on(&nic->cards.card[i].address, port, chosen);
        if (fd < 0) {
            stop_listening(nic);
            return false;
        }
        nic->listener[nic->listeners++] = fd;
        port = port ? port : port_of(fd);
    }
    nic->cards.port = port;
    return true;
}

static int watch_listeners(struct tcp_nic *nic, int what)
{
    for (int i = 0; i < nic->listeners; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)i};
        if (epoll_ctl(nic->epoll, what, nic->listener[i], &event) < 0)
            return vbase_fail_errno(ERR_SYSTEM, "watching a listening socket");
    }
    return OK;
}

int tcp_door_open(struct tcp_nic *nic)
{
    uint32_t low, high, start;
    int error = port_range(&low, &high);
    bool open = false;

    if (error)
        return error;
    start = low + nic->nic.rank % (high - low + 1);
    for (uint32_t i = 0; low && !open && i <= high - low; i++)
        open = listen_at(nic, (uint16_t)(start + i <= high ? start + i : start + i - (high - low + 1)), true);
    for (int i = 0; !low && !open && i < PORT_TRIES; i++)
        open = listen_at(nic, 0, false);
    if (!open)
        return vbase_fail_errno(ERR_SYSTEM, low ? "no port from %u to %u can be listened on" : "listening on all cards", low,
                                high);
    return watch_listeners(nic, EPOLL_CTL_ADD);
}

void tcp_door_close(struct tcp_nic *nic)
{
    while (!list_empty(&nic->door))
        tcp_link_close(nic, container_of(list_first(&nic->door), struct tcp_link, node));
    stop_listening(nic);
}

static void name_of(int fd, char *out, size_t size)
{
    struct sockaddr_storage who;
    socklen_t length = sizeof(who);
    char address[INET6_ADDRSTRLEN] = "";

    snprintf(out, size, "somebody");
    if (getpeername(fd, (struct sockaddr *)&who, &length) < 0)
        return;
    inet_ntop(who.ss_family, who.ss_family == AF_INET ? (void *)&((struct sockaddr_in *)&who)->sin_addr
                                                      : (void *)&((struct sockaddr_in6 *)&who)->sin6_addr,
              address, sizeof(address));
    snprintf(out, size, "%s", address);
}

void tcp_refused(struct tcp_nic *nic, struct tcp_link *link, const char *why)
{
    static struct base_log_gate gate;
    char who[64];
    unsigned held;

    (void)nic;
    COUNT(refused);
    if (!vbase_log_gate_open(&gate, GATE_S, &held))
        return;
    name_of(link->fd, who, sizeof(who));
    LOG_WARN("a connection from %s was refused: %s (%u more like this)", who, why, held);
}

/* ---- strangers ------------------------------------------------------------------------------------------------------ */

void tcp_door_left(struct tcp_nic *nic, struct tcp_link *link)
{
    if ((link->phase != TCP_KNOCKING && link->phase != TCP_WELCOMED) || !list_node_linked(&link->node))
        return;
    list_remove(&link->node);
    nic->strangers--;
}

void tcp_door_spoke(struct tcp_nic *nic, struct tcp_link *link, uint64_t now)
{
    if (link->phase != TCP_KNOCKING && link->phase != TCP_WELCOMED)
        return;
    link->spoke = now;
    list_remove(&link->node);
    list_append(&nic->door, &link->node);
}

/* Room for one more: true. */
static bool make_room(struct tcp_nic *nic, uint64_t now)
{
    struct tcp_link *silent;

    if (nic->strangers < TCP_UNPROVEN)
        return true;
    silent = container_of(list_first(&nic->door), struct tcp_link, node);
    if (now - silent->spoke < MOMENT_NS) {
        tcp_timer(nic, silent->spoke + MOMENT_NS);
        return false;
    }
    tcp_refused(nic, silent, "it said too little while others waited");
    tcp_link_close(nic, silent);
    return true;
}

static void let_in(struct tcp_nic *nic, int fd, uint64_t now)
{
    struct tcp_link *link = tcp_link_make(fd, TCP_KNOCKING);

    if (!link) {
        close(fd);
        return;
    }
    link->spoke = now;
    link->deadline = now + PATIENCE_NS;
    tcp_timer(nic, link->deadline);
    list_append(&nic->door, &link->node);
    nic->strangers++;
    tcp_watch(nic, link, EPOLLIN);
    tcp_greet(nic, link, now); /* his hello may be here already */
}

/* No descriptor is left: those who stand at the door make room, or nobody is let in for a while. */
static void go_deaf(struct tcp_nic *nic, uint64_t now)
{
    LOG_WARN_ONCE("no file descriptor is left to accept connections with: raise the limit (ulimit -n)");
    while (!list_empty(&nic->door))
        tcp_link_close(nic, container_of(list_first(&nic->door), struct tcp_link, node));
    nic->deaf_until = now + DEAF_NS;
    tcp_timer(nic, nic->deaf_until);
    (void)watch_listeners(nic, EPOLL_CTL_DEL);
}

void tcp_door_accept(struct tcp_nic *nic, int which, uint64_t now)
{
    for (int i = 0; i < A_POLL && !nic->deaf_until && make_room(nic, now); i++) {
        int fd = accept4(nic->listener[which], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            let_in(nic, fd, now);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            go_deaf(nic, now);
        else if (errno == EAGAIN)
            return;
    }
}

void tcp_door_expire(struct tcp_nic *nic, uint64_t now)
{
    list_for_each(node, &nic->door) {
        struct tcp_link *link = container_of(node, struct tcp_link, node);
        if (now >= link->deadline) {
            tcp_refused(nic, link, "it did not prove in time that it belongs to this job");
            tcp_link_close(nic, link);
        } else {
            tcp_timer(nic, link->deadline);
        }
    }
    if (nic->deaf_until && now >= nic->deaf_until) {
        nic->deaf_until = 0;
        (void)watch_listeners(nic, EPOLL_CTL_ADD);
    }
    if (nic->deaf_until)
        tcp_timer(nic, nic->deaf_until);
}
