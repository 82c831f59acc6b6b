/* Asks the kernel for the mirrored pair of addresses; see find.h. Netlink answers about one connection; where a
 * process may not open it, /proc/net/tcp lists all of them, and is read at most every 10 ms for that reason.
 *
 * For a pair that does not exist netlink answers with the listener of the port: state and both ports are compared. */
#include "sock/find.h"
#include "base/clock.h"
#include "sock/real.h"

#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TCP_STATE_ESTABLISHED 1
#define LIST_PAUSE_NS         10000000

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static bool end_read(int (*ask)(int, struct sockaddr *, socklen_t *), int fd, uint8_t address[16], uint16_t *port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } name;
    socklen_t length = sizeof(name);
    if (ask(fd, &name.any, &length) != 0)
        return false;
    if (name.any.sa_family == AF_INET) {
        memcpy(address, mapped_prefix, 12);
        memcpy(address + 12, &name.four.sin_addr, 4);
        *port = ntohs(name.four.sin_port);
    } else if (name.any.sa_family == AF_INET6) {
        memcpy(address, &name.six.sin6_addr, 16);
        *port = ntohs(name.six.sin6_port);
    }
    return name.any.sa_family == AF_INET || name.any.sa_family == AF_INET6;
}

bool sock_ends_read(int fd, bool active, struct sock_ends *ends)
{
    int own = active ? 0 : 1;
    memset(ends, 0, sizeof(*ends));
    return end_read(getsockname, fd, ends->address[own], &ends->port[own]) &&
           end_read(sock_real.getpeername, fd, ends->address[!own], &ends->port[!own]) &&
           (ends->port[0] != ends->port[1] || memcmp(ends->address[0], ends->address[1], 16) != 0);
}

/* 1: found, 0: there is no such connection, -1: netlink does not answer. */
static int ask_netlink(const struct sock_ends *ends, int other, int family, struct sock_owner *owner)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 question;
    } request = {.head = {sizeof(request), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0},
                 .question = {.sdiag_family = (uint8_t)family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0u}};
    union {
        struct nlmsghdr head;
        char space[4096];
    } answer;
    struct inet_diag_sockid *id = &request.question.id;
    size_t skip = family == AF_INET ? 12 : 0;
    id->idiag_sport = htons(ends->port[other]);
    id->idiag_dport = htons(ends->port[!other]);
    memcpy(id->idiag_src, ends->address[other] + skip, 16 - skip);
    memcpy(id->idiag_dst, ends->address[!other] + skip, 16 - skip);
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;

    int fd = sock_real.socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return -1;
    ssize_t n = sock_real.send(fd, &request, sizeof(request), MSG_DONTWAIT);
    if (n == sizeof(request))
        n = sock_real.recv(fd, &answer, sizeof(answer), MSG_DONTWAIT); /* the kernel answers within the send */
    sock_real.close(fd);
    if (n < (ssize_t)sizeof(struct nlmsghdr))
        return -1;
    if (answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return 0;
    struct inet_diag_msg found;
    if (n < (ssize_t)NLMSG_LENGTH(sizeof(found)))
        return -1;
    memcpy(&found, NLMSG_DATA(&answer.head), sizeof(found));
    if (found.idiag_state != TCP_STATE_ESTABLISHED || found.id.idiag_sport != id->idiag_sport ||
        found.id.idiag_dport != id->idiag_dport)
        return 0;
    owner->user = found.idiag_uid;
    owner->cookie = (uint64_t)found.id.idiag_cookie[1] << 32 | found.id.idiag_cookie[0];
    return 1;
}

/* An address as the lists have it: words of four bytes in the order of the machine. */
static void address_print(char *text, const uint8_t address[16], int family, uint16_t port)
{
    int n = 0;
    for (int i = family == AF_INET ? 12 : 0; i < 16; i += 4) {
        uint32_t word;
        memcpy(&word, address + i, 4);
        n += sprintf(text + n, "%08X", word);
    }
    sprintf(text + n, ":%04X", port);
}

static bool ask_list(const char *path, const struct sock_ends *ends, int other, int family, struct sock_owner *owner)
{
    char wanted[120], from[50], to[50], text[8192];
    size_t there = 0;
    bool found = false;
    address_print(from, ends->address[other], family, ends->port[other]);
    address_print(to, ends->address[!other], family, ends->port[!other]);
    snprintf(wanted, sizeof(wanted), ": %s %s 01 ", from, to);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && !found && (n = sock_real.read(fd, text + there, sizeof(text) - 1 - there)) > 0;) {
        there += (size_t)n;
        text[there] = '\0';
        char *line = strstr(text, wanted), *end = line ? strchr(line, '\n') : NULL;
        unsigned user;
        if (end && sscanf(line + strlen(wanted), "%*s %*s %*s %u", &user) == 1) {
            *owner = (struct sock_owner){.user = user};
            found = true;
        }
        char *rest = strrchr(text, '\n');
        rest = rest ? rest + 1 : text;
        there -= (size_t)(rest - text);
        memmove(text, rest, there);
        if (there == sizeof(text) - 1)
            there = 0; /* no line is so long */
    }
    if (fd >= 0)
        sock_real.close(fd);
    return found;
}

bool sock_find_peer(const struct sock_ends *ends, bool active, struct sock_owner *owner)
{
    static _Atomic uint64_t next_list;
    int other = active ? 1 : 0, found;
    bool four = memcmp(ends->address[0], mapped_prefix, 12) == 0 && memcmp(ends->address[1], mapped_prefix, 12) == 0;
    found = ask_netlink(ends, other, four ? AF_INET : AF_INET6, owner);
    if (found >= 0)
        return found;
    uint64_t now = vbase_clock_ns(), next = atomic_load(&next_list);
    if (now < next || !atomic_compare_exchange_strong(&next_list, &next, now + LIST_PAUSE_NS))
        return false;
    return (four && ask_list("/proc/net/tcp", ends, other, AF_INET, owner)) ||
           ask_list("/proc/net/tcp6", ends, other, AF_INET6, owner);
}
