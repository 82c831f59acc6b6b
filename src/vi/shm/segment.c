/* The node's segment: made once, by the launcher or by the lowest rank, and mapped by every rank. It is a sealed memfd:
 * no process can shrink it while others read it, and a crash leaves nothing behind.
 *
 * The surprise: it is some hundred gigabytes long and costs nothing. Pages cost memory when they are touched, and only
 * lanes between ranks that talk are ever touched. */
#include "vi/shm/segment.h"
#include "vi/shm/layout.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define SHARED_ALIGN (2ull << 20)
#define SHARED_MOST  (64ull << 30) /* of one rank */
#define SHARED_ALL   (1ull << 40)  /* of all together */

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

static uint64_t build_id(void) { return vbase_hash_bytes(vbase_build_id, strlen(vbase_build_id)); }

void shm_segment_plan(struct shm_segment *segment, uint32_t ranks, uint64_t shared_each)
{
    uint64_t n = ranks;
    uint32_t bitmap_lines = (ranks + 511) / 512;
    *segment = (struct shm_segment){.fd = -1, .ranks = ranks, .shared_each = shared_each};
    segment->words = (ranks + 63) / 64;
    segment->entry_size = (2 + bitmap_lines) * CACHE_LINE;
    segment->entries = SHM_PAGE;
    segment->counters = round_up(segment->entries + n * segment->entry_size, SHM_PAGE);
    segment->credits = round_up(segment->counters + n * BASE_COUNTERS_SIZE, SHM_PAGE);
    segment->turns = round_up(segment->credits + n * n * sizeof(struct shm_credit), SHM_PAGE);
    segment->lanes = round_up(segment->turns + n * (n | 1) * sizeof(struct shm_cell), SHM_PAGE);
    segment->heaps = segment->lanes + n * n * SHM_LINES * sizeof(struct shm_cell);
    segment->shared = round_up(segment->heaps + n * SHM_HEAP_SIZE, SHARED_ALIGN);
    segment->size = segment->shared + n * shared_each;
    segment->mapped = segment->shared;
}

/* The slice of each rank, as large as the limits allow: a file beyond RLIMIT_FSIZE would kill us with SIGXFSZ. */
static int plan_within_limits(struct shm_segment *plan, uint32_t ranks)
{
    struct rlimit limit;
    uint64_t each = SHARED_ALL / ranks / SHARED_ALIGN * SHARED_ALIGN;
    if (each > SHARED_MOST)
        each = SHARED_MOST;
    shm_segment_plan(plan, ranks, each);
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || plan->size <= limit.rlim_cur)
        return OK;
    if (plan->shared > limit.rlim_cur)
        return vbase_fail(ERR_LIMIT, "the file size limit (ulimit -f) of %llu bytes is below the %llu bytes that %u "
                                     "ranks need for shared memory",
                          (unsigned long long)limit.rlim_cur, (unsigned long long)plan->shared, ranks);
    each = (limit.rlim_cur - plan->shared) / ranks / SHARED_ALIGN * SHARED_ALIGN;
    shm_segment_plan(plan, ranks, each);
    return OK;
}

static int write_header(int fd, const struct shm_segment *plan)
{
    struct shm_header header = {.magic = SHM_MAGIC,
                                .build = build_id(),
                                .ranks = plan->ranks,
                                .shared_each = plan->shared_each,
                                .size = plan->size};
    if (pwrite(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
        return vbase_fail_errno(ERR_SYSTEM, "writing the head of the node's segment");
    return OK;
}

int shm_segment_create(int ranks, int *fd)
{
    struct shm_segment plan;
    int made, error;
    if (ranks < 1 || (uint32_t)ranks > SHM_MAX_RANKS)
        return vbase_fail(ERR_LIMIT, "%d ranks on one node; shared memory serves 1 to %u", ranks, SHM_MAX_RANKS);
    error = plan_within_limits(&plan, (uint32_t)ranks);
    if (error)
        return error;
    error = vbase_memory_make("viaduct", plan.size, F_SEAL_SEAL, &made);
    if (error)
        return error;
    error = write_header(made, &plan);
    if (error) {
        close(made);
        return error;
    }
    *fd = made;
    return OK;
}

/* Reads the header once and compares it with what it must be. */
static int check_segment(int fd, uint32_t ranks, struct shm_segment *segment)
{
    struct shm_header header;
    uint64_t size = vbase_memory_size(fd);
    if (size == 0)
        return vbase_fail(ERR_PROTOCOL, "descriptor %d is not a sealed segment", fd);
    if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
        return vbase_fail(ERR_PROTOCOL, "the node's segment has no head");
    if (header.magic != SHM_MAGIC)
        return vbase_fail(ERR_PROTOCOL, "descriptor %d is not a segment of Viaduct", fd);
    if (header.build != build_id())
        return vbase_fail(ERR_MISMATCH, "the node's segment was made by another build of Viaduct");
    if (header.ranks != ranks || header.shared_each > SHARED_MOST || header.shared_each % SHARED_ALIGN != 0)
        return vbase_fail(ERR_PROTOCOL, "the node's segment is for %llu ranks, not for %u",
                          (unsigned long long)header.ranks, ranks);
    shm_segment_plan(segment, ranks, header.shared_each);
    if (header.size != segment->size || size != segment->size)
        return vbase_fail(ERR_PROTOCOL, "the node's segment has %llu bytes, not %llu", (unsigned long long)size,
                          (unsigned long long)segment->size);
    return OK;
}

int shm_segment_open(int fd, uint32_t ranks, struct shm_segment *segment)
{
    struct shm_segment plan;
    int error = check_segment(fd, ranks, &plan);
    if (error)
        return error;
    plan.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (plan.fd < 0)
        return vbase_fail_errno(ERR_LIMIT, "a descriptor for the node's segment (ulimit -n)");
    plan.base = mmap(NULL, plan.mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, plan.fd, 0);
    if (plan.base == MAP_FAILED) {
        error = vbase_fail_errno(ERR_LIMIT, "mapping %zu bytes of the node's segment (ulimit -v)", plan.mapped);
        close(plan.fd);
        return error;
    }
    /* Not into core files: it is large, sparse and the same for every rank. Refusal changes nothing. */
    (void)madvise(plan.base, plan.mapped, MADV_DONTDUMP);
    *segment = plan;
    return OK;
}

void shm_segment_close(struct shm_segment *segment)
{
    munmap(segment->base, segment->mapped);
    close(segment->fd);
}

int shm_segment_counters(int fd, int index, off_t *at)
{
    struct shm_header header = {.ranks = 0};
    struct shm_segment plan;
    if (pread(fd, &header, sizeof(header), 0) < 0 || header.ranks > SHM_MAX_RANKS || (uint64_t)index >= header.ranks)
        return vbase_fail(ERR_ARGUMENT, "descriptor %d has no counters of rank %d", fd, index);
    int error = check_segment(fd, (uint32_t)header.ranks, &plan);
    if (error == OK)
        *at = (off_t)(plan.counters + (uint64_t)index * BASE_COUNTERS_SIZE);
    return error;
}
