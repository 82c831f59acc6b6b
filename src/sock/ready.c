/* What a program that asks whether it could read or write is told; see stream.h. */
#include "sock/real.h"
#include "sock/rest.h"
#include "sock/stream.h"
#include "sock/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
short sock_stream_events(struct sock_file *file, short wanted, short *tcp)
{
    struct sock_link *link = file->link;
    short events = 0;
    *tcp = wanted;
    if (wanted & (POLLOUT | POLLWRNORM) && atomic_load(&link->out_phase) == PHASE_RING) {
        *tcp &= (short)~(POLLOUT | POLLWRNORM);
        const struct ring ring = sock_ring_out(file);
        pthread_mutex_t *got = sock_lock_soon(&link->send); /* else: a write will tell */
        if (!got || ring_writable(&ring, &link->writer) || ring_closed(&ring) || sock_stream_reader_gone(file))
            events |= wanted & (POLLOUT | POLLWRNORM);
        sock_unlock_got(got);
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

short sock_stream_level(struct sock_file *file, short wanted, short kernel)
{
    struct sock_link *link = file->link;
    short in = POLLIN | POLLRDNORM, out = POLLOUT | POLLWRNORM, level = 0;
    ssize_t n = 1;
    if ((atomic_load(&link->in_phase) != PHASE_RING || !sock_stream_filled(file)) && sock_lock_soon(&link->receive)) {
        n = sock_in_available(file, kernel & (POLLRDHUP | POLLHUP | POLLERR));
        sock_unlock(&link->receive);
    }
    kernel = sock_end_events(file, kernel); /* behind the look, which may be the first to see the end */
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
        level |= room;
        if (tcp & out)
            level |= sock_tcp_poll(sock_fd(file), tcp & out, 0) & out;
    }
    return level & (wanted | POLLERR | POLLHUP);
}

short sock_stream_from_kernel(struct sock_file *file, short wanted, short reported)
{
    short out = POLLOUT | POLLWRNORM, tcp = 0;
    (void)sock_stream_events(file, wanted & out, &tcp);
    return sock_stream_level(file, wanted & (short)~(tcp & out), reported) | (reported & tcp & out);
}

uint64_t sock_stream_readable(struct sock_file *file)
{
    const struct ring ring = sock_ring_in(file);
    const struct sock_link *link = file->link;
    uint32_t phase = atomic_load(&link->in_phase);
    uint64_t at = atomic_load(&ring_words(&ring)->at), consumed = link->consumed;
    uint64_t bells = atomic_load(&ring_words(&ring)->bells) & ~BELLS_ENDED;
    int in_kernel = 0;
    if (phase == PHASE_RING && !ring_closed(&ring))
        return ring_filled(&ring, &link->reader);
    (void)sock_real.ioctl(sock_fd(file), SIOCINQ, (long)&in_kernel);
    uint64_t before = at > consumed ? at - consumed : 0, there = (uint64_t)in_kernel;
    if (phase >= PHASE_REST)
        return sock_rest_left(atomic_load(&link->rest)) + there;
    if (at == SWITCH_NEVER || there < before)
        return there;
    uint64_t behind = at + bells - consumed; /* in the kernel */
    return before + ring_filled(&ring, &link->reader) + (there > behind ? there - behind : 0);
}
