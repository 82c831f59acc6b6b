/* The calls that move data: what each means as pieces and flags. A connection that is joined goes to the stream;
 * another one, and what the stream leaves to TCP, makes the program's own call and is counted. */
#include "base/clock.h"
#include "sock/hooks.h"
#include "sock/meet.h"
#include "sock/pass.h"
#include "sock/stream.h"
#include "sock/wait.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

struct move { /* one call */
    struct sock_file *file; /* NULL: it is not ours any more */
    bool out;
};

/* True: the stream has done it, and RESULT is what the call returns. */
static bool move_begin(struct move *move, bool out, int fd, const struct iovec *piece, size_t count, int flags,
                       ssize_t *result)
{
    *move = (struct move){.file = sock_hold(fd), .out = out};
    while (move->file) {
        struct sock_pieces pieces = {piece, count, 0};
        if (sock_joined(move->file)) {
            *result = out ? sock_stream_send(move->file, &pieces, flags)
                          : sock_stream_receive(move->file, &pieces, flags);
            if (likely(*result >= -1)) {
                sock_drop(move->file);
                return true;
            }
            if (*result == SOCK_PASS) {
                atomic_fetch_add(out ? &move->file->link->sending : &move->file->link->receiving, 1);
                sock_block_plain(move->file, out);
                break;
            }
        }
        if (sock_moving(move->file, out))
            break;
    }
    return false;
}

static ssize_t move_end(struct move *move, ssize_t result)
{
    if (!move->file)
        return result;
    sock_moved(move->file, move->out, result);
    sock_drop(move->file);
    return result;
}

static ssize_t receive(int fd, void *data, size_t size, int flags, ssize_t (*call)(int, void *, size_t, int))
{
    struct iovec piece = {data, size};
    struct move move;
    ssize_t n;
    if (move_begin(&move, false, fd, &piece, 1, flags, &n))
        return n;
    return move_end(&move, call(fd, data, size, flags));
}

static ssize_t call_read(int fd, void *data, size_t size, int flags)
{
    (void)flags;
    return sock_real.read(fd, data, size);
}
static ssize_t call_recv(int fd, void *data, size_t size, int flags) { return sock_real.recv(fd, data, size, flags); }

/* (of nothing: the end of it in libc, unlike recv) */
ssize_t sock_read(int fd, void *data, size_t size)
{
    return size ? receive(fd, data, size, 0, call_read) : sock_real.read(fd, data, size);
}
ssize_t sock_recv(int fd, void *data, size_t size, int flags) { return receive(fd, data, size, flags, call_recv); }

ssize_t sock___read_chk(int fd, void *data, size_t size, size_t room)
{
    return size > room ? sock_real.__read_chk(fd, data, size, room) : sock_read(fd, data, size);
}
ssize_t sock___recv_chk(int fd, void *data, size_t size, size_t room, int flags)
{
    return size > room ? sock_real.__recv_chk(fd, data, size, room, flags) : sock_recv(fd, data, size, flags);
}

/* The kernel refuses them, before it moves a byte. */
static bool pieces_are_wrong(const struct iovec *piece, size_t count)
{
    bool wrong = count > IOV_MAX;
    for (size_t i = 0; i < count && !wrong; i++)
        wrong = (ssize_t)piece[i].iov_len < 0;
    return wrong;
}

/* TCP does not say who has sent N bytes. The kernel looks at the room for that when it has taken them. */
static ssize_t sender_none(ssize_t n, const struct sockaddr *from, socklen_t *length)
{
    if (n < 0 || !from)
        return n;
    if (!length || (int)*length < 0) {
        errno = length ? EINVAL : EFAULT;
        return -1;
    }
    *length = 0;
    return n;
}

ssize_t sock_recvfrom(int fd, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    struct iovec piece = {data, size};
    struct move move;
    ssize_t n;
    if (move_begin(&move, false, fd, &piece, 1, flags, &n))
        return sender_none(n, from, length);
    return move_end(&move, sock_real.recvfrom(fd, data, size, flags, from, length));
}
ssize_t sock___recvfrom_chk(int fd, void *data, size_t size, size_t room, int flags, struct sockaddr *from,
                            socklen_t *length)
{
    return size > room ? sock_real.__recvfrom_chk(fd, data, size, room, flags, from, length)
                       : sock_recvfrom(fd, data, size, flags, from, length);
}

ssize_t sock_readv(int fd, const struct iovec *pieces, int count)
{
    struct move move;
    ssize_t n;
    if (count <= 0 || pieces_are_wrong(pieces, (size_t)count) ||
        sock_pieces_left(&(struct sock_pieces){pieces, (size_t)count, 0}) == 0)
        return sock_real.readv(fd, pieces, count);
    if (move_begin(&move, false, fd, pieces, (size_t)count, 0, &n))
        return n;
    return move_end(&move, sock_real.readv(fd, pieces, count));
}

ssize_t sock_preadv2(int fd, const struct iovec *pieces, int count, off_t at, int flags)
{
    struct move move;
    ssize_t n;
    if (at != -1 || count <= 0 || pieces_are_wrong(pieces, (size_t)count))
        return sock_real.preadv2(fd, pieces, count, at, flags);
    if (move_begin(&move, false, fd, pieces, (size_t)count, flags & RWF_NOWAIT ? MSG_DONTWAIT : 0, &n))
        return n;
    return move_end(&move, sock_real.preadv2(fd, pieces, count, at, flags));
}

/* The stream has bytes alone: no address, no control data. */
static void nothing_beside(struct msghdr *message, int flags)
{
    if (message->msg_name)
        message->msg_namelen = 0;
    message->msg_controllen = 0;
    message->msg_flags = flags & MSG_CMSG_CLOEXEC;
}

/* The kernel refuses it, before it takes bytes. */
static bool is_refused(const struct msghdr *message)
{
    return !message || (message->msg_name && (int)message->msg_namelen < 0) ||
           pieces_are_wrong(message->msg_iov, message->msg_iovlen);
}

ssize_t sock_recvmsg(int fd, struct msghdr *message, int flags)
{
    struct move move;
    ssize_t n;
    if (!sock_known(fd)) {
        uint32_t freezes = sock_freezes();
        n = sock_real.recvmsg(fd, message, flags);
        if (n >= 0 && message->msg_controllen)
            sock_pass_in(message, flags & MSG_PEEK, freezes);
        return n;
    }
    if (is_refused(message))
        return sock_real.recvmsg(fd, message, flags);
    if (move_begin(&move, false, fd, message->msg_iov, message->msg_iovlen, flags, &n)) {
        if (n >= 0)
            nothing_beside(message, flags);
        return n;
    }
    return move_end(&move, sock_real.recvmsg(fd, message, flags));
}

/* Messages of a stream are what each of several calls would give; the limit of time is looked at behind each. */
static int receive_several(int fd, struct mmsghdr *messages, unsigned count, int flags, const struct timespec *time,
                           ssize_t n)
{
    uint64_t begin = time ? vbase_clock_ns() : 0;
    uint64_t limit = time ? (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec : 0;
    unsigned done = 0;
    int more = (flags & ~MSG_WAITFORONE) | (flags & MSG_WAITFORONE ? MSG_DONTWAIT : 0);
    for (; n >= 0; n = sock_recvmsg(fd, &messages[done].msg_hdr, more)) {
        messages[done++].msg_len = (unsigned)n;
        if (done == count || (time && vbase_clock_ns() - begin >= limit))
            break;
    }
    return done ? (int)done : -1;
}

static bool is_wrong(const struct timespec *time)
{
    return time && (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= 1000000000);
}

int sock_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *time)
{
    struct move move;
    ssize_t n;
    if (!sock_known(fd) || !messages || !count || is_wrong(time) || is_refused(&messages[0].msg_hdr)) {
        uint32_t freezes = sock_freezes();
        int got = sock_real.recvmmsg(fd, messages, count, flags, time);
        for (int i = 0; i < got; i++)
            if (messages[i].msg_hdr.msg_controllen)
                sock_pass_in(&messages[i].msg_hdr, flags & MSG_PEEK, freezes);
        return got;
    }
    struct msghdr *first = &messages[0].msg_hdr;
    if (!move_begin(&move, false, fd, first->msg_iov, first->msg_iovlen, flags & ~MSG_WAITFORONE, &n))
        return (int)move_end(&move, sock_real.recvmmsg(fd, messages, count, flags, time));
    if (n >= 0)
        nothing_beside(first, flags);
    return receive_several(fd, messages, count, flags, time, n);
}

static ssize_t transmit(int fd, const void *data, size_t size, int flags,
                        ssize_t (*call)(int, const void *, size_t, int))
{
    struct iovec piece = {(void *)(uintptr_t)data, size};
    struct move move;
    ssize_t n;
    if (move_begin(&move, true, fd, &piece, 1, flags, &n))
        return n;
    return move_end(&move, call(fd, data, size, flags));
}

static ssize_t call_write(int fd, const void *data, size_t size, int flags)
{
    (void)flags;
    return sock_real.write(fd, data, size);
}
static ssize_t call_send(int fd, const void *data, size_t size, int flags)
{
    return sock_real.send(fd, data, size, flags);
}

ssize_t sock_write(int fd, const void *data, size_t size) { return transmit(fd, data, size, 0, call_write); }
ssize_t sock_send(int fd, const void *data, size_t size, int flags)
{
    return transmit(fd, data, size, flags, call_send);
}

ssize_t sock_sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length)
{
    struct iovec piece = {(void *)(uintptr_t)data, size};
    struct move move;
    ssize_t n;
    if (move_begin(&move, true, fd, &piece, 1, flags, &n))
        return n;
    return move_end(&move, sock_real.sendto(fd, data, size, flags, to, length));
}

ssize_t sock_writev(int fd, const struct iovec *pieces, int count)
{
    struct move move;
    ssize_t n;
    if (count <= 0 || pieces_are_wrong(pieces, (size_t)count))
        return sock_real.writev(fd, pieces, count);
    if (move_begin(&move, true, fd, pieces, (size_t)count, 0, &n))
        return n;
    return move_end(&move, sock_real.writev(fd, pieces, count));
}

ssize_t sock_pwritev2(int fd, const struct iovec *pieces, int count, off_t at, int flags)
{
    struct move move;
    ssize_t n;
    if (at != -1 || count <= 0 || pieces_are_wrong(pieces, (size_t)count))
        return sock_real.pwritev2(fd, pieces, count, at, flags);
    if (move_begin(&move, true, fd, pieces, (size_t)count, flags & RWF_NOWAIT ? MSG_DONTWAIT : 0, &n))
        return n;
    return move_end(&move, sock_real.pwritev2(fd, pieces, count, at, flags));
}

ssize_t sock_sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct move move;
    ssize_t n;
    if (!sock_known(fd) || !message) { /* TCP passes nothing on */
        bool passed = sock_pass_out(message);
        n = sock_real.sendmsg(fd, message, flags);
        if (unlikely(passed && n < 0))
            sock_pass_back(message);
        return n;
    }
    if (pieces_are_wrong(message->msg_iov, message->msg_iovlen))
        return sock_real.sendmsg(fd, message, flags);
    if (move_begin(&move, true, fd, message->msg_iov, message->msg_iovlen, flags, &n))
        return n;
    return move_end(&move, sock_real.sendmsg(fd, message, flags));
}

/* A message of which only a part went is the last one, as in the kernel: what follows would stand in its middle. */
int sock_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    unsigned done = 0;
    bool whole = true;
    if (!sock_known(fd)) {
        bool passed = false;
        for (unsigned i = 0; messages && i < count; i++)
            passed |= sock_pass_out(&messages[i].msg_hdr);
        int sent = sock_real.sendmmsg(fd, messages, count, flags);
        for (unsigned i = sent < 0 ? 0 : (unsigned)sent; passed && i < count; i++)
            sock_pass_back(&messages[i].msg_hdr);
        return sent;
    }
    for (; done < count && whole; done++) {
        const struct msghdr *message = &messages[done].msg_hdr;
        ssize_t n = sock_sendmsg(fd, message, flags);
        if (n < 0)
            break;
        messages[done].msg_len = (unsigned)n;
        whole = (size_t)n == sock_pieces_left(&(struct sock_pieces){message->msg_iov, message->msg_iovlen, 0});
    }
    return done || !count ? (int)done : -1;
}
