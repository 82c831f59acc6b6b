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

#define HINT_NS  20000000  /* until the next look of one for which a bell is sent that another thread may take */

bool sock_watch_ready(struct sock_file *file, short event)
{
    struct sock_link *link = file->link;
    if (event == POLLIN) {
        const struct ring ring = sock_ring_in(file);
        uint32_t phase = atomic_load(&link->in_phase);
        return (sock_stream_filled(file) || ring_closed(&ring)) &&
               (phase == PHASE_RING ||
                (phase == PHASE_TCP && atomic_load(&ring_words(&ring)->at) == link->consumed));
    }
    const struct ring ring = sock_ring_out(file);
    sock_lock(&link->send);
    bool ready = ring_closed(&ring) || atomic_load(&link->out_phase) != PHASE_RING || sock_stream_reader_gone(file) ||
                 ring_room(&ring, &link->writer, false) > 0;
    sock_unlock(&link->send);
    return ready;
}

static bool spin(struct sock_file *file, short event)
{
    struct sock_spin spin;
    bool found = false;
    if (!sock_spin_begin(&spin))
        return sock_watch_ready(file, event);
    do
        found = sock_watch_ready(file, event);
    while (!found && sock_spin_on(&spin));
    sock_spin_end(&spin, found);
    return found;
}

/* The other side has the eventfd of PLACE, and will use it. */
static bool place_is_known(const struct sock_file *file, int place)
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
    bool known = place_is_known(file, place);
    uint32_t mine = known ? (uint32_t)place + 2 : ROOM_BELL, there = ROOM_NOT;
    /* seq_cst: before the tail is looked at; pairs with room_made */
    bool taken = atomic_compare_exchange_strong(&words->direction[sock_out(file)].room, &there, mine);
    atomic_thread_fence(memory_order_seq_cst);
    bool ours = taken || there == mine;
    if (known && ours)
        return 0;
    return ours && !atomic_load(&words->direction[sock_in(file)].ended) ? HINT_NS : SOCK_BLIND_NS;
}

/* Bytes are awaited at the place, without a bell, by one that is alone with that: nothing else would wake it. Two
 * places for one connection, or two processes: then it has none, and bells come by TCP, which wakes all. */
static bool wait_at(struct sock_file *file, int place)
{
    struct sock_link *link = file->link;
    uint32_t owner = 0, here = (uint32_t)place + 1;
    if (!atomic_compare_exchange_strong(&link->owner, &owner, sock_pid()) && owner != sock_pid())
        atomic_store(&link->many, true);
    bool first = link->waiting++ == 0 ||
                 atomic_load(&file->mapping.words->direction[sock_in(file)].place) == here; /* asked for twice */
    return first && place_is_known(file, place) && atomic_load(&link->in_phase) == PHASE_RING &&
           atomic_load(&link->set) == 0 && !atomic_load(&link->many) && sock_link_alone_lately(link);
}

/* The bit is cleared behind the mark, and before the word that says where to wake: a peer that finds it set later has
 * seen the mark as well, or another one has; what was published before is seen by the look that follows. */
struct sock_watch sock_watch(struct sock_file *file, int fd, short event, int place)
{
    struct sock_link *link = file->link;
    const struct ring in = sock_ring_in(file);
    struct sock_watch watch = {.again = 0};
    if (place >= 0)
        (void)sock_place_clear(place, (uint32_t)(file - sock_files));
    sock_lock(&link->receive);
    if (event == POLLOUT) {
        watch.again = sock_room_want(file, place);
    } else {
        bool quiet = wait_at(file, place);
        sock_stream_place(file, quiet ? (uint32_t)place + 1 : NO_PLACE);
        atomic_thread_fence(memory_order_seq_cst); /* a writer closes its ring, then looks whom to wake */
        if (!quiet || ring_closed(&in))
            watch.events = POLLIN;
    }
    if (watch.events || watch.again == HINT_NS)
        sock_stream_bells_take(file, fd);
    if (watch.again == HINT_NS) {
        if (ring_filled(&in, &link->reader) || atomic_load(&link->in_phase) != PHASE_RING)
            watch.again = SOCK_BLIND_NS; /* a bell is there for the bytes */
        else
            watch.events = POLLIN;
    }
    sock_unlock(&link->receive);
    atomic_thread_fence(memory_order_seq_cst); /* before the look at the ring; pairs with ring_publish, room_made */
    return watch;
}

void sock_unwatch(struct sock_file *file, short event, int place)
{
    if (event == POLLOUT) {
        uint32_t mine = (uint32_t)place + 2;
        if (place >= 0)
            atomic_compare_exchange_strong(&file->mapping.words->direction[sock_out(file)].room, &mine, ROOM_NOT);
        return;
    }
    sock_lock(&file->link->receive);
    sock_stream_waits(file);
    if (--file->link->waiting == 0) /* it may wait by another way the next time */
        sock_stream_place(file, NO_PLACE);
    if (atomic_load(&file->link->set))
        sock_set_place(file);
    sock_unlock(&file->link->receive);
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
    struct pollfd fds[2] = {{.fd = fd, .events = sock_stream_end_events(file, event)},
                            {.fd = place >= 0 ? sock_place_event(place) : -1, .events = POLLIN}};
    struct timespec left;
    if (place >= 0)
        sock_place_sleep(place);
    struct sock_watch watch = sock_watch(file, fd, event, place);
    bool bounded = time_left(deadline, watch.again, &left);
    fds[0].events |= watch.events;
    sock_restart_begin();
    if (!sock_watch_ready(file, event))
        result = sock_real.ppoll(fds, 2, bounded ? &left : NULL, NULL);
    int why = errno;
    if (place >= 0) {
        sock_place_awake(place);
        if (result > 0 && fds[1].revents)
            sock_place_drain(place);
    }
    sock_unwatch(file, event, place);
    if (result > 0)
        sock_stream_end_seen(file, fds[0].revents);
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
