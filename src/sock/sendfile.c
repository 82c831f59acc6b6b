/* sendfile and splice on joined connections: a file or pipe is read straight into the ring, and the ring is written
 * into a pipe. */
#include "sock/hooks.h"
#include "sock/link.h"
#include "sock/meet.h"
#include "sock/stream.h"
#include "sock/table.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define TRIAL 65536 /* after so much of one call the connection is looked at */

static ssize_t file_fetch(struct sock_source *source, char *data, size_t size)
{
    ssize_t n = pread(source->fd, data, size, source->at);
    if (n > 0)
        source->at += n;
    return n;
}

static ssize_t pipe_fetch(struct sock_source *source, char *data, size_t size)
{
    return sock_real.read(source->fd, data, size);
}

/* The file's own offset is moved if the caller gave none. */
static ssize_t file_to_stream(struct sock_file *file, int fd, int from, off_t *at, size_t size)
{
    struct sock_source source = {.fetch = file_fetch, .fd = from, .at = at ? *at : lseek(from, 0, SEEK_CUR)};
    ssize_t n = sock_stream_fill(file, fd, &source, size, 0);
    if (n > 0 && at)
        *at += n;
    else if (n > 0)
        (void)lseek(from, n, SEEK_CUR);
    return n;
}

/* Held, if its ring carries that direction. */
static struct sock_file *carried(int fd, bool out)
{
    struct sock_file *file = sock_known(fd) ? sock_hold(fd) : NULL;
    if (!file)
        return NULL;
    if (sock_joined(file) && atomic_load(out ? &file->link->out_phase : &file->link->in_phase) != PHASE_BACK)
        return file;
    sock_drop(file);
    return NULL;
}

static ssize_t plain(int fd, int from, off_t *at, size_t size)
{
    struct sock_file *file = sock_hold(fd);
    if (file && !sock_plain_begin(file->link, true)) {
        sock_drop(file);
        return SOCK_PLAIN;
    }
    ssize_t n = sock_real.sendfile(fd, from, at, size);
    if (!file)
        return n;
    sock_plain_end(file->link, true);
    if (n > 0 && !sock_joined(file)) {
        atomic_fetch_add(&file->link->calls, 1);
        atomic_fetch_add(&file->link->bytes, (uint64_t)n);
        sock_meet(file, fd);
    }
    sock_drop(file);
    return n;
}

/* One call may be all that a connection does: it is looked at in the middle. */
ssize_t sock_sendfile(int fd, int from, off_t *at, size_t size)
{
    ssize_t total = 0, n;
    for (;;) {
        struct sock_file *file = lseek(from, 0, SEEK_CUR) >= 0 ? carried(fd, true) : NULL;
        n = SOCK_PLAIN;
        bool back = false;
        if (file) {
            n = file_to_stream(file, fd, from, at, size - (size_t)total);
            back = atomic_load(&file->link->out_phase) == PHASE_BACK;
            sock_drop(file);
        }
        if (n > 0 && back && (size_t)(total + n) < size) {
            total += n; /* the rest goes by TCP */
            continue;
        }
        if (n != SOCK_PLAIN)
            return n < 0 ? (total ? total : n) : total + n;
        size_t part = size - (size_t)total;
        if (total == 0 && part > TRIAL && sock_known(fd))
            part = TRIAL;
        n = plain(fd, from, at, part);
        if (n == SOCK_PLAIN)
            continue;
        if (n < 0)
            return total ? total : n;
        total += n;
        if ((size_t)n < part || (size_t)total == size)
            return total;
    }
}

/* Bytes of a connection go to a pipe. What is full is not known beforehand: a pipe that takes nothing is waited for. */
static ssize_t stream_to_pipe(struct sock_file *file, int fd, int to, size_t size, int flags)
{
    for (;;) {
        char byte;
        struct pollfd pipe = {.fd = to, .events = POLLOUT};
        bool dont_wait = (flags & MSG_DONTWAIT) || (sock_real.fcntl(to, F_GETFL, 0) & O_NONBLOCK);
        if (sock_real.poll(&pipe, 1, dont_wait ? 0 : -1) < 0)
            return -1;
        ssize_t n = pipe.revents ? sock_stream_drain(file, fd, to, size) : -EAGAIN;
        if (n >= 0 || n == SOCK_PLAIN)
            return n;
        if (n != -EAGAIN || !pipe.revents) {
            errno = (int)-n;
            return -1;
        }
        n = sock_recv(fd, &byte, 1, MSG_PEEK | flags); /* waits, and knows the end */
        if (n <= 0)
            return n;
    }
}

/* What neither side carries: true, with both descriptors marked as in use past the locks. */
static bool splice_begin(struct sock_file *in, struct sock_file *out)
{
    if (in && !sock_plain_begin(in->link, false))
        return false;
    if (!out || sock_plain_begin(out->link, true))
        return true;
    if (in)
        sock_plain_end(in->link, false);
    return false;
}

ssize_t sock_splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags)
{
    struct sock_file *in = sock_known(from) ? sock_hold(from) : NULL, *out = sock_known(to) ? sock_hold(to) : NULL;
    int move = flags & SPLICE_F_NONBLOCK ? MSG_DONTWAIT : 0;
    struct sock_source source = {.fetch = pipe_fetch, .fd = from};
    ssize_t n;
    do {
        n = SOCK_PLAIN;
        if (in && sock_joined(in))
            n = stream_to_pipe(in, from, to, size, move);
        else if (out && sock_joined(out))
            n = sock_stream_fill(out, to, &source, size < TRIAL ? size : TRIAL, move);
    } while (n == SOCK_PLAIN && !splice_begin(in, out));
    bool plain = n == SOCK_PLAIN;
    if (plain)
        n = sock_real.splice(from, from_at, to, to_at, size, flags);
    int why = errno;
    if (in) {
        if (plain)
            sock_plain_end(in->link, false);
        sock_drop(in);
    }
    if (out) {
        if (plain)
            sock_plain_end(out->link, true);
        sock_drop(out);
    }
    errno = why;
    return n;
}
