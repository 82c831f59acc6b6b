/* Waiting in an epoll set with joined connections; see epoll.h.
 *
 * What is ready by the ring is collected from the bits of the place. The kernel is asked when nothing is, and every
 * few calls or microseconds besides, so that its descriptors are not forgotten over busy rings: rarely where all
 * members are joined, as then it has nothing but their ends. It is asked first, and where that fills the room of the
 * program, rings come first in the next call: neither side starves the other. */
#include "base/clock.h"
#include "sock/epoll.h"
#include "sock/hooks.h"
#include "sock/place.h"
#include "sock/set.h"
#include "sock/stream.h"
#include "sock/wait.h"

#include <errno.h>

#define KERNEL_EVERY 16    /* calls that found something in rings, */
#define KERNEL_NS    20000 /* or so long, until the kernel is asked; */
#define ENDS_NS      1000000 /* so long where all are joined */
#define ASK_EVERY    64 /* looks of a waiter that polls, until it asks the kernel */
#define EVENTS       256

_Static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLERR == POLLERR && EPOLLHUP == POLLHUP &&
                   EPOLLPRI == POLLPRI && EPOLLRDHUP == POLLRDHUP && EPOLLRDNORM == POLLRDNORM,
               "the events of epoll and poll have the same bits");

struct call { /* of epoll_wait */
    struct sock_set *set;
    uint32_t number, generation; /* of the set */
    int fd;
    struct epoll_event *events;
    int room, count;
    const sigset_t *mask;
    uint64_t deadline; /* 0: none */
    bool at_once;
    bool counted; /* among the sleepers, in a call that is the kernel's alone */
};

static void sleeper_come(const struct call *call) { atomic_fetch_add(&call->set->sleepers, 1); }

/* The set may have been closed meanwhile, and its memory be another one's, which counts its own. */
static void sleeper_leave(const struct call *call)
{
    if (atomic_load(&call->set->generation) == call->generation)
        atomic_fetch_sub(&call->set->sleepers, 1);
}

static void report(struct call *call, struct sock_link *link, uint32_t ready)
{
    uint32_t wanted = atomic_load(&link->set_events);
    if (wanted & EPOLLONESHOT && atomic_exchange(&link->set_spent, true))
        return; /* by another thread that waits in the set */
    call->events[call->count++] =
        (struct epoll_event){ready & (wanted | EPOLLERR | EPOLLHUP), {.u64 = atomic_load(&link->set_data)}};
}

static uint32_t level(struct sock_file *file, uint32_t wanted)
{
    struct sock_link *link = file->link;
    uint32_t told = atomic_load(&link->set_reported);
    uint32_t now = (uint16_t)sock_stream_level(file, (short)(wanted & 0x7fff), (short)told);
    if (told & EPOLLIN && !(now & EPOLLIN) && !(told & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
        atomic_fetch_and(&link->set_reported, ~(uint32_t)EPOLLIN);
    return now & (wanted | EPOLLERR | EPOLLHUP);
}

/* The connection with that number, held; NULL: it is not in this set, or not in the ring, or has been told. */
static struct sock_file *member(const struct call *call, uint32_t number)
{
    struct sock_file *file = sock_hold_number(number);
    if (!file)
        return NULL;
    if (atomic_load(&file->link->set) == call->number && sock_joined(file) && !atomic_load(&file->link->set_spent))
        return file;
    sock_drop(file);
    return NULL;
}

static void examine_member(struct call *call, int place, struct sock_file *file)
{
    struct sock_link *link = file->link;
    uint32_t number = (uint32_t)(file - sock_files), wanted = atomic_load(&link->set_events), ready = 0;
    if (!(wanted & EPOLLET)) {
        ready = level(file, wanted);
        if ((wanted & EPOLLOUT) && !(ready & EPOLLOUT))
            sock_set_wants_room(file);
    }
    if (!ready) { /* the bit first, then what is asked for and the ring: what comes in between is seen in one of them */
        if (!sock_place_clear(place, number) && (wanted & EPOLLET))
            return; /* another thread tells it */
        wanted = atomic_load(&link->set_events);
        ready = level(file, wanted);
        if ((wanted & EPOLLOUT) && !(ready & EPOLLOUT))
            sock_set_wants_room(file);
        if (ready && !(wanted & (EPOLLET | EPOLLONESHOT)))
            sock_place_set(place, number);
    }
    if (ready)
        report(call, link, ready);
}

/* One connection whose bit is set; since when. */
static uint64_t examine(struct call *call, int place, uint32_t number)
{
    struct sock_file *file = member(call, number);
    if (!file) { /* the bit first, then again: a one-shot member may be armed in between */
        if (!sock_place_clear(place, number) || !(file = member(call, number)))
            return 0;
        sock_place_set(place, number);
    }
    examine_member(call, place, file);
    const struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    uint64_t since = atomic_load_explicit(&in->since, memory_order_relaxed);
    sock_drop(file);
    return since;
}

/* The last event goes before those that came later: the kernel tells them in the order in which they came. */
static void event_sort(struct call *call, int first, uint64_t since[EVENTS], uint64_t came)
{
    int i = call->count - 1;
    struct epoll_event event = call->events[i];
    for (; i > first && since[i - 1] > came; i--) {
        call->events[i] = call->events[i - 1];
        since[i] = since[i - 1];
    }
    call->events[i] = event;
    since[i] = came;
}

/* From where the last call ended, so that each connection has its turn. */
static void collect(struct call *call, int place)
{
    uint32_t start = call->set->cursor, number = start;
    uint64_t since[EVENTS];
    int first = call->count;
    bool again = start != 0;
    while (call->count < call->room) {
        number = sock_place_next(place, number);
        if (number >= SOCK_FILES || (!again && start && number >= start)) {
            if (!again || number < SOCK_FILES) {
                number = 0;
                break;
            }
            again = false;
            number = 0;
            continue;
        }
        int before = call->count;
        uint64_t came = examine(call, place, number++);
        if (call->count > before)
            event_sort(call, first, since, came);
    }
    call->set->cursor = number < SOCK_FILES ? number : 0;
}

/* It may be out of the set, and in it again when it is looked at. */
static void tell_later(uint32_t number, uint32_t events)
{
    struct sock_file *file = sock_hold_number(number);
    if (!file)
        return;
    atomic_fetch_or(&file->link->set_reported, events);
    sock_drop(file);
}

/* For a set without a place. True: the program is told of FILE, and is to be told of it again. */
static bool tell_now(struct call *call, struct sock_file *file, uint32_t events)
{
    uint32_t wanted = atomic_load(&file->link->set_events);
    uint32_t ready = (uint16_t)sock_stream_from_kernel(file, (short)(wanted & 0x7fff), (short)events);
    if (ready)
        report(call, file->link, ready);
    return ready && !(wanted & EPOLLET);
}

/* QUIET: the kernel is to tell changes only, see set.h. Registering looks at the socket again: what comes in between is
 * told. */
static void member_quiet(const struct call *call, uint32_t number, bool quiet)
{
    struct sock_file *file = sock_hold_number(number);
    struct sock_link *link = file ? file->link : NULL;
    if (link && atomic_load(&link->set_quiet) != quiet) {
        sock_lock(&link->receive);
        if (atomic_load(&link->set) == call->number && sock_joined(file) && atomic_load(&call->set->plain)) {
            atomic_store(&link->set_quiet, quiet);
            (void)sock_set_register(file, call->number);
        }
        sock_unlock(&link->receive);
    }
    if (file)
        sock_drop(file);
}

/* What the kernel has told: the program's events stay, ours become bits, or are looked at where there is no place. */
static void translate(struct call *call, int place, int count)
{
    int first = call->count, kept = first;
    for (int i = first; i < first + count; i++) {
        struct epoll_event event = call->events[i];
        uint32_t number;
        if (!sock_tag_is_ours(event.data.u64, &number)) {
            call->events[kept++] = event;
            continue;
        }
        if (!number)
            continue;
        tell_later(number, event.events);
        if (place >= 0 && !atomic_load(&call->set->plain)) {
            sock_place_set(place, number); /* whose it is is looked at there */
            continue;
        }
        struct sock_file *file = member(call, number);
        call->count = kept;
        bool again = file && tell_now(call, file, event.events);
        kept = call->count;
        if (file)
            sock_drop(file);
        member_quiet(call, number, !again);
    }
    call->count = kept;
}

static int ms_left(const struct call *call)
{
    uint64_t now = call->deadline ? vbase_clock_ns() : 0, ns = call->deadline > now ? call->deadline - now : 0;
    uint64_t ms = (ns + 999999) / 1000000;
    uint64_t blind = atomic_load(&call->set->plain) ? 0 : atomic_load(&call->set->blind); /* the kernel tells of room */
    if (blind && (!call->deadline || blind < ms))
        return (int)blind;
    if (!call->deadline)
        return -1;
    return ms > 0x7fffffff ? 0x7fffffff : (int)ms;
}

/* Connections whose other side cannot tell us of room are looked at in turn. */
static void look_for_room(struct call *call, int place)
{
    if (!atomic_exchange(&call->set->blind, 0))
        return;
    for (uint32_t i = 1; i < sock_link_end(); i++)
        if (atomic_load(&sock_link_at(i)->set) == call->number)
            sock_place_set(place, i);
}

/* Asks the kernel; true: it answered, or the call is to end with an error. */
static int ask(struct call *call, int place, bool wait)
{
    int ms = !wait || call->at_once ? 0 : ms_left(call);
    int n = sock_real.epoll_pwait(call->fd, call->events + call->count, call->room - call->count, ms, call->mask);
    call->set->rounds = 0;
    call->set->asked = clock_ticks();
    if (n > 0)
        translate(call, place, n);
    return n;
}

static bool spin(struct call *call, int place)
{
    struct sock_spin spin;
    bool found = false;
    int looks = 0;
    if (!sock_spin_begin(&spin))
        return false;
    do {
        found = sock_place_next(place, 0) < SOCK_FILES;
        if (!found && ++looks % ASK_EVERY == 0)
            found = ask(call, place, false) != 0;
    } while (!found && sock_spin_on(&spin));
    sock_spin_end(&spin, found);
    return found;
}

/* Until the set may have something; -1: the call ends with an error. One mark is for all threads that wait in the set:
 * one that goes takes it away, unless others sleep. */
static int sleep_placed(struct call *call, int place)
{
    sleeper_come(call);
    sock_place_sleep(place);
    int n = sock_place_next(place, 0) < SOCK_FILES ? 0 : ask(call, place, true);
    int why = errno;
    sock_place_awake(place);
    sleeper_leave(call);
    errno = why;
    return n;
}

/* Whatever this call took away, the mark or a wake-up, is given back to those that sleep on. */
static void others_wake(struct call *call, int place)
{
    if (likely(!atomic_load(&call->set->sleepers)))
        return;
    int saved = errno;
    sock_place_sleep(place);
    if (sock_place_next(place, 0) < SOCK_FILES)
        sock_place_wake(place);
    errno = saved;
}

/* Bits are there. Whether all members go by rings is looked up rarely, as there may be many. If so, calls count only
 * where each may tell several: one that tells one at a time makes many. */
static bool kernel_due(const struct call *call)
{
    struct sock_set *set = call->set;
    uint64_t now = clock_ticks(), rarely = vbase_clock_ticks_of_ns(ENDS_NS);
    bool full = set->full, mixed = atomic_load_explicit(&set->mixed, memory_order_relaxed);
    set->full = false;
    if (mixed && !atomic_load_explicit(&set->foreign, memory_order_relaxed) && now - set->looked >= rarely) {
        set->looked = now;
        mixed = sock_set_is_mixed(call->number);
    }
    return !full && (((mixed || call->room > 1) && ++set->rounds >= KERNEL_EVERY) ||
                     now - set->asked >= (mixed ? vbase_clock_ticks_of_ns(KERNEL_NS) : rarely));
}

static int collect_placed(struct call *call, int place)
{
    struct sock_set *set = call->set;
    bool news = unlikely(atomic_load_explicit(&set->news, memory_order_relaxed)) && !set->full &&
                atomic_exchange(&set->news, false);
    if (news || (sock_place_next(place, 0) < SOCK_FILES && kernel_due(call))) {
        if (ask(call, place, false) < 0)
            return -1;
        set->full = call->count == call->room;
        if (set->full)
            return call->count;
    }
    for (bool slept = false;; slept = true) {
        do
            collect(call, place);
        while (!call->count && sock_place_next(place, 0) < SOCK_FILES);
        if (call->count)
            return call->count;
        if (call->at_once) {
            int n = ask(call, place, false);
            look_for_room(call, place);
            collect(call, place);
            return n < 0 ? n : call->count;
        }
        if (slept && call->deadline && vbase_clock_ns() >= call->deadline)
            return 0;
        if (!spin(call, place) && sleep_placed(call, place) < 0)
            return -1;
        if (call->count)
            return call->count;
        look_for_room(call, place);
    }
}

static int wait_placed(struct call *call, int place)
{
    int n = collect_placed(call, place);
    others_wake(call, place);
    return n;
}

/* Without a place all comes from the kernel: its members write by TCP. */
static int wait_plain(struct call *call)
{
    for (;;) {
        int n = ask(call, -1, true);
        bool over = call->at_once || (call->deadline && vbase_clock_ns() >= call->deadline);
        if (n < 0 || call->count || over)
            return n < 0 ? n : call->count;
    }
}

static int waited(struct call *call)
{
    struct sock_set *set = call->set;
    if (!atomic_load(&set->plain) && !sock_set_own(set))
        sock_set_make_plain(set, call->number);
    int place = atomic_load(&set->place);
    return place >= 0 && !atomic_load(&set->plain) && atomic_load(&set->owner) == sock_pid() ? wait_placed(call, place)
                                                                                             : wait_plain(call);
}

/* True: the call is the kernel's alone. It may end with tags of ours all the same, if a connection joins meanwhile. */
static bool is_plain(struct call *call, int fd, struct epoll_event *events, int room, uint64_t limit_ns,
                     const sigset_t *mask)
{
    struct sock_set *set = sock_set_of(fd);
    *call = (struct call){.set = set, .fd = fd, .events = events, .room = room < EVENTS ? room : EVENTS, .mask = mask};
    if (!set || !events || room <= 0)
        return true;
    call->number = atomic_load(&sock_table[fd]) - SOCK_FILES;
    call->generation = atomic_load(&set->generation);
    call->at_once = limit_ns == 0;
    call->deadline = limit_ns && limit_ns != ~0ull ? vbase_clock_ns() + limit_ns : 0;
    if (atomic_load(&set->tagged) || call->at_once)
        return !atomic_load(&set->tagged);
    sleeper_come(call); /* seq_cst: then looks; place_make tags the set, then looks for sleepers */
    call->counted = !atomic_load(&set->tagged);
    if (!call->counted)
        sleeper_leave(call);
    return call->counted;
}

/* False: the kernel's answer was nothing but tags, and the time is not over. A wake-up may be among them that is for
 * others as well. */
static bool is_answer(struct call *call, int *n)
{
    if (call->counted)
        sleeper_leave(call);
    if (*n <= 0 || !call->set || likely(!atomic_load(&call->set->tagged)))
        return true;
    int place = atomic_load(&call->set->owner) == sock_pid() ? atomic_load(&call->set->place) : -1;
    translate(call, place, *n);
    *n = call->count;
    bool over = *n || call->at_once || (call->deadline && vbase_clock_ns() >= call->deadline);
    if (over && place >= 0)
        others_wake(call, place);
    return over;
}

static uint64_t limit_of_ms(int time) { return time < 0 ? ~0ull : (uint64_t)time * 1000000; }

int sock_epoll_wait(int fd, struct epoll_event *events, int room, int time)
{
    struct call call;
    int n;
    if (is_plain(&call, fd, events, room, limit_of_ms(time), NULL) &&
        (n = sock_real.epoll_wait(fd, events, room, time), is_answer(&call, &n)))
        return n;
    return waited(&call);
}

int sock_epoll_pwait(int fd, struct epoll_event *events, int room, int time, const sigset_t *mask)
{
    struct call call;
    int n;
    if (is_plain(&call, fd, events, room, limit_of_ms(time), mask) &&
        (n = sock_real.epoll_pwait(fd, events, room, time, mask), is_answer(&call, &n)))
        return n;
    return waited(&call);
}

int sock_epoll_pwait2(int fd, struct epoll_event *events, int room, const struct timespec *time, const sigset_t *mask)
{
    struct call call;
    uint64_t limit_ns = time ? (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec : ~0ull;
    int n;
    if (is_plain(&call, fd, events, room, limit_ns, mask) &&
        (n = sock_real.epoll_pwait2(fd, events, room, time, mask), is_answer(&call, &n)))
        return n;
    return waited(&call);
}
