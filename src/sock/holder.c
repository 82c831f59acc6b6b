/* Who holds what, without locks but for the one around fork; see holder.h. */
#include "sock/holder.h"
#include "base/atomic.h"
#include "sock/real.h"
#include "sock/signal.h"
#include "sock/table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#define MARK     0x80000000u /* over the maker's number, which the kernel keeps below 2^22, and a count */
#define PID_BITS 22

uint32_t sock_own_pid;

uint32_t sock_mark_make(void)
{
    static _Atomic uint32_t made;
    return MARK | (atomic_fetch_add(&made, 1) << PID_BITS & ~MARK) | sock_pid();
}

/* No process has the number 0. */
uint32_t sock_mark_of_pass(uint32_t place) { return MARK | place << PID_BITS; }
_Static_assert(SOCK_PASSES <= 1u << (31 - PID_BITS), "a place does not fit into a mark");

void sock_holders_begin(struct sock_holders *holders)
{
    atomic_store(&holders->uncounted, false);
    atomic_store(&holders->who[0], sock_pid());
    atomic_store(&holders->count, 1);
}

void sock_holders_rename(struct sock_holders *holders, uint32_t old, uint32_t new)
{
    for (int i = 0; i < SOCK_HOLDERS; i++) {
        uint32_t seen = old;
        if (atomic_load_explicit(&holders->who[i], memory_order_relaxed) == old &&
            atomic_compare_exchange_strong(&holders->who[i], &seen, new))
            return;
    }
}

static bool entry_take(struct sock_holders *holders, int i, uint32_t who)
{
    return atomic_compare_exchange_strong(&holders->who[i], &who, 0) && atomic_fetch_sub(&holders->count, 1) == 1;
}

static bool entry_find(struct sock_holders *holders, uint32_t who)
{
    for (int i = 0; i < SOCK_HOLDERS; i++) {
        uint32_t none = 0;
        if (atomic_compare_exchange_strong(&holders->who[i], &none, who))
            return true;
    }
    return false;
}

/* Counted first, and the caller is a holder: what is held cannot become free meanwhile. One for which there is no entry
 * stays counted for good. */
void sock_holders_add(struct sock_holders *holders, uint32_t who)
{
    atomic_fetch_add(&holders->count, 1);
    if (entry_find(holders, who))
        return;
    (void)sock_holders_sweep(holders);
    if (!entry_find(holders, who))
        atomic_store(&holders->uncounted, true);
}

bool sock_holders_leave(struct sock_holders *holders, uint32_t who)
{
    bool last = false;
    for (int i = 0; i < SOCK_HOLDERS; i++)
        if (atomic_load(&holders->who[i]) == who)
            last |= entry_take(holders, i, who);
    return last;
}

/* A process that has ended; one that nobody has waited for yet counts as ended. */
bool sock_process_is_dead(uint32_t pid)
{
    char path[40], text[200];
    if (sock_raw(SYS_kill, (long)pid, 0, 0, 0, 0, 0) == -ESRCH)
        return true;
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    int fd = (int)sock_raw(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (fd < 0)
        return false;
    long n = sock_raw(SYS_read, fd, (long)text, sizeof(text) - 1, 0, 0, 0);
    sock_raw(SYS_close, fd, 0, 0, 0, 0, 0);
    text[n > 0 ? n : 0] = '\0';
    const char *end = strrchr(text, ')');
    return end && (end[2] == 'Z' || end[2] == 'X');
}

bool sock_holders_sweep(struct sock_holders *holders)
{
    bool last = false;
    for (int i = 0; i < SOCK_HOLDERS; i++) {
        uint32_t who = atomic_load_explicit(&holders->who[i], memory_order_relaxed);
        uint32_t pid = who & MARK ? who & ((1u << PID_BITS) - 1) : who;
        if (pid && pid != sock_pid() && sock_process_is_dead(pid))
            last |= entry_take(holders, i, who);
    }
    return last;
}

bool sock_holders_have(const struct sock_holders *holders, uint32_t who)
{
    for (int i = 0; i < SOCK_HOLDERS; i++)
        if (atomic_load_explicit(&holders->who[i], memory_order_relaxed) == who)
            return true;
    return false;
}

bool sock_holders_others(const struct sock_holders *holders)
{
    for (int i = 0; i < SOCK_HOLDERS; i++) {
        uint32_t who = atomic_load(&holders->who[i]);
        if (who != 0 && who != sock_pid())
            return true;
    }
    return false;
}

bool sock_holders_alone(struct sock_holders *holders)
{
    if (atomic_load(&holders->uncounted))
        return false;
    if (!sock_holders_others(holders))
        return true;
    (void)sock_holders_sweep(holders);
    return !sock_holders_others(holders);
}

/* ---- around fork ---- */

#define FROZEN 0x80000000u
static _Atomic uint32_t changes; /* under way, FROZEN */
static _Atomic uint32_t freezes;
static _Atomic uint32_t unseen; /* children that libc is making */
static _Thread_local uint32_t depth TLS_QUICK;
static _Thread_local int cancel_state TLS_QUICK; /* as the program has it */

uint32_t sock_freezes(void)
{
    return unlikely(atomic_load(&unseen)) ? atomic_fetch_add(&freezes, 1) + 1 : atomic_load(&freezes);
}

void sock_unseen_begin(void)
{
    atomic_fetch_add(&unseen, 1);
    sock_limit_stay();
}

void sock_unseen_end(void)
{
    atomic_fetch_add(&freezes, 1); /* first: a descriptor made by now may have been copied */
    atomic_fetch_sub(&unseen, 1);
    sock_limit_free();
}

void sock_unseen_none(void)
{
    atomic_store(&unseen, 0);
    sock_limit_child();
    sock_signal_child();
}

/* A thread that was cancelled in a change would leave it counted, and the next fork would wait for ever. */
void sock_change_begin(void)
{
    sock_section_enter();
    if (depth++)
        return;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    uint32_t seen = atomic_load(&changes);
    for (;;) {
        if (seen & FROZEN) {
            vbase_futex_wait(&changes, seen, 0);
            seen = atomic_load(&changes);
        } else if (atomic_compare_exchange_weak(&changes, &seen, seen + 1)) {
            return;
        }
    }
}

void sock_change_end(void)
{
    int state = cancel_state; /* of a handler that runs now there may be another one */
    bool last = --depth == 0;
    if (last && atomic_fetch_sub(&changes, 1) == (FROZEN | 1))
        vbase_futex_wake(&changes, INT_MAX);
    sock_section_leave();
    if (last)
        (void)pthread_setcancelstate(state, NULL);
}

void sock_freeze(void)
{
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    uint32_t seen = atomic_load(&changes);
    while ((seen & FROZEN) || !atomic_compare_exchange_weak(&changes, &seen, seen | FROZEN)) {
        if (seen & FROZEN)
            vbase_futex_wait(&changes, seen, 0);
        seen = atomic_load(&changes);
    }
    while ((seen = atomic_load(&changes)) != FROZEN)
        vbase_futex_wait(&changes, seen, 0);
    atomic_fetch_add(&freezes, 1);
}

void sock_thaw(void)
{
    atomic_store(&changes, 0);
    vbase_futex_wake(&changes, INT_MAX);
    (void)pthread_setcancelstate(cancel_state, NULL);
}
