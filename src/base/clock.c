/* Time: the length of a tick of the processor's counter.
 *
 * aarch64 has it in a register. A guest on x86-64 may not see it, so it is measured: a pair (ticks, nanoseconds) is
 * read when the library is loaded and another at the first conversion. Each pair is read between two tick reads, so its
 * error is known; if the time between the pairs is too short for an error below 1 in 2000, the first conversion waits
 * for the rest of it. When a second has gone by, the rate is measured once more over that second. No thread needs a
 * lock: the rate is one word. */
#include "base/base.h"
#include <time.h>

#define PRECISION 2000           /* one part in so many, for the first rate */
#define LONG_ENOUGH 1000000000ull /* ns after which the rate is measured a last time */

struct clock_pair {
    uint64_t ticks, ns, width; /* width: ticks between the reads before and after ns */
};

static struct clock_pair anchor;
static _Atomic uint64_t rate; /* nanoseconds a tick, times 2^32; 0: not known yet */
static _Atomic bool settled;

uint64_t vbase_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static struct clock_pair pair_read(int tries)
{
    struct clock_pair best = {0, 0, UINT64_MAX};
    for (int i = 0; i < tries; i++) {
        uint64_t before = clock_ticks(), ns = vbase_clock_ns(), after = clock_ticks();
        if (after - before < best.width)
            best = (struct clock_pair){before + (after - before) / 2, ns, after - before};
    }
    return best;
}

__attribute__((constructor(110))) static void anchor_read(void) { anchor = pair_read(3); }

/* relaxed: the rate is complete in itself, and two threads that measure at the same time both have a good one */
static uint64_t rate_keep(uint64_t result, bool for_good)
{
    atomic_store_explicit(&settled, for_good, memory_order_relaxed);
    atomic_store_explicit(&rate, result, memory_order_relaxed);
    return result;
}

#if defined(__aarch64__)
static COLD uint64_t rate_measure(void)
{
    uint64_t hertz;
    __asm__("mrs %0, cntfrq_el0" : "=r"(hertz));
    return rate_keep((uint64_t)(((unsigned __int128)1000000000 << 32) / hertz), true);
}
#else
static uint64_t rate_between(const struct clock_pair *from, const struct clock_pair *to)
{
    uint64_t ticks = to->ticks - from->ticks, ns = to->ns - from->ns;
    if (ticks == 0 || ticks >> 63)
        return 1ull << 32; /* the counter stands still or runs backwards: nothing depends on it */
    uint64_t result = (uint64_t)(((unsigned __int128)ns << 32) / ticks);
    return result ? result : 1;
}

static COLD uint64_t rate_measure(void)
{
    struct clock_pair now;
    do
        now = pair_read(5);
    while (now.ns - anchor.ns < LONG_ENOUGH &&
           now.ticks - anchor.ticks < (uint64_t)PRECISION * (now.width + anchor.width));
    return rate_keep(rate_between(&anchor, &now), now.ns - anchor.ns >= LONG_ENOUGH);
}
#endif

static uint64_t rate_current(void)
{
    uint64_t known = atomic_load_explicit(&rate, memory_order_relaxed);
    if (likely(known && atomic_load_explicit(&settled, memory_order_relaxed)))
        return known;
    if (!known || ((unsigned __int128)(clock_ticks() - anchor.ticks) * known >> 32) >= LONG_ENOUGH)
        return rate_measure();
    return known;
}

uint64_t vbase_clock_ticks_of_ns(uint64_t ns) { return (uint64_t)(((unsigned __int128)ns << 32) / rate_current()); }

uint64_t vbase_clock_ns_of_ticks(uint64_t ticks) { return (uint64_t)((unsigned __int128)ticks * rate_current() >> 32); }

uint32_t vbase_clock_pauses_of_ns(uint64_t ns)
{
    uint64_t best = UINT64_MAX;
    for (int try = 0; try < 8; try++) {
        uint64_t start = clock_ticks();
        for (int i = 0; i < 16; i++)
            cpu_pause();
        uint64_t ticks = clock_ticks() - start;
        best = ticks < best ? ticks : best;
    }
    uint64_t pauses = best ? vbase_clock_ticks_of_ns(ns) * 16 / best : 1;
    return pauses < 1 ? 1 : pauses > 64 ? 64 : (uint32_t)pauses;
}
