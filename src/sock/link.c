/* The memory of a family and the holders of its connections; see link.h. No locks: a place is taken by
 * compare-and-swap, and what a process leaves behind when it is killed is found by its number. */
#include "sock/link.h"
#include "base/clock.h"
#include "sock/policy.h"
#include "sock/real.h"
#include "sock/signal.h"
#include "sock/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT_NS 100000000

static struct sock_family *_Atomic memory;
#define family atomic_load_explicit(&memory, memory_order_acquire)

struct sock_link *sock_link_at(uint32_t number) { return &family->link[number]; }
uint32_t sock_link_end(void) { return family ? atomic_load(&family->high) : 0; }
uint32_t sock_link_hint(void) { return atomic_load_explicit(&family->next, memory_order_relaxed); }
struct sock_set *sock_set_at(uint32_t number) { return family ? &family->set[number] : NULL; }
bool sock_family_is_there(void) { return family; }

uint32_t sock_own_pid;

bool sock_family_make(void)
{
    struct sock_family *made, *none = NULL;
    int fd;
    if ((fd = sock_memory_make(SOCK_FAMILY_NAME, sizeof(*made))) < 0)
        return false;
    made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    /* what was mapped stays writable, and nothing else will be: a kernel before 5.1 refuses that */
    bool sealed = made != MAP_FAILED && sock_real.fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0;
    if (sealed) {
        made->magic = SOCK_FAMILY_MAGIC;
        made->size = sizeof(*made);
        made->after = sock_policy.after;
        sock_own_pid = (uint32_t)getpid();
        fd = sock_own_keep(fd); /* without it there is no list, and no other harm */
        if (atomic_compare_exchange_strong(&memory, &none, made))
            return true;
    }
    if (made != MAP_FAILED)
        munmap(made, sizeof(*made));
    if (sealed)
        sock_own_close(fd);
    else
        sock_real.close(fd);
    return family;
}

void sock_link_given_up(const struct sock_ends *ends, enum sock_reason reason)
{
    uint32_t number = atomic_fetch_add(&family->given_up_count, 1) % SOCK_GIVEN_UP;
    family->given_up[number] = (struct sock_given_up){*ends, reason};
}

void sock_lock(pthread_mutex_t *lock)
{
    sock_section_enter();
    if (unlikely(pthread_mutex_lock(lock) == EOWNERDEAD))
        (void)pthread_mutex_consistent(lock); /* heads and tails are moved by one store: what is there is whole */
}

void sock_unlock(pthread_mutex_t *lock)
{
    (void)pthread_mutex_unlock(lock);
    sock_section_leave();
}

void sock_lock_make(pthread_mutex_t *lock)
{
    pthread_mutexattr_t kind;
    (void)pthread_mutexattr_init(&kind);
    (void)pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    (void)pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    (void)pthread_mutex_init(lock, &kind);
}

bool sock_link_rename(struct sock_link *link, uint32_t old, uint32_t new)
{
    for (int i = 0; i < SOCK_HOLDERS; i++) {
        uint32_t seen = old;
        if (atomic_compare_exchange_strong(&link->holder[i], &seen, new))
            return true;
    }
    return false;
}

void sock_link_hold(struct sock_link *link, uint32_t who)
{
    if (sock_link_rename(link, 0, who))
        return;
    for (int i = 0; i < SOCK_HOLDERS; i++) { /* children that ended without closing it */
        uint32_t old = atomic_load(&link->holder[i]);
        if (!(old & SOCK_FORKING) && old != sock_pid() && sock_process_is_dead(old))
            atomic_compare_exchange_strong(&link->holder[i], &old, 0);
    }
    if (!sock_link_rename(link, 0, who))
        link->lost_count = true;
}

struct sock_link *sock_link_take(uint32_t number, enum sock_stage stage, bool active)
{
    struct sock_link *link = &family->link[number];
    uint32_t free = STAGE_FREE;
    if (atomic_load_explicit(&link->stage, memory_order_relaxed) != STAGE_FREE ||
        !atomic_compare_exchange_strong(&link->stage, &free, stage))
        return NULL;
    memset(&link->active, 0, sizeof(*link) - offsetof(struct sock_link, active));
    link->active = active;
    sock_lock_make(&link->send);
    sock_lock_make(&link->receive);
    sock_link_hold(link, sock_pid());
    atomic_store_explicit(&family->next, number + 1, memory_order_relaxed); /* a hint */
    uint32_t high = atomic_load(&family->high);
    while (high <= number && !atomic_compare_exchange_weak(&family->high, &high, number + 1))
        ;
    return link;
}

void sock_link_leave(struct sock_link *link)
{
    sock_link_rename(link, sock_pid(), 0);
    for (int i = 0; i < SOCK_HOLDERS; i++)
        if (atomic_load(&link->holder[i]) != 0)
            return;
    if (!link->lost_count)
        atomic_store_explicit(&link->stage, STAGE_FREE, memory_order_release);
}

/* A process that has ended; one that nobody has waited for yet counts as ended. */
bool sock_process_is_dead(uint32_t pid)
{
    char path[40], text[200];
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    int fd = (int)sock_raw(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (fd < 0)
        return fd == -ENOENT && sock_raw(SYS_kill, (long)pid, 0, 0, 0, 0, 0) == -ESRCH;
    long n = sock_raw(SYS_read, fd, (long)text, sizeof(text) - 1, 0, 0, 0);
    sock_raw(SYS_close, fd, 0, 0, 0, 0, 0);
    text[n > 0 ? n : 0] = '\0';
    const char *end = strrchr(text, ')');
    return end && (end[2] == 'Z' || end[2] == 'X');
}

bool sock_link_alone(struct sock_link *link)
{
    uint32_t own = sock_pid();
    if (link->lost_count)
        return false;
    for (int i = 0; i < SOCK_HOLDERS; i++) {
        uint32_t who = atomic_load(&link->holder[i]);
        if (who == 0 || who == own)
            continue;
        if ((who & SOCK_FORKING) || !sock_process_is_dead(who))
            return false;
        atomic_compare_exchange_strong(&link->holder[i], &who, 0);
    }
    return true;
}

bool sock_link_alone_lately(struct sock_link *link)
{
    uint32_t own = sock_pid(), others = 0;
    for (int i = 0; i < SOCK_HOLDERS; i++) {
        uint32_t who = atomic_load_explicit(&link->holder[i], memory_order_relaxed);
        others += who != 0 && who != own;
    }
    uint64_t now = others ? clock_ticks() : 0;
    if (link->lost_count || (others && vbase_clock_ns_of_ticks(now - link->counted) < COUNT_NS))
        return false;
    link->counted = now;
    return !others || sock_link_alone(link);
}

void sock_link_unknown(struct sock_link *link) { link->lost_count = true; }

static uint64_t limit_read(int fd, int name)
{
    struct timeval time = {0, 0};
    socklen_t length = sizeof(time);
    (void)sock_real.getsockopt(fd, SOL_SOCKET, name, &time, &length);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

void sock_link_settings(struct sock_link *link, int fd)
{
    atomic_store(&link->nonblocking, sock_real.fcntl(fd, F_GETFL, 0) & O_NONBLOCK);
    link->receive_limit = limit_read(fd, SO_RCVTIMEO);
    link->send_limit = limit_read(fd, SO_SNDTIMEO);
}

bool sock_plain_begin(struct sock_link *link, bool out)
{
    /* seq_cst: counts, then looks whether it may; sock_plain_forbid says that nobody may, then looks at the count */
    atomic_fetch_add(out ? &link->sending : &link->receiving, 1);
    if (!atomic_load(out ? &link->strict_out : &link->strict_in))
        return true;
    sock_plain_end(link, out);
    return false;
}

void sock_plain_end(struct sock_link *link, bool out)
{
    atomic_fetch_sub(out ? &link->sending : &link->receiving, 1);
}

bool sock_plain_forbid(struct sock_link *link, bool out)
{
    atomic_store(out ? &link->strict_out : &link->strict_in, true);
    if (atomic_load(out ? &link->sending : &link->receiving) == 0)
        return true;
    atomic_store(out ? &link->strict_out : &link->strict_in, false);
    return false;
}
