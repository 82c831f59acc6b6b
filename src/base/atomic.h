/* Small tools for atomics and waiting. The C11 operations are used by their own names (stdatomic.h); this file adds
 * what C lacks: the pause of a spinning processor, prefetch for writing, futexes, and a lock of four bytes. */
#pragma once

#include "base/compiler.h"
#include <stdatomic.h>

static inline void cpu_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* The builtin gives a prefetch for reading where the baseline does not promise PREFETCHW; every 64-bit processor takes
 * it. */
static inline void cpu_prefetch_write(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1, 3);
#endif
}

/* Sleep while *word == value, at most ns nanoseconds (0: no limit); futexes here may lie in memory shared between
 * processes. Returns on wake, on time-out, on a signal, and sometimes for no reason: the caller looks again. */
VEXPORT bool vbase_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns);
/* The same of two words, until one of both has changed. Where the kernel cannot (before Linux 5.16) it looks at the
 * second again after 20 ms. */
VEXPORT bool vbase_futex_wait_two(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *second,
                                  uint32_t second_value, uint64_t ns);
VEXPORT void vbase_futex_wake(_Atomic uint32_t *word, int how_many);

/* A mutex: 0 free, 1 held. Not recursive. For the threads of one process. Nobody is woken when it is released, so that
 * a release is a plain store: a thread that finds it held for long looks again after a time. */
struct base_lock {
    _Atomic uint32_t word;
};
VEXPORT void vbase_lock_slow(struct base_lock *lock);

static inline bool base_lock_try(struct base_lock *lock)
{
    /* acquire: pairs with the release in base_unlock */
    return atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(&lock->word, 1, memory_order_acquire) == 0;
}
static inline void base_lock(struct base_lock *lock)
{
    if (unlikely(!base_lock_try(lock)))
        vbase_lock_slow(lock);
}
static inline void base_unlock(struct base_lock *lock)
{
    atomic_store_explicit(&lock->word, 0, memory_order_release);
}
