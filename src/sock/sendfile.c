/* sendfile and splice on joined connections: a file or pipe is read straight into the ring, and the ring is written
 * into a pipe. */
#include "sock/hooks.h"
#include "sock/meet.h"
#include "sock/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST 65536  /* after so much of one call the connection is looked at */
#define TRIAL 262144 /* and after each of these, until its other end is found or given up */
#define PIECE 16384 /* from a ring to a pipe at a time */

/* Under the lock of the direction, so no points of cancellation (sendfile is none, either). */
static ssize_t file_fetch(struct sock_source *source, char *data, size_t size)
{
    ssize_t n = sock_real.syscall(SYS_pread64, source->fd, (long)data, (long)size, source->at, 0, 0);
    if (n > 0)
        source->at += n;
    return n;
}

static ssize_t pipe_fetch(struct sock_source *source, char *data, size_t size)
{
    return sock_real.syscall(SYS_read, source->fd, (long)data, (long)size, 0, 0, 0);
}

/* The file's own offset is moved if the caller gave none. */
static ssize_t file_to_stream(struct sock_file *file, int from, off_t *at, size_t size)
{
    struct sock_source source = {.fetch = file_fetch, .fd = from, .at = at ? *at : lseek(from, 0, SEEK_CUR)};
    ssize_t n = sock_stream_fill(file, &source, size, 0);
    if (n > 0 && at)
        *at += n;
    else if (n > 0)
        (void)lseek(from, n, SEEK_CUR);
    return n;
}

/* The kernel's own, which may wait. It begins at once, so the descriptor is the connection's. */
static ssize_t plain(struct sock_file *file, int from, off_t *at, size_t size)
{
    if (!sock_moving(file, true))
        return SOCK_PLAIN;
    ssize_t n = sock_real.sendfile(sock_fd(file), from, at, size);
    sock_moved(file, true, n);
    return n;
}

/* One call may be all that a connection does: it is looked at in the middle. */
static ssize_t send_all(struct sock_file *file, int from, off_t *at, size_t size)
{
    ssize_t total = 0, n;
    for (;;) {
        n = SOCK_PLAIN;
        bool back = false;
        if (sock_joined(file) && atomic_load(&file->link->out_phase) != PHASE_BACK) {
            n = file_to_stream(file, from, at, size - (size_t)total);
            back = atomic_load(&file->link->out_phase) == PHASE_BACK;
        }
        if (n > 0 && back && (size_t)(total + n) < size) {
            total += n; /* the rest goes by TCP */
            continue;
        }
        if (n != SOCK_PLAIN)
            return n < 0 ? (total ? total : n) : total + n;
        size_t part = size - (size_t)total, most = total ? TRIAL : FIRST;
        if (part > most && atomic_load(&file->descriptors))
            part = most;
        n = plain(file, from, at, part);
        if (n == SOCK_PLAIN)
            continue;
        if (n < 0)
            return total ? total : n;
        total += n;
        if ((size_t)n < part || (size_t)total == size)
            return total;
    }
}

ssize_t sock_sendfile(int fd, int from, off_t *at, size_t size)
{
    if (lseek(from, 0, SEEK_CUR) < 0 && !at)
        return errno == ESPIPE ? sock_splice(from, NULL, fd, NULL, size, 0) : sock_real.sendfile(fd, from, at, size);
    struct sock_file *file = sock_hold(fd);
    if (!file)
        return sock_real.sendfile(fd, from, at, size);
    ssize_t n = send_all(file, from, at, size);
    sock_drop(file);
    return n;
}

/* Waits for EVENT at a pipe, unless the call or the pipe is not to wait: then EAGAIN. */
static bool pipe_wait(int pipe, short event, unsigned flags)
{
    struct pollfd one = {.fd = pipe, .events = event};
    bool dont_wait = (flags & SPLICE_F_NONBLOCK) || (sock_real.fcntl(pipe, F_GETFL, 0) & O_NONBLOCK);
    int n = sock_real.poll(&one, 1, dont_wait ? 0 : -1);
    if (n == 0)
        errno = EAGAIN;
    return n > 0;
}

static size_t pipe_filled(int pipe)
{
    int bytes = 0;
    return sock_real.ioctl(pipe, FIONREAD, (long)&bytes) == 0 ? (size_t)bytes : 0;
}

/* So much can be written without waiting: all that an empty pipe takes, else a page where a slot is free. */
static size_t pipe_room(int pipe)
{
    struct pollfd one = {.fd = pipe, .events = POLLOUT};
    long size = pipe_filled(pipe) == 0 ? sock_real.fcntl(pipe, F_GETPIPE_SZ, 0) : 0;
    return size > 0 ? (size_t)size : sock_real.poll(&one, 1, 0) > 0 ? PIPE_BUF : 0;
}

/* Bytes are taken only when the pipe has room for them. */
static ssize_t stream_to_pipe(struct sock_file *file, int to, size_t size, unsigned flags)
{
    char data[PIECE];
    size_t done = 0;
    ssize_t n;
    if (!pipe_wait(to, POLLOUT, flags))
        return -1;
    for (size_t room; done < size && (room = pipe_room(to)) > 0; done += (size_t)n) {
        struct iovec piece = {data, room < PIECE ? room : PIECE};
        struct sock_pieces pieces = {&piece, 1, 0};
        if (piece.iov_len > size - done)
            piece.iov_len = size - done;
        n = sock_stream_receive(file, &pieces, done || flags & SPLICE_F_NONBLOCK ? MSG_DONTWAIT : 0);
        if (n > 0)
            n = sock_real.syscall(SYS_write, to, (long)data, n, 0, 0, 0); /* what was taken is not lost */
        if (n <= 0)
            return done ? (ssize_t)done : n;
    }
    return (ssize_t)done;
}

static ssize_t pipe_to_stream(struct sock_file *file, int from, size_t size, unsigned flags)
{
    struct sock_source source = {.fetch = pipe_fetch, .fd = from, .at = -1};
    if (!pipe_wait(from, POLLIN, flags))
        return -1;
    size_t there = pipe_filled(from); /* 0: the pipe has ended */
    if (there < size)
        size = there;
    return size ? sock_stream_fill(file, &source, size, flags & SPLICE_F_NONBLOCK ? MSG_DONTWAIT : 0) : 0;
}

/* One of the two is a pipe. */
ssize_t sock_splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags)
{
    bool out = !sock_known(from);
    int fd = out ? to : from;
    struct sock_file *file = sock_known(fd) ? sock_hold(fd) : NULL;
    ssize_t n = SOCK_PLAIN;
    do {
        if (file && sock_joined(file))
            n = out ? pipe_to_stream(file, from, size, flags) : stream_to_pipe(file, to, size, flags);
    } while (n == SOCK_PLAIN && file && !sock_moving(file, out));
    if (n == SOCK_PLAIN) {
        int ours = file ? sock_fd(file) : fd;
        n = sock_real.splice(out ? from : ours, from_at, out ? ours : to, to_at, size, flags);
        if (file)
            sock_moved(file, out, n);
    }
    if (file)
        sock_drop(file);
    return n;
}
