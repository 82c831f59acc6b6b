/* The direction that this side writes: what can be stored now; see stream.h. Everything here runs under link->send. */
#include "sock/direction.h"
#include "base/clock.h"
#include "base/copy.h"
#include "sock/place.h"
#include "sock/real.h"
#include "sock/step.h"
#include "sock/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>

#define PART             32768 /* of a large write, published alone: the reader copies it meanwhile */
#define LARGE            16384 /* bytes of a piece that may go past the caches */
#define FAR_PS           6000  /* a line that takes longer to store is in a cache that is far */
#define TIMED_EVERY      64    /* one large piece in so many is stored ordinarily and timed; it decides for the rest */
#define BELL_PATIENCE_MS 1000
#define LOOK_EVERY       4       /* writes that find a bell there */
#define LOOK_NS          1000000 /* that the reader takes nothing, until the kernel is asked about it */

/* True: the ring is in use now. */
bool sock_out_switch(struct sock_file *file)
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
    bool known = sock_tcp_sent(sock_fd(file), link->active, &bytes);
    bool switched = known && atomic_compare_exchange_strong(&out->at, &never, bytes);
    SOCK_STEP(switched);
    if (switched) {
        sock_tcp_hasten(sock_fd(file), link->kept);
        atomic_store(&link->out_phase, PHASE_RING);
    } else if (known) {
        atomic_store(&link->out_phase, PHASE_BACK);
    }
    if (!switched)
        atomic_store(&link->strict_out, false);
    return switched;
}

/* The kernel tells an error once, and has told it to a bell. Whatever else changes link->error has the other lock: so
 * one that is there stays, and an end that was found to be a quiet one meanwhile, which has no error, takes this one
 * away. seq_cst: here the error, then the end; sock_end_look stores the end, then the error. */
static void bell_error_keep(struct sock_link *link)
{
    int none = 0, error = ECONNRESET;
    if (atomic_compare_exchange_strong(&link->error, &none, error) && atomic_load(&link->end) == END_QUIET)
        atomic_compare_exchange_strong(&link->error, &error, 0);
}

/* A bell that was counted and cannot be sent must not stay counted: the other side would wait for it. False: that. */
static bool bell_send(struct sock_file *file)
{
    struct sock_direction *out = ring_words(&(struct ring){file->mapping, sock_out(file)});
    uint64_t seen = atomic_load(&out->bells);
    do {
        if (seen & BELLS_ENDED)
            return true;
    } while (!atomic_compare_exchange_weak(&out->bells, &seen, seen + 1));
    SOCK_STEP(bell_counted);
    int fd = sock_fd(file);
    while (sock_tcp_send(fd, "", 1) != 1) {
        if (errno == EPIPE || errno == ECONNRESET) {
            atomic_store(&file->link->shut_out, true); /* nothing reads any more: the kernel tells the program */
            if (errno == ECONNRESET)
                bell_error_keep(file->link);
            break;
        }
        seen = atomic_load(&out->bells);
        while (!(seen & BELLS_ENDED))
            if (atomic_compare_exchange_weak(&out->bells, &seen, seen - 1))
                return false;
        if (!sock_tcp_poll(fd, POLLOUT, BELL_PATIENCE_MS)) /* the count was ended with this bell in it */
            break;
    }
    atomic_fetch_add_explicit(&file->link->rung, 1, memory_order_relaxed);
    return true;
}

/* The reader has not said of all that it takes them away. It may have said so of one that was counted and then could
 * not be sent. */
static bool bell_lies_there(const struct sock_direction *out)
{
    return (atomic_load(&out->bells) & ~BELLS_ENDED) > atomic_load(&out->taken);
}

/* What is in the reader's way is bells that it has not taken, or bytes from before the switch: it has something to wake
 * up for, and finds the ring behind them. Else the kernel is short of memory, or the reader is about to take bells
 * away. */
static bool reader_has_news(struct sock_file *file)
{
    const struct sock_direction *out = &file->mapping.words->direction[sock_out(file)];
    int queued = 0;
    if (atomic_load(&out->bells) & ~BELLS_ENDED)
        return bell_lies_there(out);
    return sock_real.ioctl(sock_fd(file), SIOCOUTQ, (long)&queued) == 0 && queued > 0;
}

void sock_out_bell(struct sock_file *file)
{
    int saved = errno;
    bool sent = bell_send(file);
    for (int i = 0; !sent && i < BELL_PATIENCE_MS && !reader_has_news(file); i++) {
        (void)sock_tcp_poll(-1, 0, 1);
        sent = bell_send(file);
    }
    atomic_store_explicit(&file->link->bell_due, !sent, memory_order_relaxed); /* a later write looks again */
    errno = saved;
}

/* Wakes the reader where it waits; true: it is to be told by TCP. */
bool sock_out_wake(struct sock_file *file)
{
    struct sock_direction *out = &file->mapping.words->direction[sock_out(file)];
    uint32_t place = atomic_load(&out->place);
    if (place == NO_PLACE || place == EACH_WRITE || !file->peer)
        return place == EACH_WRITE;
    uint32_t bit = atomic_load_explicit(&file->mapping.words->bit[!sock_out(file)], memory_order_relaxed);
    return sock_peer_wake(file->peer, place - 1, bit, &out->since);
}

/* A reader that ends without a word takes nothing any more: the kernel is asked where that is so for a while. */
static void reader_look(struct sock_file *file)
{
    struct sock_link *link = file->link;
    uint64_t tail = atomic_load_explicit(&ring_words(&(struct ring){file->mapping, sock_out(file)})->tail,
                                         memory_order_relaxed);
    uint64_t now = clock_ticks();
    if (tail == link->asked_tail && vbase_clock_ns_of_ticks(now - link->asked) < LOOK_NS)
        return;
    if (tail == link->asked_tail)
        sock_stream_end_seen(file, sock_tcp_poll(sock_fd(file), sock_stream_end_events(file, POLLOUT), 0));
    link->asked_tail = tail;
    link->asked = now;
}

/* Wakes the reader for bytes behind BEFORE. Publishing was a barrier: what is read here is as new as they are. Bytes in
 * the ring have a bell in the reader's socket, also where a place is woken: the reader may leave that, and wait next by
 * a way that we do not see. One bell is enough, and one that is there is found by a word that changes rarely. */
static void reader_wake(struct sock_file *file, uint64_t before)
{
    struct sock_direction *out = &file->mapping.words->direction[sock_out(file)];
    bool needed = sock_out_wake(file);
    if (likely(!needed && bell_lies_there(out))) {
        if (++file->link->unasked % LOOK_EVERY == 0)
            reader_look(file);
        return;
    }
    bool due = atomic_load_explicit(&file->link->bell_due, memory_order_relaxed);
    /* else older bytes are there, which have a bell, or none: the reader may have taken some of these without one */
    uint64_t taken = atomic_load(&out->tail) - before;
    if (needed || due || taken < file->link->writer.head - before)
        sock_out_bell(file);
}

void sock_out_end(struct sock_file *file)
{
    if (atomic_load(&file->link->out_phase) == PHASE_RING)
        sock_tcp_restore(sock_fd(file), file->link->kept);
    atomic_fetch_or(&file->mapping.words->direction[sock_out(file)].bells, BELLS_ENDED);
    atomic_store(&file->link->out_phase, PHASE_BACK);
    atomic_store(&file->link->strict_out, false);
}

/* What was fetched when the other side closed the ring is given back to its source, and goes by TCP like what follows.
 * Only a pipe takes nothing back: then it goes at once, however long that takes. True: it has gone. */
static bool give_back(struct sock_source *source, int fd, const char *data, size_t size)
{
    if (source->pieces)
        sock_pieces_back(source->pieces, size);
    else if (source->at >= 0)
        source->at -= (off_t)size;
    else
        for (ssize_t n; size; data += n, size -= (size_t)n) {
            n = sock_tcp_send(fd, data, size);
            if (n < 0 && errno != EAGAIN)
                return true; /* the next call tells the program */
            n = n < 0 ? 0 : n;
            if (n == 0)
                (void)sock_tcp_poll(fd, POLLOUT, BELL_PATIENCE_MS);
        }
    return size == 0;
}

/* The reader's processor has the lines of the ring in its cache. Where that is far from ours, to store a line again
 * costs a round trip: then bytes go past the caches, into memory. */
static ssize_t large_fetch(struct sock_link *link, struct sock_source *source, char *data, size_t size)
{
    bool timed = link->pieces++ % TIMED_EVERY == 0;
    source->past = link->far && !timed;
    uint64_t start = timed ? clock_ticks() : 0;
    ssize_t got = source->fetch(source, data, size);
    source->past = false;
    if (timed)
        link->far = vbase_clock_ns_of_ticks(clock_ticks() - start) * 1000 > size / CACHE_LINE * FAR_PS;
    return got;
}

/* What a file or a pipe gives is stored by the kernel. */
static ssize_t source_fetch(struct sock_link *link, struct sock_source *source, char *data, size_t size)
{
    return size >= LARGE && source->pieces && vbase_copy_past_pays() ? large_fetch(link, source, data, size)
                                                   : source->fetch(source, data, size);
}

/* As much as there is room for: bytes, or what the source said instead of the first. */
ssize_t sock_out_store(struct sock_file *file, struct sock_source *source, size_t size, bool patient)
{
    struct sock_link *link = file->link;
    const struct ring ring = sock_ring_out(file);
    size_t total = 0;
    char *data;
    while (total < size) {
        size_t part = size - total < PART ? size - total : PART;
        part = ring_reserve(&ring, &link->writer, part, patient, &data);
        if (unlikely(part == 0 && ring_closed(&ring)))
            sock_out_end(file); /* full when it was closed: there will be no room any more */
        ssize_t got = part ? source_fetch(link, source, data, part) : 0;
        if (part == 0 || got <= 0) {
            source->end = part && got == 0;
            return total || part == 0 ? (ssize_t)total : got;
        }
        SOCK_STEP(stored);
        uint64_t head = link->writer.head;
        total += (size_t)got;
        if (unlikely(!ring_publish(&ring, &link->writer, (size_t)got))) {
            sock_out_end(file);
            return (ssize_t)total - (give_back(source, sock_fd(file), data, (size_t)got) ? 0 : got);
        }
        SOCK_STEP(published);
        reader_wake(file, head);
    }
    return (ssize_t)total;
}

/* The other side has the eventfd of PLACE, and will use it. */
bool sock_place_is_known(const struct sock_file *file, int place)
{
    return place >= 0 && file->peer && place == file->told_place &&
           atomic_load(&file->mapping.words->known[!sock_out(file)]) == (uint32_t)place + 1;
}

/* One waiter has the word by which it is woken; another one, and one whose eventfd the other side does not have, is
 * on its own. A byte on the TCP socket is a hint and no more: another thread may take it away, and a side that has said
 * that no byte follows cannot send it. That the other side is gone the kernel tells: it had a bell unread. */
uint64_t sock_room_want(struct sock_file *file, int place)
{
    struct sock_segment *words = file->mapping.words;
    bool known = sock_place_is_known(file, place);
    uint32_t mine = known ? (uint32_t)place + 2 : ROOM_BELL, there = ROOM_NOT;
    /* seq_cst: before the tail is looked at; pairs with room_made */
    bool taken = atomic_compare_exchange_strong(&words->direction[sock_out(file)].room, &there, mine);
    atomic_thread_fence(memory_order_seq_cst);
    bool ours = taken || there == mine;
    if (known && ours)
        return 0;
    return ours && !atomic_load(&words->direction[sock_in(file)].ended) ? SOCK_HINT_NS : SOCK_BLIND_NS;
}
