/* The direction that this side writes; see stream.h. Everything here runs under link->send, but for the wait. */
#include "base/clock.h"
#include "base/log.h"
#include "sock/epoll.h"
#include "sock/hooks.h"
#include "sock/place.h"
#include "sock/rest.h"
#include "sock/step.h"
#include "sock/stream.h"
#include "sock/tcp.h"
#include "sock/wait.h"

#include <errno.h>
#include <string.h>

#define PART          32768   /* of a large write, published alone: the reader copies it while the next one is stored */
#define LAST_BELL_MS  20

/* True: the ring is in use now. */
static bool switch_out(struct sock_file *file, int fd)
{
    struct sock_link *link = file->link;
    struct sock_direction *out = &file->mapping.words->direction[sock_out(file)];
    uint64_t bytes, never = SWITCH_NEVER;
    uint32_t phase = atomic_load_explicit(&link->out_phase, memory_order_relaxed);
    if (likely(phase == PHASE_RING))
        return true;
    if (phase != PHASE_TCP || !atomic_load(&out->ready) || !sock_plain_forbid(link, true))
        return false;
    /* seq_cst: before the first bell; pairs with the loads in from_tcp_before */
    bool known = sock_tcp_sent(fd, link->active, &bytes);
    bool switched = known && atomic_compare_exchange_strong(&out->at, &never, bytes);
    SOCK_STEP(switched);
    if (switched) {
        sock_tcp_hasten(fd, link->kept);
        atomic_store(&link->out_phase, PHASE_RING);
    } else if (known) {
        atomic_store(&link->out_phase, PHASE_BACK);
    }
    if (!switched)
        atomic_store(&link->strict_out, false);
    return switched;
}

/* Wakes the reader where it waits; true: it is to be told by TCP. */
static bool place_wake(struct sock_file *file)
{
    uint32_t place = atomic_load(&file->mapping.words->direction[sock_out(file)].place);
    if (place == NO_PLACE || place == EACH_WRITE || !file->peer)
        return place == EACH_WRITE;
    uint32_t bit = atomic_load_explicit(&file->mapping.words->bit[!sock_out(file)], memory_order_relaxed);
    return sock_peer_wake(file->peer, place - 1, bit);
}

/* Wakes the reader for bytes behind BEFORE. Publishing was a barrier: what is read here is as new as they are. Bytes in
 * the ring have a bell in the reader's socket, also where a place is woken: the reader may leave that, and wait next by
 * a way that we do not see. One bell is enough, and one that is there is found by a word that changes rarely. */
static void reader_wake(struct sock_file *file, int fd, uint64_t before)
{
    struct sock_direction *out = &file->mapping.words->direction[sock_out(file)];
    bool needed = place_wake(file);
    if (likely(!needed && (atomic_load(&out->bells) & ~BELLS_ENDED) != atomic_load(&out->taken)))
        return;
    if (needed || atomic_load(&out->tail) == before) /* else there are bytes, which have a bell */
        sock_tcp_bell(file, fd);
}

static void end_out(struct sock_file *file, int fd)
{
    if (atomic_load(&file->link->out_phase) == PHASE_RING)
        sock_tcp_restore(fd, file->link->kept);
    atomic_fetch_or(&file->mapping.words->direction[sock_out(file)].bells, BELLS_ENDED);
    atomic_store(&file->link->out_phase, PHASE_BACK);
    atomic_store(&file->link->strict_out, false);
}

static ssize_t pieces_fetch(struct sock_source *source, char *data, size_t size)
{
    struct sock_pieces *from = source->pieces;
    for (size_t left = size; left;) {
        size_t n = from->piece->iov_len - from->at;
        n = n < left ? n : left;
        memcpy(data, (const char *)from->piece->iov_base + from->at, n);
        data += n;
        left -= n;
        from->at += n;
        if (from->at == from->piece->iov_len)
            from->piece++, from->count--, from->at = 0;
    }
    return (ssize_t)size;
}

/* What was fetched when the other side closed the ring goes by TCP, however long that takes: it cannot be given back.
 * */
static void part_by_tcp(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = sock_real.send(fd, data, size, MSG_NOSIGNAL);
        struct pollfd one = {.fd = fd, .events = POLLOUT};
        if (n > 0)
            data += n, size -= (size_t)n;
        else if (errno == EAGAIN)
            (void)sock_real.poll(&one, 1, -1);
        else if (errno != EINTR)
            return; /* the next call tells the program */
    }
}

/* As much as there is room for: bytes, or what the source said instead of the first. */
static ssize_t to_ring(struct sock_file *file, int fd, struct sock_source *source, size_t size, bool patient)
{
    struct sock_link *link = file->link;
    const struct ring ring = sock_ring_out(file);
    size_t total = 0;
    char *data;
    while (total < size) {
        size_t part = size - total < PART ? size - total : PART;
        part = ring_reserve(&ring, &link->writer, part, patient, &data);
        ssize_t got = part ? source->fetch(source, data, part) : 0;
        if (part == 0 || got <= 0) {
            source->end = part && got == 0;
            return total || part == 0 ? (ssize_t)total : got;
        }
        SOCK_STEP(stored);
        uint64_t head = link->writer.head;
        total += (size_t)got;
        if (unlikely(!ring_publish(&ring, &link->writer, (size_t)got))) {
            end_out(file, fd);
            part_by_tcp(fd, data, (size_t)got);
            break;
        }
        SOCK_STEP(published);
        reader_wake(file, fd, head);
    }
    return (ssize_t)total;
}

/* The rest, where the ring was closed in the middle of a write. */
static ssize_t rest_by_tcp(int fd, struct sock_pieces *from, int flags, ssize_t total)
{
    while (from->count) {
        struct iovec piece = {(char *)from->piece->iov_base + from->at, from->piece->iov_len - from->at};
        ssize_t n = sock_real.send(fd, piece.iov_base, piece.iov_len, flags);
        if (n < 0)
            return total ? total : -1;
        total += n;
        if ((size_t)n < piece.iov_len)
            return total;
        from->piece++, from->count--, from->at = 0;
    }
    return total;
}

/* Moves SIZE bytes from a source; the caller sends what is left when the ring was closed. */
static ssize_t stream_out(struct sock_file *file, int fd, struct sock_source *source, size_t size, int flags)
{
    struct sock_link *link = file->link;
    bool dont_wait = (flags & MSG_DONTWAIT) || atomic_load_explicit(&link->nonblocking, memory_order_relaxed);
    uint64_t deadline = 0;
    bool patient = !dont_wait;
    size_t total = 0;
    for (;;) {
        sock_lock(&link->send);
        if (!switch_out(file, fd) || sock_stream_reader_gone(file)) {
            if (atomic_load(&link->out_phase) == PHASE_RING)
                atomic_store(&link->strict_out, false); /* the other side is gone, or we said that nothing follows */
            sock_unlock(&link->send);
            return total ? (ssize_t)total : SOCK_PLAIN;
        }
        ssize_t n = to_ring(file, fd, source, size - total, patient);
        bool refused = link->writer.refused, back = refused || atomic_load(&link->out_phase) != PHASE_RING;
        sock_unlock(&link->send);
        if (unlikely(refused))
            sock_stream_back_out(file, fd);
        else if (unlikely(back))
            sock_set_refresh(file);
        if (n > 0)
            total += (size_t)n;
        if (likely(total == size) || n < 0 || source->end)
            return total || n >= 0 ? (ssize_t)total : n;
        if (back)
            continue;
        if (dont_wait) {
            sock_set_wants_room(file);
            errno = EAGAIN;
            return total ? (ssize_t)total : -1;
        }
        if (!deadline && link->send_limit)
            deadline = vbase_clock_ns() + link->send_limit;
        /* where nothing is read for a while TCP's buffers would take more */
        int result = sock_wait(file, fd, POLLOUT, patient ? vbase_clock_ns() + SOCK_PATIENCE_NS : deadline);
        if (result != 0 && errno == EAGAIN && patient)
            patient = false;
        else if (result != 0)
            return total ? (ssize_t)total : -1;
    }
}

ssize_t sock_stream_send(struct sock_file *file, int fd, struct sock_pieces *from, int flags)
{
    struct sock_source source = {.fetch = pieces_fetch, .pieces = from};
    size_t size = sock_pieces_left(from);
    if (flags & (MSG_OOB | MSG_FASTOPEN | MSG_ZEROCOPY))
        sock_stream_back_out(file, fd);
    if (size == 0)
        return SOCK_PASS;
    ssize_t total = stream_out(file, fd, &source, size, flags);
    if (likely(total == (ssize_t)size) || total <= 0 || atomic_load(&file->link->out_phase) == PHASE_RING)
        return total;
    return rest_by_tcp(fd, from, flags, total);
}

ssize_t sock_stream_fill(struct sock_file *file, int fd, struct sock_source *source, size_t size, int flags)
{
    return stream_out(file, fd, source, size, flags);
}

short sock_stream_events(struct sock_file *file, short wanted, short *tcp)
{
    struct sock_link *link = file->link;
    short events = 0;
    *tcp = wanted;
    if (wanted & (POLLOUT | POLLWRNORM) && atomic_load(&link->out_phase) == PHASE_RING) {
        *tcp &= (short)~(POLLOUT | POLLWRNORM);
        sock_lock(&link->send);
        const struct ring ring = sock_ring_out(file);
        if (ring_writable(&ring, &link->writer) || ring_closed(&ring) || sock_stream_reader_gone(file))
            events |= wanted & (POLLOUT | POLLWRNORM);
        sock_unlock(&link->send);
    }
    if (wanted & (POLLIN | POLLRDNORM)) {
        const struct ring ring = sock_ring_in(file);
        uint32_t phase = atomic_load(&link->in_phase);
        bool ours = phase == PHASE_RING ||
                    (phase == PHASE_TCP && atomic_load(&ring_words(&ring)->at) == link->consumed); /* switched */
        bool left = phase == PHASE_REST && sock_rest_left(atomic_load(&link->rest));
        if (left || (ours && sock_stream_filled(file)))
            events |= wanted & (POLLIN | POLLRDNORM);
    }
    return events;
}

void sock_stream_back_out(struct sock_file *file, int fd)
{
    const struct ring ring = sock_ring_out(file);
    sock_lock(&file->link->send);
    if (atomic_load(&file->link->out_phase) == PHASE_RING) {
        ring_close(&ring); /* seq_cst: before the look at the place */
        SOCK_STEP(closed_out);
        if (place_wake(file))
            sock_tcp_bell(file, fd);
    }
    end_out(file, fd);
    SOCK_STEP(ended_out);
    sock_unlock(&file->link->send);
    sock_set_refresh(file);
}

/* No bell may arrive behind the close, which the kernel would answer with a reset. One that is counted is about to be
 * sent. */
static void bells_take_last(struct sock_link *link, struct sock_direction *in, int fd)
{
    uint64_t last = atomic_load(&in->at) + (atomic_fetch_or(&in->bells, BELLS_ENDED) & ~BELLS_ENDED);
    struct pollfd one = {.fd = fd, .events = POLLIN};
    for (int i = 0; i < LAST_BELL_MS && link->consumed < last; i++) {
        ssize_t n = sock_tcp_discard(fd, last - link->consumed);
        if (n > 0)
            link->consumed += (uint64_t)n;
        else if (n != -EAGAIN)
            break;
        else
            (void)sock_real.poll(&one, 1, 1);
    }
}

void sock_stream_close(struct sock_file *file, int fd)
{
    struct sock_link *link = file->link;
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    struct sock_direction *out = &file->mapping.words->direction[sock_out(file)];
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    int saved = errno;
    sock_lock(&link->receive);
    bool unread = sock_stream_readable(file, fd) != 0;
    bool rung = atomic_load(&link->in_phase) != PHASE_BACK && atomic_load(&in->at) < SWITCH_REFUSED;
    if (unread)
        (void)sock_real.setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)); /* as TCP does */
    else if (rung)
        bells_take_last(link, in, fd);
    sock_rest_drop(atomic_load(&link->rest));
    sock_unlock(&link->receive);
    atomic_store(&out->ended, 1);
    SOCK_STEP(leaving);
    atomic_store(&out->left, unread ? LEFT_UNREAD : LEFT_CLEAN);
    (void)sock_stream_writer_wake(file); /* where the end was said before, the kernel tells nothing */
    errno = saved;
}

void sock_stream_break(struct sock_file *file, int fd, const char *what)
{
    LOG_WARN("descriptor %d: %s: the connection is reset", fd, what);
    sock_tcp_reset(fd);
    atomic_store(&file->link->in_phase, PHASE_BACK);
    atomic_store(&file->link->out_phase, PHASE_BACK);
    atomic_store(&file->link->strict_in, false);
    atomic_store(&file->link->strict_out, false);
}

bool sock_plain_begin(struct sock_link *link, bool out)
{
    /* seq_cst: counts, then looks whether it may; sock_plain_forbid says that nobody may, then looks at the count */
    atomic_fetch_add(out ? &link->sending : &link->receiving, 1);
    if (!atomic_load(out ? &link->strict_out : &link->strict_in))
        return true;
    sock_plain_end(link, out);
    return false;
}

void sock_plain_end(struct sock_link *link, bool out)
{
    atomic_fetch_sub(out ? &link->sending : &link->receiving, 1);
}

bool sock_plain_forbid(struct sock_link *link, bool out)
{
    atomic_store(out ? &link->strict_out : &link->strict_in, true);
    if (atomic_load(out ? &link->sending : &link->receiving) == 0)
        return true;
    atomic_store(out ? &link->strict_out : &link->strict_in, false);
    return false;
}
