/* Questions to a TCP socket; see tcp.h. */
#include "sock/tcp.h"
#include "sock/real.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#ifndef SO_COOKIE
#define SO_COOKIE 57
#endif

#ifndef SO_ZEROCOPY
#define SO_ZEROCOPY 60
#endif
#ifndef SO_TIMESTAMP_NEW
#define SO_TIMESTAMP_NEW    63
#define SO_TIMESTAMPNS_NEW  64
#define SO_TIMESTAMPING_NEW 65
#endif
#ifndef TCP_AO_INFO
#define TCP_AO_INFO 40
#endif
#define TCP_STATE_ESTABLISHED 1
#define TCP_STATE_CLOSE       7
#define TCP_STATE_CLOSE_WAIT  8

static bool info_read(int fd, struct tcp_info *info)
{
    socklen_t length = sizeof(*info);
    memset(info, 0, sizeof(*info));
    return sock_real.getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &length) == 0 &&
           length >= offsetof(struct tcp_info, tcpi_bytes_received) + sizeof(info->tcpi_bytes_received);
}

/* Acknowledgements arrive between the two questions: the numbers hold if the first answer is the same afterwards. */
bool sock_tcp_sent(int fd, bool active, uint64_t *bytes)
{
    struct tcp_info before, after;
    for (int i = 0; i < 100; i++) {
        int queued = 0;
        if (!info_read(fd, &before) || sock_real.ioctl(fd, SIOCOUTQ, (long)&queued) != 0 || !info_read(fd, &after) ||
            before.tcpi_state != TCP_STATE_ESTABLISHED)
            return false;
        if (before.tcpi_bytes_acked == after.tcpi_bytes_acked) {
            *bytes = before.tcpi_bytes_acked + (uint64_t)queued - (active ? 1 : 0); /* the one: the SYN that was sent */
            return true;
        }
    }
    return false;
}

bool sock_tcp_consumed(int fd, uint64_t *bytes)
{
    struct tcp_info before, after;
    for (int i = 0; i < 100; i++) {
        int queued = 0;
        if (!info_read(fd, &before) || sock_real.ioctl(fd, SIOCINQ, (long)&queued) != 0 || !info_read(fd, &after) ||
            before.tcpi_state != TCP_STATE_ESTABLISHED)
            return false;
        if (before.tcpi_bytes_received == after.tcpi_bytes_received) {
            *bytes = before.tcpi_bytes_received - (uint64_t)queued;
            return true;
        }
    }
    return false;
}

uint64_t sock_tcp_cookie(int fd)
{
    uint64_t cookie = 0;
    socklen_t length = sizeof(cookie);
    return sock_real.getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 ? cookie : 0;
}

void sock_tcp_reset(int fd)
{
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    (void)sock_real.connect(fd, &none, sizeof(none)); /* the kernel sends a reset */
}

enum sock_tcp_over sock_tcp_over(int fd, int *error)
{
    struct tcp_info info;
    socklen_t length = sizeof(*error);
    *error = 0;
    if (!info_read(fd, &info))
        return TCP_GOES_ON;
    if (info.tcpi_state != TCP_STATE_CLOSE)
        return info.tcpi_state == TCP_STATE_CLOSE_WAIT ? TCP_HALF_OVER : TCP_GOES_ON;
    return sock_real.getsockopt(fd, SOL_SOCKET, SO_ERROR, error, &length) == 0 ? TCP_OVER : TCP_GOES_ON;
}

static bool option_is_set(int fd, int level, int name)
{
    char value[64] = "";
    socklen_t length = sizeof(value);
    if (sock_real.getsockopt(fd, level, name, value, &length) != 0)
        return false;
    for (socklen_t i = 0; i < length && i < sizeof(value); i++)
        if (value[i])
            return true;
    return false;
}

/* The kernel says how many steps it has, or that it shows none of them. */
static bool has_filter(int fd)
{
    socklen_t steps = 0;
    return sock_real.getsockopt(fd, SOL_SOCKET, SO_GET_FILTER, NULL, &steps) != 0 ? errno == EACCES : steps > 0;
}

static const int stamps[] = {SO_TIMESTAMP,     SO_TIMESTAMPNS,     SO_TIMESTAMPING,
                             SO_TIMESTAMP_NEW, SO_TIMESTAMPNS_NEW, SO_TIMESTAMPING_NEW};

bool sock_tcp_stamps(int name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(stamps); i++)
        if (stamps[i] == name)
            return true;
    return false;
}

static bool has_stamps(int fd)
{
    for (size_t i = 0; i < ARRAY_LENGTH(stamps); i++)
        if (option_is_set(fd, SOL_SOCKET, stamps[i]))
            return true;
    return false;
}

/* A number that is DEFAULTED unless the program, or its listener, has set it. */
static bool is_changed(int fd, int name, int defaulted)
{
    int value = defaulted;
    socklen_t length = sizeof(value);
    (void)sock_real.getsockopt(fd, SOL_SOCKET, name, &value, &length);
    return value != defaulted;
}

bool sock_tcp_special(int fd)
{
    return has_stamps(fd) || is_changed(fd, SO_RCVLOWAT, 1) || is_changed(fd, SO_PEEK_OFF, -1) || has_filter(fd) ||
           is_changed(fd, SO_MAX_PACING_RATE, -1) || option_is_set(fd, SOL_SOCKET, SO_ZEROCOPY) ||
           option_is_set(fd, IPPROTO_TCP, TCP_ULP) || option_is_set(fd, IPPROTO_TCP, TCP_INQ) ||
           option_is_set(fd, IPPROTO_TCP, TCP_REPAIR) || option_is_set(fd, IPPROTO_TCP, TCP_AO_INFO);
}

static const struct {
    int name, value; /* for bells */
} kept_options[SOCK_TCP_KEPT] = {{TCP_NODELAY, 1}, {TCP_CORK, 0}};

void sock_tcp_hasten(int fd, int kept[SOCK_TCP_KEPT])
{
    int saved = errno;
    for (int i = 0; i < SOCK_TCP_KEPT; i++) {
        socklen_t length = sizeof(kept[i]);
        kept[i] = kept_options[i].value;
        (void)sock_real.getsockopt(fd, IPPROTO_TCP, kept_options[i].name, &kept[i], &length);
        if (!kept[i] != !kept_options[i].value)
            (void)sock_real.setsockopt(fd, IPPROTO_TCP, kept_options[i].name, &kept_options[i].value, sizeof(int));
    }
    errno = saved;
}

void sock_tcp_restore(int fd, const int kept[SOCK_TCP_KEPT])
{
    int saved = errno;
    for (int i = 0; i < SOCK_TCP_KEPT; i++)
        if (!kept[i] != !kept_options[i].value)
            (void)sock_real.setsockopt(fd, IPPROTO_TCP, kept_options[i].name, &kept[i], sizeof(int));
    errno = saved;
}

int sock_tcp_kept(int name)
{
    for (int i = 0; i < SOCK_TCP_KEPT; i++)
        if (kept_options[i].name == name)
            return i;
    return -1;
}

ssize_t sock_tcp_receive(int fd, void *data, size_t size, int flags)
{
    return sock_real.syscall(SYS_recvfrom, fd, (long)data, (long)size, flags | MSG_DONTWAIT, 0, 0);
}

ssize_t sock_tcp_send(int fd, const void *data, size_t size)
{
    return sock_real.syscall(SYS_sendto, fd, (long)data, (long)size, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
}

short sock_tcp_poll(int fd, short events, int ms)
{
    struct pollfd one = {.fd = fd, .events = events};
    struct timespec limit = {ms / 1000, ms % 1000 * 1000000};
    return sock_real.syscall(SYS_ppoll, (long)&one, 1, (long)&limit, 0, 0, 0) > 0 ? one.revents : 0;
}

ssize_t sock_tcp_discard(int fd, uint64_t size)
{
    char bytes[256]; /* bells are few */
    int saved = errno;
    ssize_t n = sock_tcp_receive(fd, bytes, size < sizeof(bytes) ? (size_t)size : sizeof(bytes), 0);
    ssize_t result = n >= 0 ? n : -errno;
    errno = saved;
    return result;
}

int sock_tcp_look(int fd)
{
    char byte;
    int saved = errno;
    ssize_t n = sock_tcp_receive(fd, &byte, 1, MSG_PEEK);
    int result = n >= 0 ? (int)n : -errno;
    errno = saved;
    return result;
}
