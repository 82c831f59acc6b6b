/* Whether polling pays; see wait.h. Each thread learns for itself: polling that found nothing makes it sleep at once
 * for a growing number of waits. One trial is as long as waking the other side takes, since its answer comes no
 * sooner. With one processor a trial is a few yields: the other side runs meanwhile, and neither has to be woken. Under
 * a quota of fewer processors than there are nobody polls: that time would be missing later. */
#include "base/atomic.h"
#include "base/clock.h"
#include "base/topology.h"
#include "sock/step.h"
#include "sock/wait.h"

#include <limits.h>
#include <sched.h>

#define TRIAL_NS   100000
#define PAYS_NS    30000  /* an answer that takes longer is worth sleeping for */
#define LOST_NS    200000 /* between two looks: somebody else had the processor */
#define YIELDS     4       /* of a trial, with one processor */
#define SKIP_MOST  256
#define ASK_EVERY  512    /* waits until the processors that this thread may use are counted again */

static _Thread_local struct {
    uint32_t skip, failures, asked;
    bool alone; /* one processor */
} policy TLS_QUICK;

static _Atomic int quota = INT_MAX; /* whole processors */

void sock_spin_prepare(void)
{
    static _Atomic bool known;
    double allowed = atomic_exchange(&known, true) ? 0 : vbase_quota("");
    if (allowed > 0 && allowed < INT_MAX)
        atomic_store_explicit(&quota, (int)allowed, memory_order_relaxed);
}

static void processors_count(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : CPU_SETSIZE;
    policy.asked = ASK_EVERY;
    policy.alone = count < 2;
    if (!policy.alone && atomic_load_explicit(&quota, memory_order_relaxed) < count)
        policy.skip = ASK_EVERY; /* all, up to the next count */
}

bool sock_spin_begin(struct sock_spin *spin)
{
    if (policy.asked == 0)
        processors_count();
    policy.asked--;
    if (policy.skip) {
        policy.skip--;
        return false;
    }
    SOCK_STEP(polls);
    spin->start = spin->last = clock_ticks();
    spin->yields = 0;
    return true;
}

bool sock_spin_on(struct sock_spin *spin)
{
    if (policy.alone)
        sched_yield();
    else
        for (int i = 0; i < 4; i++)
            cpu_pause();
    uint64_t now = clock_ticks(), gap = now - spin->last;
    spin->last = now;
    if (vbase_clock_ns_of_ticks(gap) >= LOST_NS)
        return false;
    return policy.alone ? ++spin->yields <= YIELDS : vbase_clock_ns_of_ticks(now - spin->start) < TRIAL_NS;
}

void sock_spin_end(struct sock_spin *spin, bool found)
{
    if (spin->last == spin->start)
        return; /* it was there at once, which says nothing of polling */
    if (found && (policy.alone || vbase_clock_ns_of_ticks(clock_ticks() - spin->start) < PAYS_NS)) {
        policy.failures = 0;
        return;
    }
    policy.failures++;
    policy.skip = policy.failures > 8 ? SKIP_MOST : 1u << policy.failures;
}
