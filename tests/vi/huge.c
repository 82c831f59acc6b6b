/* Buffers that large messages use again and again come to lie on huge pages: after many uses, with the same bytes, only where
 * memory is there already, and not against the wish of the program or the user. */
#include "inside.h"

#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define PAGE  (2u << 20)
#define PAGES 4

static unsigned char *map_pages(void)
{
    unsigned char *at = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(at != MAP_FAILED);
    return at + (-(uintptr_t)at % PAGE);
}

/* Whether this kernel does it at all: asked for once, of memory of our own. */
static bool kernel_can(void)
{
    char line[100] = "[never]";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    unsigned char *memory = map_pages();

    if (file && !fgets(line, sizeof(line), file))
        line[0] = 0;
    if (file)
        fclose(file);
    memset(memory, 1, PAGE);
    return !strstr(line, "[never]") && madvise(memory, PAGE, MADV_COLLAPSE) == 0;
}

/* Pages that were made while this memory was told so many times. */
static uint64_t tell(unsigned char *memory, uint64_t length, int times)
{
    uint64_t before = vbase_counters->pages_huge;
    struct vi_region region;

    inside_start(2);
    inside_open(0);
    for (int i = 0; i < times; i++) {
        CHECK_EQUAL(vi_reg(inside.nic[0], memory, length, &region), OK);
        vi_dereg(&region);
    }
    inside_stop();
    return vbase_counters->pages_huge - before;
}

static size_t resident(unsigned char *memory)
{
    static unsigned char there[PAGES * PAGE / 4096];
    size_t pages = 0;

    CHECK_EQUAL(mincore(memory, PAGES * PAGE, there), 0);
    for (size_t i = 0; i < sizeof(there); i++)
        pages += there[i] & 1;
    return pages;
}

int main(void)
{
    unsigned char *memory = map_pages(), *alone = map_pages(), *half = map_pages();

    CHECK_EQUAL(vbase_settings_read(), OK);
    if (!kernel_can() || sysconf(_SC_PAGESIZE) != 4096) {
        puts("this kernel puts no memory onto huge pages");
        return 77;
    }
    for (size_t i = 0; i < PAGES * PAGE; i++)
        memory[i] = check_byte(1, i);

    CHECK_EQUAL(tell(memory, PAGES * PAGE, 3), 0); /* too few uses */
    vbase_settings.huge_pages = false;
    CHECK_EQUAL(tell(memory, PAGES * PAGE, 100), 0);
    vbase_settings.huge_pages = true;
    CHECK_EQUAL(madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE), 0);
    CHECK_EQUAL(tell(memory, PAGES * PAGE, 100), 0);
    CHECK_EQUAL(madvise(memory, PAGES * PAGE, MADV_HUGEPAGE), 0);
    uint64_t made = tell(memory + 5000, PAGES * PAGE - 5000, 100);
    CHECK(made >= 1 && made <= PAGES); /* each once; a kernel short of huge pages need not give all */
    for (size_t i = 0; i < PAGES * PAGE; i++)
        if (memory[i] != check_byte(1, i)) {
            CHECK_EQUAL(memory[i], check_byte(1, i));
            break;
        }

    /* A page counts the whole of each message that lies in it in part. */
    memset(half, 3, PAGES * PAGE);
    CHECK_EQUAL(tell(half + PAGE - PAGE / 4, PAGE / 2, 70), 0);
    CHECK(tell(half + PAGE - PAGE / 4, PAGE / 2, 76) >= 1);

    memset(alone + PAGE + 4096, 2, 300 << 10); /* what lies around it is not there, and does not come */
    CHECK_EQUAL(tell(alone + PAGE + 4096, 300 << 10, 1000), 0);
    CHECK_EQUAL(resident(alone), 75);
    return check_done();
}
