/* Sockets come: the calls that make, connect and copy descriptors. */
#include "sock/closing.h"
#include "sock/epoll.h"
#include "sock/hooks.h"
#include "sock/meet.h"
#include "sock/policy.h"
#include "sock/stdio.h"
#include "sock/stream.h"
#include "sock/trial.h"
#include "sock/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

static bool is_internet(int family) { return family == AF_INET || family == AF_INET6; }

/* FREEZES: how many there were before the kernel made it. A child that was forked since may have it as well. */
static void track(int fd, enum sock_stage stage, uint32_t freezes, bool special)
{
    int saved = errno;
    sock_change_begin();
    struct sock_file *file = sock_file_open(stage, false);
    if (file) {
        if (freezes != sock_freezes())
            sock_link_unknown(file->link);
        file->link->special = special;
        atomic_store(&file->link->never, special);
        sock_file_add(fd, file);
        sock_stdio_begins(fd, file);
        sock_drop(file);
    }
    sock_change_end();
    errno = saved;
}

int sock_socket(int family, int type, int protocol)
{
    uint32_t freezes = sock_freezes();
    int fd = sock_real.socket(family, type, protocol);
    if (fd >= 0 && is_internet(family) && (type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) == SOCK_STREAM &&
        (protocol == 0 || protocol == IPPROTO_TCP))
        track(fd, STAGE_OPEN, freezes, false);
    return fd;
}

/* Connecting to nothing dissolves the connection; the socket may connect again, and stays TCP: some kernels go on with
 * the counts of its bytes, which say where the ring begins. */
static void dissolve(struct sock_file *file)
{
    atomic_store(&file->link->never, true);
    sock_meet_end(file);
    if (sock_joined(file))
        sock_stream_reset(file);
}

static bool is_nothing(const struct sockaddr *address, socklen_t length)
{
    return address && length >= sizeof(address->sa_family) && address->sa_family == AF_UNSPEC;
}

/* An address is looked at behind the call, in which the kernel refuses one that cannot be read. Only where bytes go
 * through memory that would be too late. */
int sock_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    struct sock_file *file = sock_hold(fd);
    bool joined = file && sock_joined(file);
    if (joined && is_nothing(address, length))
        dissolve(file);
    if (file)
        sock_drop(file);
    int result = sock_real.connect(fd, address, length);
    file = result == 0 || errno == EINPROGRESS ? sock_hold(fd) : NULL;
    if (!file)
        return result;
    uint32_t open = STAGE_OPEN;
    if (!joined && is_nothing(address, length))
        dissolve(file);
    if (address && is_internet(address->sa_family)) {
        file->link->active = true;
        atomic_compare_exchange_strong(&file->link->stage, &open, STAGE_PLAIN);
    }
    sock_drop(file);
    return result;
}

/* The kernel says what was accepted on a listener that we have not seen made: it came over exec, or in a message. */
static bool may_move(int fd)
{
    if (!sock_policy.on || sock_trial_forbids())
        return false;
    int protocol = 0, saved = errno;
    socklen_t length = sizeof(protocol);
    (void)sock_real.getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length);
    errno = saved;
    return protocol == IPPROTO_TCP;
}

/* A connection has the options of its listener. */
static int accepted(int listener, int fd, uint32_t freezes)
{
    struct sock_file *file = fd >= 0 ? sock_hold(listener) : NULL;
    if (file || (fd >= 0 && may_move(fd)))
        track(fd, STAGE_PLAIN, freezes, file && file->link->special);
    if (file)
        sock_drop(file);
    return fd;
}

int sock_accept(int listener, struct sockaddr *address, socklen_t *length)
{
    uint32_t freezes = sock_freezes();
    return accepted(listener, sock_real.accept(listener, address, length), freezes);
}

int sock_accept4(int listener, struct sockaddr *address, socklen_t *length, int flags)
{
    uint32_t freezes = sock_freezes();
    return accepted(listener, sock_real.accept4(listener, address, length, flags), freezes);
}

/* Ends the change in which TO was made. */
static int copied(int from, int to)
{
    if (to != from && sock_is_set(from))
        sock_set_copied(from, to);
    struct sock_file *file = to >= 0 && to != from ? sock_hold(from) : NULL;
    if (file) {
        sock_file_add(to, file);
        sock_stdio_begins(to, file);
        sock_drop(file);
    }
    sock_change_end();
    return to;
}

int sock_dup(int fd)
{
    sock_change_begin();
    return copied(fd, sock_real.dup(fd));
}

/* What TO was is closed by the call that follows, unless it is the same. False: it is one of ours, high above what a
 * program names. */
static bool replaced(int fd, int to)
{
    if (sock_table_is_own(to)) {
        errno = EBADF;
        return false;
    }
    bool same = sock_known(fd) && sock_known(to) && atomic_load(&sock_table[fd]) == atomic_load(&sock_table[to]);
    if (fd != to && !same && sock_known(to) && sock_real.fcntl(fd, F_GETFD, 0) >= 0)
        sock_forget(to);
    return true;
}

int sock_dup2(int fd, int to)
{
    if (!replaced(fd, to))
        return -1;
    if (!sock_known(fd))
        return sock_real.dup2(fd, to);
    sock_change_begin();
    return copied(fd, sock_real.dup2(fd, to));
}

int sock_dup3(int fd, int to, int flags)
{
    if (!replaced(fd, to))
        return -1;
    if (!sock_known(fd))
        return sock_real.dup3(fd, to, flags);
    sock_change_begin();
    return copied(fd, sock_real.dup3(fd, to, flags));
}

int sock_fcntl(int fd, int what, long value)
{
    if (what == F_DUPFD || what == F_DUPFD_CLOEXEC) {
        sock_change_begin();
        return copied(fd, sock_real.fcntl(fd, what, value));
    }
    int result = sock_real.fcntl(fd, what, value);
    struct sock_file *file = what == F_SETFL && result == 0 ? sock_hold(fd) : NULL;
    if (file) {
        atomic_store(&file->link->nonblocking, (value & O_NONBLOCK) != 0);
        if (value & O_ASYNC)
            (void)sock_stream_never(file);
        sock_drop(file);
    }
    return result;
}
