/* poll and select on joined connections: these are answered by their rings, everything else by the kernel, which is
 * also who the thread sleeps with. Calls on other descriptors alone go to libc as they are. */
#include "base/clock.h"
#include "sock/epoll.h"
#include "sock/hooks.h"
#include "sock/place.h"
#include "sock/stream.h"
#include "sock/wait.h"

#include <errno.h>

#define FEW 256 /* descriptors that need no memory but the stack */

struct call { /* of poll */
    struct pollfd *fds;
    nfds_t count;
    struct sock_file **files; /* NULL: the kernel's */
    struct pollfd *asked;     /* what the kernel is asked, with one more for the eventfd */
    int place;
    uint64_t deadline; /* 0: none */
    bool at_once;
    bool full; /* the kernel takes no descriptor more */
};

static struct sock_file *joined(int fd)
{
    struct sock_file *file = sock_known(fd) ? sock_hold(fd) : NULL;
    if (!file || sock_joined(file))
        return file;
    sock_drop(file);
    return NULL;
}

/* Holds what is joined: how many. */
static nfds_t files_hold(struct pollfd *fds, nfds_t count, struct sock_file **files)
{
    nfds_t found = 0;
    for (nfds_t i = 0; i < count; i++) {
        files[i] = fds[i].fd >= 0 ? joined(fds[i].fd) : NULL;
        found += files[i] != NULL;
        if (fds[i].fd >= 0 && !files[i] && sock_known(fds[i].fd) && sock_is_set(fds[i].fd))
            sock_set_nested(fds[i].fd);
    }
    return found;
}

static bool any_joined(const struct pollfd *fds, nfds_t count)
{
    if (sock_table_end() == 0)
        return false; /* the list is for the kernel alone, and may be memory that cannot be read */
    for (nfds_t i = 0; i < count; i++)
        if (fds[i].fd >= 0 && unlikely(sock_known(fds[i].fd))) {
            struct sock_file *file = joined(fds[i].fd);
            bool set = !file && sock_is_set(fds[i].fd);
            if (file)
                sock_drop(file);
            if (file || set)
                return true;
        }
    return false;
}

/* By the rings alone: how many are ready; what the kernel is to be asked for. */
static int look(struct call *call)
{
    int ready = 0;
    for (nfds_t i = 0; i < call->count; i++) {
        struct pollfd *fd = &call->fds[i];
        call->asked[i] = *fd;
        fd->revents = 0;
        if (!call->files[i])
            continue;
        call->asked[i].fd = sock_fd(call->files[i]);
        fd->revents = sock_stream_events(call->files[i], fd->events, &call->asked[i].events);
        if (fd->events & (POLLIN | POLLRDNORM))
            sock_stream_waits(call->files[i]);
        call->asked[i].events |= sock_stream_end_events(call->files[i], fd->events);
        if (unlikely(atomic_load(&call->files[i]->link->end))) { /* the kernel would tell a reset, all the time */
            fd->revents = sock_stream_level(call->files[i], fd->events, POLLRDHUP);
            call->asked[i].fd = -1;
        }
        ready += fd->revents != 0;
    }
    return ready;
}

static int kernel_answers(struct call *call)
{
    int ready = 0;
    for (nfds_t i = 0; i < call->count; i++) {
        struct pollfd *fd = &call->fds[i];
        short told = call->asked[i].revents;
        if (call->files[i] && told)
            told = sock_stream_from_kernel(call->files[i], fd->events, told);
        fd->revents |= told & (fd->events | POLLERR | POLLHUP | POLLNVAL);
        ready += fd->revents != 0;
    }
    return ready;
}

/* Begins or ends: ns until it is to look again, 0: it is woken. The kernel is asked for bytes of a connection only
 * where it has to tell of them. */
static uint64_t watch(struct call *call, bool begin)
{
    static const short kinds[2][2] = {{POLLIN | POLLRDNORM, POLLIN}, {POLLOUT | POLLWRNORM, POLLOUT}};
    uint64_t again = 0;
    for (nfds_t i = 0; i < call->count; i++)
        for (int k = 0; k < 2; k++) {
            if (!call->files[i] || !(call->fds[i].events & kinds[k][0]))
                continue;
            if (!begin) {
                sock_unwatch(call->files[i], kinds[k][1], call->place);
                continue;
            }
            struct sock_watch watch = sock_watch(call->files[i], kinds[k][1], call->place);
            if (k == 0 && !watch.events)
                call->asked[i].events &= (short)~kinds[0][0];
            call->asked[i].events |= watch.events;
            if (watch.again && (!again || watch.again < again))
                again = watch.again;
        }
    return again;
}

static bool rings_ready(struct call *call)
{
    short tcp;
    for (nfds_t i = 0; i < call->count; i++)
        if (call->files[i] && sock_stream_events(call->files[i], call->fds[i].events, &tcp))
            return true;
    return false;
}

static bool spin(struct call *call)
{
    struct sock_spin spin;
    bool found = false;
    if (!sock_spin_begin(&spin))
        return false;
    do
        found = rings_ready(call);
    while (!found && sock_spin_on(&spin));
    sock_spin_end(&spin, found);
    return found;
}

static unsigned blocks_add(struct call *call)
{
    unsigned held = 0;
    sock_blocks_left();
    for (nfds_t i = 0; i < call->count; i++)
        if (call->files[i]) {
            short in = call->fds[i].events & (POLLIN | POLLRDNORM), out = call->fds[i].events & (POLLOUT | POLLWRNORM);
            sock_block(call->files[i], (in ? POLLIN : 0) | (out ? POLLOUT : 0), call->place);
            held++;
        }
    return held;
}

static int sleep_in_kernel(struct call *call, const sigset_t *mask)
{
    call->asked[call->count] =
        (struct pollfd){.fd = call->place >= 0 ? sock_place_event(call->place) : -1, .events = POLLIN};
    if (call->place >= 0)
        sock_place_sleep(call->place);
    uint64_t again = watch(call, true);
    uint64_t now = call->deadline ? vbase_clock_ns() : 0, ns = call->deadline > now ? call->deadline - now : 0;
    if (again && (!call->deadline || ns > again))
        ns = again;
    const struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    const struct timespec *limit = call->deadline || again ? &left : NULL;
    unsigned held = blocks_add(call);
    int n = rings_ready(call) ? 0 : sock_real.ppoll(call->asked, call->count + (call->place >= 0), limit, mask);
    int why = errno;
    sock_unblock(held);
    if (call->place >= 0) {
        sock_place_awake(call->place);
        if (n > 0 && call->asked[call->count].revents)
            sock_place_drain(call->place);
    }
    (void)watch(call, false);
    errno = why;
    return n;
}

static int poll_joined(struct call *call, const sigset_t *mask)
{
    struct timespec none = {0, 0};
    for (bool slept = false;; slept = true) {
        int ready = look(call);
        if (ready || call->at_once || (slept && call->deadline && vbase_clock_ns() >= call->deadline)) {
            int n = sock_real.ppoll(call->asked, call->count, &none, mask);
            return n < 0 ? n : kernel_answers(call);
        }
        if (spin(call))
            continue;
        call->place = call->full ? -1 : sock_place_thread();
        int n = sleep_in_kernel(call, mask);
        if (n < 0 && errno == EINVAL && call->place >= 0) {
            call->full = true; /* as many as the process may have are asked for, and one more is ours */
            continue;
        }
        if (n < 0)
            return n;
        ready = n > 0 ? kernel_answers(call) : 0;
        if (ready)
            return ready;
    }
}

/* LIMIT in ns, ~0: none. */
static int poll_all(struct pollfd *fds, nfds_t count, uint64_t limit, const sigset_t *mask)
{
    struct sock_file *few_files[FEW];
    struct pollfd few_asked[FEW + 1];
    struct call call = {.fds = fds, .count = count, .files = few_files, .asked = few_asked, .at_once = limit == 0};
    void *memory = NULL;
    if (count > FEW) {
        memory = sock_pages_take(count * sizeof(call.files[0]) + (count + 1) * sizeof(call.asked[0]));
        if (!memory) {
            errno = ENOMEM;
            return -1;
        }
        call.files = memory;
        call.asked = (struct pollfd *)(call.files + count);
    }
    call.deadline = limit && limit != ~0ull ? vbase_clock_ns() + limit : 0;
    files_hold(fds, count, call.files);
    int n = poll_joined(&call, mask), why = errno;
    for (nfds_t i = 0; i < count; i++)
        if (call.files[i])
            sock_drop(call.files[i]);
    sock_pages_leave(memory);
    errno = why;
    return n;
}

int sock_poll(struct pollfd *fds, nfds_t count, int time)
{
    if (likely(!fds || !any_joined(fds, count)))
        return sock_real.poll(fds, count, time);
    return poll_all(fds, count, time < 0 ? ~0ull : (uint64_t)time * 1000000, NULL);
}

static uint64_t limit_of(const struct timespec *time)
{
    return time ? (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec : ~0ull;
}

int sock_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *time, const sigset_t *mask)
{
    if (likely(!fds || !any_joined(fds, count)))
        return sock_real.ppoll(fds, count, time, mask);
    return poll_all(fds, count, limit_of(time), mask);
}

int sock___poll_chk(struct pollfd *fds, nfds_t count, int time, size_t room)
{
    return room / sizeof(*fds) < count ? sock_real.__poll_chk(fds, count, time, room) : sock_poll(fds, count, time);
}

int sock___ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *time, const sigset_t *mask, size_t room)
{
    return room / sizeof(*fds) < count ? sock_real.__ppoll_chk(fds, count, time, mask, room)
                                       : sock_ppoll(fds, count, time, mask);
}

/* select is poll on a list that is made of its sets. A set may be longer than fd_set says: programs allocate their
 * own. */
static bool in_set(const fd_set *set, int fd)
{
    return set && ((const unsigned long *)set)[fd / (int)(8 * sizeof(long))] & 1ul << (fd % (int)(8 * sizeof(long)));
}

static void set_write(fd_set *set, int fd, bool value)
{
    const int bits = 8 * sizeof(long);
    unsigned long *word = &((unsigned long *)set)[fd / bits], bit = 1ul << (fd % bits);
    *word = value ? *word | bit : *word & ~bit;
}

static bool select_has_joined(int count, const fd_set *in, const fd_set *out, const fd_set *error)
{
    for (int fd = 0; fd < count; fd++) {
        if (likely(!sock_known(fd)) || (!in_set(in, fd) && !in_set(out, fd) && !in_set(error, fd)))
            continue;
        struct sock_file *file = joined(fd);
        if (file)
            sock_drop(file);
        if (file || sock_is_set(fd))
            return true;
    }
    return false;
}

static int select_joined(int count, fd_set *in, fd_set *out, fd_set *error, uint64_t limit, const sigset_t *mask)
{
    const short readable = POLLIN | POLLRDNORM | POLLHUP | POLLERR, writable = POLLOUT | POLLWRNORM | POLLERR;
    struct pollfd few[FEW], *more = count > FEW ? sock_pages_take((size_t)count * sizeof(*more)) : NULL;
    struct pollfd *fds = more ? more : few;
    nfds_t n = 0;
    int total = 0;
    if (count > FEW && !more) {
        errno = ENOMEM;
        return -1;
    }
    for (int fd = 0; fd < count; fd++) {
        short events = (short)((in_set(in, fd) ? POLLIN : 0) | (in_set(out, fd) ? POLLOUT : 0) |
                               (in_set(error, fd) ? POLLPRI : 0));
        if (events)
            fds[n++] = (struct pollfd){.fd = fd, .events = events};
    }
    int ready = poll_all(fds, n, limit, mask), why = errno;
    for (nfds_t i = 0; ready >= 0 && i < n; i++)
        if (fds[i].revents & POLLNVAL) {
            ready = -1;
            why = EBADF;
        }
    for (nfds_t i = 0; ready >= 0 && i < n; i++) {
        const short got = fds[i].revents, asked = fds[i].events;
        struct {
            fd_set *set;
            bool is;
        } each[3] = {{in, (asked & POLLIN) && (got & readable)},
                     {out, (asked & POLLOUT) && (got & writable)},
                     {error, (asked & POLLPRI) && (got & POLLPRI)}};
        for (int k = 0; k < 3; k++)
            if (in_set(each[k].set, fds[i].fd)) {
                set_write(each[k].set, fds[i].fd, each[k].is);
                total += each[k].is;
            }
    }
    sock_pages_leave(more);
    errno = why;
    return ready < 0 ? -1 : total;
}

int sock_select(int count, fd_set *in, fd_set *out, fd_set *error, struct timeval *time)
{
    if (likely(!select_has_joined(count, in, out, error)))
        return sock_real.select(count, in, out, error, time);
    uint64_t start = vbase_clock_ns(),
             limit = time ? (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000 : ~0ull;
    int n = select_joined(count, in, out, error, limit, NULL);
    if (time) { /* Linux says what is left */
        uint64_t gone = vbase_clock_ns() - start, left = gone < limit ? limit - gone : 0;
        *time = (struct timeval){(time_t)(left / 1000000000), (suseconds_t)(left % 1000000000 / 1000)};
    }
    return n;
}

int sock_pselect(int count, fd_set *in, fd_set *out, fd_set *error, const struct timespec *time, const sigset_t *mask)
{
    if (likely(!select_has_joined(count, in, out, error)))
        return sock_real.pselect(count, in, out, error, time, mask);
    return select_joined(count, in, out, error, limit_of(time), mask);
}
