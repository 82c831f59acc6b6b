/* A thread waits for one connection; see wait.h. It polls for a while where that pays, then says where it can be
 * woken, looks once more, and sleeps in poll, which gives it signals, cancellation and the end of the stream. */
#include "sock/wait.h"
#include "sock/epoll.h"
#include "base/clock.h"
#include "sock/place.h"
#include "sock/real.h"
#include "sock/signal.h"
#include "sock/stream.h"
#include "sock/tcp.h"

#include <errno.h>

bool sock_watch_ready(struct sock_file *file, short event)
{
    struct sock_link *link = file->link;
    if (event == POLLIN) {
        const struct ring ring = sock_ring_in(file);
        return (ring_filled(&ring, &link->reader) || ring_closed(&ring)) &&
               (atomic_load(&link->in_phase) == PHASE_RING || atomic_load(&ring_words(&ring)->at) == link->consumed);
    }
    const struct ring ring = sock_ring_out(file);
    return ring_closed(&ring) || atomic_load(&link->out_phase) != PHASE_RING ||
           atomic_load(&file->mapping.words->direction[sock_in(file)].left) ||
           ring_room(&ring, &link->writer, false) > 0;
}

static bool spin(struct sock_file *file, short event)
{
    struct sock_spin spin;
    bool found = false;
    if (!sock_spin_begin(&spin))
        return sock_watch_ready(file, event);
    do {
        if (event == POLLIN)
            sock_stream_polled(file);
        found = sock_watch_ready(file, event);
    } while (!found && sock_spin_on(&spin));
    sock_spin_end(&spin, found);
    return found;
}

/* Two places for one connection, or two processes: then it has none, and bells come by TCP, which wakes all. */
void sock_watch(struct sock_file *file, short event, int place)
{
    struct sock_link *link = file->link;
    uint32_t number = (uint32_t)(file - sock_files), owner = 0;
    if (event == POLLOUT) {
        struct sock_direction *out = &file->mapping.words->direction[sock_out(file)];
        atomic_store(&out->room_place, place < 0 || !file->peer ? NO_PLACE : (uint32_t)place + 1);
        atomic_store(&out->room_wanted, 1); /* seq_cst: before the tail is looked at; pairs with room_made */
        if (place >= 0)
            sock_place_clear(place, number);
        return;
    }
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    sock_lock(&link->receive);
    if (!atomic_compare_exchange_strong(&link->owner, &owner, sock_pid()) && owner != sock_pid())
        atomic_store(&link->many, true);
    bool alone = link->waiting++ == 0 && atomic_load(&link->set) == 0 && !atomic_load(&link->many);
    atomic_store(&in->place, alone && place >= 0 && file->peer ? (uint32_t)place + 1 : NO_PLACE);
    sock_unlock(&link->receive);
    if (place >= 0)
        sock_place_clear(place, number);
}

void sock_unwatch(struct sock_file *file, short event)
{
    if (event == POLLOUT) {
        atomic_store(&file->mapping.words->direction[sock_out(file)].room_wanted, 0);
        return;
    }
    sock_lock(&file->link->receive);
    if (--file->link->waiting == 0) /* it may wait by another way the next time */
        atomic_store(&file->mapping.words->direction[sock_in(file)].place, NO_PLACE);
    if (atomic_load(&file->link->set))
        sock_set_place(file);
    sock_unlock(&file->link->receive);
}

bool sock_room_reaches(struct sock_file *file, int place)
{
    struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    if (file->peer && place >= 0 && sock_peer_knows(file->peer, place))
        return true;
    return atomic_load(&in->at) < SWITCH_REFUSED && !(atomic_load(&in->bells) & BELLS_ENDED);
}

static int time_left(uint64_t deadline, uint64_t step, struct timespec *left)
{
    uint64_t now = vbase_clock_ns(), ns = deadline ? (deadline > now ? deadline - now : 0) : ~0ull;
    if (step && ns > step)
        ns = step;
    *left = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return ns != ~0ull;
}

int sock_wait(struct sock_file *file, int fd, short event, uint64_t deadline)
{
    struct sock_link *link = file->link;
    if (spin(file, event))
        return 0;
    int place = sock_place_thread(), result = 0;
    bool blind = event == POLLOUT && (link->waiting || !sock_room_reaches(file, place));
    struct pollfd fds[2] = {{.fd = fd, .events = event == POLLIN ? POLLIN | POLLRDHUP : 0},
                            {.fd = place >= 0 ? sock_place_event(place) : -1, .events = POLLIN}};
    struct timespec left;
    sock_watch(file, event, place);
    if (place >= 0)
        sock_place_sleep(place);
    bool bounded = time_left(deadline, blind ? SOCK_BLIND_NS : 0, &left);
    sock_restart_begin();
    if (!sock_watch_ready(file, event))
        result = sock_real.ppoll(fds, 2, bounded ? &left : NULL, NULL);
    int why = errno;
    if (place >= 0) {
        sock_place_awake(place);
        if (result > 0 && fds[1].revents)
            sock_place_drain(place);
    }
    sock_unwatch(file, event);
    if (result > 0 && event == POLLOUT && fds[0].revents & (POLLERR | POLLHUP))
        atomic_store(&link->shut_out, true); /* the program hears of it from the kernel */
    if (result > 0 && event == POLLIN && fds[0].revents && !fds[1].revents) {
        sock_lock(&link->receive);
        link->looked = 0;
        sock_unlock(&link->receive);
    }
    errno = why;
    if (result < 0) /* the kernel goes on waiting where there is no limit of time */
        return why == EINTR && !deadline && sock_restart_wanted() ? 0 : -1;
    if (result == 0 && deadline && vbase_clock_ns() >= deadline && !sock_watch_ready(file, event)) {
        errno = EAGAIN;
        return -1;
    }
    return 0;
}
