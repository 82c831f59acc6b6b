/* A thread waits for one connection; see wait.h. It polls for a while where that pays, then says where it can be
 * woken, looks once more, and sleeps in poll, which gives it signals, cancellation and the end of the stream. */
#include "sock/wait.h"
#include "sock/epoll.h"
#include "base/clock.h"
#include "sock/place.h"
#include "sock/real.h"
#include "sock/signal.h"
#include "sock/stream.h"

#include <errno.h>
#include <pthread.h>

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
                 ring_has_room(&ring, &link->writer, true);
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
    return first && sock_place_is_known(file, place) && atomic_load(&link->in_phase) == PHASE_RING &&
           atomic_load(&link->set) == 0 && !atomic_load(&link->many) && sock_link_alone_lately(link);
}

/* The bit is cleared behind the mark, and before the word that says where to wake: a peer that finds it set later has
 * seen the mark as well, or another one has; what was published before is seen by the look that follows. */
struct sock_watch sock_watch(struct sock_file *file, short event, int place)
{
    struct sock_link *link = file->link;
    const struct ring in = sock_ring_in(file);
    struct sock_watch watch = {.again = 0};
    if (place >= 0)
        (void)sock_place_clear(place, (uint32_t)(file - sock_files));
    pthread_mutex_t *got = sock_lock_soon(&link->receive); /* else: nothing tells when its holder goes on */
    if (event == POLLOUT) {
        watch.again = sock_room_want(file, place);
    } else {
        bool quiet = wait_at(file, place) && got;
        sock_stream_place(file, quiet ? (uint32_t)place + 1 : NO_PLACE);
        atomic_thread_fence(memory_order_seq_cst); /* a writer closes its ring, then looks whom to wake */
        if (!quiet || ring_closed(&in))
            watch.events = POLLIN;
    }
    if (!got)
        watch.again = watch.again ? SOCK_BLIND_NS : SOCK_HINT_NS;
    else if (watch.events || watch.again == SOCK_HINT_NS)
        sock_stream_bells_take(file);
    if (got && watch.again == SOCK_HINT_NS) {
        if (ring_filled(&in, &link->reader) || atomic_load(&link->in_phase) != PHASE_RING)
            watch.again = SOCK_BLIND_NS; /* a bell is there for the bytes */
        else
            watch.events = POLLIN;
    }
    sock_unlock_got(got);
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
    pthread_mutex_t *got = sock_lock_soon(&file->link->receive);
    sock_stream_waits(file);
    if (--file->link->waiting == 0) /* it may wait by another way the next time */
        sock_stream_place(file, NO_PLACE);
    if (atomic_load(&file->link->set))
        sock_set_place(file);
    sock_unlock_got(got);
}

#define BLOCKS 16 /* that are known: more come from poll with many descriptors */

static _Thread_local struct {
    unsigned count;
    bool will_end; /* the thread's end is told */
    struct {
        struct sock_file *file;
        short watched;
        bool plain, out;
        int place;
    } block[BLOCKS];
} blocked TLS_QUICK;

static void block_give_back(unsigned i)
{
    struct sock_file *file = blocked.block[i].file;
    if (blocked.block[i].plain)
        sock_plain_end(file->link, blocked.block[i].out);
    if (blocked.block[i].watched & POLLIN)
        sock_unwatch(file, POLLIN, blocked.block[i].place);
    if (blocked.block[i].watched & POLLOUT)
        sock_unwatch(file, POLLOUT, blocked.block[i].place);
    sock_drop(file);
}

void sock_blocks_left(void)
{
    if (likely(blocked.count == 0) || sock_in_handler())
        return;
    unsigned count = blocked.count < BLOCKS ? blocked.count : BLOCKS;
    blocked.count = 0;
    while (count)
        block_give_back(--count);
}

static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;
static void thread_ended(void *nothing)
{
    (void)nothing;
    blocked.will_end = false;
    sock_blocks_left();
}
static void end_key_make(void) { (void)pthread_key_create(&end_key, thread_ended); }

static void block_add(struct sock_file *file, short watched, int place, bool plain, bool out)
{
    if (unlikely(!blocked.will_end)) {
        blocked.will_end = true;
        pthread_once(&end_once, end_key_make);
        (void)pthread_setspecific(end_key, &blocked);
    }
    if (blocked.count < BLOCKS) {
        blocked.block[blocked.count].file = file;
        blocked.block[blocked.count].watched = watched;
        blocked.block[blocked.count].place = place;
        blocked.block[blocked.count].plain = plain;
        blocked.block[blocked.count].out = out;
    }
    atomic_signal_fence(memory_order_release); /* a handler sees it whole */
    blocked.count++;
}

void sock_block(struct sock_file *file, short watched, int place) { block_add(file, watched, place, false, false); }
void sock_block_plain(struct sock_file *file, bool out)
{
    sock_blocks_left();
    block_add(file, 0, -1, true, out);
}

void sock_unblock(unsigned count) { blocked.count -= count; }

static int time_left(uint64_t deadline, uint64_t step, struct timespec *left)
{
    uint64_t now = vbase_clock_ns(), ns = deadline ? (deadline > now ? deadline - now : 0) : ~0ull;
    if (step && ns > step)
        ns = step;
    *left = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return ns != ~0ull;
}

int sock_wait(struct sock_file *file, short event, uint64_t deadline, bool limited)
{
    struct sock_link *link = file->link;
    bool by_tcp = event == POLLOUT && atomic_load(&link->out_phase) == PHASE_BACK;
    if (!by_tcp && spin(file, event))
        return 0;
    int place = sock_place_thread(), result = 0;
    struct pollfd fds[2] = {{.events = by_tcp ? POLLOUT : sock_stream_end_events(file, event)},
                            {.fd = place >= 0 ? sock_place_event(place) : -1, .events = POLLIN}};
    struct timespec left;
    if (place >= 0)
        sock_place_sleep(place);
    struct sock_watch watch = sock_watch(file, event, place);
    bool bounded = time_left(deadline, watch.again, &left);
    fds[0].events |= watch.events;
    fds[0].fd = sock_fd(file); /* behind the mark: what changes it wakes this place */
    sock_restart_begin();
    if (by_tcp || !sock_watch_ready(file, event)) {
        sock_blocks_left();
        sock_block(file, event, place);
        result = sock_real.ppoll(fds, 2, bounded ? &left : NULL, NULL);
        sock_unblock(1);
    }
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
    if (result < 0)
        return why == EINTR && !limited && sock_restart_wanted() ? 0 : -1;
    if (result == 0 && deadline && vbase_clock_ns() >= deadline && (by_tcp || !sock_watch_ready(file, event))) {
        errno = EAGAIN;
        return -1;
    }
    return 0;
}
