/* The memory of a family and the holders of its connections; see link.h. No locks: a place is taken by
 * compare-and-swap, and what a process leaves behind when it is killed is found by its number. */
#include "sock/link.h"
#include "base/clock.h"
#include "sock/place.h"
#include "sock/policy.h"
#include "sock/real.h"
#include "sock/rest.h"
#include "sock/sandbox.h"
#include "sock/signal.h"
#include "sock/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FORKING  0x80000000u
#define COUNT_NS 100000000

static struct sock_family *_Atomic memory;
#define family atomic_load_explicit(&memory, memory_order_acquire)

struct sock_link *sock_link_at(uint32_t number) { return &family->link[number]; }
uint32_t sock_link_end(void) { return family ? atomic_load(&family->high) : 0; }
struct sock_set *sock_set_at(uint32_t number) { return family ? &family->set[number] : NULL; }

uint32_t sock_own_pid;

bool sock_family_make(void)
{
    struct sock_family *made, *none = NULL;
    int fd;
    if (likely(family))
        return true;
    if (!sock_policy.on || sock_sandbox_forbids() || (fd = sock_memory_make(SOCK_FAMILY_NAME, sizeof(*made))) < 0)
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

static bool holder_replace(struct sock_link *link, uint32_t old, uint32_t new)
{
    for (int i = 0; i < SOCK_HOLDERS; i++) {
        uint32_t seen = old;
        if (atomic_compare_exchange_strong(&link->holder[i], &seen, new))
            return true;
    }
    return false;
}

static void holder_add(struct sock_link *link, uint32_t who)
{
    if (holder_replace(link, 0, who))
        return;
    for (int i = 0; i < SOCK_HOLDERS; i++) { /* children that ended without closing it */
        uint32_t old = atomic_load(&link->holder[i]);
        if (!(old & FORKING) && old != sock_pid() && sock_process_is_dead(old))
            atomic_compare_exchange_strong(&link->holder[i], &old, 0);
    }
    if (!holder_replace(link, 0, who))
        link->lost_count = true;
}

struct sock_file *sock_link_open(enum sock_stage stage, bool active)
{
    if (!sock_family_make())
        return NULL;
    uint32_t start = atomic_load_explicit(&family->next, memory_order_relaxed);
    for (uint32_t i = 0; i < SOCK_FILES; i++) {
        uint32_t number = (start + i) % SOCK_FILES, free = STAGE_FREE;
        struct sock_link *link = &family->link[number];
        if (number == 0 || number == SOCK_OWN ||
            atomic_load_explicit(&link->stage, memory_order_relaxed) != STAGE_FREE ||
            atomic_load_explicit(&sock_files[number].users, memory_order_relaxed) != 0 ||
            !atomic_compare_exchange_strong(&link->stage, &free, stage))
            continue;
        memset(&link->active, 0, sizeof(*link) - offsetof(struct sock_link, active));
        link->active = active;
        sock_lock_make(&link->send);
        sock_lock_make(&link->receive);
        holder_add(link, sock_pid());
        atomic_store_explicit(&family->next, number + 1, memory_order_relaxed); /* a hint */
        uint32_t high = atomic_load(&family->high);
        while (high <= number && !atomic_compare_exchange_weak(&family->high, &high, number + 1))
            ;
        return sock_file_open(number, link);
    }
    return NULL;
}

void sock_link_leave(struct sock_link *link)
{
    holder_replace(link, sock_pid(), 0);
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
        if ((who & FORKING) || !sock_process_is_dead(who))
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

uint32_t sock_family_fork(void)
{
    uint32_t high = sock_link_end();
    uint32_t mark = FORKING | (uint32_t)sock_raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
    bool joined = false;
    for (uint32_t i = 1; i < high; i++) {
        if (!atomic_load(&sock_files[i].descriptors))
            continue;
        joined |= atomic_load(&family->link[i].stage) == STAGE_JOINED;
        holder_add(&family->link[i], mark);
    }
    if (joined)
        (void)sock_rest_open(); /* for a child that calls exec; without it that one may find bytes missing */
    sock_places_wake(); /* what waits as the only holder is no longer that */
    return mark;
}

static void marks_replace(uint32_t mark, uint32_t by)
{
    uint32_t high = sock_link_end();
    for (uint32_t i = 1; i < high; i++)
        if (atomic_load(&family->link[i].stage) != STAGE_FREE)
            holder_replace(&family->link[i], mark, by);
}

void sock_family_failed(uint32_t mark) { marks_replace(mark, 0); }

/* Calls that other threads of the parent had under way are not calls of the child, nor are its places. */
void sock_family_child(uint32_t mark)
{
    uint32_t high = sock_link_end();
    sock_own_pid = (uint32_t)getpid();
    marks_replace(mark, sock_pid());
    for (uint32_t i = 1; i < high; i++) {
        atomic_store(&sock_files[i].users, atomic_load(&sock_files[i].descriptors));
        sock_files[i].told_place = -1;
    }
    sock_board_child();
}
