/* Time. ticks are the processor's own counter (8 ns to read), good for gaps and gates; ns are CLOCK_MONOTONIC. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

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

VEXPORT uint64_t vbase_clock_ns(void);

/* Ticks in NS nanoseconds and back. The first call measures (a fraction of a millisecond at worst, usually nothing);
 * right to 1 in 1000, and far better once the process is a second old. */
VEXPORT uint64_t vbase_clock_ticks_of_ns(uint64_t ns);
VEXPORT uint64_t vbase_clock_ns_of_ticks(uint64_t ticks);

/* How many of cpu_pause, which takes between 4 and 50 ns, last so long: measured at each call, 1 to 64. */
VEXPORT uint32_t vbase_clock_pauses_of_ns(uint64_t ns);

#endif
