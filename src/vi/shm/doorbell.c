/* Waking and sleeping. The protocol, modelled in tests/vi/sleep.pml:
 *
 *   owner   mark = SOON; polls and yields for a while; mark = ASLEEP, fence; sweeps all lanes once more; sleeps on bell
 *   sender  cell; looks at mark. AWAKE: done. Else: fence; looks again; ASLEEP: mark = SOON, bell + 1, wake
 *
 * A sender that saw AWAKE needs no fence: its store is visible long before the owner can get from SOON to ASLEEP. This
 * assumes that a processor drains its store buffer within SHM_SETTLE (in fact within a few hundred nanoseconds;
 * interrupts and task switches drain it, too). The time is measured here, whatever the caller does.
 *
 * A rank that also sleeps on other nics cannot sleep on a futex. It has a wake-up socket: a datagram socket whose
 * abstract name is a hash of its cookie. The owner empties the socket and then sets LISTENING in the place of ASLEEP. A
 * sender changes the mark first and then sends a datagram, in the place of the bell. So the owner never discards a
 * datagram that is meant for the coming sleep; one that comes late ends a later sleep for nothing. The content of a
 * datagram means nothing: one from any other process only ends a sleep for nothing, too. */
#include "vi/shm/shm.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

static socklen_t wake_address(const struct shm_identity *identity, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(out->sun_path + 1, sizeof(out->sun_path) - 1, "viaduct-wake-%016llx",
                          (unsigned long long)vbase_hash_bytes(identity->cookie, sizeof(identity->cookie)));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

int shm_wake_open(struct shm_nic *nic)
{
    struct sockaddr_un name;
    socklen_t length = wake_address(shm_identity_of(&nic->segment, nic->index), &name);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, length) < 0) {
        int error = vbase_fail_errno(ERR_SYSTEM, "the socket that wakes this rank");
        base_close(fd);
        return error;
    }
    nic->wake_fd = fd;
    return OK;
}

static void wake_empty(struct shm_nic *nic)
{
    char nothing[8];
    while (recv(nic->wake_fd, nothing, sizeof(nothing), MSG_DONTWAIT) >= 0)
        ;
}

/* If the wake-up socket is full, its owner wakes anyhow; if it cannot be reached, the time-out ends the sleep. */
static void wake_send(const struct shm_vi *vi)
{
    const struct shm_nic *nic = shm_nic_of(vi->vi.nic);
    struct sockaddr_un name;
    socklen_t length = wake_address(shm_identity_of(&nic->segment, vi->index), &name);
    int fd = nic->wake_fd >= 0 ? nic->wake_fd : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)!sendto(fd, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&name, length);
    if (fd != nic->wake_fd && fd >= 0)
        close(fd);
}

/* Called after the fence: an owner that sleeps now may have missed what was stored. */
static void sleeper_wake(struct shm_vi *vi)
{
    uint32_t mark = atomic_load_explicit(&vi->bell->mark, memory_order_relaxed);
    if (mark != SHM_ASLEEP && mark != SHM_LISTENING)
        return;
    /* Only one of many senders rings. acq_rel: nothing of this moves before or behind it */
    if (!atomic_compare_exchange_strong_explicit(&vi->bell->mark, &mark, SHM_SOON, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return;
    COUNT(wakes);
    if (mark == SHM_LISTENING) {
        wake_send(vi);
        return;
    }
    /* release: pairs with the acquire of bell in shm_arm */
    atomic_fetch_add_explicit(&vi->bell->bell, 1, memory_order_release);
    vbase_futex_wake(&vi->bell->bell, INT_MAX);
}

COLD void shm_ring(struct shm_vi *vi)
{
    struct shm_nic *nic = shm_nic_of(vi->vi.nic);
    uint32_t hot = atomic_load_explicit(&vi->credit->hot, memory_order_relaxed);
    if (!(hot & SHM_HOT))
        /* release: pairs with bits_take */
        atomic_fetch_or_explicit(&shm_bits_of(&nic->segment, vi->index)[nic->index / 64], 1ull << nic->index % 64,
                                 memory_order_release);
    /* pairs with the exchange in shm_arm: either we see ASLEEP, or its sweep sees our cell and our bit */
    atomic_thread_fence(memory_order_seq_cst);
    shm_hook("ring");
    sleeper_wake(vi);
    if (hot & SHM_ASKED)
        shm_probe(vi);
}

int shm_wake(struct vi *base)
{
    struct shm_vi *vi = shm_vi_of(base);
    /* relaxed: a peer that is awake now, and sleeps later, looks at the memory once more in between */
    if (atomic_load_explicit(&vi->bell->mark, memory_order_relaxed) == SHM_AWAKE)
        return OK;
    atomic_thread_fence(memory_order_seq_cst); /* pairs with the exchange in shm_arm, as in shm_ring */
    sleeper_wake(vi);
    return OK;
}

/* Counts this rank among those of the node that sleep, or no longer; a hint for the others. */
static void sleeper_count(struct shm_nic *nic, bool sleeps)
{
    if (nic->counted == sleeps)
        return;
    nic->counted = sleeps;
    atomic_fetch_add_explicit(nic->asleep, sleeps ? 1 : UINT32_MAX, memory_order_relaxed);
}

static void soon_tell(struct shm_nic *nic)
{
    if (nic->soon_at != 0)
        return;
    /* seq_cst: visible before the time begins to run */
    atomic_exchange_explicit(&nic->bell->mark, SHM_SOON, memory_order_seq_cst);
    nic->soon_at = clock_ticks();
}

static int sleep_begin(struct shm_nic *nic, struct vi_wait *wait)
{
    soon_tell(nic);
    sleeper_count(nic, false);
    if (clock_ticks() - nic->soon_at < nic->settle)
        return ERR_AGAIN;
    shm_inbox_settle(nic);
    if (nic->wake_fd >= 0)
        wake_empty(nic);
    /* The bell is read before the mark is set: a sender that rings afterwards changes it. acquire: pairs with
     * shm_ring */
    uint32_t value = atomic_load_explicit(&nic->bell->bell, memory_order_acquire);
    shm_hook("sleep");
    atomic_exchange_explicit(&nic->bell->mark, nic->wake_fd >= 0 ? SHM_LISTENING : SHM_ASLEEP, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with the fence in shm_ring */
    shm_hook("sweep");
    if (shm_inbox_pending(nic)) {
        atomic_store_explicit(&nic->bell->mark, SHM_SOON, memory_order_relaxed);
        return ERR_AGAIN;
    }
    sleeper_count(nic, true);
    *wait = nic->wake_fd >= 0 ? (struct vi_wait){.descriptor = nic->wake_fd, .events = POLLIN}
                          : (struct vi_wait){.futex = &nic->bell->bell, .value = value, .descriptor = -1};
    return OK;
}

/* Two processes that wait for each other on one processor need it by turns, however many others there are. */
static int processor_tell(struct shm_nic *nic)
{
    uint32_t here = (uint32_t)sched_getcpu() + 1;
    if (atomic_load_explicit(&nic->bell->processor, memory_order_relaxed) != here)
        atomic_store_explicit(&nic->bell->processor, here, memory_order_relaxed);
    for (uint32_t i = 0; i < nic->segment.ranks; i++) {
        struct shm_bell *bell = shm_bell_of(&nic->segment, i);
        if (i != nic->index && atomic_load_explicit(&bell->processor, memory_order_relaxed) == here &&
            atomic_load_explicit(&bell->mark, memory_order_relaxed) <= SHM_SOON)
            return ERR_AGAIN;
    }
    return OK;
}

int shm_arm(struct vi_nic *base, enum vi_arm what, struct vi_wait *wait)
{
    struct shm_nic *nic = shm_nic_of(base);
    switch (what) {
    case VI_ARM_DESCRIPTOR:
        return nic->wake_fd >= 0 ? OK : shm_wake_open(nic);
    case VI_ARM_HERE:
        return processor_tell(nic);
    case VI_ARM_SOON:
        soon_tell(nic);
        return OK;
    case VI_ARM_SLEEP:
        return sleep_begin(nic, wait);
    case VI_ARM_AWAKE:
        nic->soon_at = 0;
        sleeper_count(nic, false);
        /* relaxed: a late sender rings once for nothing */
        atomic_store_explicit(&nic->bell->mark, SHM_AWAKE, memory_order_relaxed);
        return OK;
    }
    return vbase_fail(ERR_ARGUMENT, "arm %d", (int)what);
}
