/* The lock of what a rank records. */
#pragma once

#include "base/compiler.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Taken where several threads call; a thread that must wait yields. */
struct profile_lock {
    atomic_flag taken;
    _Atomic bool used; /* set before there is a second thread, or while it may become one: so relaxed */
};
extern struct profile_lock profile_lock;

/* False: there is one thread. */
static inline bool profile_lock_wanted(struct profile_lock *lock)
{
    return unlikely(atomic_load_explicit(&lock->used, memory_order_relaxed));
}

/* False: there is one thread, and it was not taken. */
static inline bool profile_lock_take(struct profile_lock *lock)
{
    if (!profile_lock_wanted(lock))
        return false;
    while (atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire))
        sched_yield();
    return true;
}
static inline void profile_lock_give(struct profile_lock *lock, bool taken)
{
    if (unlikely(taken))
        atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}
