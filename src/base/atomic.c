/* Sleeping on a word, and the slow half of the lock. errno is left as it was: a lock is taken in the middle of other
 * calls. */
#include "base/base.h"
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

#define PAUSES 40 /* before the first attempt: about a short critical section */
#define YIELDS 16 /* between attempts, before the thread sleeps between them: */
#define SLEEP_NS      50000 /* at first, twice as long each time, */
#define SLEEP_NS_MOST 1000000

/* 0 or an errno. */
static int futex_call(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *limit)
{
    int saved = errno;
    int error = syscall(SYS_futex, word, operation, value, limit, NULL, 0) < 0 ? errno : 0;
    errno = saved;
    return error;
}

bool vbase_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
    struct timespec limit = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    return futex_call(word, FUTEX_WAIT, value, ns ? &limit : NULL) == ETIMEDOUT;
}

#define FUTEX_WAITV_NUMBER 449 /* the same everywhere; older headers do not have it */
#define FUTEX_WAITV_32     2
#define TWO_LOOK_NS        20000000ull

struct futex_two { /* the kernel's struct futex_waitv */
    uint64_t value, address;
    uint32_t flags, zero;
};

bool vbase_futex_wait_two(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *second, uint32_t second_value,
                          uint64_t ns)
{
    const struct futex_two both[2] = {{value, (uintptr_t)word, FUTEX_WAITV_32, 0},
                                      {second_value, (uintptr_t)second, FUTEX_WAITV_32, 0}};
    struct timespec end; /* not how long, but until when */
    int saved = errno;
    clock_gettime(CLOCK_MONOTONIC, &end);
    uint64_t until = (uint64_t)end.tv_nsec + ns;
    end.tv_sec += (time_t)(until / 1000000000);
    end.tv_nsec = (long)(until % 1000000000);
    long got = syscall(FUTEX_WAITV_NUMBER, both, 2, 0, ns ? &end : NULL, CLOCK_MONOTONIC);
    int error = got < 0 ? errno : 0;
    errno = saved;
    if (error == 0 || error == EAGAIN || error == EINTR || error == ETIMEDOUT)
        return error == ETIMEDOUT;
    return vbase_futex_wait(word, value, ns && ns < TWO_LOOK_NS ? ns : TWO_LOOK_NS);
}

void vbase_futex_wake(_Atomic uint32_t *word, int how_many) { futex_call(word, FUTEX_WAKE, (uint32_t)how_many, NULL); }

void vbase_lock_slow(struct base_lock *lock)
{
    for (int i = 0; i < PAUSES && atomic_load_explicit(&lock->word, memory_order_relaxed); i++)
        cpu_pause();
    /* Yield rather than poll or sleep: the holder will soon lock again and keeps the cache line, and another thread
     * gets our processor. */
    struct timespec sleep = {.tv_nsec = SLEEP_NS};
    int saved = errno;
    for (int i = 0; !base_lock_try(lock); i++) {
        if (i < YIELDS) {
            sched_yield();
            continue;
        }
        nanosleep(&sleep, NULL);
        sleep.tv_nsec = 2 * sleep.tv_nsec < SLEEP_NS_MOST ? 2 * sleep.tv_nsec : SLEEP_NS_MOST;
    }
    errno = saved;
}
