/* Counters: the table and the page agree; what was counted moves along. */
#include "base/counters.h"
#include "check.h"
#include <unistd.h>

static uint64_t value(const struct base_counters *page, size_t row)
{
    return *(const uint64_t *)((const char *)page + vbase_counter_table[row].offset);
}

int main(void)
{
    static char slot[BASE_COUNTERS_SIZE] ALIGNED(CACHE_LINE);
    struct base_counters *page = (struct base_counters *)slot;
    CHECK_EQUAL(vbase_counters->version, vbase_counter_count);
    CHECK_EQUAL((uintptr_t)vbase_counters % CACHE_LINE, 0);

    COUNT(send_eager);
    COUNT_ADD(send_bytes, 5000000000ull);
    COUNT_ADD(unexpected_now, -1);
    COUNT(unexpected_now);
    for (size_t i = 0; i < vbase_counter_count; i++) {
        uint64_t want = strcmp(vbase_counter_table[i].name, "send_eager") == 0   ? 1
                        : strcmp(vbase_counter_table[i].name, "send_bytes") == 0 ? 5000000000ull
                                                                                 : 0;
        CHECK_EQUAL(value(vbase_counters, i), want);
        CHECK(*vbase_counter_table[i].unit && *vbase_counter_table[i].help);
    }

    struct base_counters *own = vbase_counters;
    vbase_counters_move(slot);
    CHECK(vbase_counters == page);
    CHECK_EQUAL(page->pid, getpid());
    CHECK_EQUAL(page->version, vbase_counter_count);
    CHECK_EQUAL(page->send_bytes, 5000000000ull);
    COUNT(send_eager);
    CHECK_EQUAL(page->send_eager, 2);
    CHECK_EQUAL(own->send_eager, 1);

    vbase_counters_move(NULL);
    CHECK(vbase_counters == own);
    CHECK_EQUAL(own->send_eager, 2);
    vbase_counters_move(NULL); /* twice is harmless */
    CHECK_EQUAL(own->send_eager, 2);
    memset(slot, 0xff, sizeof(slot));
    COUNT(send_eager);
    CHECK_EQUAL(own->send_eager, 3);
    return check_done();
}
