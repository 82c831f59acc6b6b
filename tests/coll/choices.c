/* Each row of the table of choices that fits a group is in its plan: none is left out for want of room. All groups with the
 * same rows have one plan. */
#include "coll/choose.h"
#include "check.h"

enum { NO, YES, EITHER }; /* of choose.c */

static void plan_is_whole(bool nodes, int ranks, bool crowd)
{
    struct coll_plan plan;
    int rows[COLL_KINDS] = {0};
    vcoll_plan_make(&plan, nodes, ranks, crowd);
    for (const struct coll_choice *row = vcoll_choices(); row->name; row++)
        rows[row->kind] += row->nodes == nodes && (!row->ranks || ranks <= row->ranks) &&
                           (row->crowd == EITHER || row->crowd == crowd);
    for (int kind = 0; kind < COLL_KINDS; kind++)
        CHECK_EQUAL(plan.rows[kind], rows[kind]);
    const struct coll_plan *shared = vcoll_plan_share(&plan);
    CHECK(!memcmp(shared, &plan, sizeof plan.row) && shared == vcoll_plan_share(&plan));
    vcoll_plan_without(&plan, nodes ? COLL_SLICES : COLL_DIRECT);
    CHECK(vcoll_plan_share(&plan) != shared);
}

int main(void)
{
    static const int ranks[] = {1, 2, 16, 17, 4096};
    for (unsigned i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (int nodes = 0; nodes < 2; nodes++)
            for (int crowd = 0; crowd < 2; crowd++)
                plan_is_whole(nodes, ranks[i], crowd);
    return check_done();
}
