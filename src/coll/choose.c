/* Called by hall.c when a group gets its hall, by nodes.c when it knows its nodes; by viaduct info. */
#include "coll/choose.h"
#include <assert.h>

enum { NO, YES, EITHER };

static const struct coll_choice choice[] = {
#define CHOICE(kind, ranks, crowd, from, way) {COLL_##kind, #kind, false, ranks, crowd, from, COLL_##way},
#define ACROSS(kind, from, way) {COLL_##kind, #kind, true, 0, EITHER, from, COLL_##way},
#include "coll/choose.def"
#undef CHOICE
#undef ACROSS
    {COLL_KINDS, NULL, false, 0, 0, 0, 0}};

static const char *const way_name[COLL_WAYS] = {"block", "desk", "direct", "message", "masters", "slices"};

const struct coll_choice *vcoll_choices(void) { return choice; }

const char *vcoll_way_name(enum coll_way way) { return way_name[way]; }

static void row_add(struct coll_plan *plan, enum coll_kind kind, uint32_t from, enum coll_way way)
{
    if (plan->rows[kind] == PLAN_ROWS)
        return;
    plan->row[kind][plan->rows[kind]].from = from;
    plan->row[kind][plan->rows[kind]++].way = way;
}

/* The way that VIADUCT_COLL names; COLL_BLOCK: none. */
static enum coll_way forced(void)
{
    for (enum coll_way way = COLL_DESK; vbase_settings.coll && way < COLL_WAYS; way++)
        if (!strcmp(vbase_settings.coll, way_name[way]))
            return way;
    return COLL_BLOCK;
}

void vcoll_plan_make(struct coll_plan *plan, bool nodes, int ranks, bool crowd)
{
    enum coll_way force = forced();
    *plan = (struct coll_plan){.rows = {0}};
    for (const struct coll_choice *row = choice; row->name; row++)
        if (row->nodes == nodes && (!row->ranks || ranks <= row->ranks) &&
            (row->crowd == EITHER || crowd == row->crowd))
            row_add(plan, row->kind, (uint32_t)row->from, row->way);
    for (const struct coll_choice *row = choice; row->name && force != COLL_BLOCK; row++)
        if (row->nodes == nodes && (row->way == force || force == COLL_MESSAGE)) {
            plan->rows[row->kind] = 0;
            row_add(plan, row->kind, 0, force);
        }
}

void vcoll_plan_without(struct coll_plan *plan, enum coll_way way)
{
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        int kept = 0;
        for (int i = 0; i < plan->rows[kind]; i++)
            if (plan->row[kind][i].way != way)
                plan->row[kind][kept++] = plan->row[kind][i];
        plan->rows[kind] = (uint8_t)kept;
    }
}

#define PLANS 32 /* on one node and several, few and many ranks, in a crowd or not, without one way: twelve */

static bool plans_alike(const struct coll_plan *one, const struct coll_plan *two)
{
    return !memcmp(one->row, two->row, sizeof one->row) && !memcmp(one->rows, two->rows, sizeof one->rows);
}

const struct coll_plan *vcoll_plan_share(const struct coll_plan *plan)
{
    static struct coll_plan plans[PLANS];
    static struct base_lock lock;
    static int made;
    int i = 0;
    base_lock(&lock);
    while (i < made && !plans_alike(&plans[i], plan))
        i++;
    assert(i < PLANS);
    if (i == made)
        plans[made++] = *plan;
    base_unlock(&lock);
    return &plans[i];
}
