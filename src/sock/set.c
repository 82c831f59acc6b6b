/* The place of an epoll set, and how the kernel's registration of its members looks; see set.h. */
#include "sock/set.h"
#include "sock/direction.h"
#include "sock/place.h"
#include "sock/real.h"
#include "sock/stream.h"

#include <errno.h>
#include <stdio.h>

#define TAG 0x7669616475630000ull /* over the number of the connection; 0: the eventfd of the place */

struct sock_set *sock_set_of(int fd)
{
    uint32_t number = (uint32_t)fd < SOCK_DESCRIPTORS ? atomic_load(&sock_table[fd]) : 0;
    return number > SOCK_FILES ? sock_set_at(number - SOCK_FILES) : NULL;
}
bool sock_is_set(int fd) { return sock_set_of(fd) != NULL; }

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
    return atomic_load(&set->plain) && !atomic_load(&file->link->set_quiet) ? kernel : kernel | EPOLLET;
}

bool sock_set_own(struct sock_set *set)
{
    uint32_t owner = atomic_load(&set->owner);
    if (owner == sock_pid())
        return true;
    return atomic_load(&set->place) < 0 && sock_process_is_dead(owner) &&
           atomic_compare_exchange_strong(&set->owner, &owner, sock_pid());
}

/* The set's place, made with the first joined connection. For threads that sleep in the set since before it has the
 * mark: the kernel wakes one of them by the eventfd. */
static int place_make(struct sock_set *set)
{
    int place = atomic_load(&set->place), none = -1;
    if (!sock_set_own(set))
        return -1; /* it is on the board of another process */
    if (place >= 0 || atomic_load(&set->plain))
        return place;
    place = sock_place_open();
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = TAG};
    if (place >= 0 && sock_real.epoll_ctl(set->fd, EPOLL_CTL_ADD, sock_place_event(place), &event) != 0) {
        sock_place_close(place);
        place = -1;
    }
    if (place < 0)
        atomic_store(&set->plain, true);
    else if (!atomic_compare_exchange_strong(&set->place, &none, place)) {
        sock_place_close(place);
        place = none;
    } else {
        atomic_store(&set->tagged, true);
        if (atomic_load(&set->sleepers)) {
            sock_place_sleep(place);
            if (sock_place_next(place, 0) < SOCK_FILES) /* by a peer, since another thread has found the place */
                sock_place_wake(place);
        }
    }
    return place;
}

int sock_set_place_of(struct sock_file *file)
{
    uint32_t number = atomic_load(&file->link->set);
    return number ? place_make(sock_set_at(number)) : -1;
}

void sock_set_kernel_forget(struct sock_link *link)
{
    struct sock_set *set = sock_set_at(link->kernel_set % SOCK_SETS);
    if (atomic_load(&set->generation) == link->kernel_set / SOCK_SETS && atomic_load(&set->descriptors))
        (void)sock_real.epoll_ctl(set->fd, EPOLL_CTL_DEL, link->kernel_fd, NULL);
    link->kernel_set = 0;
}

static void look_at(struct sock_file *file, int place)
{
    sock_place_set(place, (uint32_t)(file - sock_files));
    sock_place_wake(place);
}

void sock_set_place(struct sock_file *file)
{
    struct sock_link *link = file->link;
    struct sock_set *set = sock_set_at(atomic_load(&link->set));
    int place = atomic_load(&set->plain) ? -1 : place_make(set);
    bool placed = place >= 0 && !atomic_load(&link->many) && link->waiting == 0 &&
                  file->peer && atomic_load(&set->owner) == sock_pid();
    sock_stream_place(file, placed ? (uint32_t)place + 1 : NO_PLACE);
    if (place >= 0)
        look_at(file, place); /* what came before */
}

static int place_here(const struct sock_set *set)
{
    return set && atomic_load(&set->owner) == sock_pid() ? atomic_load(&set->place) : -1;
}

void sock_set_ask_again(struct sock_file *file)
{
    uint32_t number = atomic_load(&file->link->set);
    int place = place_here(number ? sock_set_at(number) : NULL);
    if (place >= 0)
        look_at(file, place);
}

void sock_set_wants_room(struct sock_file *file)
{
    struct sock_link *link = file->link;
    struct sock_set *set = atomic_load(&link->set) ? sock_set_at(atomic_load(&link->set)) : NULL;
    int place = place_here(set);
    short tcp;
    if (!set || !(atomic_load(&link->set_events) & EPOLLOUT))
        return;
    uint32_t again = (uint32_t)(sock_room_want(file, place) / 1000000), before = atomic_load(&set->blind);
    while (again && (!before || again < before))
        if (atomic_compare_exchange_weak(&set->blind, &before, again)) {
            sock_place_wake(place); /* another thread sleeps there, without a limit */
            break;
        }
    if (place >= 0 && sock_stream_events(file, POLLOUT, &tcp))
        look_at(file, place);
}

static uint32_t name_of(const struct sock_set *set, uint32_t number)
{
    return atomic_load(&set->generation) * SOCK_SETS + number;
}

/* The kernel's registration as it has to be. One that is right stays as it is, also when the program has taken the
 * connection out of the set meanwhile: many programs do so for each answer. Under link->receive. */
int sock_set_register(struct sock_file *file, uint32_t number)
{
    struct sock_link *link = file->link;
    struct sock_set *set = sock_set_at(number);
    if (!atomic_load(&set->plain))
        (void)place_make(set); /* before the tag: a thread that sees that waits at the place */
    struct epoll_event event = {kernel_events(set, file), {.u64 = TAG | (uint64_t)(file - sock_files)}};
    bool there = link->kernel_set == name_of(set, number) && link->kernel_fd == link->set_fd;
    if (!there || link->kernel_events != event.events) {
        if (link->kernel_set && !there)
            sock_set_kernel_forget(link);
        atomic_store(&set->tagged, true);
        int result = sock_real.epoll_ctl(set->fd, EPOLL_CTL_MOD, link->set_fd, &event);
        if (result != 0 && errno == ENOENT)
            result = sock_real.epoll_ctl(set->fd, EPOLL_CTL_ADD, link->set_fd, &event);
        if (result != 0)
            return result;
        atomic_store(&set->news, true); /* behind the call: a thread that takes it away asks the kernel */
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

bool sock_set_may_join(struct sock_file *file)
{
    struct sock_link *link = file->link;
    sock_lock(&link->receive);
    uint32_t number = atomic_load(&link->set);
    bool may = !number || (place_make(sock_set_at(number)) >= 0 && !atomic_load(&sock_set_at(number)->plain));
    sock_unlock(&link->receive);
    return may;
}

bool sock_set_joined(struct sock_file *file)
{
    struct sock_link *link = file->link;
    bool done = true;
    sock_lock(&link->receive);
    uint32_t number = atomic_load(&link->set);
    if (number) {
        if (atomic_load(&link->set_events) & EPOLLONESHOT)
            atomic_store(&link->set_spent, spent_in_kernel(sock_set_at(number)->fd, link->set_fd));
        done = sock_set_register(file, number) == 0 && !atomic_load(&sock_set_at(number)->plain);
    }
    sock_unlock(&link->receive);
    return done;
}

void sock_set_refresh(struct sock_file *file)
{
    struct sock_link *link = file->link;
    int saved = errno;
    sock_lock(&link->receive);
    uint32_t number = atomic_load(&link->set);
    if (number && sock_joined(file)) {
        sock_link_by_kernel(link);
        (void)sock_set_register(file, number);
    }
    sock_unlock(&link->receive);
    errno = saved;
}
