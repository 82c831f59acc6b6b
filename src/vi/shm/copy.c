/* Single copy: put and get by process_vm_writev and process_vm_readv, or by memcpy where the region lies in the
 * segment.
 *
 * Whether the kernel permits it is tried, not guessed: containers, Yama and user namespaces refuse in different ways,
 * and a pid may name another process in another pid namespace. The first use reads the peer's random cookie from the
 * peer's own memory and compares it with the copy in the segment. After a later refusal the method is not used again
 * for this peer, and the caller sends instead.
 *
 * A peer's address is only ever the remote side of such a call. Writing into a peer is allowed only where no pid is
 * reused while the job lives. */
#include "vi/shm/shm.h"

#include <sys/prctl.h>

#define BATCH 64 /* pieces of either side given to one call */
#ifndef CALL_MOST /* a test makes it small */
#define CALL_MOST (1u << 30) /* bytes of one call; the kernel stops at 2 GiB less a page */
#endif

/* Under Yama's scope 1 a process may be read only by its ancestors and by one that it names, with the descendants of
 * that one. The launcher is named: its descendants are the ranks. Never "anybody". */
void shm_allow_peers(int launcher)
{
    char scope[4];
    if (vbase_file_read(scope, sizeof(scope), "/proc/sys/kernel/yama/ptrace_scope") && *scope == '1' &&
        prctl(PR_SET_PTRACER, (unsigned long)launcher, 0, 0, 0) != 0)
        LOG_DEBUG("prctl(PR_SET_PTRACER): %s", strerror(errno));
}

static pid_t peer_pid(const struct shm_vi *vi)
{
    const struct shm_identity *identity = shm_identity_of(&shm_nic_of(vi->vi.nic)->segment, vi->index);
    return (pid_t) * (const volatile uint32_t *)&identity->pid;
}

static bool cookie_is_there(struct shm_vi *vi, const struct shm_identity *identity)
{
    uint64_t seen[2] = {0}, expected[2];
    struct iovec local = {seen, sizeof(seen)};
    struct iovec remote = {(void *)(uintptr_t)identity->cookie_address, sizeof(seen)};
    ssize_t got = process_vm_readv(peer_pid(vi), &local, 1, &remote, 1, 0);
    memcpy(expected, identity->cookie, sizeof(expected));
    if (got != (ssize_t)sizeof(seen))
        LOG_DEBUG("single copy from rank %u: %s", vi->vi.peer, got < 0 ? strerror(errno) : "cut short");
    else if (memcmp(seen, expected, sizeof(seen)) != 0)
        LOG_DEBUG("single copy from rank %u: its pid is another process here", vi->vi.peer);
    return got == (ssize_t)sizeof(seen) && memcmp(seen, expected, sizeof(seen)) == 0;
}

void shm_reach_prove(struct shm_vi *vi)
{
    struct shm_nic *nic = shm_nic_of(vi->vi.nic);
    struct shm_identity *identity = shm_identity_of(&nic->segment, vi->index);
    if (atomic_load_explicit(&vi->get_reach, memory_order_relaxed) != SHM_UNKNOWN)
        return;
    /* acquire: pairs with entry_take; a peer that is not open yet stays unknown */
    if (vbase_settings.single_copy && atomic_load_explicit(&identity->state, memory_order_acquire) != SHM_ENTRY_OPEN)
        return;
    bool reached = vbase_settings.single_copy && cookie_is_there(vi, identity);
    atomic_store_explicit(&vi->put_reach, reached && nic->direct_children ? SHM_REACHED : SHM_REFUSED,
                          memory_order_relaxed);
    atomic_store_explicit(&vi->get_reach, reached ? SHM_REACHED : SHM_REFUSED, memory_order_relaxed);
}

/* ---- the kernel's copy ------------------------------------------------------------------------------------------- */

typedef ssize_t (*mover)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
                         unsigned long);

/* A walk over our pieces. */
struct walk {
    const struct iovec *piece;
    int pieces;
    size_t skip; /* bytes of the first piece that are done */
};

/* The next pieces, at most BATCH and MOST bytes; returns their number. */
static unsigned long walk_batch(const struct walk *walk, struct iovec *batch, uint64_t most, uint64_t *bytes)
{
    unsigned long n = 0;
    *bytes = 0;
    for (int i = 0; i < walk->pieces && n < BATCH && *bytes < most; i++) {
        size_t skip = i == 0 ? walk->skip : 0;
        size_t length = walk->piece[i].iov_len - skip;
        if (length > most - *bytes)
            length = most - *bytes;
        if (length == 0)
            continue;
        batch[n++] = (struct iovec){(char *)walk->piece[i].iov_base + skip, length};
        *bytes += length;
    }
    return n;
}

static void walk_advance(struct walk *walk, uint64_t bytes)
{
    while (walk->pieces > 0 && bytes >= walk->piece->iov_len - walk->skip) {
        bytes -= walk->piece->iov_len - walk->skip;
        walk->skip = 0;
        walk->piece++;
        walk->pieces--;
    }
    walk->skip += bytes;
}

static int copy_refused(struct shm_vi *vi, _Atomic int *reach, const char *what)
{
    /* EFAULT and ENOMEM speak of this memory, ESRCH of a process that is gone, everything else of what is allowed. */
    if (errno != EFAULT && errno != ENOMEM && errno != ESRCH)
        atomic_store_explicit(reach, SHM_REFUSED, memory_order_relaxed);
    return vbase_fail_errno(errno == ESRCH ? ERR_PEER_DEAD : ERR_UNSUPPORTED, "%s of rank %u", what, vi->vi.peer);
}

static int pieces_move(struct shm_vi *vi, const struct vi_transfer *transfer, mover call, _Atomic int *reach)
{
    struct iovec near[BATCH];
    struct walk here = {transfer->local, transfer->pieces, 0};
    uint64_t at = transfer->key.word[0] + transfer->offset, bytes;
    unsigned long n;
    while ((n = walk_batch(&here, near, CALL_MOST, &bytes)) > 0) {
        /* no more of the peer's than of ours: the kernel would look up and hold its pages, too */
        struct iovec far = {(void *)(uintptr_t)at, bytes};
        ssize_t moved = call(peer_pid(vi), near, n, &far, 1, 0);
        if (moved == 0)
            errno = EFAULT;
        if (moved <= 0)
            return copy_refused(vi, reach, call == process_vm_readv ? "process_vm_readv" : "process_vm_writev");
        COUNT_ADD(copy_single, moved);
        walk_advance(&here, (uint64_t)moved);
        at += (uint64_t)moved;
    }
    return VI_COMPLETE;
}

/* ---- the operations ---------------------------------------------------------------------------------------------- */

static int check_bounds(const struct vi_transfer *transfer, uint64_t *total)
{
    uint64_t length = 0, limit = transfer->key.word[1];
    for (int i = 0; i < transfer->pieces; i++) {
        if (transfer->local[i].iov_len > UINT64_MAX - length)
            return vbase_fail(ERR_ARGUMENT, "the pieces of a transfer pass 2^64 bytes");
        length += transfer->local[i].iov_len;
    }
    if (transfer->offset > limit || length > limit - transfer->offset)
        return vbase_fail(ERR_ARGUMENT, "%llu bytes at %llu are outside a region of %llu bytes",
                          (unsigned long long)length, (unsigned long long)transfer->offset, (unsigned long long)limit);
    if (!(transfer->key.word[0] & SHM_SHARED_KEY) && limit > UINT64_MAX - transfer->key.word[0])
        return vbase_fail(ERR_ARGUMENT, "a region that passes the end of memory");
    *total = length;
    return OK;
}

/* Between local pieces and mapped memory. */
static int copy_mapped(struct vi *vi, const struct vi_transfer *transfer, uint64_t total, bool put)
{
    void *mapped;
    int error = shm_map(vi, transfer->key, transfer->offset, total, &mapped);
    char *there = mapped;
    if (error)
        return error;
    for (int i = 0; i < transfer->pieces; i++) {
        const struct iovec *piece = &transfer->local[i];
        if (piece->iov_len > 0)
            base_copy(put ? there : piece->iov_base, put ? piece->iov_base : there, piece->iov_len);
        there += piece->iov_len;
    }
    return VI_COMPLETE;
}

static int transfer_now(struct shm_vi *vi, const struct vi_transfer *transfer, bool put)
{
    _Atomic int *reach = put ? &vi->put_reach : &vi->get_reach;
    uint64_t total = 0;
    int error = check_bounds(transfer, &total);
    if (error)
        return error;
    if (transfer->key.word[0] & SHM_SHARED_KEY)
        return copy_mapped(&vi->vi, transfer, total, put);
    TRACE("copy");
    shm_reach_prove(vi);
    if (atomic_load_explicit(reach, memory_order_relaxed) != SHM_REACHED)
        return ERR_UNSUPPORTED;
    return pieces_move(vi, transfer, put ? process_vm_writev : process_vm_readv, reach);
}

int shm_get(struct vi *vi, const struct vi_transfer *transfer)
{
    return transfer_now(shm_vi_of(vi), transfer, false);
}

int shm_put(struct vi *base, const struct vi_transfer *transfer)
{
    struct shm_vi *vi = shm_vi_of(base);
    /* Room for the immediate is checked first: only this thread sends here, so the room is still there afterwards. */
    int error = transfer->signal ? shm_lane_room(vi) : OK;

    if (error)
        return error;
    error = transfer_now(vi, transfer, true);
    if (error != VI_COMPLETE || !transfer->signal)
        return error;
    error = shm_send_word(vi, SHM_IMMEDIATE, transfer->immediate);
    return error ? error : VI_COMPLETE;
}
