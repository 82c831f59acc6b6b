/* Time. Ticks are the processor's own counter, cheap to read, for short gaps; ns are CLOCK_MONOTONIC. */
#pragma once

#include "base/compiler.h"

static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    extern uint64_t vbase_clock_ns(void);
    return vbase_clock_ns();
#endif
}

/* Ticks when all loads before are done and nothing after has begun: else a processor reads its counter long before the
 * copy that is timed is over. */
static inline uint64_t clock_ticks_ordered(void)
{
#if defined(__x86_64__)
    __asm__ volatile("lfence" : : : "memory");
    uint64_t ticks = clock_ticks();
    __asm__ volatile("lfence" : : : "memory");
    return ticks;
#elif defined(__aarch64__)
    __asm__ volatile("dsb ld\n\tisb" : : : "memory");
    return clock_ticks();
#else
    return clock_ticks();
#endif
}

VEXPORT uint64_t vbase_clock_ns(void);

/* Ticks in NS nanoseconds and back. The first call may measure for a fraction of a millisecond; the error is below 1 in
 * 1000, and much smaller once the process is a second old. */
VEXPORT uint64_t vbase_clock_ticks_of_ns(uint64_t ns);
VEXPORT uint64_t vbase_clock_ns_of_ticks(uint64_t ticks);

/* How many calls of cpu_pause last so long, which depends on the processor: measured at each call, 1 to 64. */
VEXPORT uint32_t vbase_clock_pauses_of_ns(uint64_t ns);
