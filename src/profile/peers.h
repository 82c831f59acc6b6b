/* What record.c and peers.c share. */
#pragma once

#include "base/compiler.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

extern uint32_t profile_ranks; /* of the job */

/* Taken where several threads call; a thread that must wait yields. */
struct profile_lock {
    atomic_flag taken;
    bool used;
};
extern struct profile_lock profile_lock;

static inline void profile_take(struct profile_lock *lock)
{
    while (unlikely(lock->used) && atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire))
        sched_yield();
}
static inline void profile_give(struct profile_lock *lock)
{
    if (unlikely(lock->used))
        atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}
