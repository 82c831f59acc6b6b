/* The ways out of the ring: back to TCP, and to a new program; see stream.h. */
#include "base/log.h"
#include "sock/direction.h"
#include "sock/place.h"
#include "sock/real.h"
#include "sock/rest.h"
#include "sock/set.h"
#include "sock/step.h"
#include "sock/stream.h"
#include "sock/tcp.h"

#include <errno.h>
#include <poll.h>

#define PIECE        16384   /* that is copied at once where bytes are left */

void sock_stream_back_out(struct sock_file *file)
{
    const struct ring ring = sock_ring_out(file);
    sock_lock(&file->link->send);
    if (atomic_load(&file->link->out_phase) == PHASE_RING) {
        ring_close(&ring); /* seq_cst: before the look at the place */
        SOCK_STEP(closed_out);
        if (sock_out_wake(file))
            sock_out_bell(file);
    }
    sock_out_end(file);
    SOCK_STEP(ended_out);
    sock_unlock(&file->link->send);
    sock_set_refresh(file);
    (void)sock_stream_back_in(file);
}

/* A join that is under way looks at the word when it is done. */
bool sock_stream_never(struct sock_file *file)
{
    atomic_store(&file->link->never, true);
    if (!sock_joined(file))
        return true;
    sock_stream_back_out(file);
    return sock_stream_back_in(file);
}

/* What TCP brought before the ring; it may be on its way. Looked at first, and taken when it has been copied. */
static bool tcp_to_rest(struct sock_file *file, uint64_t rest)
{
    struct sock_link *link = file->link;
    uint64_t at = atomic_load(&file->mapping.words->direction[sock_in(file)].at);
    int fd = sock_fd(file);
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
bool sock_stream_leave_rest(struct sock_file *file)
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
        if ((rest || size == 0) && tcp_to_rest(file, rest) && ring_to_rest(&ring, link->reader, rest)) {
            SOCK_STEP(rest_filled);
            atomic_store(&link->rest, rest);
            SOCK_STEP(rest_named);
            sock_in_leave(file);
        } else {
            sock_rest_drop(rest);
        }
    }
    bool done = atomic_load(&link->in_phase) >= PHASE_SKIP;
    sock_unlock(&link->receive);
    return done;
}

void sock_stream_reset(struct sock_file *file)
{
    struct sock_link *link = file->link;
    sock_lock(&link->receive);
    sock_lock(&link->send);
    atomic_store(&file->mapping.words->direction[sock_out(file)].left, LEFT_RESET);
    atomic_fetch_or(&file->mapping.words->direction[sock_in(file)].bells, BELLS_ENDED);
    sock_out_end(file);
    sock_in_goes_on(link);
    sock_tcp_reset(sock_fd(file));
    atomic_store(&link->shut_in, false);
    atomic_store(&link->shut_out, false);
    link->error = 0;
    link->end = END_NOT;
    sock_unlock(&link->send);
    sock_unlock(&link->receive);
    sock_places_wake();
    sock_set_refresh(file);
}

void sock_stream_break(struct sock_file *file, const char *what)
{
    LOG_WARN("descriptor %d: %s: the connection is reset", sock_fd(file), what);
    sock_stream_reset(file);
}
