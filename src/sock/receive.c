/* The direction that this side reads: what can be taken now; see direction.h. Everything here runs under
 * link->receive. */
#include "sock/direction.h"
#include "base/clock.h"
#include "sock/place.h"
#include "sock/real.h"
#include "sock/rest.h"
#include "sock/step.h"
#include "sock/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define PIECES       16      /* that are handed to the kernel at once */
#define LOOK_NS      1000000 /* how often a reader that finds nothing looks at the socket for its end */
#define POLLS        3       /* empty reads in a row that a program makes which does not wait in between */
#define POLL_WEIGHT  8       /* so many times more often there were fewer, for it to be believed no longer */
#define POLLER       32
#define POLLER_MOST  64
#define KEEP_NS      200000  /* how long a reader that polls leaves a bell in its socket while it finds nothing */

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
    flags = (flags & (MSG_PEEK | MSG_TRUNC)) | MSG_DONTWAIT;
    long n = sock_real.syscall(SYS_recvmsg, fd, (long)&message, flags, 0, 0, 0); /* no cancellation point */
    if (n > 0 && counted)
        sock_pieces_copy(to, NULL, (size_t)n);
    return n < 0 ? -errno : n;
}

/* All that came by TCP has been taken. */
void sock_in_enter(struct sock_link *link)
{
    SOCK_STEP(ring_entered);
    atomic_store(&link->in_phase, PHASE_RING);
}

/* Before the switch: bytes are looked at, then the offset is read, then they are taken. */
static ssize_t from_tcp_before(struct sock_file *file, struct sock_pieces *to, int flags)
{
    struct sock_link *link = file->link;
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    bool peek = flags & MSG_PEEK;
    uint64_t at = atomic_load(&in->at);
    ssize_t n = 1;
    if (at == SWITCH_NEVER) {
        n = from_tcp(sock_fd(file), to, SIZE_MAX, flags | MSG_PEEK, false);
        at = atomic_load(&in->at);
        if (at == SWITCH_NEVER && n <= 0)
            return n;
    }
    if (at < link->consumed)
        return -EPROTO;
    if (at == link->consumed) {
        sock_in_enter(link);
        return SOCK_NEXT_PHASE;
    }
    uint64_t limit = at == SWITCH_NEVER ? (uint64_t)n : at - link->consumed;
    n = from_tcp(sock_fd(file), to, limit, flags, true);
    if (n > 0 && !peek)
        link->consumed += (uint64_t)n;
    return n;
}

/* The kernel's answer when nothing comes any more. */
static ssize_t end_of(struct sock_file *file, ssize_t answer)
{
    struct sock_link *link = file->link;
    if (answer != 0 && answer != -ECONNRESET && answer != -EPIPE)
        return answer;
    if (answer)
        link->error = (int)-answer;
    switch (sock_end_look(file)) {
    case END_NOT: return answer;
    case END_RESET: return -link->error;
    default: return 0;
    }
}

/* An error that is met beside what the program asked for is told it later. */
static ssize_t error_keep(struct sock_link *link, ssize_t n)
{
    if (n < 0 && n != -EAGAIN && n != -EINTR && n != -EPROTO && n != SOCK_NEXT_PHASE)
        link->error = (int)-n;
    return n;
}

/* Is the socket asked for its end? A set is told of it by the kernel. */
enum look { LOOK_NOT, LOOK_AT_TIMES, LOOK_NOW };

/* Takes away as many bells as there are, if the ring is empty behind that: bytes that come later have bells of their
 * own. What sock_tcp_discard says, or SOCK_NEXT_PHASE. */
static ssize_t bells_take(struct sock_file *file, uint64_t bells)
{
    struct sock_link *link = file->link;
    const struct ring ring = sock_ring_in(file);
    struct sock_direction *in = ring_words(&ring);
    uint64_t waiting = atomic_load_explicit(&in->at, memory_order_relaxed) + bells - link->consumed;
    atomic_store(&in->taken, bells);
    atomic_thread_fence(memory_order_seq_cst); /* says so, then looks; pairs with ring_publish */
    if (ring_filled(&ring, &link->reader))
        return SOCK_NEXT_PHASE;
    SOCK_STEP(bells_taken);
    ssize_t n = sock_tcp_discard(sock_fd(file), waiting);
    if (n > 0)
        link->consumed += (uint64_t)n;
    return n;
}

static bool is_place(uint32_t word) { return word - 1 < SOCK_PLACES; }

void sock_stream_bells_take(struct sock_file *file)
{
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    uint64_t bells = atomic_load(&in->bells) & ~BELLS_ENDED;
    if (atomic_load(&file->link->in_phase) == PHASE_RING && atomic_load(&in->at) + bells > file->link->consumed)
        (void)error_keep(file->link, bells_take(file, bells));
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
static ssize_t ring_was_empty(struct sock_file *file, enum look look, bool kept)
{
    struct sock_link *link = file->link;
    const struct ring ring = sock_ring_in(file);
    struct sock_direction *in = ring_words(&ring);
    uint64_t bells = atomic_load(&in->bells) & ~BELLS_ENDED, now = clock_ticks();
    uint64_t waiting = atomic_load_explicit(&in->at, memory_order_relaxed) + bells - link->consumed;
    ssize_t n = -EAGAIN;
    if (ring_filled(&ring, &link->reader))
        return SOCK_NEXT_PHASE;
    if (ring_closed(&ring)) {
        atomic_fetch_or(&in->bells, BELLS_ENDED);
        atomic_store(&link->rest, 0); /* of a process that was killed before it changed the phase */
        atomic_store(&link->in_phase, PHASE_SKIP);
        return SOCK_NEXT_PHASE;
    }
    if ((int64_t)waiting < 0)
        return -EPROTO;
    bool due = look == LOOK_NOW || !link->looked || atomic_load(&in->ended) ||
               (look == LOOK_AT_TIMES && vbase_clock_ns_of_ticks(now - link->looked) > LOOK_NS);
    if (waiting && (due || !kept)) {
        n = bells_take(file, bells);
        waiting -= n > 0 ? (uint64_t)n : 0;
        if (n == SOCK_NEXT_PHASE || (n > 0 && (waiting || !due)))
            return SOCK_NEXT_PHASE;
    }
    if (!waiting && due) { /* at once, where bells were taken: a write before a later look would send another one */
        link->looked = now;
        n = sock_tcp_look(sock_fd(file));
        if (n > 0) /* a bell that was counted meanwhile; else a byte of somebody who knows nothing of the ring */
            return atomic_load(&in->bells) == bells && !ring_closed(&ring) ? -EPROTO : SOCK_NEXT_PHASE;
    }
    if (n == -EAGAIN)
        return n;
    link->looked = 0; /* the end: what asks next sees it, too */
    n = error_keep(link, end_of(file, n));
    return ring_filled(&ring, &link->reader) ? SOCK_NEXT_PHASE : n;
}

bool sock_stream_writer_wake(struct sock_file *file)
{
    uint32_t room = atomic_exchange(&file->mapping.words->direction[sock_in(file)].room, ROOM_NOT);
    if (room == ROOM_NOT)
        return false;
    uint32_t bit = atomic_load_explicit(&file->mapping.words->bit[!sock_out(file)], memory_order_relaxed);
    return room == ROOM_BELL || !file->peer || sock_peer_wake(file->peer, room - 2, bit, NULL);
}

void sock_in_wake(struct sock_file *file)
{
    if (sock_stream_writer_wake(file) && atomic_load(&file->link->out_phase) == PHASE_RING)
        sock_out_bell(file);
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
static void room_made(struct sock_file *file)
{
    const struct ring ring = sock_ring_in(file);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with sock_room_want, and with ring_publish */
    if (unlikely(atomic_load_explicit(&ring_words(&ring)->room, memory_order_relaxed)) &&
        ring_filled(&ring, &file->link->reader) <= sock_level_size(file->link->reader.level) / 2)
        sock_in_wake(file);
}

static void bytes_take(struct sock_link *link, const struct ring *ring, size_t size)
{
    ring_take(ring, &link->reader, size);
    atomic_store_explicit(&link->taken, link->reader.tail, memory_order_relaxed);
}

/* A look at what lies there; the reader stays where it is. */
static ssize_t peek_ring(struct sock_file *file, struct sock_pieces *to, int flags)
{
    const struct ring ring = sock_ring_in(file);
    struct ring_reader ahead = file->link->reader;
    ssize_t total = 0;
    long size = 0;
    const char *data;
    while (to->count && (size = ring_ahead(&ring, &ahead, &data)) > 0) {
        size_t n = sock_pieces_copy(to, flags & MSG_TRUNC ? NULL : data, (size_t)size);
        ahead.tail += n;
        total += (ssize_t)n;
    }
    return size == RING_BROKEN ? -EPROTO : total;
}

/* A bell that lay unread when this process ends would make the kernel drop what it has sent by TCP and the other end's
 * kernel has not taken. */
static bool all_is_sent(struct sock_file *file)
{
    int queued = 0;
    if (likely(atomic_load_explicit(&file->link->sent_all, memory_order_relaxed)))
        return true;
    atomic_store(&file->link->sent_all, true); /* first: a call that ends now takes it back */
    bool all = !atomic_load(&file->link->sending) && sock_real.ioctl(sock_fd(file), SIOCOUTQ, (long)&queued) == 0 &&
               queued == 0;
    if (!all)
        atomic_store(&file->link->sent_all, false);
    return all;
}

static ssize_t from_ring(struct sock_file *file, struct sock_pieces *to, int flags, bool kept)
{
    struct sock_link *link = file->link;
    const struct ring ring = sock_ring_in(file);
    struct ring_reader state = link->reader;
    ssize_t total = 0;
    long size = 0;
    const char *data;
    if (flags & MSG_PEEK) {
        total = peek_ring(file, to, flags);
        SOCK_STEP(peeked);
        return total ? total : ring_was_empty(file, look_of(link), kept);
    }
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
            return ring_was_empty(file, look_of(link), kept);
        room_made(file);
    } while (to->count && ring_filled(&ring, &link->reader));
    if (!all_is_sent(file))
        sock_stream_bells_take(file);
    /* bells that lay unread would make the kernel drop what this side has sent by TCP, if the process ended now */
    if (unlikely(atomic_load_explicit(&link->out_phase, memory_order_relaxed) == PHASE_BACK) &&
        ring_close_empty(&ring, &link->reader))
        sock_in_leave(file);
    return total;
}

ssize_t sock_in_skip(struct sock_file *file)
{
    struct sock_link *link = file->link;
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    uint64_t last = atomic_load(&in->at) + (atomic_load(&in->bells) & ~BELLS_ENDED);
    if (link->consumed > last)
        return -EPROTO;
    if (link->consumed == last) {
        SOCK_STEP(skipped);
        atomic_store(&link->in_phase, PHASE_REST);
        return SOCK_NEXT_PHASE;
    }
    ssize_t n = sock_tcp_discard(sock_fd(file), last - link->consumed);
    if (n == -EAGAIN)
        return n;
    if (n > 0)
        link->consumed += (uint64_t)n;
    else /* a bell that was counted when the stream had ended does not come: what was left in memory follows */
        atomic_store(&link->in_phase, PHASE_REST);
    (void)error_keep(link, n);
    return SOCK_NEXT_PHASE;
}

/* A bell may be on its way. */
void sock_in_leave(struct sock_file *file)
{
    struct sock_link *link = file->link;
    atomic_fetch_or(&file->mapping.words->direction[sock_in(file)].bells, BELLS_ENDED);
    atomic_store(&link->in_phase, PHASE_SKIP);
    sock_in_wake(file); /* it goes on by TCP */
    sock_stream_place(file, NO_PLACE);
    for (int i = 0; i < ON_ITS_WAY_MS && atomic_load(&link->in_phase) == PHASE_SKIP; i++) {
        ssize_t n = sock_in_skip(file);
        if (n == -EAGAIN)
            (void)sock_tcp_poll(sock_fd(file), POLLIN, 1);
        else if (n != SOCK_NEXT_PHASE)
            break;
    }
}

void sock_in_goes_on(struct sock_link *link)
{
    atomic_store(&link->in_phase, PHASE_BACK);
    atomic_store(&link->strict_in, false);
    sock_link_by_kernel(link);
}

/* What was left unread when a new program began. */
static ssize_t from_rest(struct sock_link *link, struct sock_pieces *to, int flags)
{
    ssize_t n = sock_rest_read(atomic_load(&link->rest), to, flags);
    if (n != 0)
        return n;
    sock_in_goes_on(link);
    return SOCK_NEXT_PHASE;
}

/* Reading stops where urgent data was. */
bool sock_in_at_mark(struct sock_file *file)
{
    int mark = 0;
    if (atomic_load(&file->link->in_phase) != PHASE_BACK)
        return false;
    return sock_real.ioctl(sock_fd(file), SIOCATMARK, (long)&mark) == 0 && mark;
}

static bool phase_may_end(const struct sock_file *file, uint32_t phase)
{
    const struct ring ring = sock_ring_in(file);
    if (phase == PHASE_TCP)
        return atomic_load(&ring_words(&ring)->at) != SWITCH_NEVER;
    return phase == PHASE_REST || (phase == PHASE_RING && ring_closed(&ring));
}

/* What is there now, through all phases: bytes, 0 at the end, -errno. */
static ssize_t receive_there(struct sock_file *file, struct sock_pieces *to, int flags, bool kept)
{
    struct sock_link *link = file->link;
    ssize_t total = 0, n;
    uint32_t phase;
    do {
        phase = atomic_load(&link->in_phase);
        if (phase == PHASE_TCP)
            n = from_tcp_before(file, to, flags);
        else if (phase == PHASE_RING)
            n = from_ring(file, to, flags, kept);
        else if (phase == PHASE_SKIP)
            n = sock_in_skip(file);
        else if (phase == PHASE_REST)
            n = from_rest(link, to, flags);
        else
            n = total && sock_in_at_mark(file) ? -EAGAIN : from_tcp(sock_fd(file), to, SIZE_MAX, flags, true);
        if (n > 0)
            total += n;
        /* more may follow behind a change of phase alone */
    } while (n == SOCK_NEXT_PHASE || (n > 0 && to->count && !(flags & MSG_PEEK) && phase_may_end(file, phase)));
    if (total == 0)
        return end_of(file, n);
    (void)error_keep(link, n);
    return total;
}

void sock_stream_be_ready(struct sock_file *file)
{
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    if (atomic_load(&file->link->strict_in) || atomic_load(&file->link->in_phase) != PHASE_TCP ||
        !sock_plain_forbid(file->link, false))
        return;
    uint64_t consumed;
    bool known = sock_tcp_consumed(sock_fd(file), &consumed);
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
    if (!all_is_sent(file))
        return false;
    if (atomic_load_explicit(&link->set, memory_order_relaxed))
        return is_place(atomic_load(&file->mapping.words->direction[sock_in(file)].place));
    return !dont_wait || link->waited ||
           (link->polls >= POLLER && (link->empty_reads == 0 ||
                                      vbase_clock_ns_of_ticks(clock_ticks() - link->empty_since) < KEEP_NS));
}

ssize_t sock_in_take(struct sock_file *file, struct sock_pieces *to, int flags, bool dont_wait,
                     ssize_t total, bool waited)
{
    struct sock_link *link = file->link;
    if (!dont_wait)
        sock_lock(&link->receive);
    else if (!sock_lock_soon(&link->receive))
        return SOCK_IN_LOCKED;
    sock_stream_be_ready(file);
    uint32_t phase = atomic_load(&link->in_phase);
    bool plain = phase == PHASE_BACK || (phase == PHASE_TCP && !atomic_load(&link->strict_in));
    if (plain && total == 0 && !waited && !link->error && sock_end_look(file) == END_NOT && !link->error) {
        sock_unlock(&link->receive);
        return SOCK_IN_PLAIN;
    }
    bool kept = bells_may_stay(file, dont_wait);
    ssize_t n = receive_there(file, to, flags, kept);
    if (n == -EAGAIN && atomic_load(&link->shut_in))
        n = 0;
    if (n == 0 && link->error && !atomic_load(&link->shut_in))
        n = end_of(file, -link->error);
    if (total || n > 0)
        error_keep(link, n);
    else if (n < 0 && n != -EAGAIN)
        link->error = 0; /* it is told now */
    if (n > 0)
        full_read(link);
    else if (n == -EAGAIN && dont_wait)
        empty_read(link);
    sock_unlock(&link->receive);
    return n;
}

ssize_t sock_in_available(struct sock_file *file, bool look)
{
    struct sock_link *link = file->link;
    ssize_t n;
    do {
        uint32_t phase = atomic_load(&link->in_phase);
        const struct ring ring = sock_ring_in(file);
        if (phase == PHASE_RING) {
            n = ring_filled(&ring, &link->reader)
                    ? 1
                    : ring_was_empty(file, look ? LOOK_NOW : LOOK_NOT, bells_may_stay(file, false));
        } else if (phase == PHASE_SKIP) {
            n = sock_in_skip(file);
        } else if (phase == PHASE_REST) {
            n = sock_rest_left(atomic_load(&link->rest)) ? 1 : from_rest(link, &(struct sock_pieces){.count = 0}, 0);
        } else if (phase == PHASE_TCP && atomic_load(&link->strict_in) &&
                   atomic_load(&ring_words(&ring)->at) == link->consumed) {
            sock_in_enter(link);
            n = SOCK_NEXT_PHASE;
        } else {
            n = error_keep(link, sock_tcp_look(sock_fd(file)));
        }
    } while (n == SOCK_NEXT_PHASE);
    return n > 0 ? 1 : end_of(file, n);
}
