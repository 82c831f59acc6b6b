/* The one wait of every layer: poll with a gap, then sleep until a nic has something.
 *
 * Polling faster than every 40 ns slows the writer of the line that is polled; the pause instruction takes between 4
 * and 50 ns, so it is measured at start. A wait for a request polls the lane where the answer must come, and all of
 * them now and then. Where the awake ranks outnumber the processors, a waiting rank soon yields between polls: the peer
 * that has something for it may need the processor. Elsewhere it never yields, since a yield can give the processor to
 * another program for milliseconds. To end a sleep costs tens of microseconds, so it begins late. The nics are told
 * SOON some time before: from then on peers publish so that a sleeper is woken. The time-out of a sleep is only for
 * safety, not a way to make progress; only a wait for room in a lane depends on it, since room wakes no sleeper.
 *
 * Several threads: the first that waits is the watcher: it polls and, in the end, sleeps on the nics. Others make
 * rounds of their own (what they started must move even while the watcher sleeps) and yield between them for a moment,
 * then park on `changes`. A thread that sleeps until a request is done says so in the state of the request. The thread
 * that completes it wakes the parked ones and ends the watcher's sleep; for threads that wait for anything else (they
 * are counted) any completion does. So does a thread that stops watching. */
#include "msg/transfer.h"
#include "msg/wait.h"
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

uint32_t vmsg_gap;

/* How long a thread polls and yields since it last found something, in ticks. */
struct patience {
    uint64_t yield; /* until then it polls only, from then on it yields between polls */
    uint64_t soon;  /* from then on the nics know that a sleep may come */
    uint64_t sleep; /* from then on it sleeps */
};

static struct {
    struct patience alone;   /* every awake rank has a processor: a yield would give it to another program */
    struct patience crowded; /* ranks outnumber processors, and messages are waited for; */
    struct patience shared;  /* the same, and memory that other ranks write is looked at */
    struct patience turns;   /* another rank waits on this processor: what is waited for cannot come before a yield */
    uint64_t together;       /* ticks: a wait of so long looks whether ranks share its processor */
    _Atomic bool met;        /* they did at the last look; relaxed */
    uint64_t aside;          /* ticks: at least, from one step aside to the next */
    _Atomic uint64_t aside_at; /* ticks: the last one; relaxed */
    /* Below: several threads only. */
    _Atomic bool watched;                /* there is a watcher */
    _Atomic uint64_t beside_at;          /* ticks: when a thread last waited beside it; relaxed */
    uint64_t beside, lately;             /* in ticks: how long such a thread yields before it parks, and is counted */
} wait;

/* This thread is the watcher, by this waiting or by one that it is inside of: a handler of remote calls that runs at
 * once, behind a round of progress, may wait for its arguments. */
static __thread bool watching TLS_QUICK;

/* One thread's waiting. */
struct waiting {
    struct msg_request *request; /* that is waited for; NULL: something else, */
    struct msg_context *context; /* a collective over it, if it is not NULL; */
    const int *group_tag;        /* but of a group alone where this is not NULL */
    uint64_t since;    /* of the first empty poll, 0: the last one found something */
    uint64_t looked;   /* at the clock, as the watcher: until then the waiting is to be counted; 0: nothing is */
    const struct patience *patience; /* from then on */
    uint64_t sleep_ns; /* of the next sleep */
    uint64_t limit;    /* ticks when the waiting ends in any case, 0: never */
    bool soon;         /* the nics think that we may sleep */
    bool retry;        /* it tries again soon what wakes no sleeper */
    bool late;         /* the last sleep ended by its time-out, though a peer should have woken it */
    bool watcher;
    bool woken;        /* whatever ends it ends the sleep: no timer need do so */
    const struct boot_fence *fence; /* NULL: something else is waited for */
};

/* Ranks that sleep need no processor and do not count. Another thread that lately waited beside this one counts. */
static bool ranks_are_crowded(uint64_t now)
{
    bool beside =
        vmsg_engine.threads && now - atomic_load_explicit(&wait.beside_at, memory_order_relaxed) < wait.lately;
    return vmsg_crowded(beside);
}

/* Another rank that is awake waits on this processor: however many there are, the two need it by turns. */
static bool processor_is_shared(void)
{
    bool met = vmsg_nics_shared_processor();
    atomic_store_explicit(&wait.met, met, memory_order_relaxed);
    return met;
}

static struct patience patience_of(uint64_t spin, uint64_t yield)
{
    return (struct patience){vbase_clock_ticks_of_ns(spin), vbase_clock_ticks_of_ns(spin),
                             vbase_clock_ticks_of_ns(spin + yield)};
}

static const struct patience *patience_choose(uint64_t now, const struct msg_request *request)
{
    bool shared = request && request->kind == MSG_WORD;
    bool met = atomic_load_explicit(&wait.met, memory_order_relaxed) && processor_is_shared();
    return met ? &wait.turns : !ranks_are_crowded(now) ? &wait.alone : shared ? &wait.shared : &wait.crowded;
}

int vmsg_wait_start(void)
{
    uint64_t spin = vbase_settings.spin, yield = vbase_settings.yield;
    uint64_t spin_crowded = spin < TUNED(SPIN_CROWDED) ? spin : TUNED(SPIN_CROWDED);
    uint64_t alone = spin + yield * TUNED(ALONE_LONGER), soon = alone * TUNED(SOON_ALONE) / 100;
    wait.alone = patience_of(soon, alone - soon);
    wait.alone.yield = UINT64_MAX;
    wait.shared = patience_of(spin_crowded, yield);
    uint64_t yield_crowded = yield < TUNED(YIELD_CROWDED) ? yield : TUNED(YIELD_CROWDED);
    wait.crowded = patience_of(spin_crowded, yield_crowded);
    wait.turns = patience_of(0, yield_crowded);
    wait.together = vbase_clock_ticks_of_ns(TUNED(TOGETHER));
    wait.aside = vbase_clock_ticks_of_ns(TUNED_NS(ASIDE));
    wait.beside = vbase_clock_ticks_of_ns(TUNED(BESIDE));
    wait.lately = vbase_clock_ticks_of_ns(TUNED(BESIDE_RECENT));
    vmsg_gap = vbase_clock_pauses_of_ns(TUNED(POLL_GAP));
    return vmsg_engine.networked ? vmsg_wait_networked() : OK;
}

int vmsg_wait_networked(void)
{
    struct msg_engine *engine = &vmsg_engine;
    if (vmsg_waiters.wake_fd < 0)
        vmsg_waiters.wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int error = vmsg_waiters.wake_fd < 0 ? vbase_fail_errno(ERR_SYSTEM, "a descriptor to be woken by") : OK;
    for (uint32_t i = 0; i < engine->nics && !error; i++)
        error = vi_arm(engine->nic[i], VI_ARM_DESCRIPTOR, NULL);
    engine->networked |= !error;
    return error;
}

void vmsg_wait_stop(void)
{
    if (vmsg_waiters.wake_fd >= 0)
        close(vmsg_waiters.wake_fd);
    vmsg_waiters.wake_fd = -1;
}

/* ---- several threads --------------------------------------------------------------------------------------------- */

/* Notes that a thread sleeps until it is done. False: it is done. */
static bool request_mark_parked(struct msg_request *request)
{
    uint32_t state = MSG_PENDING;
    /* acq_rel: pairs with the exchange of publish: one of the two sees the other */
    return atomic_compare_exchange_strong_explicit(&request->state, &state, MSG_PARKED, memory_order_acq_rel,
                                                   memory_order_relaxed) ||
           state == MSG_PARKED;
}

/* This thread is about to sleep, and to be woken by what it waits for. A fence follows, and a look. */
static void sleep_begins(const struct waiting *waiting)
{
    if (!waiting->request)
        atomic_fetch_add_explicit(&vmsg_waiters.curious, 1, memory_order_relaxed);
    else
        (void)request_mark_parked(waiting->request);
}

static void sleep_ends(const struct waiting *waiting)
{
    if (!waiting->request)
        atomic_fetch_sub_explicit(&vmsg_waiters.curious, 1, memory_order_relaxed);
}

static bool watch_begin(struct waiting *waiting)
{
    if (!vmsg_engine.threads || watching)
        return true;
    bool nobody = false;
    /* acquire: pairs with the release in watch_end */
    waiting->watcher = atomic_compare_exchange_strong_explicit(&wait.watched, &nobody, true, memory_order_acquire,
                                                               memory_order_relaxed);
    watching = waiting->watcher;
    if (watching)
        waiting->since = 0; /* beside another one was no time of watching */
    return waiting->watcher;
}

static void watch_end(struct waiting *waiting)
{
    if (!waiting->watcher)
        return;
    waiting->watcher = watching = false;
    atomic_store_explicit(&wait.watched, false, memory_order_release); /* pairs with watch_begin */
    vmsg_wait_changed();
}

/* Things whose change wakes no sleeper: they must be tried again soon. Not transfers that only check: the side that
 * writes what they check rings. */
static bool something_pends(void)
{
    struct msg_engine *engine = &vmsg_engine;
    msg_lock(&engine->leaf);
    bool pends = !list_empty(&engine->stuck) || !list_empty(&engine->finished);
    list_for_each(node, &engine->work)
        /* written before it came into the list */
        pends |= container_of(node, struct msg_transfer, link)->phase != MSG_ENDING;
    msg_unlock(&engine->leaf);
    return pends;
}

/* Nothing but a wake-up need end this sleep. A thread beside the watcher sleeps on no descriptor. */
static bool is_woken(const struct waiting *waiting)
{
    const struct boot_fence *fence = waiting->fence;
    bool beside = vmsg_engine.threads && !watching;
    return waiting->woken && !waiting->retry && (!beside || !fence || fence->word || fence->calls);
}

static uint64_t next_sleep(struct waiting *waiting)
{
    uint64_t ns = waiting->sleep_ns;
    waiting->retry = something_pends();
    if (is_woken(waiting))
        return TUNED(SLEEP_FENCE);
    if (waiting->retry || (vmsg_engine.networked && !ns))
        ns = TUNED(SLEEP_RETRY);
    else if (!ns)
        ns = TUNED(SLEEP_LONGEST); /* many that wake at once would disturb those that do not sleep */
    waiting->sleep_ns = ns * 2 > TUNED(SLEEP_LONGEST) ? TUNED(SLEEP_LONGEST) : ns * 2;
    if (unlikely(waiting->limit)) {
        uint64_t now = clock_ticks(),
                 left = now < waiting->limit ? vbase_clock_ns_of_ticks(waiting->limit - now) + 1 : 1;
        ns = left < ns ? left : ns;
    }
    return ns;
}

/* True: nothing came in time. */
static bool sleep_on_words(const struct waiting *waiting, _Atomic uint32_t *bell, uint32_t value, uint64_t ns)
{
    const struct boot_fence *fence = waiting->fence;
    return fence && fence->word ? vbase_futex_wait_two(bell, value, fence->word, fence->value, ns)
                                : vbase_futex_wait(bell, value, ns);
}

static void thread_park(struct waiting *waiting, bool (*ready)(void *), void *context)
{
    uint32_t changes = atomic_load_explicit(&vmsg_waiters.changes, memory_order_relaxed);
    atomic_fetch_add_explicit(&vmsg_waiters.parked, 1, memory_order_relaxed);
    COUNT_TOGETHER(parked, 1);
    sleep_begins(waiting);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with vmsg_wait_changed */
    bool late = !ready(context) && atomic_load_explicit(&wait.watched, memory_order_relaxed) &&
                sleep_on_words(waiting, &vmsg_waiters.changes, changes, next_sleep(waiting));
    if (late && !waiting->retry && ready(context))
        COUNT(overslept);
    sleep_ends(waiting);
    COUNT_TOGETHER(parked, -1);
    atomic_fetch_sub_explicit(&vmsg_waiters.parked, 1, memory_order_relaxed);
}

/* ---- sleeping ---------------------------------------------------------------------------------------------------- */

/* True: nothing came in time; so does nics_sleep note it. */
static bool sleep_on_descriptors(const struct waiting *waiting, const struct vi_wait *from, uint32_t count, uint64_t ns)
{
    struct pollfd watched[MSG_NICS + 2];
    uint64_t calls;
    for (uint32_t i = 0; i < count; i++)
        watched[i] = (struct pollfd){.fd = from[i].descriptor, .events = from[i].events};
    watched[count] = (struct pollfd){.fd = vmsg_waiters.wake_fd, .events = POLLIN};
    watched[count + 1] = (struct pollfd){.fd = waiting->fence ? waiting->fence->descriptor : -1, .events = POLLIN};
    struct timespec limit = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    int found = ppoll(watched, count + 2, &limit, NULL);
    if (found > 0 && watched[count].revents)
        (void)!read(vmsg_waiters.wake_fd, &calls, sizeof calls);
    return found == 0;
}

/* How often this thread has told the nics that it is awake: a sleep that was begun before is no longer one then. */
static __thread uint32_t awakened TLS_QUICK;

/* A futex where there is one nic, or none (then only this process can ring); else the descriptors of all. */
static void nics_sleep(struct waiting *waiting, const struct vi_wait *from, bool (*ready)(void *), void *context)
{
    struct msg_engine *engine = &vmsg_engine;
    _Atomic uint32_t *bell = engine->nics ? from[0].futex : &vmsg_waiters.changes;
    uint32_t value = engine->nics ? from[0].value : atomic_load_explicit(&vmsg_waiters.changes, memory_order_relaxed);
    if (engine->networked)
        bell = NULL;
    atomic_store_explicit(&vmsg_waiters.bell, bell, memory_order_relaxed);
    atomic_store_explicit(&vmsg_waiters.listening, !bell, memory_order_relaxed);
    waiting->late = false;
    uint32_t before = awakened;
    sleep_begins(waiting);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with vmsg_wait_changed */
    if (!ready(context) && awakened == before) { /* else a handler that `ready` ran has waited, and ended this arming */
        uint64_t ns = next_sleep(waiting); /* looks at what others started, hence behind the fence */
        COUNT(sleeps);
        bool over =
            bell ? sleep_on_words(waiting, bell, value, ns) : sleep_on_descriptors(waiting, from, engine->nics, ns);
        waiting->late = over && !waiting->retry;
    }
    sleep_ends(waiting);
    atomic_store_explicit(&vmsg_waiters.bell, NULL, memory_order_relaxed);
    atomic_store_explicit(&vmsg_waiters.listening, false, memory_order_relaxed);
}

/* True: something has happened instead. */
static bool watcher_sleep(struct waiting *waiting, bool (*ready)(void *), void *context)
{
    TRACE("sleep");
    struct vi_wait from[MSG_NICS];
    for (int i = 0; i < MSG_NICS; i++) /* one may be added meanwhile */
        from[i] = (struct vi_wait){.descriptor = -1};
    if (!vmsg_nics_arm(from)) {
        sched_yield();
        return false;
    }
    /* What no lane brings: the words of slots. A callback may have waited, and ended this arming. */
    if (atomic_load_explicit(&vmsg_engine.chores, memory_order_relaxed) && vmsg_progress())
        return true;
    if (!ready(context))
        vmsg_waits_tell(waiting->request, waiting->context, waiting->group_tag, waiting->fence || waiting->woken,
                        clock_ticks() - waiting->since);
    nics_sleep(waiting, from, ready, context);
    return false;
}

/* Looks some times with a gap before each, without reading the clock. True: something came. */
static bool nics_spin(const struct waiting *waiting)
{
    bool moved = false;
    for (uint64_t look = 0; look < TUNED(POLL_LOOKS) && !moved; look++) {
        msg_wait_gap();
        moved = vmsg_progress_for(waiting->request);
    }
    return moved;
}

/* Another thread watches. To park and to be woken costs two system calls and more. So a thread that will wait again in
 * a moment only yields the processor: to the watcher perhaps, or to a rank whose messages both wait for. */
static void beside_watcher(struct waiting *waiting, uint64_t now, bool (*ready)(void *), void *context)
{
    atomic_store_explicit(&wait.beside_at, now, memory_order_relaxed);
    waiting->since = waiting->since ? waiting->since : now;
    vmsg_death_look();
    if (now - waiting->since >= wait.beside) {
        thread_park(waiting, ready, context);
    } else {
        COUNT(yields);
        sched_yield();
    }
}

/* Two ranks share a processor, though there is one for each. The kernel leaves threads that yield to each other where
 * they are for tens of milliseconds; a thread that wakes gets an idle processor. So this one sleeps for a moment. */
static bool step_aside(uint64_t now)
{
    uint64_t last = atomic_load_explicit(&wait.aside_at, memory_order_relaxed);
    if (now - last < wait.aside || ranks_are_crowded(now))
        return false;
    atomic_store_explicit(&wait.aside_at, now, memory_order_relaxed);
    COUNT(sleeps);
    (void)nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
    return true;
}

/* Nothing happened in the last round: what to do before the next. True: something has, meanwhile. */
static bool round_pause(struct waiting *waiting, bool (*ready)(void *), void *context)
{
    uint64_t now = clock_ticks();
    if (unlikely(!watch_begin(waiting))) {
        beside_watcher(waiting, now, ready, context);
        return false;
    }
    waiting->looked = now;
    if (!waiting->since) {
        waiting->since = now;
        waiting->patience = patience_choose(now, waiting->request);
    }
    const struct patience *patience = waiting->patience;
    uint64_t waited = now - waiting->since;
    if (waiting->patience == &wait.alone && waited >= wait.together && processor_is_shared())
        waiting->patience = patience_choose(now, waiting->request);
    if (waited >= patience->soon) {
        vmsg_death_look();
        if (!waiting->soon)
            vmsg_nics_tell(VI_ARM_SOON);
        waiting->soon = true;
    }
    if (waited >= patience->sleep)
        return watcher_sleep(waiting, ready, context);
    if (waited < patience->yield)
        return nics_spin(waiting);
    if (patience == &wait.turns && step_aside(now))
        return false;
    COUNT(yields);
    sched_yield();
    return false;
}

/* A thread that waits on, as in a server, counts as awake again: else each peer would ring for each of its frames. */
static COLD void waiting_awake(struct waiting *waiting)
{
    if (waiting->late)
        COUNT(overslept);
    waiting->soon = waiting->late = false;
    awakened++;
    vmsg_nics_tell(VI_ARM_AWAKE);
}

/* Something came. A short waiting is counted up to its last look at the clock: one more look would cost more than the
 * rest is worth. */
static inline void waiting_restart(struct waiting *waiting)
{
    if (unlikely(waiting->soon)) {
        waiting_awake(waiting);
        waiting->looked = clock_ticks();
    }
    if (unlikely(waiting->looked > waiting->since)) /* most end with their first look */
        vmsg_waits_end(waiting->looked - waiting->since);
    waiting->since = waiting->looked = waiting->sleep_ns = 0;
}

static void waiting_end(struct waiting *waiting)
{
    waiting_restart(waiting);
    watch_end(waiting);
}

static inline __attribute__((always_inline)) int wait_for(bool (*ready)(void *), void *context,
                                                          struct waiting waiting)
{
    struct msg_engine *engine = &vmsg_engine;
    uint64_t limit = waiting.limit;
    uint32_t rounds = 0;
    int error = OK;
    while (!ready(context)) {
        bool moved = vmsg_progress_for(waiting.request);
        error = atomic_load_explicit(&engine->failed, memory_order_relaxed);
        if (likely(moved && !error)) { /* others may talk to us for ever */
            waiting_restart(&waiting);
            if (unlikely(++rounds % TUNED(DEATH_ROUNDS) == 0))
                vmsg_death_look();
            if (likely(!limit || clock_ticks() < limit))
                continue;
        }
        if (limit && !error && clock_ticks() >= limit)
            error = ERR_TIMEOUT, waiting.late = false;
        if (unlikely(error || !engine->open))
            break;
        if (!ready(context) && round_pause(&waiting, ready, context))
            waiting_restart(&waiting);
    }
    waiting_end(&waiting);
    if (likely(!error) || ready(context))
        return OK;
    return error == ERR_TIMEOUT ? error : vmsg_failure();
}

static bool request_ready(void *request) { return vmsg_request_done(request); }

int vmsg_wait(struct msg_request *request)
{
    return msg_wait(request, request->kind == MSG_WORD, TUNED(POLL_EVENTS));
}

int vmsg_wait_on(struct msg_request *request)
{
    int error = wait_for(request_ready, request, (struct waiting){.request = request});
    if (likely(vmsg_request_done(request)))
        return request->result.error;
    if (!vmsg_engine.open)
        return vmsg_closed();
    vmsg_request_abandon(request, error);
    return error;
}

static int wait_open(bool (*ready)(void *), void *context, struct waiting waiting)
{
    return likely(vmsg_engine.open) ? wait_for(ready, context, waiting) : vmsg_closed();
}

int vmsg_wait_until(bool (*ready)(void *context), void *context)
{
    return wait_open(ready, context, (struct waiting){.request = NULL});
}

int vmsg_wait_collective(struct msg_context *context, bool (*ready)(void *owner), void *owner)
{
    return wait_open(ready, owner, (struct waiting){.context = context});
}

int vmsg_wait_group(struct msg_context *context, int tag, bool (*ready)(void *owner), void *owner)
{
    return wait_open(ready, owner, (struct waiting){.context = context, .group_tag = &tag});
}

int vmsg_wait_until_ticks(bool (*ready)(void *context), void *context, uint64_t ticks)
{
    return wait_open(ready, context, (struct waiting){.limit = ticks});
}

/* A death that does not end the job wakes no rank but one in the fence. */
int vmsg_wait_goodbye(bool (*ready)(void *context), void *context)
{
    return wait_open(ready, context, (struct waiting){.woken = !vmsg_engine.job->survives});
}

/* ---- the job's fence --------------------------------------------------------------------------------------------- */

static bool fence_is_over(void *fence) { return vboot_fence_over(vmsg_engine.job, fence); }

int vmsg_wait_fence(void)
{
    struct boot_fence fence = {.changed = vmsg_wait_changed};
    int error = vboot_fence_begin(vmsg_engine.job, &fence);
    if (error)
        return error;
    if (fence.descriptor >= 0 && !vmsg_engine.networked) {
        /* it cannot be slept on beside a word; where the change fails, time-outs look after it */
        msg_progress_keep_out();
        if (vmsg_wait_networked())
            LOG_DEBUG("the fence: %s", vbase_error_detail());
        msg_progress_leave();
    }
    /* not by a word where descriptors are slept on */
    bool woken = fence.calls || (vmsg_engine.networked ? fence.descriptor >= 0 : fence.word != NULL);
    return wait_for(fence_is_over, &fence, (struct waiting){.fence = &fence, .woken = woken})
               ?: vboot_fence_end(vmsg_engine.job, &fence);
}
