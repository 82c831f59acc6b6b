/* One port on every card of a host. Called by the door; the sockets are the caller's.
 *
 * A host answers on any card for the addresses of all of them. A rail that comes in by another card than it is meant for
 * would be no rail of its own, so each socket listens on its card alone. The address of a tunnel may be meant to be
 * reached by any. */
#include "vi/tcp/door.h"

#define PORT_TRIES 32

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

static int listen_on(const struct tcp_card *card, uint16_t port, bool chosen)
{
    struct sockaddr_storage where;
    socklen_t length = tcp_address_socket(&card->address, port, &where);
    int fd = socket(card->address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, number;
    if (fd < 0)
        return -1;
    if (card->address.family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (card->kind == TCP_KIND_HARD || card->kind == TCP_KIND_VETH)
        tcp_card_bind(card, fd);
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

/* All cards on one port; false: some address has no such port. */
static bool listen_at(struct tcp_cards *cards, int listener[TCP_CARDS], uint16_t port, bool chosen)
{
    for (int i = 0; i < cards->count; i++) {
        listener[i] = listen_on(&cards->card[i], port, chosen);
        if (listener[i] < 0) {
            while (i > 0)
                close(listener[--i]);
            return false;
        }
        port = port ? port : port_of(listener[i]);
    }
    cards->port = port;
    return true;
}

/* Doors of several jobs on one host begin to look at different places of the range. */
int tcp_listen(struct tcp_cards *cards, int listener[TCP_CARDS])
{
    uint32_t low, high, span, start;
    int error = port_range(&low, &high);
    bool open = false;
    if (error)
        return error;
    span = high - low + 1;
    start = (uint32_t)getpid() % span;
    for (uint32_t i = 0; low && !open && i < span; i++)
        open = listen_at(cards, listener, (uint16_t)(low + (start + i) % span), true);
    for (int i = 0; !low && !open && i < PORT_TRIES; i++)
        open = listen_at(cards, listener, 0, false);
    return open ? OK
                : vbase_fail_errno(ERR_SYSTEM, low ? "no port from %u to %u can be listened on" : "listening on all cards",
                                   low, high);
}
