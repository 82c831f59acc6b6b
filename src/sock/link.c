/* The memory of a family; see link.h. No locks: a link or a set is taken by compare-and-swap, and what processes leave
 * behind when they end without closing it is swept up when there seems to be no room. */
#include "sock/link.h"
#include "base/clock.h"
#include "base/memory.h"
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
#define SOON_NS  50000000

static struct sock_family *_Atomic memory;
#define family atomic_load_explicit(&memory, memory_order_acquire)
static int descriptor = -1; /* of it */
static uid_t user[3];       /* that this process was when it came there: real, effective, saved */

struct sock_link *sock_link_at(uint32_t number) { return &family->link[number]; }
uint32_t sock_link_end(void) { return family ? atomic_load(&family->high) : 0; }
uint32_t sock_link_hint(void) { return atomic_load_explicit(&family->next, memory_order_relaxed); }
struct sock_set *sock_set_at(uint32_t number) { return family ? &family->set[number] : NULL; }
uint32_t sock_sets_end(void) { return family ? atomic_load(&family->sets) : 0; }
bool sock_family_is_there(void) { return family; }

static bool by_ring(const struct sock_link *link)
{
    return atomic_load(&link->stage) == STAGE_JOINED && atomic_load(&link->in_phase) == PHASE_RING &&
           atomic_load(&link->out_phase) == PHASE_RING;
}

void sock_link_by_kernel(const struct sock_link *link)
{
    uint32_t number = atomic_load(&link->set);
    if (number && !by_ring(link))
        atomic_store(&sock_set_at(number)->mixed, true);
}

bool sock_set_is_mixed(uint32_t number)
{
    struct sock_set *set = sock_set_at(number);
    atomic_store(&set->mixed, false); /* first: what enters now, or leaves its ring, says so behind this */
    bool found = atomic_load(&set->foreign);
    for (uint32_t i = 1; i < sock_link_end() && !found; i++)
        found = atomic_load(&sock_link_at(i)->set) == number && !by_ring(sock_link_at(i));
    if (found)
        atomic_store(&set->mixed, true);
    return found;
}

struct sock_pass *sock_pass_at(uint32_t place) { return &family->pass[place]; }
uint32_t sock_passes(void) { return family ? atomic_load(&family->passes) : 0; }
uint32_t sock_pass_next(void) { return atomic_fetch_add(&family->passes, 1); }

static struct sock_family *memory_new(int *fd)
{
    struct sock_family *made;
    if (vbase_memory_make(SOCK_FAMILY_NAME, sizeof(*made), 0, fd) != OK)
        return NULL;
    made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0);
    /* what was mapped stays writable, and nothing else will be: a kernel before 5.1 refuses that */
    if (made != MAP_FAILED && sock_real.fcntl(*fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0) {
        made->magic = SOCK_FAMILY_MAGIC;
        made->size = sizeof(*made);
        made->after = sock_policy.after;
        return made;
    }
    if (made != MAP_FAILED)
        munmap(made, sizeof(*made));
    sock_real.close(*fd);
    return NULL;
}

/* Without a descriptor there is no list, and no other harm. */
static void memory_is(int fd)
{
    descriptor = fd;
    (void)getresuid(&user[0], &user[1], &user[2]);
}

bool sock_family_make(void)
{
    int fd;
    struct sock_family *none = NULL, *made = memory_new(&fd);
    if (!made)
        return family;
    sock_own_pid = (uint32_t)getpid();
    fd = sock_own_keep(fd);
    if (atomic_compare_exchange_strong(&memory, &none, made)) {
        memory_is(fd);
        return true;
    }
    munmap(made, sizeof(*made));
    sock_own_close(fd);
    return true;
}

/* One that may still become root has lost nothing. */
bool sock_family_exceeds(void)
{
    uid_t now[3];
    bool has[3] = {false}, root = false;
    if (!family || getresuid(&now[0], &now[1], &now[2]) != 0)
        return false;
    for (int i = 0; i < 3; i++) {
        root |= now[i] == 0;
        for (int j = 0; j < 3; j++)
            has[i] |= user[i] == now[j];
    }
    return !root && !(has[0] && has[1] && has[2]);
}

void sock_link_refused(void) { atomic_fetch_add_explicit(&family->refused, 1, memory_order_relaxed); }

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

pthread_mutex_t *sock_lock_soon(pthread_mutex_t *lock)
{
    struct timespec until;
    sock_section_enter();
    int result = pthread_mutex_trylock(lock);
    if (unlikely(result == EBUSY)) {
        (void)clock_gettime(CLOCK_MONOTONIC, &until); /* nobody sets it */
        until.tv_nsec += SOON_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        result = pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &until);
    }
    if (unlikely(result == EOWNERDEAD))
        (void)pthread_mutex_consistent(lock);
    if (likely(result != ETIMEDOUT))
        return lock;
    sock_section_leave();
    return NULL;
}

void sock_unlock(pthread_mutex_t *lock)
{
    (void)pthread_mutex_unlock(lock);
    sock_section_leave();
}

void sock_unlock_got(pthread_mutex_t *got)
{
    if (likely(got))
        sock_unlock(got);
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
static void sets_free(struct sock_family *of, const uint64_t gone[SOCK_SETS / 64])
{
    for (uint32_t i = 1; i < atomic_load(&of->high); i++) {
        uint32_t in = atomic_load_explicit(&of->link[i].set, memory_order_relaxed);
        if (in && gone[in / 64] & 1ull << (in % 64))
            atomic_compare_exchange_strong(&of->link[i].set, &in, 0);
    }
    for (uint32_t i = 1; i < SOCK_SETS; i++)
        if (gone[i / 64] & 1ull << (i % 64))
            atomic_store(&of->set[i].used, false);
}

void sock_set_free(uint32_t number)
{
    uint64_t gone[SOCK_SETS / 64] = {0};
    gone[number / 64] |= 1ull << (number % 64);
    sets_free(family, gone);
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
    sets_free(family, gone);
}

/* What this process holds of OLD stands in NEW as well; afterwards it holds it there alone. */
static void links_copy(struct sock_family *new, struct sock_family *old)
{
    for (uint32_t i = 1; i < old->high; i++) {
        struct sock_link *from = &old->link[i], *to = &new->link[i];
        if (atomic_load(&from->stage) == STAGE_FREE || !sock_holders_have(&from->holders, sock_pid()))
            continue;
        bool alone = sock_link_alone(from);
        if (!alone)
            sock_link_unknown(from); /* first: the others find it uncounted when we are not entered any more */
        memcpy(to, from, sizeof(*to));
        sock_lock_make(&to->send);
        sock_lock_make(&to->receive);
        sock_holders_begin(&to->holders);
        atomic_store(&to->holders.uncounted, !alone);
    }
    for (uint32_t i = 1; i < old->sets; i++) {
        /* also of one that is gone: connections may name it */
        atomic_store(&new->set[i].generation, atomic_load(&old->set[i].generation));
        if (!atomic_load(&old->set[i].used) || !sock_holders_have(&old->set[i].holders, sock_pid()))
            continue;
        memcpy(&new->set[i], &old->set[i], sizeof(new->set[i]));
        sock_holders_begin(&new->set[i].holders);
    }
    new->high = old->high;
    new->sets = old->sets;
}

static void links_leave(const struct sock_family *new, struct sock_family *old)
{
    for (uint32_t i = 1; i < new->high; i++)
        if (atomic_load(&new->link[i].stage) != STAGE_FREE)
            sock_link_leave(&old->link[i]);
    uint64_t gone[SOCK_SETS / 64] = {0};
    for (uint32_t i = 1; i < new->sets; i++)
        if (atomic_load(&new->set[i].used) && sock_holders_leave(&old->set[i].holders, sock_pid()))
            gone[i / 64] |= 1ull << (i % 64);
    sets_free(old, gone);
}

/* Under the same address, which stands in many places. The old memory is mapped a second time, so that nothing has
 * happened where the change is refused. */
bool sock_family_renew(void)
{
    int fd;
    struct sock_family *here = family, *made = memory_new(&fd);
    if (!made)
        return false;
    struct sock_family *old = mremap(here, 0, sizeof(*here), MREMAP_MAYMOVE);
    bool done = old != MAP_FAILED;
    if (done) {
        links_copy(made, here);
        done = mremap(made, sizeof(*made), sizeof(*made), MREMAP_MAYMOVE | MREMAP_FIXED, here) == here;
    }
    if (!done)
        munmap(made, sizeof(*made));
    else
        links_leave(here, old);
    if (old != MAP_FAILED)
        munmap(old, sizeof(*old));
    if (!done) {
        sock_real.close(fd);
        return false;
    }
    if (descriptor >= 0)
        sock_own_close(descriptor);
    memory_is(sock_own_keep(fd));
    return true;
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
