/* Huge pages under the buffers of large messages. Called when registered memory is given back (of several
 * pieces: when it is registered), so the kernel may have copied it.
 *
 * A kernel that copies between processes looks up and holds each page, and of 4 KiB that takes longer than to copy it. So memory
 * that large messages use again and again is put onto huge pages (MADV_COLLAPSE, Linux 6.1): its bytes stay where they are
 * for the program. It costs as much as some 70 to 90 MiB gain, so it is done after as many, and a page a
 * message, for others who use the page wait meanwhile. Only where the kernel says that nearly all of it is in memory: hardly
 * anything grows, but what was only read. Nor where the program (MADV_NOHUGEPAGE, prctl) or the owner of the machine
 * ("never") does not want it. What lies in the page beside the buffer moves with it.
 *
 * What surprises: a page that somebody holds at this moment, the peer's kernel above all, cannot be moved. It is tried
 * again, later and later. */
#include "vi/shm/shm.h"
#include "base/counters.h"
#include "base/settings.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE   (2ull << 20)  /* a huge page; where it has another size nothing is done */
#define WORTH  (72u << 20)   /* bytes of messages that lie in a page at least in part, before */
#define FAILED (2u << 20)    /* the same after the first try in vain, twice as many after each */
#define AGAIN  (16ull << 30) /* until it is looked at anew: the program may have got other memory there */
#define MISSING 16u /* such a part of it may be absent */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Whether the file NAME of the kernel's says WHAT, anywhere in its first line. */
static bool says(const char *name, const char *what)
{
    char path[100], line[100] = "";
    snprintf(path, sizeof(path), "/sys/kernel/mm/transparent_hugepage/%s", name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool said = fgets(line, sizeof(line), file) && strstr(line, what);
    fclose(file);
    return said;
}

static bool wanted(void)
{
    return vbase_settings.huge_pages && sysconf(_SC_PAGESIZE) == SHM_PAGE && says("hpage_pmd_size", "2097152\n") &&
           !says("enabled", "[never]");
}

/* As good as all of it is in memory. */
static bool is_there(void *at)
{
    unsigned char there[PAGE / SHM_PAGE];
    size_t missing = 0;
    if (mincore(at, PAGE, there) != 0)
        return false;
    for (size_t i = 0; i < sizeof(there); i++)
        missing += !(there[i] & 1);
    return missing <= sizeof(there) / MISSING;
}

/* A message of BYTES used the page; true: it is time. */
static bool count(struct shm_huge *huge, uintptr_t page, uint64_t bytes)
{
    struct shm_used *used = &huge->used[page % SHM_USED];
    if (used->page != page)
        *used = (struct shm_used){page, WORTH, FAILED};
    used->left -= used->left < bytes ? used->left : bytes;
    return used->left == 0;
}

static void try_one(struct shm_nic *nic, uintptr_t page)
{
    struct shm_used *used = &nic->huge.used[page % SHM_USED];
    void *at = (void *)(page * PAGE);
    bool done = is_there(at) && madvise(at, PAGE, MADV_COLLAPSE) == 0;
    if (done) {
        COUNT(pages_huge);
        atomic_store_explicit(&nic->huge.some, true, memory_order_relaxed);
    }
    shm_lock(nic, &nic->lock);
    if (used->page == page) {
        used->left = done ? AGAIN : used->failed;
        used->failed *= done ? 1 : 2;
    }
    shm_unlock(nic, &nic->lock);
}

bool shm_huge_used(struct shm_nic *nic, const void *memory, uint64_t length)
{
    struct shm_huge *huge = &nic->huge;
    uintptr_t from = (uintptr_t)memory, upto = from + length, page, due = 0;
    shm_lock(nic, &nic->lock);
    if (!huge->asked)
        huge->wanted = wanted();
    huge->asked = true;
    for (page = from / PAGE; huge->wanted && !due && page * PAGE < upto && page - from / PAGE < SHM_USED; page++)
        if (count(huge, page, length))
            due = page;
    shm_unlock(nic, &nic->lock);
    if (due)
        try_one(nic, due);
    return due != 0;
}
