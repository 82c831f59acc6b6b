/* coll/head: a broadcast whose members may disagree about its length. The first message says how long the root's buffer
 * is, and holds it if that is short. It goes over a tree that is the same for any length, into room that any head fits
 * in. What follows depends on the root's length alone, so a member that expects another length receives and hands on
 * all that the others wait for, by way of memory of the schedule, takes what it has room for, and reports an error.
 *
 *   root       head = length, and up to HEAD_DATA bytes       what is longer: `rest`
 *   others     receive the head; a fork: is it as expected?   the head to the children; its data, or `rest` */
#include "coll/hall.h"
#include "coll/make.h"

#define HEAD_DATA COLL_WIDE_MOST /* so the tree of a head is that of a short broadcast */

struct head {
    uint64_t total;
    unsigned char data[HEAD_DATA];
};

struct coll_headed {
    struct coll_fork fork;
    coll_rest *rest;
    int root;
    struct type_buffer buffer;
    const int *scope; /* of `rest`, as in the schedule */
    int first, rank, size;
    int parent, children; /* as members of the group */
    int *child;
    struct head *head;
    uint64_t made; /* the length that the fork's other steps are for */
};

struct coll_headed *vcoll_headed_new(struct coll_schedule *schedule, int root, struct type_buffer buffer,
                                     coll_rest *rest)
{
    struct coll_headed *headed = vcoll_memory(schedule, sizeof *headed);
    if (headed)
        *headed = (struct coll_headed){.rest = rest, .root = root, .buffer = buffer, .scope = schedule->scope,
                                       .first = schedule->first, .rank = schedule->rank, .size = schedule->size,
                                       .parent = -1};
    return headed;
}

void vcoll_headed_parent(struct coll_schedule *schedule, struct coll_headed *headed, int parent)
{
    headed->parent = vcoll_member(schedule, parent);
}

static bool children_room(struct coll_schedule *schedule, struct coll_headed *headed, int more)
{
    int *child = vcoll_memory(schedule, (uint64_t)(headed->children + more) * sizeof *child);
    if (child && headed->children)
        memcpy(child, headed->child, (size_t)headed->children * sizeof *child);
    headed->child = child;
    return child != NULL;
}

void vcoll_headed_child(struct coll_schedule *schedule, struct coll_headed *headed, int child)
{
    if (children_room(schedule, headed, 1))
        headed->child[headed->children++] = vcoll_member(schedule, child);
}

void vcoll_headed_tree(struct coll_schedule *schedule, struct coll_headed *headed, int root)
{
    struct coll_tree tree;
    vcoll_tree(&tree, coll_ring(schedule, schedule->rank, -root), schedule->size, coll_radix(HEAD_DATA));
    if (tree.parent >= 0)
        vcoll_headed_parent(schedule, headed, coll_ring(schedule, tree.parent, root));
    if (!tree.children || !children_room(schedule, headed, tree.children))
        return;
    while (tree.children--) /* the largest subtree first */
        headed->child[headed->children++] =
            vcoll_member(schedule, coll_ring(schedule, tree.child[tree.children], root));
}

static void scope_of_all(struct coll_schedule *schedule)
{
    schedule->first = 0;
    vcoll_scope(schedule, NULL, schedule->call.group->rank, schedule->call.group->size);
}

static void scope_of_rest(struct coll_schedule *schedule, const struct coll_headed *headed)
{
    schedule->first = headed->first;
    vcoll_scope(schedule, headed->scope, headed->rank, headed->size);
}

/* A head that says TOTAL. */
static struct type_buffer head_of(const struct coll_headed *headed, uint64_t total)
{
    return coll_bytes(headed->head, sizeof total + (total <= HEAD_DATA ? total : 0));
}

static uint64_t less_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* What follows the head. BUFFER is the member's, if TOTAL is no longer than a head's data, else it has TOTAL bytes. */
static void behind_head(struct coll_schedule *schedule, struct coll_headed *headed, uint64_t total,
                        struct type_buffer buffer)
{
    scope_of_all(schedule);
    for (int i = 0; i < headed->children; i++)
        vcoll_send(schedule, headed->child[i], head_of(headed, total));
    scope_of_rest(schedule, headed);
    if (total > HEAD_DATA)
        headed->rest(schedule, headed->root, buffer);
    else if (headed->parent >= 0)
        vcoll_copy(schedule, coll_bytes(headed->head->data, less_of(total, type_buffer_bytes(&buffer))), buffer);
}

/* ---- the fork ---- */

static bool length_differs(struct coll_schedule *schedule, struct coll_fork *fork)
{
    struct coll_headed *headed = container_of(fork, struct coll_headed, fork);
    uint64_t total = headed->head->total, room = type_buffer_bytes(&headed->buffer),
             came = schedule->request[0].result.bytes;
    if (unlikely(came < sizeof total || came != head_of(headed, total).count)) {
        vcoll_schedule_end(
            schedule, vbase_fail(ERR_ARGUMENT, "rank %d sent a message that belongs to no broadcast", headed->parent));
        return false;
    }
    if (likely(total == room))
        return false;
    vcoll_schedule_note(schedule, vcoll_cast_told(headed->root, total, room));
    if (headed->made != total)
        fork->other = NULL;
    headed->made = total;
    return true;
}

static void others_make(struct coll_schedule *schedule, struct coll_fork *fork)
{
    struct coll_headed *headed = container_of(fork, struct coll_headed, fork);
    struct type_buffer buffer = headed->buffer;
    uint64_t total = headed->made;
    if (total <= HEAD_DATA) {
        behind_head(schedule, headed, total, buffer);
        return;
    }
    char *all = vcoll_memory(schedule, total);
    behind_head(schedule, headed, total, coll_bytes(all, total));
    vcoll_round(schedule);
    vcoll_copy(schedule, coll_bytes(all, less_of(total, type_buffer_bytes(&buffer))), buffer);
}

/* ---- the making ---- */

void vcoll_headed_make(struct coll_schedule *schedule, struct coll_headed *headed)
{
    struct type_buffer buffer = headed->buffer;
    uint64_t bytes = type_buffer_bytes(&buffer);
    bool is_root = headed->parent < 0;
    headed->head = vcoll_memory(schedule, is_root ? head_of(headed, bytes).count : sizeof *headed->head);
    if (!headed->head)
        return;
    if (is_root) {
        headed->head->total = bytes;
        if (bytes <= HEAD_DATA)
            vcoll_copy(schedule, buffer, coll_bytes(headed->head->data, bytes));
        behind_head(schedule, headed, bytes, buffer);
        vcoll_round(schedule);
        return;
    }
    vcoll_round(schedule); /* the fork looks at the only message of the round before it */
    scope_of_all(schedule);
    vcoll_receive_any(schedule, headed->parent, coll_bytes(headed->head, sizeof *headed->head));
    headed->fork.turns = length_differs;
    headed->fork.make = others_make;
    vcoll_fork(schedule, &headed->fork);
    behind_head(schedule, headed, bytes, buffer);
    vcoll_fork_end(schedule, &headed->fork);
}
