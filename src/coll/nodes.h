/* coll/nodes: on which nodes the members of a group are, and what that is good for (docs/design.md, section 3).
 *
 * A group learns it at its first suitable call that may block and finds no hall; all members learn the same, or
 * none. */
#pragma once

#include "coll/choose.h"
#include "coll/schedule.h"

/* Nodes are numbered in the order of their first members. */
struct coll_nodes {
    int count, own;      /* nodes; that of this rank */
    bool even;           /* all have equally many members, and more than one */
    bool ordered;        /* by node is the order of the ranks: of each all are below those of the next */
    const struct coll_plan *plan;
    int *node, *place;   /* of each member: its node, and which it is there */
    int *member, *begin; /* the members, node by node; where a node's begin, and behind the last */
    int *master, *like;  /* of each node: the first member; that with the place of this rank, where nodes are even */
};

/* All members call it. Where they are on one node, or there is no memory, group->nodes stays NULL, at all of them. */
void vcoll_nodes_meet(struct coll_group *group);
/* NAME: of each member, a number that those of its node have in common. NULL: there is no memory. */
struct coll_nodes *vcoll_nodes_new(const int32_t *name, int size, int rank);
void vcoll_nodes_free(struct coll_group *group);

/* Scopes: the members of the own node; those with the place of this rank on their nodes; all. */
void vcoll_enter_node(struct coll_schedule *schedule);
void vcoll_enter_likes(struct coll_schedule *schedule);
void vcoll_enter_all(struct coll_schedule *schedule);

/* across_all.c */
void vcoll_allgather_by_masters(struct coll_schedule *schedule);
void vcoll_allgather_by_slices(struct coll_schedule *schedule);
void vcoll_alltoall_by_slices(struct coll_schedule *schedule);

/* across.c: makes the schedule of a call of a group on several nodes; false: the plan has no way for it. */
bool vcoll_make_across(struct coll_schedule *schedule);
