/* This process closes a connection that is joined, or reads it by TCP from now on; see stream.h. */
#include "base/log.h"
#include "sock/direction.h"
#include "sock/real.h"
#include "sock/rest.h"
#include "sock/step.h"
#include "sock/stream.h"
#include "sock/tcp.h"

#include <errno.h>
#include <poll.h>

#define LAST_BELL_MS 20

/* No bell may arrive behind the close, which the kernel would answer with a reset. One that is counted is about to be
 * sent. */
static void bells_take_last(struct sock_file *file)
{
    struct sock_link *link = file->link;
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    int fd = sock_fd(file);
    uint64_t last = atomic_load(&in->at) + (atomic_fetch_or(&in->bells, BELLS_ENDED) & ~BELLS_ENDED);
    ssize_t n = 0;
    for (int i = 0; i < LAST_BELL_MS && link->consumed < last; i++) {
        n = sock_tcp_discard(fd, last - link->consumed);
        if (n > 0)
            link->consumed += (uint64_t)n;
        else if (n != -EAGAIN)
            break;
        else
            (void)sock_tcp_poll(fd, POLLIN, 1);
    }
    if (n == -EAGAIN && link->consumed < last)
        LOG_WARN("descriptor %d: wake-ups are missing: the program reads it by system calls past this library, or the "
                 "other end was killed", fd);
}

/* The program wants a reset. */
static bool is_abortive(int fd)
{
    struct linger said = {0};
    socklen_t length = sizeof(said);
    return sock_real.getsockopt(fd, SOL_SOCKET, SO_LINGER, &said, &length) == 0 && said.l_onoff && said.l_linger == 0;
}

bool sock_stream_back_in(struct sock_file *file)
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
        sock_in_leave(file);
    }
    if (atomic_load(&link->in_phase) == PHASE_REST && !sock_rest_left(atomic_load(&link->rest)))
        sock_in_goes_on(link);
    bool done = atomic_load(&link->in_phase) >= PHASE_SKIP && !sock_rest_left(atomic_load(&link->rest));
    sock_unlock(&link->receive);
    return done;
}

/* Of a connection that nobody else has. */
static void close_last(struct sock_file *file)
{
    struct sock_link *link = file->link;
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    struct sock_direction *out = &file->mapping.words->direction[sock_out(file)];
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    int saved = errno;
    sock_lock(&link->receive);
    bool unread = sock_stream_readable(file) != 0;
    bool rung = atomic_load(&link->in_phase) != PHASE_BACK && atomic_load(&in->at) < SWITCH_REFUSED;
    if (unread)
        (void)sock_real.setsockopt(sock_fd(file), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)); /* as TCP does */
    else if (rung)
        bells_take_last(file);
    sock_rest_drop(atomic_load(&link->rest));
    sock_unlock(&link->receive);
    atomic_store(&out->ended, 1);
    SOCK_STEP(leaving);
    uint32_t not_said = 0; /* by a reset */
    atomic_compare_exchange_strong(&out->left, &not_said,
                                   unread || is_abortive(sock_fd(file)) ? LEFT_RESET : LEFT_CLEAN);
    (void)sock_stream_writer_wake(file); /* where the end was said before, the kernel tells nothing */
    errno = saved;
}

/* Where a counted process has the connection, too, that one goes on as it is. Where only processes may have it that are
 * not counted, perhaps none has: then the kernel closes it now. It would send a reset while bells lie unread, and bytes
 * that it has not sent yet would be lost: so bells are taken away. */
void sock_stream_close(struct sock_file *file)
{
    if (sock_link_alone(file->link))
        close_last(file);
    else if (!sock_holders_others(&file->link->holders))
        (void)sock_stream_back_in(file);
}
