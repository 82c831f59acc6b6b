/* Asks the kernel for the mirrored pair of addresses; see find.h. Netlink answers about one connection. Where a process
 * may not open it, /proc/net/tcp lists all of them: it is read at most every 10 ms, and answers all that asked before.
 *
 * Callers are between sock_change_begin and sock_change_end, so that no child has a copy of a list that is being read.
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
#define LISTED                16384
#define ENDS_TEXT             76 /* two addresses of IPv6 with their ports */

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

/* Established connections of the last list; both ends as /proc/net/tcp6 prints them. */
static struct {
    _Atomic bool busy;
    bool complete;        /* else it was longer than this */
    uint64_t begun, next; /* reading it; when it may be read again */
    uint32_t count;
    struct {
        char ends[ENDS_TEXT];
        uid_t user;
    } listed[LISTED];
} list;

/* Words of four bytes in the order of the machine. */
static int address_print(char *text, const uint8_t *address, int size)
{
    int n = 0;
    for (int i = 0; i < size; i += 4) {
        uint32_t word;
        memcpy(&word, address + i, 4);
        n += sprintf(text + n, "%08X", word);
    }
    return n;
}

static int end_print(char *text, const struct sock_ends *ends, int which)
{
    int n = address_print(text, ends->address[which], 16);
    return n + sprintf(text + n, ":%04X", ends->port[which]);
}

/* A line of /proc/net/tcp, whose addresses lack PREFIX, or of tcp6. True: it is about the ends WANTED. */
static bool line_take(const char *line, const char *prefix, const char *wanted, struct sock_owner *owner)
{
    char own[38], other[38], ends[ENDS_TEXT];
    unsigned state, user;
    if (sscanf(line, "%*s %37s %37s %x %*s %*s %*s %u", own, other, &state, &user) != 4 ||
        state != TCP_STATE_ESTABLISHED ||
        snprintf(ends, sizeof(ends), "%s%s %s%s", prefix, own, prefix, other) >= (int)sizeof(ends))
        return false;
    list.complete = list.complete && list.count < LISTED;
    if (list.count < LISTED) {
        strcpy(list.listed[list.count].ends, ends);
        list.listed[list.count++].user = user;
    }
    if (strcmp(ends, wanted) != 0)
        return false;
    *owner = (struct sock_owner){.user = user};
    return true;
}

static bool list_read(const char *path, const char *prefix, const char *wanted, struct sock_owner *owner)
{
    char text[8192];
    size_t there = 0;
    bool found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = sock_real.read(fd, text + there, sizeof(text) - 1 - there)) > 0;) {
        char *line = text;
        there += (size_t)n;
        text[there] = '\0';
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            found |= line_take(line, prefix, wanted, owner);
        }
        there -= (size_t)(line - text);
        memmove(text, line, there);
        if (there == sizeof(text) - 1)
            there = 0; /* no line is so long */
    }
    if (fd >= 0)
        sock_real.close(fd);
    return found;
}

static enum sock_found list_renew(const char *wanted, struct sock_owner *owner)
{
    char prefix[25];
    address_print(prefix, mapped_prefix, sizeof(mapped_prefix));
    list.begun = vbase_clock_ns();
    list.count = 0;
    list.complete = true;
    bool found = list_read("/proc/net/tcp", prefix, wanted, owner);
    found |= list_read("/proc/net/tcp6", "", wanted, owner);
    list.next = vbase_clock_ns() + LIST_PAUSE_NS;
    return found ? FOUND : FOUND_NONE;
}

/* A list from before the question may be about a connection that had these addresses earlier. */
static enum sock_found ask_list(const struct sock_ends *ends, int other, uint64_t since, struct sock_owner *owner)
{
    char wanted[ENDS_TEXT];
    int n = end_print(wanted, ends, other);
    wanted[n++] = ' ';
    end_print(wanted + n, ends, !other);
    for (uint32_t i = 0; list.begun >= since && i < list.count; i++)
        if (strcmp(list.listed[i].ends, wanted) == 0) {
            *owner = (struct sock_owner){.user = list.listed[i].user};
            return FOUND;
        }
    if (list.begun >= since && list.complete)
        return FOUND_NONE;
    return vbase_clock_ns() >= list.next ? list_renew(wanted, owner) : FOUND_LATER;
}

enum sock_found sock_find_peer(const struct sock_ends *ends, bool active, uint64_t since, struct sock_owner *owner)
{
    int other = active ? 1 : 0;
    bool four = memcmp(ends->address[0], mapped_prefix, 12) == 0 && memcmp(ends->address[1], mapped_prefix, 12) == 0;
    int found = ask_netlink(ends, other, four ? AF_INET : AF_INET6, owner);
    if (found >= 0)
        return found ? FOUND : FOUND_NONE;
    if (atomic_exchange(&list.busy, true))
        return FOUND_LATER;
    enum sock_found answer = ask_list(ends, other, since, owner);
    atomic_store(&list.busy, false);
    return answer;
}
