/* The direction that this side reads; see stream.h. Everything here runs under link->receive, but for the wait. */
#include "base/clock.h"
#include "sock/hooks.h"
#include "sock/place.h"
#include "sock/rest.h"
#include "sock/step.h"
#include "sock/stream.h"
#include "sock/tcp.h"
#include "sock/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>

#define PIECE        16384   /* that is copied at once where bytes are left */
#define ON_ITS_WAY_MS 1000   /* what the other side's kernel has taken */
#define PIECES       16      /* that are handed to the kernel at once */
#define LOOK_NS      1000000 /* how often a reader that finds nothing looks at the socket for its end */
#define POLLS        3       /* empty reads in a row that a program makes which does not wait in between */
#define POLL_WEIGHT  8       /* so many times more often there were fewer, for it to be believed no longer */
#define POLLER       32
#define POLLER_MOST  64
#define KEEP_NS      200000  /* how long a reader that polls leaves a bell in its socket while it finds nothing */
#define NEXT_PHASE   LONG_MIN

size_t sock_pieces_copy(struct sock_pieces *to, const char *data, size_t size)
{
    size_t done = 0;
    while (done < size && to->count) {
        size_t n = to->piece->iov_len - to->at;
        n = n < size - done ? n : size - done;
        if (data)
            memcpy((char *)to->piece->iov_base + to->at, data + done, n);
        done += n;
        to->at += n;
        if (to->at == to->piece->iov_len)
            to->piece++, to->count--, to->at = 0;
    }
    return done;
}

/* Up to LIMIT bytes from the socket into the pieces, which go on only where COUNTED. */
static ssize_t from_tcp(int fd, struct sock_pieces *to, uint64_t limit, int flags, bool counted)
{
    struct iovec part[PIECES];
    struct msghdr message = {.msg_iov = part};
    uint64_t room = 0;
    for (size_t i = 0; i < to->count && i < PIECES && room < limit; i++) {
        size_t skip = i == 0 ? to->at : 0, n = to->piece[i].iov_len - skip;
        n = n < limit - room ? n : limit - room;
        part[i] = (struct iovec){(char *)to->piece[i].iov_base + skip, n};
        room += n;
        message.msg_iovlen++;
    }
    ssize_t n = sock_real.recvmsg(fd, &message, (flags & (MSG_PEEK | MSG_TRUNC)) | MSG_DONTWAIT);
    if (n > 0 && counted)
        sock_pieces_copy(to, NULL, (size_t)n);
    return n < 0 ? -errno : n;
}

/* All that came by TCP has been taken. */
static void ring_enter(struct sock_link *link)
{
    SOCK_STEP(ring_entered);
    atomic_store(&link->in_phase, PHASE_RING);
}

/* Before the switch: bytes are looked at, then the offset is read, then they are taken. */
static ssize_t from_tcp_before(struct sock_file *file, int fd, struct sock_pieces *to, int flags)
{
    struct sock_link *link = file->link;
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    bool peek = flags & MSG_PEEK;
    uint64_t at = atomic_load(&in->at);
    ssize_t n = 1;
    if (at == SWITCH_NEVER) {
        n = from_tcp(fd, to, SIZE_MAX, flags | MSG_PEEK, false);
        at = atomic_load(&in->at);
        if (at == SWITCH_NEVER && n <= 0)
            return n;
    }
    if (at < link->consumed)
        return -EPROTO;
    if (at == link->consumed) {
        ring_enter(link);
        return NEXT_PHASE;
    }
    uint64_t limit = at == SWITCH_NEVER ? (uint64_t)n : at - link->consumed;
    n = from_tcp(fd, to, limit, flags, true);
    if (n > 0 && !peek)
        link->consumed += (uint64_t)n;
    return n;
}

/* The kernel's answer when nothing comes any more. A reset by a side that had taken all of ours is an orderly end: it
 * left bells unread, which the kernel cannot tell from bytes. */
static ssize_t end_of(struct sock_file *file, ssize_t answer)
{
    struct sock_direction *out = &file->mapping.words->direction[sock_out(file)];
    if (answer != -ECONNRESET)
        return answer;
    uint32_t left = atomic_load(&file->mapping.words->direction[sock_in(file)].left);
    if (left)
        return left == LEFT_CLEAN ? 0 : answer;
    bool taken = atomic_load(&out->tail) == (atomic_load(&out->head) & ~RING_CLOSED);
    return atomic_load(&file->link->out_phase) == PHASE_RING && taken ? 0 : answer;
}

/* An error that is met beside what the program asked for is told it later. */
static ssize_t error_keep(struct sock_link *link, ssize_t n)
{
    if (n < 0 && n != -EAGAIN && n != -EINTR && n != -EPROTO && n != NEXT_PHASE)
        link->error = (int)-n;
    return n;
}

/* Is the socket asked for its end? A set is told of it by the kernel. */
enum look { LOOK_NOT, LOOK_AT_TIMES, LOOK_NOW };

/* Takes away as many bells as there are, if the ring is empty behind that: bytes that come later have bells of their
 * own. What sock_tcp_discard says, or NEXT_PHASE. */
static ssize_t bells_take(struct sock_file *file, int fd, uint64_t bells)
{
    struct sock_link *link = file->link;
    const struct ring ring = sock_ring_in(file);
    struct sock_direction *in = ring_words(&ring);
    uint64_t waiting = atomic_load_explicit(&in->at, memory_order_relaxed) + bells - link->consumed;
    atomic_store(&in->taken, bells);
    atomic_thread_fence(memory_order_seq_cst); /* says so, then looks; pairs with ring_publish */
    if (ring_filled(&ring, &link->reader))
        return NEXT_PHASE;
    SOCK_STEP(bells_taken);
    ssize_t n = sock_tcp_discard(fd, waiting);
    if (n > 0)
        link->consumed += (uint64_t)n;
    return n;
}

static bool is_place(uint32_t word) { return word - 1 < SOCK_PLACES; }

void sock_stream_bells_take(struct sock_file *file, int fd)
{
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    uint64_t bells = atomic_load(&in->bells) & ~BELLS_ENDED;
    if (atomic_load(&file->link->in_phase) == PHASE_RING && atomic_load(&in->at) + bells > file->link->consumed)
        (void)bells_take(file, fd, bells);
}

/* Edge-triggered members of a set are told of every write. */
void sock_stream_place(struct sock_file *file, uint32_t place)
{
    struct sock_link *link = file->link;
    if (place == NO_PLACE && atomic_load(&link->set) && atomic_load(&link->set_events) & EPOLLET)
        place = EACH_WRITE;
    uint32_t before = atomic_exchange(&file->mapping.words->direction[sock_in(file)].place, place);
    if (before != place && is_place(before))
        sock_place_wake((int)before - 1);
}

/* The ring was seen empty: takes bells away, unless they may be KEPT, and looks whether the stream has ended. The
 * number of bells is read before the ring is looked at again: a later one belongs to later bytes. */
static ssize_t ring_was_empty(struct sock_file *file, int fd, enum look look, bool kept)
{
    struct sock_link *link = file->link;
    const struct ring ring = sock_ring_in(file);
    struct sock_direction *in = ring_words(&ring);
    uint64_t bells = atomic_load(&in->bells) & ~BELLS_ENDED, now = clock_ticks();
    uint64_t waiting = atomic_load_explicit(&in->at, memory_order_relaxed) + bells - link->consumed;
    ssize_t n = -EAGAIN;
    if (ring_filled(&ring, &link->reader))
        return NEXT_PHASE;
    if (ring_closed(&ring)) {
        atomic_fetch_or(&in->bells, BELLS_ENDED);
        atomic_store(&link->rest, 0); /* of a process that was killed before it changed the phase */
        atomic_store(&link->in_phase, PHASE_SKIP);
        return NEXT_PHASE;
    }
    if ((int64_t)waiting < 0)
        return -EPROTO;
    bool due = look == LOOK_NOW || !link->looked || atomic_load(&in->ended) ||
               (look == LOOK_AT_TIMES && vbase_clock_ns_of_ticks(now - link->looked) > LOOK_NS);
    if (waiting && (due || !kept)) {
        n = bells_take(file, fd, bells);
        if (n > 0 || n == NEXT_PHASE)
            return NEXT_PHASE; /* the end may lie right behind */
    } else if (!waiting && due) {
        link->looked = now;
        n = sock_tcp_look(fd);
        if (n > 0) /* a bell that was counted meanwhile; else a byte of somebody who knows nothing of the ring */
            return atomic_load(&in->bells) == bells && !ring_closed(&ring) ? -EPROTO : NEXT_PHASE;
    }
    if (n == -EAGAIN)
        return n;
    link->looked = 0; /* the end: what asks next sees it, too */
    n = error_keep(link, end_of(file, n));
    return ring_filled(&ring, &link->reader) ? NEXT_PHASE : n;
}

bool sock_stream_writer_wake(struct sock_file *file)
{
    uint32_t room = atomic_exchange(&file->mapping.words->direction[sock_in(file)].room, ROOM_NOT);
    if (room == ROOM_NOT)
        return false;
    uint32_t bit = atomic_load_explicit(&file->mapping.words->bit[!sock_out(file)], memory_order_relaxed);
    return room == ROOM_BELL || !file->peer || sock_peer_wake(file->peer, room - 2, bit);
}

static void writer_wake(struct sock_file *file, int fd)
{
    if (sock_stream_writer_wake(file) && atomic_load(&file->link->out_phase) == PHASE_RING)
        sock_tcp_bell(file, fd);
}

static enum look look_of(struct sock_link *link)
{
    if (!atomic_load(&link->set))
        return LOOK_AT_TIMES;
    return atomic_load(&link->set_reported) & (EPOLLRDHUP | EPOLLHUP | EPOLLERR) ? LOOK_NOW : LOOK_NOT;
}

/* The writer may be waiting for the room that was made. The fence stands between the tail and what is looked at next:
 * here whether the writer waits, in the caller whether there are more bytes, for which the writer has sent no bell if
 * it saw the tail of before. */
static void room_made(struct sock_file *file, int fd)
{
    const struct ring ring = sock_ring_in(file);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with sock_room_want, and with ring_publish */
    if (unlikely(atomic_load_explicit(&ring_words(&ring)->room, memory_order_relaxed)) &&
        ring_filled(&ring, &file->link->reader) <= sock_level_size(file->link->reader.level) / 2)
        writer_wake(file, fd);
}

static void bytes_take(struct sock_link *link, const struct ring *ring, size_t size)
{
    ring_take(ring, &link->reader, size);
    atomic_store_explicit(&link->taken, link->reader.tail, memory_order_relaxed);
}

/* A look at what lies there; the reader stays where it is. */
static ssize_t peek_ring(struct sock_file *file, struct sock_pieces *to)
{
    const struct ring ring = sock_ring_in(file);
    struct ring_reader ahead = file->link->reader;
    ssize_t total = 0;
    long size = 0;
    const char *data;
    while (to->count && (size = ring_ahead(&ring, &ahead, &data)) > 0) {
        size_t n = sock_pieces_copy(to, data, (size_t)size);
        ahead.tail += n;
        total += (ssize_t)n;
    }
    return size == RING_BROKEN ? -EPROTO : total;
}

static ssize_t from_ring(struct sock_file *file, int fd, struct sock_pieces *to, int flags, bool kept)
{
    struct sock_link *link = file->link;
    const struct ring ring = sock_ring_in(file);
    struct ring_reader state = link->reader;
    ssize_t total = 0;
    long size = 0;
    const char *data;
    if (flags & MSG_PEEK && (total = peek_ring(file, to)) != 0)
        return total;
    do {
        while (to->count && (size = ring_next(&ring, &state, &data)) > 0) {
            size_t n = sock_pieces_copy(to, flags & MSG_TRUNC ? NULL : data, (size_t)size);
            total += (ssize_t)n;
            link->reader = state;
            bytes_take(link, &ring, n);
            SOCK_STEP(bytes_taken);
            state = link->reader;
        }
        link->reader.turns = state.turns;
        link->reader.level = state.level;
        if (size == RING_BROKEN)
            return -EPROTO;
        if (total == 0)
            return ring_was_empty(file, fd, look_of(link), kept);
        room_made(file, fd);
    } while (to->count && ring_filled(&ring, &link->reader));
    return total;
}

static ssize_t skip_bells(struct sock_file *file, int fd)
{
    struct sock_link *link = file->link;
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    uint64_t last = atomic_load(&in->at) + (atomic_load(&in->bells) & ~BELLS_ENDED);
    if (link->consumed > last)
        return -EPROTO;
    if (link->consumed == last) {
        SOCK_STEP(skipped);
        atomic_store(&link->in_phase, PHASE_REST);
        return NEXT_PHASE;
    }
    ssize_t n = sock_tcp_discard(fd, last - link->consumed);
    if (n <= 0)
        return error_keep(link, n);
    link->consumed += (uint64_t)n;
    return NEXT_PHASE;
}

static void tcp_goes_on(struct sock_link *link)
{
    atomic_store(&link->in_phase, PHASE_BACK);
    atomic_store(&link->strict_in, false);
}

/* What was left unread when a new program began. */
static ssize_t from_rest(struct sock_link *link, struct sock_pieces *to, int flags)
{
    ssize_t n = sock_rest_read(atomic_load(&link->rest), to, flags);
    if (n != 0)
        return n;
    tcp_goes_on(link);
    return NEXT_PHASE;
}

/* Reading stops where urgent data was. */
static bool at_mark(struct sock_file *file, int fd)
{
    int mark = 0;
    if (atomic_load(&file->link->in_phase) != PHASE_BACK)
        return false;
    return sock_real.ioctl(fd, SIOCATMARK, (long)&mark) == 0 && mark;
}

static bool phase_may_end(const struct sock_file *file, uint32_t phase)
{
    const struct ring ring = sock_ring_in(file);
    if (phase == PHASE_TCP)
        return atomic_load(&ring_words(&ring)->at) != SWITCH_NEVER;
    return phase == PHASE_REST || (phase == PHASE_RING && ring_closed(&ring));
}

/* What is there now, through all phases: bytes, 0 at the end, -errno. */
static ssize_t receive_there(struct sock_file *file, int fd, struct sock_pieces *to, int flags, bool kept)
{
    struct sock_link *link = file->link;
    ssize_t total = 0, n;
    uint32_t phase;
    do {
        phase = atomic_load(&link->in_phase);
        if (phase == PHASE_TCP)
            n = from_tcp_before(file, fd, to, flags);
        else if (phase == PHASE_RING)
            n = from_ring(file, fd, to, flags, kept);
        else if (phase == PHASE_SKIP)
            n = skip_bells(file, fd);
        else if (phase == PHASE_REST)
            n = from_rest(link, to, flags);
        else
            n = total && at_mark(file, fd) ? -EAGAIN : from_tcp(fd, to, SIZE_MAX, flags, true);
        if (n > 0)
            total += n;
        /* more may follow behind a change of phase alone */
    } while (n == NEXT_PHASE || (n > 0 && to->count && !(flags & MSG_PEEK) && phase_may_end(file, phase)));
    if (total == 0)
        return n;
    (void)error_keep(link, n);
    return total;
}

void sock_stream_be_ready(struct sock_file *file, int fd)
{
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    if (atomic_load(&file->link->strict_in) || atomic_load(&file->link->in_phase) != PHASE_TCP ||
        !sock_plain_forbid(file->link, false))
        return;
    uint64_t consumed;
    bool known = sock_tcp_consumed(fd, &consumed);
    if (known) {
        atomic_store(&file->link->consumed, consumed);
        atomic_store(&in->ready, 1);
    } else {
        atomic_store(&file->link->strict_in, false);
    }
    SOCK_STEP(ready);
}

/* A read that finds nothing and does not wait. A program that does so again and again polls. */
static void empty_read(struct sock_link *link)
{
    if (link->waited)
        link->waited--;
    if (++link->empty_reads == 1)
        link->empty_since = clock_ticks();
    if (link->empty_reads == POLLS && link->polls < POLLER_MOST)
        link->polls += POLL_WEIGHT;
}

static void full_read(struct sock_link *link)
{
    if (link->empty_reads < POLLS && link->polls)
        link->polls--;
    link->empty_reads = 0;
}

/* A bell that stays in the socket spares the writer all others, and makes waits end early that we do not see. So it
 * may stay while the program waits in our functions or polls. A set without a place is told by the kernel, as long as
 * there is one. */
static bool bells_may_stay(struct sock_file *file, bool dont_wait)
{
    struct sock_link *link = file->link;
    if (atomic_load_explicit(&link->set, memory_order_relaxed))
        return is_place(atomic_load(&file->mapping.words->direction[sock_in(file)].place));
    return !dont_wait || link->waited ||
           (link->polls >= POLLER && (link->empty_reads == 0 ||
                                      vbase_clock_ns_of_ticks(clock_ticks() - link->empty_since) < KEEP_NS));
}

ssize_t sock_stream_receive(struct sock_file *file, int fd, struct sock_pieces *to, int flags)
{
    struct sock_link *link = file->link;
    bool dont_wait = (flags & MSG_DONTWAIT) || atomic_load_explicit(&link->nonblocking, memory_order_relaxed);
    uint64_t deadline = link->receive_limit ? vbase_clock_ns() + link->receive_limit : 0;
    ssize_t total = 0;
    if (flags & (MSG_OOB | MSG_ERRQUEUE))
        return SOCK_PASS;
    if (sock_pieces_left(to) == 0) { /* it waits for bytes, and takes none */
        char byte;
        struct sock_pieces look = {&(struct iovec){&byte, 1}, 1, 0};
        ssize_t n = sock_stream_receive(file, fd, &look, (flags & ~MSG_WAITALL) | MSG_PEEK);
        return n > 0 ? 0 : n;
    }
    for (;;) {
        sock_lock(&link->receive);
        sock_stream_be_ready(file, fd);
        uint32_t phase = atomic_load(&link->in_phase);
        bool plain = phase == PHASE_BACK || (phase == PHASE_TCP && !atomic_load(&link->strict_in));
        if (plain && total == 0 && !link->error) {
            sock_unlock(&link->receive);
            return SOCK_PLAIN;
        }
        bool kept = bells_may_stay(file, dont_wait);
        ssize_t n = atomic_load(&link->shut_in) ? 0 : receive_there(file, fd, to, flags, kept);
        if (n == 0 && link->error && !atomic_load(&link->shut_in))
            n = -link->error;
        if (total || n > 0)
            error_keep(link, n);
        else if (n != -EAGAIN)
            link->error = 0; /* it is told now */
        if (n > 0)
            full_read(link);
        else if (n == -EAGAIN && dont_wait)
            empty_read(link);
        sock_unlock(&link->receive);
        if (n > 0)
            total += n;
        if (n == -EPROTO)
            sock_stream_break(file, fd, "the other side wrote what makes no sense");
        bool enough = n > 0 && (!(flags & MSG_WAITALL) || (flags & MSG_PEEK) || to->count == 0 || at_mark(file, fd));
        if (enough || n == 0 || (total && n < 0 && (dont_wait || n != -EAGAIN)))
            return total;
        if (n < 0 && (n != -EAGAIN || dont_wait)) {
            errno = n == -EPROTO ? ECONNRESET : (int)-n;
            return -1;
        }
        if (n < 0 && sock_wait(file, fd, POLLIN, deadline) != 0)
            return total ? total : -1;
    }
}

/* 1: there are bytes, 0: the stream has ended, -errno. LOOK: the socket is asked, too. */
static ssize_t available(struct sock_file *file, int fd, bool look)
{
    struct sock_link *link = file->link;
    ssize_t n;
    do {
        uint32_t phase = atomic_load(&link->in_phase);
        const struct ring ring = sock_ring_in(file);
        if (phase == PHASE_RING) {
            n = ring_filled(&ring, &link->reader)
                    ? 1
                    : ring_was_empty(file, fd, look ? LOOK_NOW : LOOK_NOT, bells_may_stay(file, false));
        } else if (phase == PHASE_SKIP) {
            n = skip_bells(file, fd);
        } else if (phase == PHASE_REST) {
            n = sock_rest_left(atomic_load(&link->rest)) ? 1 : from_rest(link, &(struct sock_pieces){.count = 0}, 0);
        } else if (phase == PHASE_TCP && atomic_load(&link->strict_in) &&
                   atomic_load(&ring_words(&ring)->at) == link->consumed) {
            ring_enter(link);
            n = NEXT_PHASE;
        } else {
            n = error_keep(link, sock_tcp_look(fd));
        }
    } while (n == NEXT_PHASE);
    return n > 0 ? 1 : n;
}

short sock_stream_level(struct sock_file *file, int fd, short wanted, short kernel)
{
    struct sock_link *link = file->link;
    short in = POLLIN | POLLRDNORM, out = POLLOUT | POLLWRNORM, level = 0;
    ssize_t n = 1;
    if (atomic_load(&link->in_phase) != PHASE_RING || !sock_stream_filled(file)) {
        sock_lock(&link->receive);
        n = available(file, fd, kernel & (POLLRDHUP | POLLHUP | POLLERR));
        sock_unlock(&link->receive);
    }
    if (n != -EAGAIN)
        level |= in;
    if (n != 1) /* a reset is told behind the last byte; that both sides have said the end at once */
        level |= kernel & (POLLERR | POLLHUP);
    else if (!(kernel & POLLERR))
        level |= kernel & POLLHUP;
    sock_stream_end_seen(file, kernel);
    level |= kernel & (POLLRDHUP | POLLPRI);
    if (wanted & out) {
        short tcp;
        short room = sock_stream_events(file, wanted & out, &tcp);
        struct pollfd one = {.fd = fd, .events = tcp & out};
        level |= room;
        if (one.events && sock_real.poll(&one, 1, 0) > 0)
            level |= one.revents & out;
    }
    return level & (wanted | POLLERR | POLLHUP);
}

short sock_stream_from_kernel(struct sock_file *file, int fd, short wanted, short reported)
{
    short out = POLLOUT | POLLWRNORM, tcp = 0;
    (void)sock_stream_events(file, wanted & out, &tcp);
    return sock_stream_level(file, fd, wanted & (short)~(tcp & out), reported) | (reported & tcp & out);
}

uint64_t sock_stream_readable(struct sock_file *file, int fd)
{
    const struct ring ring = sock_ring_in(file);
    const struct sock_link *link = file->link;
    uint32_t phase = atomic_load(&link->in_phase);
    uint64_t at = atomic_load(&ring_words(&ring)->at), consumed = link->consumed;
    uint64_t bells = atomic_load(&ring_words(&ring)->bells) & ~BELLS_ENDED;
    int in_kernel = 0;
    if (phase == PHASE_RING && !ring_closed(&ring))
        return ring_filled(&ring, &link->reader);
    (void)sock_real.ioctl(fd, SIOCINQ, (long)&in_kernel);
    uint64_t before = at > consumed ? at - consumed : 0, there = (uint64_t)in_kernel;
    if (phase >= PHASE_REST)
        return sock_rest_left(atomic_load(&link->rest)) + there;
    if (at == SWITCH_NEVER || there < before)
        return there;
    uint64_t behind = at + bells - consumed; /* in the kernel */
    return before + ring_filled(&ring, &link->reader) + (there > behind ? there - behind : 0);
}

/* The ring is closed, and behind the bells TCP goes on. A bell may be on its way. */
static void ring_leave(struct sock_file *file, int fd)
{
    struct sock_link *link = file->link;
    atomic_fetch_or(&file->mapping.words->direction[sock_in(file)].bells, BELLS_ENDED);
    atomic_store(&link->in_phase, PHASE_SKIP);
    writer_wake(file, fd); /* it goes on by TCP */
    sock_stream_place(file, NO_PLACE);
    for (int i = 0; i < ON_ITS_WAY_MS && atomic_load(&link->in_phase) == PHASE_SKIP; i++) {
        ssize_t n = skip_bells(file, fd);
        struct pollfd one = {.fd = fd, .events = POLLIN};
        if (n == -EAGAIN)
            sock_real.poll(&one, 1, 1);
        else if (n != NEXT_PHASE)
            break;
    }
}

bool sock_stream_back_in(struct sock_file *file, int fd)
{
    struct sock_link *link = file->link;
    const struct ring ring = sock_ring_in(file);
    uint64_t never = SWITCH_NEVER;
    sock_lock(&link->receive);
    if (atomic_load(&link->in_phase) == PHASE_TCP) {
        if (atomic_compare_exchange_strong(&ring_words(&ring)->at, &never, SWITCH_REFUSED))
            atomic_store(&link->in_phase, PHASE_REST);
        else if (link->consumed == never)
            ring_enter(link);
    }
    if (atomic_load(&link->in_phase) == PHASE_RING && ring_close_empty(&ring, &link->reader)) {
        SOCK_STEP(closed_in);
        ring_leave(file, fd);
    }
    if (atomic_load(&link->in_phase) == PHASE_REST && !sock_rest_left(atomic_load(&link->rest)))
        tcp_goes_on(link);
    bool done = atomic_load(&link->in_phase) >= PHASE_SKIP && !sock_rest_left(atomic_load(&link->rest));
    sock_unlock(&link->receive);
    return done;
}

/* What TCP brought before the ring; it may be on its way. Looked at first, and taken when it has been copied. */
static bool tcp_to_rest(struct sock_file *file, int fd, uint64_t rest)
{
    struct sock_link *link = file->link;
    uint64_t at = atomic_load(&file->mapping.words->direction[sock_in(file)].at);
    char data[PIECE];
    if (atomic_load(&link->in_phase) == PHASE_RING)
        return true;
    for (int i = 0; i < ON_ITS_WAY_MS && link->consumed < at;) {
        uint64_t left = at - link->consumed;
        ssize_t n = sock_real.recv(fd, data, left < PIECE ? (size_t)left : PIECE, MSG_DONTWAIT);
        struct pollfd one = {.fd = fd, .events = POLLIN};
        if (n < 0 && errno == EAGAIN)
            sock_real.poll(&one, 1, (i++, 1));
        else if (n <= 0 || !sock_rest_add(rest, data, (size_t)n))
            return false;
        else
            link->consumed += (uint64_t)n;
    }
    return link->consumed == at;
}

static bool ring_to_rest(const struct ring *ring, struct ring_reader ahead, uint64_t rest)
{
    const char *data;
    long size;
    while ((size = ring_ahead(ring, &ahead, &data)) > 0) {
        if (!sock_rest_add(rest, data, (size_t)size))
            return false;
        ahead.tail += (uint64_t)size;
    }
    return size == 0;
}

/* What lies in the ring stays there until the phase changes, for others that hold the connection. The room is there
 * before anything is taken from the socket, so what fails then is a connection that has ended. */
bool sock_stream_leave_rest(struct sock_file *file, int fd)
{
    struct sock_link *link = file->link;
    const struct ring ring = sock_ring_in(file);
    sock_lock(&link->receive);
    uint32_t phase = atomic_load(&link->in_phase);
    if (phase <= PHASE_RING) {
        ring_close(&ring);
        uint64_t at = atomic_load(&ring_words(&ring)->at);
        uint64_t before = phase == PHASE_TCP ? at - link->consumed : 0;
        uint64_t size = before + ring_filled(&ring, &link->reader), rest = sock_rest_begin(size);
        if ((rest || size == 0) && tcp_to_rest(file, fd, rest) && ring_to_rest(&ring, link->reader, rest)) {
            atomic_store(&link->rest, rest);
            ring_leave(file, fd);
        } else {
            sock_rest_drop(rest);
        }
    }
    bool done = atomic_load(&link->in_phase) >= PHASE_SKIP;
    sock_unlock(&link->receive);
    return done;
}
