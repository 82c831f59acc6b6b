/* coll/choose: which way a call takes, by the table in choose.def. */
#pragma once

#include "coll/coll.h"

#define PLAN_ROWS 4 /* of a kind, at most */

/* The rows that count for a group. */
struct coll_plan {
    struct {
        uint32_t from;
        enum coll_way way;
    } row[COLL_KINDS][PLAN_ROWS];
    uint8_t rows[COLL_KINDS]; /* 0: there is no way but messages */
};

void vcoll_plan_make(struct coll_plan *plan, bool nodes, int ranks, bool crowd);
void vcoll_plan_without(struct coll_plan *plan, enum coll_way way);
/* The one of all groups that have such a plan, for as long as the process lives: groups are many, plans are few. */
const struct coll_plan *vcoll_plan_share(const struct coll_plan *plan);

static inline enum coll_way coll_plan_way(const struct coll_plan *plan, enum coll_kind kind, uint64_t bytes)
{
    int row = plan->rows[kind] - 1;
    while (row >= 0 && bytes < plan->row[kind][row].from)
        row--;
    return row < 0 ? COLL_MESSAGE : plan->row[kind][row].way;
}
