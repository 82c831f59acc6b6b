/* Counters: the table as data, the private page, and the move.
 *
 * The slot belongs to the room that mapped it, which calls vbase_counters_move(NULL) before it unmaps. Moved only while
 * no other thread counts: at start and stop. */
#include "base/base.h"
#include <sys/stat.h>

#define COUNTER(name, class, group, unit, help) +1
enum { COUNTERS = 0
#include "base/counters.def"
};
#undef COUNTER

static union {
    struct base_counters counters;
    char room[BASE_COUNTERS_SIZE];
} private_page ALIGNED(CACHE_LINE) = {.counters = {.version = COUNTERS}};

struct base_counters *vbase_counters = &private_page.counters;

const struct base_counter vbase_counter_table[] = {
#define COUNTER(name, class, group, unit, help)                                                                        \
    {#name, #group, unit, help, COUNTER_##class, offsetof(struct base_counters, name)},
#include "base/counters.def"
#undef COUNTER
};
const size_t vbase_counter_count = ARRAY_LENGTH(vbase_counter_table);

uint64_t vbase_pid_space(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

void vbase_counters_move(void *slot)
{
    struct base_counters *to = slot ? slot : &private_page.counters;
    if (to != vbase_counters)
        memcpy(to, vbase_counters, sizeof(*to));
    to->pid = (uint32_t)getpid();
    if (slot)
        to->pid_space = vbase_pid_space();
    vbase_counters = to;
}
