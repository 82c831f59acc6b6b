/* The ways out of the ring: back to TCP, to a new program, to the end; see stream.h. */
#include "base/log.h"
#include "sock/direction.h"
#include "sock/real.h"
#include "sock/rest.h"
#include "sock/set.h"
#include "sock/step.h"
#include "sock/stream.h"
#include "sock/tcp.h"

#include <errno.h>
#include <poll.h>

#define PIECE        16384   /* that is copied at once where bytes are left */
#define ON_ITS_WAY_MS 1000   /* what the other side's kernel has taken */
#define LAST_BELL_MS  20

void sock_stream_back_out(struct sock_file *file, int fd)
{
    const struct ring ring = sock_ring_out(file);
    sock_lock(&file->link->send);
    if (atomic_load(&file->link->out_phase) == PHASE_RING) {
        ring_close(&ring); /* seq_cst: before the look at the place */
        SOCK_STEP(closed_out);
        if (sock_out_wake(file))
            sock_out_bell(file, fd);
    }
    sock_out_end(file, fd);
    SOCK_STEP(ended_out);
    sock_unlock(&file->link->send);
    sock_set_refresh(file);
}

/* The ring is closed, and behind the bells TCP goes on. A bell may be on its way. */
static void ring_leave(struct sock_file *file, int fd)
{
    struct sock_link *link = file->link;
    atomic_fetch_or(&file->mapping.words->direction[sock_in(file)].bells, BELLS_ENDED);
    atomic_store(&link->in_phase, PHASE_SKIP);
    sock_in_wake(file, fd); /* it goes on by TCP */
    sock_stream_place(file, NO_PLACE);
    for (int i = 0; i < ON_ITS_WAY_MS && atomic_load(&link->in_phase) == PHASE_SKIP; i++) {
        ssize_t n = sock_in_skip(file, fd);
        if (n == -EAGAIN)
            (void)sock_tcp_poll(fd, POLLIN, 1);
        else if (n != SOCK_NEXT_PHASE)
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
            sock_in_enter(link);
    }
    if (atomic_load(&link->in_phase) == PHASE_RING && ring_close_empty(&ring, &link->reader)) {
        SOCK_STEP(closed_in);
        ring_leave(file, fd);
    }
    if (atomic_load(&link->in_phase) == PHASE_REST && !sock_rest_left(atomic_load(&link->rest)))
        sock_in_goes_on(link);
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
        ssize_t n = sock_tcp_receive(fd, data, left < PIECE ? (size_t)left : PIECE, 0);
        if (n < 0 && errno == EAGAIN)
            i++, (void)sock_tcp_poll(fd, POLLIN, 1);
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
        SOCK_STEP(rest_begun);
        if ((rest || size == 0) && tcp_to_rest(file, fd, rest) && ring_to_rest(&ring, link->reader, rest)) {
            SOCK_STEP(rest_filled);
            atomic_store(&link->rest, rest);
            SOCK_STEP(rest_named);
            ring_leave(file, fd);
        } else {
            sock_rest_drop(rest);
        }
    }
    bool done = atomic_load(&link->in_phase) >= PHASE_SKIP;
    sock_unlock(&link->receive);
    return done;
}

/* No bell may arrive behind the close, which the kernel would answer with a reset. One that is counted is about to be
 * sent. */
static void bells_take_last(struct sock_link *link, struct sock_direction *in, int fd)
{
    uint64_t last = atomic_load(&in->at) + (atomic_fetch_or(&in->bells, BELLS_ENDED) & ~BELLS_ENDED);
    for (int i = 0; i < LAST_BELL_MS && link->consumed < last; i++) {
        ssize_t n = sock_tcp_discard(fd, last - link->consumed);
        if (n > 0)
            link->consumed += (uint64_t)n;
        else if (n != -EAGAIN)
            break;
        else
            (void)sock_tcp_poll(fd, POLLIN, 1);
    }
}

/* The program wants a reset. */
static bool is_abortive(int fd)
{
    struct linger said = {0};
    socklen_t length = sizeof(said);
    return sock_real.getsockopt(fd, SOL_SOCKET, SO_LINGER, &said, &length) == 0 && said.l_onoff && said.l_linger == 0;
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
    atomic_store(&out->left, unread || is_abortive(fd) ? LEFT_RESET : LEFT_CLEAN);
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
