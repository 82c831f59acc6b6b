/* epoll_ctl and what belongs to it: which connection is in which set; see epoll.h. Waiting is epoll_wait.c. */
#include "base/clock.h"
#include "sock/epoll.h"
#include "sock/hooks.h"
#include "sock/place.h"
#include "sock/set.h"
#include "sock/stream.h"

#include <errno.h>
#include <sys/syscall.h>

static void set_open(int fd)
{
    uint32_t number = fd >= 0 && (uint32_t)fd < SOCK_DESCRIPTORS && sock_family_open() ? sock_set_take() : 0;
    struct sock_set *set = number ? sock_set_at(number) : NULL;
    if (set) {
        atomic_fetch_add(&set->generation, 1); /* first: a wait that began in the set before counts no more */
        atomic_store(&set->descriptors, 1);
        atomic_store(&set->tagged, false);
        atomic_store(&set->owner, sock_pid());
        atomic_store(&set->place, -1);
        atomic_store(&set->plain, false);
        atomic_store(&set->blind, 0);
        atomic_store(&set->sleepers, 0);
        atomic_store(&set->news, false);
        set->fd = fd;
        set->cursor = set->rounds = 0;
        set->full = false;
        atomic_store(&set->foreign, false);
        atomic_store(&set->mixed, false);
        set->asked = clock_ticks();
        sock_table_set(fd, SOCK_FILES + number);
    }
}

int sock_epoll_create(int size)
{
    sock_change_begin();
    int fd = sock_real.epoll_create(size);
    set_open(fd);
    sock_change_end();
    return fd;
}

int sock_epoll_create1(int flags)
{
    sock_change_begin();
    int fd = sock_real.epoll_create1(flags);
    set_open(fd);
    sock_change_end();
    return fd;
}

void sock_set_copied(int from, int to)
{
    struct sock_set *set = to >= 0 ? sock_set_of(from) : NULL;
    if (!set || sock_set_of(to) == set)
        return;
    atomic_fetch_add(&set->descriptors, 1);
    sock_table_set(to, atomic_load(&sock_table[from]));
}

static void remember(struct sock_link *link, uint32_t set, int fd, const struct epoll_event *event)
{
    link->set_fd = fd;
    atomic_store(&link->set_events, event->events);
    atomic_store(&link->set_data, event->data.u64);
    atomic_store(&link->set_spent, false);
    atomic_store(&link->set_quiet, false);
    atomic_store(&link->set, set);
    sock_link_by_kernel(link);
}

static void forget(struct sock_file *file)
{
    struct sock_link *link = file->link;
    uint32_t number = atomic_exchange(&link->set, 0);
    if (!number || !sock_joined(file))
        return;
    if (atomic_load(&sock_set_at(number)->plain))
        sock_set_kernel_forget(link);
}

/* The number of a set is given away again: what is still in it leaves. */
static void set_leave_all(uint32_t number)
{
    for (uint32_t i = 1; i < sock_link_end(); i++) {
        struct sock_link *link = sock_link_at(i);
        struct sock_file *file = atomic_load(&link->set) == number ? sock_hold_number(i) : NULL;
        if (!file)
            continue;
        sock_lock(&link->receive);
        if (atomic_load(&link->set) == number) {
            forget(file);
            if (sock_joined(file) && link->waiting == 0)
                sock_stream_place(file, NO_PLACE);
        }
        sock_unlock(&link->receive);
        sock_drop(file);
    }
}

static int set_another(uint32_t number)
{
    for (int fd = 0; fd < sock_table_end(); fd++)
        if (atomic_load(&sock_table[fd]) == SOCK_FILES + number)
            return fd;
    return -1;
}

void sock_set_closed(int fd)
{
    struct sock_set *set = sock_set_of(fd);
    if (!set)
        return;
    uint32_t number = sock_table_set(fd, 0) - SOCK_FILES;
    bool last, owned = atomic_load(&set->owner) == sock_pid(); /* else a child's copy */
    int other = !owned || set->fd == fd ? set_another(number) : -1;
    if (owned) {
        int place = atomic_load(&set->place);
        if (other >= 0)
            set->fd = other;
        if (atomic_load(&set->descriptors) == 1)
            set_leave_all(number);
        last = atomic_fetch_sub(&set->descriptors, 1) == 1;
        if (last && place >= 0)
            sock_place_close(place);
    } else {
        last = other < 0;
    }
    if (last && sock_holders_leave(&set->holders, sock_pid()))
        sock_set_free(number);
}

/* Of this member only the kernel tells. */
static void foreign_add(struct sock_set *set)
{
    if (set) {
        atomic_store(&set->foreign, true);
        atomic_store(&set->mixed, true);
    }
}

/* A connection in two sets, or in one that we do not know: the kernel alone can tell, so it is to carry the bytes. */
static int second_set(struct sock_file *file, int fd, int what, int member, struct epoll_event *event)
{
    int result = sock_real.epoll_ctl(fd, what, member, event);
    if (result == 0 && what == EPOLL_CTL_ADD) {
        atomic_store(&file->link->many, true);
        foreign_add(sock_set_of(fd));
    }
    return result;
}

/* An exclusive member is added, with few other events, and never changed. BEFORE: the events of a member. */
static bool is_refused(int what, uint32_t before, const struct epoll_event *event)
{
    const uint32_t with = EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE;
    if (what == EPOLL_CTL_ADD)
        return event && event->events & EPOLLEXCLUSIVE && event->events & ~with;
    if (what == EPOLL_CTL_MOD)
        return event && (before | event->events) & EPOLLEXCLUSIVE;
    return what != EPOLL_CTL_DEL;
}

/* FD is the set. Under link->receive. */
static int control(struct sock_file *file, int fd, uint32_t number, int what, int member, struct epoll_event *event)
{
    struct sock_link *link = file->link;
    uint32_t in = atomic_load(&link->set);
    int result;
    if (in && (in != number || link->set_fd != member))
        return second_set(file, fd, what, member, event);
    if (is_refused(what, in ? atomic_load(&link->set_events) : 0, event)) {
        errno = EINVAL;
        return -1;
    }
    if (!sock_joined(file) || (what != EPOLL_CTL_DEL && !event)) {
        result = sock_real.epoll_ctl(fd, what, member, event);
        if (result == 0 && what == EPOLL_CTL_DEL)
            forget(file);
        else if (result == 0)
            remember(link, number, member, event);
        return result;
    }
    if ((what == EPOLL_CTL_ADD) != !in) {
        errno = what == EPOLL_CTL_ADD ? EEXIST : ENOENT;
        return -1;
    }
    if (what == EPOLL_CTL_DEL) {
        forget(file);
        return 0;
    }
    remember(link, number, member, event);
    result = sock_set_register(file, number);
    if (result != 0 && !in)
        atomic_store(&link->set, 0);
    return result;
}

int sock_epoll_ctl(int fd, int what, int member, struct epoll_event *event)
{
    struct sock_set *set = sock_set_of(fd);
    struct sock_file *file = sock_known(member) ? sock_hold(member) : NULL;
    if (!file) {
        if (sock_set_of(member))
            sock_set_nested(member);
        if (what == EPOLL_CTL_ADD)
            foreign_add(set);
        return sock_real.epoll_ctl(fd, what, member, event);
    }
    pthread_mutex_t *got = sock_lock_soon(&file->link->receive); /* else: its holder reads, and was stopped */
    int result = set ? control(file, fd, atomic_load(&sock_table[fd]) - SOCK_FILES, what, member, event)
                     : second_set(file, fd, what, member, event);
    int why = errno;
    bool exclusive = result == 0 && what == EPOLL_CTL_ADD && event && event->events & EPOLLEXCLUSIVE;
    bool back = atomic_load(&file->link->many) || exclusive || (result == 0 && set && atomic_load(&set->plain));
    sock_unlock_got(got);
    if (back && !file->link->never)
        (void)sock_stream_never(file);
    sock_drop(file);
    errno = why;
    return result;
}

/* Its connections go back to TCP, where the kernel tells everybody of them. One that has bytes in the ring goes back
 * later: until then the eventfd, which is a member of the set, shows that there is something. */
void sock_set_make_plain(struct sock_set *set, uint32_t number)
{
    int place = atomic_load(&set->place);
    if (atomic_exchange(&set->plain, true))
        return;
    for (uint32_t i = 1; i < sock_link_end(); i++) {
        struct sock_file *file = atomic_load(&sock_link_at(i)->set) == number ? sock_hold_number(i) : NULL;
        if (!file)
            continue;
        bool back = sock_stream_never(file);
        sock_lock(&file->link->receive);
        if (sock_joined(file) && atomic_load(&file->link->set) == number)
            (void)sock_set_register(file, number);
        sock_unlock(&file->link->receive);
        const uint64_t one = 1;
        if (!back && place >= 0 && atomic_load(&set->owner) == sock_pid())
            (void)sock_raw(SYS_write, sock_place_event(place), (long)&one, sizeof(one), 0, 0, 0);
        sock_drop(file);
    }
}

void sock_set_nested(int fd)
{
    struct sock_set *set = sock_set_of(fd);
    if (set)
        sock_set_make_plain(set, atomic_load(&sock_table[fd]) - SOCK_FILES);
}

void sock_set_closing(struct sock_file *file, int fd)
{
    struct sock_link *link = file->link;
    uint32_t set = atomic_load(&link->set);
    if (set == 0 || link->set_fd != fd || atomic_load(&sock_set_at(set)->owner) != sock_pid())
        return; /* a child's copy is no member */
    int rest = sock_file_another(file, fd);
    pthread_mutex_t *got = sock_lock_soon(&link->receive);
    if (rest >= 0) {
        uint32_t number = atomic_load(&link->set);
        if (link->kernel_set)
            sock_set_kernel_forget(link);
        link->set_fd = rest;
        if (sock_joined(file))
            (void)sock_set_register(file, number);
    } else {
        forget(file);
    }
    sock_unlock_got(got);
}
