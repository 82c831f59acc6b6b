/* The memory of a family; see link.h. No locks: a link or a set is taken by compare-and-swap, and what processes leave
 * behind when they end without closing it is swept up when there seems to be no room. */
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
#define SWEEP_NS 100000000

static struct sock_family *_Atomic memory;
#define family atomic_load_explicit(&memory, memory_order_acquire)

struct sock_link *sock_link_at(uint32_t number) { return &family->link[number]; }
uint32_t sock_link_end(void) { return family ? atomic_load(&family->high) : 0; }
uint32_t sock_link_hint(void) { return atomic_load_explicit(&family->next, memory_order_relaxed); }
struct sock_set *sock_set_at(uint32_t number) { return family ? &family->set[number] : NULL; }
uint32_t sock_sets_end(void) { return family ? atomic_load(&family->sets) : 0; }
bool sock_family_is_there(void) { return family; }
struct sock_pass *sock_pass_at(uint32_t place) { return &family->pass[place]; }
uint32_t sock_passes(void) { return family ? atomic_load(&family->passes) : 0; }
uint32_t sock_pass_next(void) { return atomic_fetch_add(&family->passes, 1); }

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

static void raise_to(_Atomic uint32_t *bound, uint32_t value)
{
    uint32_t seen = atomic_load(bound);
    while (seen < value && !atomic_compare_exchange_weak(bound, &seen, value))
        ;
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
    sock_holders_begin(&link->holders);
    atomic_store_explicit(&family->next, number + 1, memory_order_relaxed); /* a hint */
    raise_to(&family->high, number + 1);
    return link;
}

void sock_link_drop(struct sock_link *link, uint32_t mark)
{
    if (sock_holders_leave(&link->holders, mark))
        atomic_store_explicit(&link->stage, STAGE_FREE, memory_order_release);
}

void sock_link_leave(struct sock_link *link) { sock_link_drop(link, sock_pid()); }

/* Connections of other processes may still say that they are in one of them. */
static void sets_free(const uint64_t gone[SOCK_SETS / 64])
{
    for (uint32_t i = 1; i < sock_link_end(); i++) {
        uint32_t in = atomic_load_explicit(&sock_link_at(i)->set, memory_order_relaxed);
        if (in && gone[in / 64] & 1ull << (in % 64))
            atomic_compare_exchange_strong(&sock_link_at(i)->set, &in, 0);
    }
    for (uint32_t i = 1; i < SOCK_SETS; i++)
        if (gone[i / 64] & 1ull << (i % 64))
            atomic_store(&family->set[i].used, false);
}

void sock_set_free(uint32_t number)
{
    uint64_t gone[SOCK_SETS / 64] = {0};
    gone[number / 64] |= 1ull << (number % 64);
    sets_free(gone);
}

/* It asks for each process; where all that there is is in use it would do so with every call. */
void sock_family_sweep(void)
{
    static _Atomic uint64_t last;
    uint64_t now = vbase_clock_ns(), before = atomic_load(&last);
    if ((before && now - before < SWEEP_NS) || !atomic_compare_exchange_strong(&last, &before, now))
        return;
    for (uint32_t i = 1; i < sock_link_end(); i++) {
        struct sock_link *link = sock_link_at(i);
        if (atomic_load_explicit(&link->stage, memory_order_relaxed) != STAGE_FREE &&
            sock_holders_sweep(&link->holders))
            atomic_store_explicit(&link->stage, STAGE_FREE, memory_order_release);
    }
    uint64_t gone[SOCK_SETS / 64] = {0};
    for (uint32_t i = 1; i < sock_sets_end(); i++)
        if (sock_holders_sweep(&sock_set_at(i)->holders))
            gone[i / 64] |= 1ull << (i % 64);
    sets_free(gone);
}

static uint32_t set_find(void)
{
    for (uint32_t i = 1; i < SOCK_SETS; i++) {
        bool used = false;
        if (!atomic_compare_exchange_strong(&family->set[i].used, &used, true))
            continue;
        sock_holders_begin(&family->set[i].holders);
        raise_to(&family->sets, i + 1);
        return i;
    }
    return 0;
}

uint32_t sock_set_take(void)
{
    uint32_t number = set_find();
    if (number)
        return number;
    sock_family_sweep();
    return set_find();
}

bool sock_link_alone(struct sock_link *link) { return sock_holders_alone(&link->holders); }

bool sock_link_alone_lately(struct sock_link *link)
{
    bool others = sock_holders_others(&link->holders);
    uint64_t now = others ? clock_ticks() : 0;
    if (atomic_load(&link->holders.uncounted) ||
        (others && vbase_clock_ns_of_ticks(now - link->counted) < COUNT_NS))
        return false;
    link->counted = now;
    return !others || sock_link_alone(link);
}

void sock_link_unknown(struct sock_link *link)
{
    sock_lock(&link->receive);
    atomic_store(&link->holders.uncounted, true);
    sock_unlock(&link->receive);
}

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
