/* epoll_ctl and what belongs to it: which connection is in which set, and how the kernel's registration looks; see
 * epoll.h. Waiting is epoll_wait.c. */
#include "sock/epoll.h"
#include "sock/hooks.h"
#include "sock/link.h"
#include "sock/place.h"
#include "sock/set.h"
#include "sock/stream.h"
#include "sock/wait.h"

#include <errno.h>
#include <stdio.h>

#define TAG 0x7669616475630000ull /* over the number of the connection; 0: the eventfd of the place */

static struct sock_set *set_of(int fd)
{
    uint32_t number = (uint32_t)fd < SOCK_DESCRIPTORS ? atomic_load(&sock_table[fd]) : 0;
    return number > SOCK_FILES ? sock_set_at(number - SOCK_FILES) : NULL;
}
struct sock_set *sock_set_of(int fd) { return set_of(fd); }
bool sock_is_set(int fd) { return set_of(fd) != NULL; }

static int set_open(int fd)
{
    for (uint32_t i = 1; fd >= 0 && (uint32_t)fd < SOCK_DESCRIPTORS && i < SOCK_SETS && sock_family_make(); i++) {
        struct sock_set *set = sock_set_at(i);
        uint32_t free = 0;
        if (!atomic_compare_exchange_strong(&set->descriptors, &free, 1))
            continue;
        atomic_store(&set->tagged, false);
        atomic_store(&set->owner, sock_pid());
        atomic_store(&set->place, -1);
        atomic_store(&set->plain, false);
        atomic_store(&set->blind, 0);
        atomic_store(&set->sleepers, 0);
        set->fd = fd;
        set->generation++;
        set->cursor = set->rounds = 0;
        sock_table_set(fd, SOCK_FILES + i);
        break;
    }
    return fd;
}

int sock_epoll_create(int size) { return set_open(sock_real.epoll_create(size)); }
int sock_epoll_create1(int flags) { return set_open(sock_real.epoll_create1(flags)); }

void sock_set_copied(int from, int to)
{
    struct sock_set *set = to >= 0 ? set_of(from) : NULL;
    if (!set)
        return;
    atomic_fetch_add(&set->descriptors, 1);
    sock_table_set(to, atomic_load(&sock_table[from]));
}

bool sock_tag_is_ours(uint64_t data, uint32_t *number)
{
    *number = (uint32_t)(data & 0xffff);
    return (data & ~0xffffull) == TAG;
}

/* The kernel tells all that may change what the program waits for: bells, the end, errors, and room while TCP
 * carries. */
static uint32_t kernel_events(const struct sock_set *set, struct sock_file *file)
{
    uint32_t wanted = atomic_load(&file->link->set_events), kernel = EPOLLIN | EPOLLRDHUP | (wanted & EPOLLPRI);
    if (atomic_load(&file->link->out_phase) != PHASE_RING)
        kernel |= wanted & EPOLLOUT;
    return atomic_load(&set->plain) ? kernel : kernel | EPOLLET;
}

/* The set's place, made with the first joined connection. */
static int place_make(struct sock_set *set)
{
    int place = atomic_load(&set->place), none = -1;
    if (atomic_load(&set->owner) != sock_pid())
        return -1; /* it is on the board of another process */
    if (place >= 0 || atomic_load(&set->plain))
        return place;
    place = sock_place_open();
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = TAG};
    atomic_store(&set->tagged, true);
    if (place >= 0 && sock_real.epoll_ctl(set->fd, EPOLL_CTL_ADD, sock_place_event(place), &event) != 0) {
        sock_place_close(place);
        place = -1;
    }
    if (place < 0)
        atomic_store(&set->plain, true);
    else if (!atomic_compare_exchange_strong(&set->place, &none, place)) {
        sock_place_close(place);
        place = none;
    }
    return place;
}

int sock_set_place_of(struct sock_file *file)
{
    uint32_t number = atomic_load(&file->link->set);
    return number ? place_make(sock_set_at(number)) : -1;
}

static void kernel_forget(struct sock_link *link)
{
    struct sock_set *set = sock_set_at(link->kernel_set % SOCK_SETS);
    if (set->generation == link->kernel_set / SOCK_SETS && atomic_load(&set->descriptors))
        (void)sock_real.epoll_ctl(set->fd, EPOLL_CTL_DEL, link->kernel_fd, NULL);
    link->kernel_set = 0;
}

void sock_set_place(struct sock_file *file)
{
    struct sock_link *link = file->link;
    struct sock_set *set = sock_set_at(atomic_load(&link->set));
    uint32_t number = (uint32_t)(file - sock_files);
    int place = place_make(set);
    bool placed = place >= 0 && !atomic_load(&set->plain) && !atomic_load(&link->many) && link->waiting == 0 &&
                  file->peer && atomic_load(&set->owner) == sock_pid();
    sock_stream_place(file, placed ? (uint32_t)place + 1 : NO_PLACE);
    if (place < 0)
        return;
    sock_place_set(place, number); /* what came before is looked at */
    sock_place_wake(place);
}

void sock_set_wants_room(struct sock_file *file)
{
    struct sock_link *link = file->link;
    struct sock_set *set = atomic_load(&link->set) ? sock_set_at(atomic_load(&link->set)) : NULL;
    int place = set && atomic_load(&set->owner) == sock_pid() ? atomic_load(&set->place) : -1;
    short tcp;
    if (!set || !(atomic_load(&link->set_events) & EPOLLOUT))
        return;
    uint32_t again = (uint32_t)(sock_room_want(file, place) / 1000000), before = atomic_load(&set->blind);
    while (again && (!before || again < before))
        if (atomic_compare_exchange_weak(&set->blind, &before, again)) {
            sock_place_wake(place); /* another thread sleeps there, without a limit */
            break;
        }
    if (place >= 0 && sock_stream_events(file, POLLOUT, &tcp)) {
        sock_place_set(place, (uint32_t)(file - sock_files));
        sock_place_wake(place);
    }
}

static uint32_t name_of(const struct sock_set *set, uint32_t number) { return set->generation * SOCK_SETS + number; }

/* The kernel's registration as it has to be. One that is right stays as it is, also when the program has taken the
 * connection out of the set meanwhile: many programs do so for each answer. Under link->receive. */
static int register_joined(struct sock_file *file, uint32_t number)
{
    struct sock_link *link = file->link;
    struct sock_set *set = sock_set_at(number);
    struct epoll_event event = {kernel_events(set, file), {.u64 = TAG | (uint64_t)(file - sock_files)}};
    bool there = link->kernel_set == name_of(set, number) && link->kernel_fd == link->set_fd;
    if (!there || link->kernel_events != event.events) {
        if (link->kernel_set && !there)
            kernel_forget(link);
        atomic_store(&set->tagged, true);
        int result = sock_real.epoll_ctl(set->fd, EPOLL_CTL_MOD, link->set_fd, &event);
        if (result != 0 && errno == ENOENT)
            result = sock_real.epoll_ctl(set->fd, EPOLL_CTL_ADD, link->set_fd, &event);
        if (result != 0)
            return result;
        link->kernel_set = name_of(set, number);
        link->kernel_events = event.events;
        link->kernel_fd = link->set_fd;
    }
    sock_set_place(file);
    return 0;
}

/* A one-shot member that has been reported waits for the program; only the kernel knows. */
static bool spent_in_kernel(int set, int member)
{
    char path[40], line[200];
    unsigned found, events = EPOLLIN;
    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", set);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "tfd: %u events: %x", &found, &events) == 2 && found == (unsigned)member)
            break;
        else
            events = EPOLLIN;
    if (file)
        fclose(file);
    return !(events & (EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLPRI | EPOLLRDHUP));
}

void sock_set_joined(struct sock_file *file)
{
    struct sock_link *link = file->link;
    sock_lock(&link->receive);
    uint32_t number = atomic_load(&link->set);
    if (number) {
        if (atomic_load(&link->set_events) & EPOLLONESHOT)
            atomic_store(&link->set_spent, spent_in_kernel(sock_set_at(number)->fd, link->set_fd));
        (void)register_joined(file, number);
    }
    sock_unlock(&link->receive);
}

void sock_set_refresh(struct sock_file *file)
{
    struct sock_link *link = file->link;
    int saved = errno;
    sock_lock(&link->receive);
    uint32_t number = atomic_load(&link->set);
    if (number && sock_joined(file))
        (void)register_joined(file, number);
    sock_unlock(&link->receive);
    errno = saved;
}

static void remember(struct sock_link *link, uint32_t set, int fd, const struct epoll_event *event)
{
    link->set_fd = fd;
    atomic_store(&link->set_events, event->events);
    atomic_store(&link->set_data, event->data.u64);
    atomic_store(&link->set_spent, false);
    atomic_store(&link->set, set);
}

static void forget(struct sock_file *file)
{
    struct sock_link *link = file->link;
    uint32_t number = atomic_exchange(&link->set, 0);
    if (!number || !sock_joined(file))
        return;
    if (atomic_load(&sock_set_at(number)->plain))
        kernel_forget(link);
}

/* The number of a set is given away again: what is still in it leaves. */
static void set_leave_all(uint32_t number)
{
    for (uint32_t i = 1; i < sock_link_end(); i++) {
        struct sock_file *file = &sock_files[i];
        struct sock_link *link = sock_link_at(i);
        if (atomic_load(&link->set) != number || !atomic_load(&file->descriptors))
            continue;
        sock_lock(&link->receive);
        if (atomic_load(&link->set) == number) {
            forget(file);
            if (sock_joined(file) && link->waiting == 0)
                sock_stream_place(file, NO_PLACE);
        }
        sock_unlock(&link->receive);
    }
}

void sock_set_closed(int fd)
{
    struct sock_set *set = set_of(fd);
    if (!set)
        return;
    uint32_t number = atomic_load(&sock_table[fd]) - SOCK_FILES;
    sock_table_set(fd, 0);
    if (atomic_load(&set->owner) != sock_pid())
        return; /* a child's copy */
    int place = atomic_load(&set->place);
    if (atomic_load(&set->descriptors) == 1)
        set_leave_all(number);
    if (atomic_fetch_sub(&set->descriptors, 1) == 1 && place >= 0)
        sock_place_close(place);
}

/* A connection in two sets: the kernel alone can tell both, so it is to carry the bytes. */
static int second_set(struct sock_file *file, int fd, int what, int member, struct epoll_event *event)
{
    int result = sock_real.epoll_ctl(fd, what, member, event);
    if (result == 0 && what == EPOLL_CTL_ADD) {
        atomic_store(&file->link->many, true);
        file->link->never = true;
    }
    return result;
}

/* Under link->receive. */
static int control(struct sock_file *file, uint32_t number, int what, int member, struct epoll_event *event)
{
    struct sock_link *link = file->link;
    struct sock_set *set = sock_set_at(number);
    uint32_t in = atomic_load(&link->set);
    int result;
    if (in && (in != number || link->set_fd != member))
        return second_set(file, set->fd, what, member, event);
    if (!sock_joined(file) || (what != EPOLL_CTL_DEL && !event)) {
        result = sock_real.epoll_ctl(set->fd, what, member, event);
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
    result = register_joined(file, number);
    if (result != 0 && !in)
        atomic_store(&link->set, 0);
    return result;
}

int sock_epoll_ctl(int fd, int what, int member, struct epoll_event *event)
{
    struct sock_set *set = set_of(fd);
    struct sock_file *file = set ? sock_hold(member) : NULL;
    if (!file) {
        if (set_of(member))
            sock_set_nested(member);
        return sock_real.epoll_ctl(fd, what, member, event);
    }
    sock_lock(&file->link->receive);
    int result = control(file, atomic_load(&sock_table[fd]) - SOCK_FILES, what, member, event);
    int why = errno;
    bool back = atomic_load(&file->link->many) && sock_joined(file);
    sock_unlock(&file->link->receive);
    if (back)
        sock_stream_back_out(file, member);
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
        struct sock_file *file = &sock_files[i];
        if (atomic_load(&sock_link_at(i)->set) != number || !atomic_load(&file->descriptors) || !sock_joined(file))
            continue;
        int fd = file->link->set_fd;
        sock_stream_back_out(file, fd);
        bool back = sock_stream_back_in(file, fd);
        sock_lock(&file->link->receive);
        (void)register_joined(file, number);
        sock_unlock(&file->link->receive);
        const uint64_t one = 1;
        if (!back && place >= 0 && atomic_load(&set->owner) == sock_pid())
            (void)!sock_real.write(sock_place_event(place), &one, sizeof(one));
    }
}

void sock_set_nested(int fd)
{
    struct sock_set *set = set_of(fd);
    if (set)
        sock_set_make_plain(set, atomic_load(&sock_table[fd]) - SOCK_FILES);
}

void sock_set_closing(struct sock_file *file, int fd, int rest)
{
    struct sock_link *link = file->link;
    if (atomic_load(&link->set) == 0 || link->set_fd != fd)
        return;
    sock_lock(&link->receive);
    if (rest >= 0) {
        uint32_t number = atomic_load(&link->set);
        if (link->kernel_set)
            kernel_forget(link);
        link->set_fd = rest;
        if (sock_joined(file))
            (void)register_joined(file, number);
    } else {
        forget(file);
    }
    sock_unlock(&link->receive);
}
