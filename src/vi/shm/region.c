/* Registered memory. The user's own costs nothing: its key is address and length, and the kernel copies. Memory that
 * the provider allocates lies in this rank's slice of the segment. Each region is mapped by itself: here when it is
 * made, by a peer when it first reaches it. Then both access it without the kernel.
 *
 * The slice is handed out first fit, in pages. Pages are committed when they are handed out, so that a full node gives
 * an error here and not a SIGBUS later. They are punched out of the file when they come back, so that they are zero the
 * next time. A peer's mapping stays, in whole parts of 2 MiB: memory that is handed out again at the same place is
 * reached by the same mapping. */
#include "vi/shm/shm.h"

#include <fcntl.h>
#include <sys/mman.h>

struct shm_extent {
    struct shm_extent *next;
    struct shm_nic *nic;
    char *base;
    uint64_t offset, length; /* in the slice */
};

/* A part of a peer's slice. */
struct shm_reached {
    struct shm_reached *next;
    char *base;
    uint64_t offset, length;
};

static char *slice_map(struct shm_nic *nic, uint32_t index, uint64_t offset, uint64_t length)
{
    const struct shm_segment *s = &nic->segment;
    char *base = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, s->fd,
                      (off_t)(s->shared + (uint64_t)index * s->shared_each + offset));
    if (base == MAP_FAILED) {
        (void)vbase_fail_errno(ERR_LIMIT, "mapping %llu bytes of shared memory (ulimit -v)",
                               (unsigned long long)length);
        return NULL;
    }
    (void)madvise(base, length, MADV_DONTDUMP);
    return base;
}

/* The first gap that is large enough; where to link the new extent. */
static struct shm_extent **find_gap(struct shm_nic *nic, uint64_t length, uint64_t *offset)
{
    struct shm_extent **link = &nic->extents;
    uint64_t end = 0;

    while (*link && (*link)->offset - end < length) {
        end = (*link)->offset + (*link)->length;
        link = &(*link)->next;
    }
    if (!*link && (end > nic->segment.shared_each || nic->segment.shared_each - end < length))
        return NULL;
    *offset = end;
    return link;
}

static off_t file_offset(const struct shm_nic *nic, const struct shm_extent *extent)
{
    return (off_t)(nic->segment.shared + (uint64_t)nic->index * nic->segment.shared_each + extent->offset);
}

static int extent_commit(struct shm_nic *nic, const struct shm_extent *extent)
{
    int result;

    do
        result = fallocate(nic->segment.fd, 0, file_offset(nic, extent), (off_t)extent->length);
    while (result != 0 && errno == EINTR);
    if (result != 0)
        return vbase_fail_errno(ERR_MEMORY, "%llu bytes of shared memory", (unsigned long long)extent->length);
    return OK;
}

static void extent_forget(struct shm_nic *nic, struct shm_extent *extent)
{
    munmap(extent->base, extent->length);
    (void)fallocate(nic->segment.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, file_offset(nic, extent),
                    (off_t)extent->length);
    free(extent);
}

/* Under nic->lock. */
static int extent_add(struct shm_nic *nic, uint64_t length, struct shm_extent **out)
{
    struct shm_extent *extent = malloc(sizeof(*extent));
    struct shm_extent **link;
    int error;

    if (!extent)
        return vbase_fail(ERR_MEMORY, "the record of a shared allocation");
    *extent = (struct shm_extent){.nic = nic, .length = (length + SHM_PAGE - 1) / SHM_PAGE * SHM_PAGE};
    link = find_gap(nic, extent->length, &extent->offset);
    error = link ? extent_commit(nic, extent)
                 : vbase_fail(ERR_LIMIT, "%llu bytes of shared memory; this rank has %llu in all",
                              (unsigned long long)length, (unsigned long long)nic->segment.shared_each);
    if (!error && !(extent->base = slice_map(nic, nic->index, extent->offset, extent->length))) {
        (void)fallocate(nic->segment.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, file_offset(nic, extent),
                        (off_t)extent->length);
        error = ERR_LIMIT;
    }
    if (error) {
        free(extent);
        return error;
    }
    extent->next = *link;
    *link = extent;
    *out = extent;
    return OK;
}

int shm_reg(struct vi_nic *base, void *address, uint64_t length, struct vi_region *region)
{
    struct shm_nic *nic = shm_nic_of(base);
    struct shm_extent *extent = NULL;
    int error;

    if ((uintptr_t)address & SHM_SHARED_KEY)
        return vbase_fail(ERR_ARGUMENT, "memory at %p: its address carries a tag", address);
    if (address) {
        *region = (struct vi_region){base, address, length, {{(uintptr_t)address, length}}, NULL};
        return OK;
    }
    if (length == 0 || length > SHM_SHARED_KEY)
        return vbase_fail(ERR_ARGUMENT, "a shared allocation of %llu bytes", (unsigned long long)length);
    base_lock(&nic->lock);
    error = extent_add(nic, length, &extent);
    base_unlock(&nic->lock);
    if (error)
        return error;
    *region = (struct vi_region){
        base, extent->base, length, {{extent->offset | SHM_SHARED_KEY, length}}, extent};
    return OK;
}

void shm_dereg(struct vi_region *region)
{
    struct shm_nic *nic = shm_nic_of(region->nic);
    struct shm_extent *extent = region->own, **link = &nic->extents;

    if (!extent)
        return;
    base_lock(&nic->lock);
    while (*link != extent)
        link = &(*link)->next;
    *link = extent->next;
    extent_forget(nic, extent);
    base_unlock(&nic->lock);
    region->own = NULL;
}

/* The part of a peer's memory from START to END, mapped when it is first reached. Under nic->lock; NULL: it cannot
 * be. */
static char *region_reach(struct shm_nic *nic, struct shm_vi *vi, uint64_t start, uint64_t end)
{
    struct shm_reached *part = vi->reached;
    while (part && (start < part->offset || end > part->offset + part->length))
        part = part->next;
    if (!part) {
        uint64_t each = nic->segment.shared_each, unit = TUNED(SHM_MAP_PART);
        uint64_t from = start / unit * unit, upto = (end + unit - 1) / unit * unit;
        part = malloc(sizeof(*part));
        if (!part) {
            (void)vbase_fail(ERR_MEMORY, "the record of shared memory of rank %u", vi->vi.peer);
            return NULL;
        }
        *part = (struct shm_reached){vi->reached, NULL, from, (upto < each ? upto : each) - from};
        part->base = slice_map(nic, vi->index, from, part->length);
        if (!part->base) {
            free(part);
            return NULL;
        }
        vi->reached = part;
    }
    return part->base + (start - part->offset);
}

int shm_map(struct vi *base, struct vi_key key, uint64_t offset, uint64_t length, void **pointer)
{
    struct shm_vi *vi = shm_vi_of(base);
    struct shm_nic *nic = shm_nic_of(base->nic);
    uint64_t start = key.word[0] & ~SHM_SHARED_KEY, each = nic->segment.shared_each;

    if (!(key.word[0] & SHM_SHARED_KEY))
        return vbase_fail(ERR_UNSUPPORTED, "this memory of rank %u is its own", base->peer);
    if (start > each || key.word[1] > each - start || offset > key.word[1] || length > key.word[1] - offset)
        return vbase_fail(ERR_ARGUMENT, "%llu bytes at %llu are outside a region of %llu bytes",
                          (unsigned long long)length, (unsigned long long)offset, (unsigned long long)key.word[1]);
    base_lock(&nic->lock);
    char *region = region_reach(nic, vi, start, start + (key.word[1] ? key.word[1] : 1));
    base_unlock(&nic->lock);
    if (!region)
        return ERR_LIMIT;
    *pointer = region + offset;
    return OK;
}

void shm_region_close(struct shm_nic *nic)
{
    while (nic->extents) {
        struct shm_extent *extent = nic->extents;
        nic->extents = extent->next;
        extent_forget(nic, extent);
    }
    for (uint32_t i = 0; i < nic->segment.ranks; i++) {
        struct shm_vi *vi = atomic_load_explicit(&nic->peers[i], memory_order_relaxed);
        for (struct shm_reached *part = vi ? vi->reached : NULL, *next; part; part = next) {
            next = part->next;
            munmap(part->base, part->length);
            free(part);
        }
    }
}
