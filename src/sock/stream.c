/* Calls that move the bytes of a connection, and wait where they may; see stream.h. */
#include "sock/stream.h"
#include "base/clock.h"
#include "base/copy.h"
#include "sock/real.h"
#include "sock/set.h"
#include "sock/wait.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#define PEEK_NS 1000000 /* between two looks for more */

/* Until more may have come than lies there, for a moment: nothing wakes a reader that leaves bytes in the ring. False:
 * no more comes, or the call is to end. */
static bool more_wait(struct sock_file *file, uint64_t deadline)
{
    struct pollfd one = {.fd = sock_fd(file), .events = POLLRDHUP};
    const struct timespec step = {0, PEEK_NS};
    sock_blocks_left();
    sock_block(file, 0, -1);
    int n = sock_real.ppoll(&one, 1, &step, NULL);
    sock_unblock(1);
    return n == 0 && (!deadline || vbase_clock_ns() < deadline);
}

/* A look that waits for all. */
static ssize_t peek_all(struct sock_file *file, const struct sock_pieces *to, int flags)
{
    uint64_t limit = file->link->receive_limit, deadline = limit ? vbase_clock_ns() + limit : 0;
    size_t wanted = sock_pieces_left(to);
    for (bool over = false;; over = !more_wait(file, deadline)) {
        struct sock_pieces all = *to;
        ssize_t n = sock_stream_receive(file, &all, flags & ~MSG_WAITALL);
        if (over || n <= 0 || (size_t)n == wanted)
            return n;
    }
}

ssize_t sock_stream_receive(struct sock_file *file, struct sock_pieces *to, int flags)
{
    struct sock_link *link = file->link;
    bool dont_wait = (flags & MSG_DONTWAIT) || atomic_load_explicit(&link->nonblocking, memory_order_relaxed);
    uint64_t deadline = link->receive_limit ? vbase_clock_ns() + link->receive_limit : 0;
    bool waited = false;
    ssize_t total = 0;
    if (flags & (MSG_OOB | MSG_ERRQUEUE))
        return SOCK_PASS;
    if (sock_pieces_left(to) == 0) { /* it waits for bytes, and takes none */
        char byte;
        struct sock_pieces look = {&(struct iovec){&byte, 1}, 1, 0};
        ssize_t n = sock_stream_receive(file, &look, (flags & ~MSG_WAITALL) | MSG_PEEK);
        return n > 0 ? 0 : n;
    }
    if (unlikely(flags & MSG_PEEK && flags & MSG_WAITALL && !dont_wait))
        return peek_all(file, to, flags);
    for (;;) {
        ssize_t n = sock_in_take(file, to, flags, dont_wait, total, waited);
        if (n == SOCK_IN_PLAIN)
            return SOCK_PLAIN;
        if (unlikely(n == SOCK_IN_LOCKED)) {
            sock_set_ask_again(file);
            n = -EAGAIN;
        }
        if (n > 0)
            total += n;
        if (n == -EPROTO)
            sock_stream_break(file, "the other side wrote invalid data");
        bool enough = n > 0 && (!(flags & MSG_WAITALL) || (flags & MSG_PEEK) || to->count == 0 ||
                                sock_in_at_mark(file));
        if (enough || n == 0 || (total && n < 0 && (dont_wait || n != -EAGAIN)))
            return total;
        if (n < 0 && (n != -EAGAIN || dont_wait)) {
            errno = n == -EPROTO ? ECONNRESET : (int)-n;
            return -1;
        }
        if (n < 0 && sock_wait(file, POLLIN, deadline, deadline != 0 || total) != 0)
            return total ? total : -1;
        waited |= n < 0;
    }
}

static ssize_t pieces_fetch(struct sock_source *source, char *data, size_t size)
{
    struct sock_pieces *from = source->pieces;
    for (size_t left = size; left;) {
        size_t n = from->piece->iov_len - from->at;
        n = n < left ? n : left;
        const char *piece = (const char *)from->piece->iov_base + from->at;
        if (source->past && n > 0)
            vbase_copy_past(data, piece, n);
        else
            base_copy(data, piece, n);
        data += n;
        left -= n;
        from->at += n;
        if (from->at == from->piece->iov_len)
            from->piece++, from->count--, from->at = 0;
    }
    if (source->past)
        vbase_copy_past_end();
    return (ssize_t)size;
}

/* The rest, where the ring was closed in the middle of a write or while it waited. By now the program may have closed
 * the number that it gave: so TCP takes under the lock what it takes at once. */
static ssize_t rest_by_tcp(struct sock_file *file, struct sock_pieces *from, int flags, size_t done)
{
    struct sock_link *link = file->link;
    bool dont_wait = (flags & MSG_DONTWAIT) || atomic_load_explicit(&link->nonblocking, memory_order_relaxed);
    uint64_t deadline = link->send_limit ? vbase_clock_ns() + link->send_limit : 0;
    ssize_t total = (ssize_t)done;
    while (from->count) {
        struct iovec piece = {(char *)from->piece->iov_base + from->at, from->piece->iov_len - from->at};
        sock_lock(&link->send);
        ssize_t n = sock_real.syscall(SYS_sendto, sock_fd(file), (long)piece.iov_base, (long)piece.iov_len,
                                      flags | MSG_DONTWAIT, 0, 0); /* no cancellation point */
        sock_unlock(&link->send);
        if (n < 0 && errno == EAGAIN && !dont_wait && sock_wait(file, POLLOUT, deadline, deadline != 0 || total) == 0)
            continue;
        if (n < 0)
            return total ? total : -1;
        (void)sock_pieces_copy(from, NULL, (size_t)n);
        total += n;
    }
    return total;
}

static ssize_t would_block(struct sock_file *file, size_t total)
{
    sock_set_wants_room(file);
    errno = EAGAIN;
    return total ? (ssize_t)total : -1;
}

/* Moves SIZE bytes from a source; the caller sends what is left when the ring was closed. SOCK_PLAIN: it was closed
 * from the beginning. */
static ssize_t stream_out(struct sock_file *file, struct sock_source *source, size_t size, int flags)
{
    struct sock_link *link = file->link;
    bool dont_wait = (flags & MSG_DONTWAIT) || atomic_load_explicit(&link->nonblocking, memory_order_relaxed);
    uint64_t deadline = 0;
    bool patient = !dont_wait, waited = false;
    size_t total = 0;
    for (;;) {
        if (!dont_wait)
            sock_lock(&link->send);
        else if (!sock_lock_soon(&link->send)) {
            sock_set_ask_again(file);
            errno = EAGAIN;
            return total ? (ssize_t)total : -1;
        }
        if (!sock_out_switch(file) || sock_stream_reader_gone(file)) {
            if (atomic_load(&link->out_phase) == PHASE_RING)
                atomic_store(&link->strict_out, false); /* the other side is gone, or we said that nothing follows */
            sock_unlock(&link->send);
            bool gone = !total && sock_stream_reader_gone(file);
            ssize_t ended = gone ? sock_end_write(file, source, size) : SOCK_END_KERNEL;
            if (ended != SOCK_END_KERNEL)
                sock_set_refresh(file); /* the kernel has told the set what there was; this is new */
            return ended != SOCK_END_KERNEL ? ended : total || waited ? (ssize_t)total : SOCK_PLAIN;
        }
        ssize_t n = sock_out_store(file, source, size - total, patient);
        bool refused = link->writer.refused, back = refused || atomic_load(&link->out_phase) != PHASE_RING;
        sock_unlock(&link->send);
        if (unlikely(refused))
            sock_stream_back_out(file);
        else if (unlikely(back)) {
            sock_set_refresh(file);
            (void)sock_stream_back_in(file);
        }
        if (n > 0)
            total += (size_t)n;
        if (likely(total == size) || n < 0 || source->end)
            return total || n >= 0 ? (ssize_t)total : n;
        if (back)
            continue;
        if (dont_wait)
            return would_block(file, total);
        if (!deadline && link->send_limit)
            deadline = vbase_clock_ns() + link->send_limit;
        /* where nothing is read for a while TCP's buffers would take more */
        uint64_t until = patient ? vbase_clock_ns() + SOCK_PATIENCE_NS : deadline;
        int result = sock_wait(file, POLLOUT, until, deadline != 0 || total);
        if (result != 0 && errno == EAGAIN && patient)
            patient = false;
        else if (result != 0)
            return total ? (ssize_t)total : -1;
        waited = true;
    }
}

ssize_t sock_stream_send(struct sock_file *file, struct sock_pieces *from, int flags)
{
    struct sock_source source = {.fetch = pieces_fetch, .pieces = from};
    size_t size = sock_pieces_left(from);
    if (flags & (MSG_OOB | MSG_FASTOPEN | MSG_ZEROCOPY))
        sock_stream_back_out(file);
    if (size == 0)
        return SOCK_PASS;
    ssize_t total = stream_out(file, &source, size, flags);
    if (likely(total == (ssize_t)size) || total < 0 || (total && atomic_load(&file->link->out_phase) == PHASE_RING))
        return total;
    return rest_by_tcp(file, from, flags, (size_t)total);
}

ssize_t sock_stream_fill(struct sock_file *file, struct sock_source *source, size_t size, int flags)
{
    ssize_t total = stream_out(file, source, size, flags);
    return total || source->end ? total : SOCK_PLAIN;
}
