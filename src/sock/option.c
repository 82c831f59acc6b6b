/* Options and ends of connections: shutdown, ioctl, getsockopt, setsockopt. The kernel's answer holds, but where the
 * bytes are in a ring. An option that shared memory cannot keep sends a joined connection back to TCP. */
#include "sock/hooks.h"
#include "sock/place.h"
#include "sock/stream.h"
#include "sock/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>

#ifndef SO_TXTIME
#define SO_TXTIME 61
#endif
#ifndef TCP_AO_ADD_KEY
#define TCP_AO_ADD_KEY 38
#define TCP_AO_INFO    40
#define TCP_AO_REPAIR  42
#endif
#ifndef SO_RCVTIMEO_NEW
#define SO_RCVTIMEO_NEW 66
#define SO_SNDTIMEO_NEW 67
#endif

/* Options that need the bytes to be in the kernel. */
static bool needs_tcp(int level, int name)
{
    if (level == IPPROTO_TCP)
        return name == TCP_ULP || name == TCP_INQ || name == TCP_REPAIR || name == TCP_MD5SIG ||
               name == TCP_MD5SIG_EXT || name == TCP_FASTOPEN_CONNECT || name == TCP_AO_ADD_KEY ||
               name == TCP_AO_INFO || name == TCP_AO_REPAIR;
    return level == SOL_SOCKET &&
           (name == SO_ZEROCOPY || sock_tcp_stamps(name) || name == SO_ATTACH_FILTER || name == SO_ATTACH_BPF ||
            name == SO_MAX_PACING_RATE || name == SO_TXTIME || name == SO_RCVLOWAT ||
            name == SO_PEEK_OFF);
}

static uint64_t ns_of(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

/* Is this option one that the kernel's socket has otherwise while the ring carries? Then the kept value is set, or
 * read. */
static bool option_kept(int fd, int level, int name, bool set, int *value)
{
    int kept = level == IPPROTO_TCP ? sock_tcp_kept(name) : -1;
    struct sock_file *file = kept >= 0 ? sock_hold(fd) : NULL;
    bool ours = false;
    if (file && sock_joined(file)) {
        pthread_mutex_t *got = sock_lock_soon(&file->link->send);
        ours = atomic_load(&file->link->out_phase) == PHASE_RING;
        if (ours && set)
            file->link->kept[kept] = *value != 0;
        else if (ours)
            *value = file->link->kept[kept];
        sock_unlock_got(got);
    }
    if (file)
        sock_drop(file);
    return ours;
}

/* Others are the kernel's alone: their value may be memory that cannot be read. */
static bool may_be_ours(int level, int name)
{
    return level == SOL_SOCKET ? name == SO_ERROR : level == IPPROTO_TCP && sock_tcp_kept(name) >= 0;
}

int sock_setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
    int wanted = 0;
    bool given = value && length >= sizeof(wanted) && may_be_ours(level, name);
    if (given)
        memcpy(&wanted, value, sizeof(wanted));
    if (given && option_kept(fd, level, name, true, &wanted))
        return 0;
    int result = sock_real.setsockopt(fd, level, name, value, length);
    struct sock_file *file = result == 0 ? sock_hold(fd) : NULL;
    if (!file)
        return result;
    if (needs_tcp(level, name)) {
        file->link->special = true;
        (void)sock_stream_never(file); /* where bytes lie in the ring the writer goes on to use it */
    }
    if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_RCVTIMEO_NEW) && length >= sizeof(struct timeval))
        file->link->receive_limit = ns_of(value);
    if (level == SOL_SOCKET && (name == SO_SNDTIMEO || name == SO_SNDTIMEO_NEW) && length >= sizeof(struct timeval))
        file->link->send_limit = ns_of(value);
    sock_drop(file);
    return result;
}

/* A reset that the other side left behind is told once the ring is empty; before that the program would stop
 * reading. True: ERROR is the answer. */
static bool error_is_ours(struct sock_file *file, int *error)
{
    struct sock_link *link = file->link;
    pthread_mutex_t *got = sock_lock_soon(&link->receive); /* else: its holder is reading */
    bool hidden = !got || (atomic_load(&link->in_phase) == PHASE_RING &&
                           ring_filled(&(struct ring){file->mapping, sock_in(file)}, &link->reader) != 0);
    bool told = !hidden && sock_end_look(file) != END_NOT;
    *error = hidden ? 0 : atomic_exchange(&link->error, 0); /* at once: a bell may leave one (bell_error_keep) */
    sock_unlock_got(got);
    return hidden || told || *error;
}

static bool error_kept(int fd, int level, int name, int *value)
{
    struct sock_file *file = level == SOL_SOCKET && name == SO_ERROR ? sock_hold(fd) : NULL;
    bool ours = file && sock_joined(file) && error_is_ours(file, value);
    if (file)
        sock_drop(file);
    return ours;
}

int sock_getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
    int ours;
    struct sock_file *file = level == IPPROTO_TCP && name == TCP_ZEROCOPY_RECEIVE ? sock_hold(fd) : NULL;
    if (file) {
        (void)sock_stream_never(file);
        sock_drop(file);
    }
    if (!value || !length || !may_be_ours(level, name) || *length < sizeof(ours) ||
        !(option_kept(fd, level, name, false, &ours) || error_kept(fd, level, name, &ours)))
        return sock_real.getsockopt(fd, level, name, value, length);
    memcpy(value, &ours, sizeof(ours));
    *length = sizeof(ours);
    return 0;
}

/* What is being written comes before the end; what a holder that was stopped is writing is refused. True: it had not
 * been said. */
static bool end_say(struct sock_file *file)
{
    pthread_mutex_t *got = sock_lock_soon(&file->link->send);
    atomic_store(&file->link->shut_out, true);
    if (!got)
        ring_close(&(struct ring){file->mapping, sock_out(file)});
    bool said = atomic_exchange(&file->mapping.words->direction[sock_out(file)].ended, 1);
    sock_unlock_got(got);
    sock_places_wake(); /* a thread that waits for room hears of it */
    return !said;
}

static bool end_is_said(const struct sock_file *file)
{
    return atomic_load(&file->mapping.words->direction[sock_out(file)].ended);
}

int sock_shutdown(int fd, int how)
{
    struct sock_file *file = (unsigned)how <= SHUT_RDWR ? sock_hold(fd) : NULL;
    bool joined = file && sock_joined(file);
    if (joined && how != SHUT_WR)
        atomic_store(&file->link->shut_in, true);
    bool open = joined && (how == SHUT_RD ? !end_is_said(file) : end_say(file)); /* TCP could still write until now */
    int result = sock_real.shutdown(fd, how), why = errno;
    if (result != 0 && why == ENOTCONN && open && sock_end_look_soon(file) == END_QUIET)
        result = 0;
    if (file)
        sock_drop(file);
    errno = why;
    return result;
}

/* The address of the other end, as the kernel would write it; what it would say. */
static int peer_write(const struct sock_file *file, int family, struct sockaddr *address, socklen_t *length)
{
    const struct sock_ends *ends = &file->link->ends;
    int other = file->link->active ? 1 : 0;
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(ends->port[other])};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(ends->port[other])};
    memcpy(&six.sin6_addr, ends->address[other], 16);
    memcpy(&four.sin_addr, ends->address[other] + 12, 4);
    socklen_t size = family == AF_INET ? sizeof(four) : sizeof(six);
    if (!length || (int)*length < 0 || (*length && !address))
        return length && (int)*length < 0 ? EINVAL : EFAULT;
    if (*length)
        memcpy(address, family == AF_INET ? (void *)&four : (void *)&six, size < *length ? size : *length);
    *length = size;
    return 0;
}

int sock_getpeername(int fd, struct sockaddr *address, socklen_t *length)
{
    int result = sock_real.getpeername(fd, address, length), why = errno;
    struct sock_file *file = result != 0 && errno == ENOTCONN ? sock_hold(fd) : NULL;
    struct sockaddr own;
    socklen_t size = sizeof(own);
    if (file && sock_joined(file) && !end_is_said(file) && sock_end_look_soon(file) == END_QUIET &&
        getsockname(fd, &own, &size) == 0) {
        int refused = peer_write(file, own.sa_family, address, length);
        why = refused ? refused : why;
        result = refused ? -1 : 0;
    }
    if (file)
        sock_drop(file);
    errno = why;
    return result;
}

static int readable(struct sock_file *file)
{
    pthread_mutex_t *got = sock_lock_soon(&file->link->receive); /* else: as far as a stopped holder has come */
    uint64_t bytes = sock_stream_readable(file);
    sock_unlock_got(got);
    return bytes > 0x7fffffff ? 0x7fffffff : (int)bytes;
}

/* The mark of urgent data lies behind all that is in memory; the kernel knows it once the reader is there. */
static bool is_before_mark(struct sock_file *file)
{
    sock_lock(&file->link->receive);
    (void)sock_in_available(file, false);
    bool before = atomic_load(&file->link->in_phase) != PHASE_BACK;
    sock_unlock(&file->link->receive);
    return before;
}

int sock_sockatmark(int fd)
{
    int mark;
    return sock_ioctl(fd, SIOCATMARK, (long)&mark) == 0 ? mark : -1;
}

int sock_ioctl(int fd, unsigned long what, long value)
{
    struct sock_file *file = sock_hold(fd);
    bool ours = file && sock_joined(file);
    if (ours && what == FIONREAD) {
        *(int *)value = readable(file);
        sock_drop(file);
        return 0;
    }
    if (ours && (what == SIOCOUTQ || what == SIOCOUTQNSD) && atomic_load(&file->link->out_phase) == PHASE_RING) {
        *(int *)value = 0; /* what lies in the ring is delivered */
        sock_drop(file);
        return 0;
    }
    if (ours && what == SIOCATMARK && is_before_mark(file)) {
        *(int *)value = 0;
        sock_drop(file);
        return 0;
    }
    int result = sock_real.ioctl(fd, what, value);
    if (file && result == 0 && what == FIONBIO)
        atomic_store(&file->link->nonblocking, *(int *)value != 0);
    if (file && result == 0 && what == FIOASYNC && *(int *)value)
        (void)sock_stream_never(file);
    if (file)
        sock_drop(file);
    return result;
}
