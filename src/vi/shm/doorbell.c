/* Waking and sleeping. The protocol, modelled in tests/vi/sleep.pml:
 *
 *   owner   mark = SOON; polls and yields for a while; mark = ASLEEP, fence; sweeps all lanes once more; sleeps on bell
 *   sender  cell; looks at mark. AWAKE: done. Else: fence; looks again; ASLEEP: mark = SOON, bell + 1, wake
 *
 * A sender who saw AWAKE needs no fence, because his store is visible long before the owner can get from SOON to
 * ASLEEP. That is an assumption about processors: a store buffer drains within SETTLE_NS (in fact within a few hundred
 * nanoseconds; interrupts and task switches drain it, too). The time is measured here, whatever the caller does. */
#include "vi/shm/shm.h"
#include "base/clock.h"
#include "base/counters.h"

#include <limits.h>

/* The fence is behind: whoever sleeps now may have missed what was stored. */
static void wake_sleeper(struct shm_vi *vi)
{
    uint32_t asleep = SHM_ASLEEP;

    if (atomic_load_explicit(&vi->bell->mark, memory_order_relaxed) != SHM_ASLEEP)
        return;
    /* One of many senders rings. acq_rel: nothing of this moves before or behind it */
    if (!atomic_compare_exchange_strong_explicit(&vi->bell->mark, &asleep, SHM_SOON, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return;
    /* release: pairs with the acquire of bell in shm_arm */
    atomic_fetch_add_explicit(&vi->bell->bell, 1, memory_order_release);
    vbase_futex_wake(&vi->bell->bell, INT_MAX);
    COUNT(wakes);
}

COLD void shm_ring(struct shm_vi *vi)
{
    struct shm_nic *nic = shm_nic_of(vi->vi.nic);

    if (!atomic_load_explicit(&vi->credit->hot, memory_order_relaxed))
        /* release: pairs with take_bits */
        atomic_fetch_or_explicit(&shm_bits_of(&nic->segment, vi->index)[nic->index / 64], 1ull << nic->index % 64,
                                 memory_order_release);
    /* pairs with the exchange in shm_arm: either we see ASLEEP, or its sweep sees our cell and our bit */
    atomic_thread_fence(memory_order_seq_cst);
    shm_hook("ring");
    wake_sleeper(vi);
}

void shm_wake(struct shm_vi *vi)
{
    /* relaxed: who is awake now, and sleeps later, looks at the memory once more in between */
    if (atomic_load_explicit(&vi->bell->mark, memory_order_relaxed) == SHM_AWAKE)
        return;
    atomic_thread_fence(memory_order_seq_cst); /* pairs with the exchange in shm_arm, as in shm_ring */
    wake_sleeper(vi);
}

static void say_soon(struct shm_nic *nic)
{
    if (nic->soon_at != 0)
        return;
    /* seq_cst: visible before the time begins to run */
    atomic_exchange_explicit(&nic->bell->mark, SHM_SOON, memory_order_seq_cst);
    nic->soon_at = clock_ticks();
}

static int fall_asleep(struct shm_nic *nic, struct vi_wait *wait)
{
    uint32_t value;

    say_soon(nic);
    if (clock_ticks() - nic->soon_at < nic->settle)
        return ERR_AGAIN;
    shm_inbox_settle(nic);
    /* The bell is read before the mark is set: who rings afterwards changes it. acquire: pairs with shm_ring */
    value = atomic_load_explicit(&nic->bell->bell, memory_order_acquire);
    shm_hook("sleep");
    atomic_exchange_explicit(&nic->bell->mark, SHM_ASLEEP, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with the fence in shm_ring */
    shm_hook("sweep");
    if (shm_inbox_pending(nic)) {
        atomic_store_explicit(&nic->bell->mark, SHM_SOON, memory_order_relaxed);
        return ERR_AGAIN;
    }
    *wait = (struct vi_wait){.futex = &nic->bell->bell, .value = value, .descriptor = -1};
    return OK;
}

int shm_arm(struct vi_nic *base, enum vi_arm what, struct vi_wait *wait)
{
    struct shm_nic *nic = shm_nic_of(base);

    switch (what) {
    case VI_ARM_SOON:
        say_soon(nic);
        return OK;
    case VI_ARM_SLEEP:
        return fall_asleep(nic, wait);
    case VI_ARM_AWAKE:
        nic->soon_at = 0;
        /* relaxed: a late sender rings once for nothing */
        atomic_store_explicit(&nic->bell->mark, SHM_AWAKE, memory_order_relaxed);
        return OK;
    }
    return vbase_fail(ERR_ARGUMENT, "arm %d", (int)what);
}
