/* Making, checking and mapping segments; see segment.h. */
#include "sock/segment.h"
#include "base/memory.h"
#include "sock/real.h"
#include "sock/table.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#define TO_KEEP 8192 /* of the mappings that the system allows us, for the program */

static const uint32_t level_size[RING_LEVELS] = {4096, 16384, 65536, 262144, 4194304};

uint32_t sock_level_size(unsigned level) { return level_size[level]; }

static uint32_t level_offset(unsigned direction, unsigned level)
{
    uint32_t at = SEGMENT_PAGE;
    for (unsigned i = 0; i < level; i++)
        at += 2 * level_size[i];
    return at + direction * level_size[level];
}

static uint32_t segment_size(void) { return level_offset(0, RING_LEVELS - 1) + 2 * level_size[RING_LEVELS - 1]; }

char *sock_level_data(const struct sock_mapping *mapping, unsigned direction, unsigned level)
{
    return (level == 0 ? (char *)mapping->words : mapping->whole) + level_offset(direction, level);
}

bool sock_level_commit(const struct sock_mapping *mapping, unsigned direction, unsigned level)
{
    return madvise(sock_level_data(mapping, direction, level), level_size[level], MADV_POPULATE_WRITE) == 0;
}

/* Reserved once, for the small mappings of all connections; where that is refused each lies where the kernel puts it.
 * */
static char *arena(void)
{
    static _Atomic(char *) reserved;
    char *mine, *there = atomic_load_explicit(&reserved, memory_order_acquire);
    if (there)
        return there == MAP_FAILED ? NULL : there;
    mine = mmap(NULL, (size_t)SOCK_FILES * SEGMENT_SMALL, PROT_NONE, RESERVED, -1, 0);
    if (atomic_compare_exchange_strong(&reserved, &there, mine))
        there = mine;
    else if (mine != MAP_FAILED)
        munmap(mine, (size_t)SOCK_FILES * SEGMENT_SMALL);
    return there == MAP_FAILED ? NULL : there;
}

static _Atomic uint32_t mapped;

/* A program that cannot map memory any more would suffer for us. */
static bool may_map(void)
{
    static _Atomic uint32_t most;
    uint32_t limit = atomic_load_explicit(&most, memory_order_relaxed);
    if (limit == 0) {
        char text[32] = "65530";
        int fd = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            ssize_t n = sock_real.read(fd, text, sizeof(text) - 1);
            text[n > 0 ? n : 0] = '\0';
            sock_real.close(fd);
        }
        limit = (uint32_t)strtoul(text, NULL, 10);
        limit = limit > TO_KEEP + 2 ? (limit - TO_KEEP) / 2 : 1;
        atomic_store_explicit(&most, limit, memory_order_relaxed);
    }
    return atomic_load_explicit(&mapped, memory_order_relaxed) < limit;
}

static bool segment_map(int fd, uint32_t number, struct sock_mapping *mapping)
{
    char *base = arena(), *place = base ? base + (size_t)number * SEGMENT_SMALL : NULL;
    if (!may_map())
        return false;
    void *words = mmap(place, SEGMENT_SMALL, PROT_READ | PROT_WRITE, MAP_SHARED | (place ? MAP_FIXED : 0), fd, 0);
    if (words == MAP_FAILED)
        return false;
    void *whole = mmap(NULL, segment_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    *mapping = (struct sock_mapping){words, whole};
    if (whole != MAP_FAILED && madvise(words, SEGMENT_SMALL, MADV_POPULATE_WRITE) == 0) {
        (void)madvise(whole, segment_size(), MADV_DONTDUMP); /* a core file has the words; refusal changes nothing */
        atomic_fetch_add(&mapped, 1);
        return true;
    }
    if (whole != MAP_FAILED)
        munmap(whole, segment_size());
    if (place)
        (void)mmap(words, SEGMENT_SMALL, PROT_NONE, RESERVED | MAP_FIXED, -1, 0);
    else
        munmap(words, SEGMENT_SMALL);
    return false;
}

void sock_segment_leave(uint32_t number, struct sock_mapping *mapping)
{
    char *base = arena();
    munmap(mapping->whole, segment_size());
    if (base && (char *)mapping->words == base + (size_t)number * SEGMENT_SMALL)
        (void)mmap(mapping->words, SEGMENT_SMALL, PROT_NONE, RESERVED | MAP_FIXED, -1, 0);
    else
        munmap(mapping->words, SEGMENT_SMALL);
    *mapping = (struct sock_mapping){NULL, NULL};
    atomic_fetch_sub(&mapped, 1);
}

#define FRONT 16 /* of the pages: their size */

void *sock_pages_take(size_t size)
{
    char *pages = mmap(NULL, size + FRONT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    *(size_t *)(void *)pages = size + FRONT;
    return pages + FRONT;
}

void sock_pages_leave(void *pages)
{
    char *begin = pages ? (char *)pages - FRONT : NULL;
    if (begin)
        munmap(begin, *(size_t *)(void *)begin);
}

int sock_segment_make(uint32_t number, const uint64_t cookie[2], struct sock_mapping *mapping)
{
    int fd;
    if (vbase_memory_make("viaduct-sock", segment_size(), F_SEAL_SEAL, &fd) != OK)
        return -1;
    if (!segment_map(fd, number, mapping)) {
        sock_real.close(fd);
        return -1;
    }
    struct sock_segment *words = mapping->words;
    words->magic = SEGMENT_MAGIC;
    words->version = SEGMENT_VERSION;
    words->size = segment_size();
    for (int i = 0; i < 2; i++) {
        words->cookie[i] = cookie[i];
        atomic_store(&words->direction[i].at, SWITCH_NEVER);
    }
    return fd;
}

/* A side that could not ask netlink does not know the other one's. */
static bool cookie_fits(uint64_t said, uint64_t known) { return said == known || said == 0 || known == 0; }

bool sock_segment_take(int fd, uint32_t number, const uint64_t cookie[2], struct sock_mapping *mapping)
{
    if (vbase_memory_size(fd) != segment_size() || !segment_map(fd, number, mapping))
        return false;
    const struct sock_segment *words = mapping->words;
    if (words->magic == SEGMENT_MAGIC && words->version == SEGMENT_VERSION && words->size == segment_size() &&
        cookie_fits(words->cookie[0], cookie[0]) && cookie_fits(words->cookie[1], cookie[1]))
        return true;
    sock_segment_leave(number, mapping);
    return false;
}
