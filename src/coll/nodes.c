/* coll/nodes: which member of a group is on which node. Called by hall.c where a group has no hall. */
#include "coll/nodes.h"
#include "coll/make.h"

#define NO_MEMORY (-1) /* a member's name when it cannot take part: then no member does */

/* Zeroed: as all members are on one node, which is none worth a plan. */
static struct coll_nodes *nodes_allocate(int size)
{
    struct coll_nodes *nodes = calloc(1, sizeof *nodes + (6 * (size_t)size + 1) * sizeof(int));
    if (!nodes)
        return NULL;
    nodes->node = (int *)(nodes + 1);
    nodes->place = nodes->node + size;
    nodes->member = nodes->place + size;
    nodes->master = nodes->member + size;
    nodes->like = nodes->master + size;
    nodes->begin = nodes->like + size;
    return nodes;
}

/* Nodes and places. A name is the number of a member's node after the first pass has found it: names are few and
 * neighbours are alike mostly, so the node of the member before is looked at first. */
static void nodes_number(struct coll_nodes *nodes, const int32_t *name, int size)
{
    int *members = nodes->begin + 1; /* of each node, so far */
    nodes->ordered = true;
    for (int r = 0; r < size; r++) {
        int node = r ? nodes->node[r - 1] : 0;
        if (node < nodes->count && name[nodes->master[node]] != name[r])
            for (node = 0; node < nodes->count && name[nodes->master[node]] != name[r];)
                node++;
        if (node == nodes->count)
            nodes->master[nodes->count++] = r;
        nodes->ordered = nodes->ordered && node == nodes->count - 1;
        nodes->node[r] = node;
        nodes->place[r] = members[node]++;
    }
}

static void nodes_fill(struct coll_nodes *nodes, int size, int rank)
{
    int first = nodes->begin[1], own = nodes->place[rank];
    nodes->own = nodes->node[rank];
    nodes->even = first > 1;
    for (int i = 0; i < nodes->count; i++) {
        nodes->even = nodes->even && nodes->begin[i + 1] == first;
        nodes->begin[i + 1] += nodes->begin[i];
    }
    for (int r = 0; r < size; r++) {
        nodes->member[nodes->begin[nodes->node[r]] + nodes->place[r]] = r;
        if (nodes->place[r] == own)
            nodes->like[nodes->node[r]] = r;
    }
}

static void nodes_set(struct coll_nodes *nodes, const int32_t *name, int size, int rank)
{
    struct coll_plan plan;
    nodes_number(nodes, name, size);
    nodes_fill(nodes, size, rank);
    vcoll_plan_make(&plan, true, size, false);
    if (!nodes->even)
        vcoll_plan_without(&plan, COLL_SLICES);
    nodes->plan = vcoll_plan_share(&plan);
}

struct coll_nodes *vcoll_nodes_new(const int32_t *name, int size, int rank)
{
    struct coll_nodes *nodes = nodes_allocate(size);
    if (nodes)
        nodes_set(nodes, name, size, rank);
    return nodes;
}

static bool all_have_memory(const int32_t *name, int size)
{
    for (int r = 0; r < size; r++)
        if (name[r] == NO_MEMORY)
            return false;
    return true;
}

void vcoll_nodes_meet(struct coll_group *group)
{
    int32_t own, *name = malloc((size_t)group->size * sizeof *name);
    struct coll_nodes *nodes = name ? nodes_allocate(group->size) : NULL;
    own = nodes ? vmsg_context_node(group->context) : NO_MEMORY;
    struct coll_call call = {.kind = COLL_ALLGATHER, .group = group, .send = {.base = &own, .count = sizeof own},
                             .receive = {.base = name, .count = sizeof own}};
    /* without memory for the names a member withdraws, and all fail alike; without memory for the nodes it says so */
    int error = name ? vcoll_run_by_messages(&call) : vcoll_refuse(&call);
    if (!error && nodes && all_have_memory(name, group->size)) {
        nodes_set(nodes, name, group->size, group->rank);
        if (nodes->count > 1) {
            group->nodes = nodes;
            nodes = NULL;
        }
    }
    free(nodes);
    free(name);
}

void vcoll_nodes_free(struct coll_group *group)
{
    free(group->nodes);
    group->nodes = NULL;
}
