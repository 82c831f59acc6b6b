/* coll/scan: scan and exscan by doubling: before the round with distance d a rank holds the sum of the d ranks that end
 * with it; it passes that on d ranks further and puts what comes from d ranks below before its own. */
#include "coll/make.h"

struct scan {
    const void *own;
    void *sum;    /* of the ranks up to and with this one */
    void *before; /* of the ranks below this one: exscan's result; NULL: scan */
    uint64_t count;
};

static void doubling(struct coll_schedule *schedule, const struct scan *scan)
{
    int rank = schedule->rank, size = schedule->size;
    uint64_t count = scan->count;
    struct type_buffer sum = coll_part(schedule, scan->sum, 0, count);
    struct type_buffer from_below = coll_part(schedule, rank ? vcoll_elements(schedule, count) : NULL, 0, count);
    vcoll_copy(schedule, coll_part(schedule, scan->own, 0, count), sum);
    for (int64_t d = 1; d < size; d *= 2) {
        if (rank >= d)
            vcoll_receive(schedule, rank - (int)d, from_below);
        if (rank + d < size)
            vcoll_send(schedule, rank + (int)d, sum);
        vcoll_round(schedule);
        if (rank < d)
            continue;
        if (!scan->before || rank + 2 * d < size)
            vcoll_reduce(schedule, from_below.base, scan->sum, count);
        if (scan->before && d == 1)
            vcoll_copy(schedule, from_below, coll_part(schedule, scan->before, 0, count));
        else if (scan->before)
            vcoll_reduce(schedule, from_below.base, scan->before, count);
    }
}

void vcoll_make_scan(struct coll_schedule *schedule)
{
    const struct coll_call *call = &schedule->call;
    struct scan scan = {.own = call->send.base, .sum = call->receive.base, .count = call->receive.count};
    if (scan.count == 0)
        return;
    if (scan.own == COLL_IN_PLACE)
        scan.own = call->receive.base;
    if (call->kind == COLL_EXSCAN) {
        scan.sum = vcoll_elements(schedule, scan.count);
        scan.before = call->receive.base;
    }
    doubling(schedule, &scan);
}
