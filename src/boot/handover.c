/* The launcher's handover; see handover.h. */
#include "boot/handover.h"
#include <fcntl.h>
#include <sys/mman.h>


static uint32_t seats_offset(size_t local_count)
{
    size_t end = sizeof(struct boot_handover) + local_count * sizeof(uint32_t);
    return (uint32_t)((end + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
}

static struct boot_handover_map map_make(int fd, size_t length, struct boot_handover *header)
{
    struct boot_seat *seat = (void *)((char *)header + header->seats_at);
    return (struct boot_handover_map){fd, length, header, seat, (void *)(seat + header->local_count)};
}

int vboot_handover_create(int size, int local_count, struct boot_handover_map *map)
{
    uint32_t seats_at = seats_offset((size_t)local_count);
    size_t length = seats_at + (size_t)local_count * sizeof(struct boot_seat) + (size_t)size;
    int fd, error = vbase_memory_make("viaduct-job", length, F_SEAL_SEAL, &fd);
    if (error)
        return error;
    struct boot_handover *header = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (header == MAP_FAILED) {
        vbase_fail_errno(ERR_SYSTEM, "mmap of the job's description");
        goto close_fd;
    }
    if (vbase_random(header->secret, SECRET_SIZE) != OK)
        goto unmap;
    header->magic = HANDOVER_MAGIC;
    header->version = HANDOVER_VERSION;
    header->size = (uint32_t)size;
    header->local_count = (uint32_t)local_count;
    header->universe = size;
    header->launcher_pid = (uint32_t)getpid();
    header->seats_at = seats_at;
    memcpy(header->build, vbase_build_id, sizeof header->build);
    for (int i = 0; i < local_count; i++)
        header->rank[i] = (uint32_t)i;
    *map = map_make(fd, length, header);
    return OK;

unmap:
    munmap(header, length);
close_fd:
    close(fd);
    return ERR_SYSTEM;
}

/* Sizes and counts must agree with each other; ranks must be in order. */
static bool header_is_valid(const struct boot_handover *header, size_t length)
{
    uint64_t count = header->local_count;
    if (count == 0 || count > header->size || header->size > INT32_MAX ||
        sizeof *header + count * sizeof(uint32_t) > length || header->seats_at != seats_offset(count) ||
        header->seats_at + count * sizeof(struct boot_seat) + header->size > length)
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (header->rank[i] >= header->size || (i > 0 && header->rank[i] <= header->rank[i - 1]))
            return false;
    return true;
}

int vboot_handover_open(int fd, struct boot_handover_map *map)
{
    size_t length = vbase_memory_size(fd);
    if (length < sizeof(struct boot_handover))
        return vbase_fail(ERR_LAUNCHER, "descriptor %d is not the job's description", fd);
    struct boot_handover *header = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (header == MAP_FAILED)
        return vbase_fail_errno(ERR_SYSTEM, "mmap of the job's description");
    int error = OK;
    if (header->magic != HANDOVER_MAGIC)
        error = vbase_fail(ERR_LAUNCHER, "descriptor %d is not the job's description", fd);
    else if (header->version != HANDOVER_VERSION)
        error = vbase_fail(ERR_MISMATCH, "the launcher's description has version %u, this library knows %u",
                           header->version, HANDOVER_VERSION);
    else if (!header_is_valid(header, length))
        error = vbase_fail(ERR_PROTOCOL, "the launcher's description of the job is invalid");
    if (error)
        munmap(header, length);
    else
        *map = map_make(fd, length, header);
    return error;
}

void vboot_handover_dead(struct boot_handover_map *map, int rank)
{
    atomic_store_explicit(&map->dead[rank], 1, memory_order_relaxed);           /* the count orders it */
    atomic_fetch_add_explicit(&map->header->deaths, 1, memory_order_release); /* pairs with vboot_deaths */
    /* else a rank that has just read the count would sleep in the fence. release: pairs with fence_here */
    atomic_fetch_add_explicit(&map->header->fence_epoch, 1, memory_order_release);
    vbase_futex_wake(&map->header->fence_epoch, INT32_MAX);
}

/* The fence opens when all have arrived or ended, and one at least has arrived. */
static bool fence_count(struct boot_handover *header, uint64_t more)
{
    uint64_t old = atomic_load_explicit(&header->fence_count, memory_order_relaxed), next;
    bool full;
    do {
        next = old + more;
        uint64_t arrived = (uint32_t)next;
        full = arrived > 0 && arrived + (next >> 32) >= header->size;
        next -= full ? arrived : 0;
        /* acq_rel: what all wrote before the fence is seen by the last, and through the epoch by all */
    } while (!atomic_compare_exchange_weak_explicit(&header->fence_count, &old, next, memory_order_acq_rel,
                                                    memory_order_relaxed));
    if (!full)
        return false;
    /* added, for the launcher may have, too; release: pairs with seat_fence_look */
    atomic_fetch_add_explicit(&header->fence_epoch, 1, memory_order_release);
    vbase_futex_wake(&header->fence_epoch, INT32_MAX);
    return true;
}

bool vboot_handover_arrive(struct boot_handover *header) { return fence_count(header, 1); }

void vboot_handover_ended(struct boot_handover_map *map) { (void)fence_count(map->header, (uint64_t)1 << 32); }

void vboot_handover_close(struct boot_handover_map *map)
{
    if (map->header)
        munmap(map->header, map->length);
    base_close(map->fd);
    *map = (struct boot_handover_map){.fd = -1};
}
