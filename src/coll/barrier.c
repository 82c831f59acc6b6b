/* coll/barrier: up a flat tree and down again: 2(n-1) messages. Two ranks just exchange. */
#include "coll/make.h"

#define BARRIER_RADIX 16

void vcoll_make_barrier(struct coll_schedule *schedule)
{
    struct type_buffer nothing = {NULL, 0, NULL};
    struct coll_tree tree;
    if (schedule->size == 2) {
        vcoll_receive(schedule, !schedule->rank, nothing);
        vcoll_send(schedule, !schedule->rank, nothing);
        return;
    }
    vcoll_tree(&tree, schedule->rank, schedule->size, BARRIER_RADIX);
    for (int i = 0; i < tree.children; i++)
        vcoll_receive(schedule, tree.child[i], nothing);
    vcoll_round(schedule);
    if (tree.parent >= 0) {
        vcoll_receive(schedule, tree.parent, nothing);
        vcoll_send(schedule, tree.parent, nothing);
        vcoll_round(schedule);
    }
    while (tree.children--)
        vcoll_send(schedule, tree.child[tree.children], nothing);
}
