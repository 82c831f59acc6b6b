/* mplite: what all ranks do together, or some of them, told by a mask; on coll. */
#include "lite.h"
#include "mplite.h"

#define MASKED_TAG 1

/* What the data of a call are. */
struct element {
    size_t size;
    enum type_element element;
};
static const struct element of_void = {1, ELEMENT_BYTE}, of_double = {sizeof(double), ELEMENT_F64},
                            of_int = {sizeof(int), ELEMENT_I32}, of_float = {sizeof(float), ELEMENT_F32};

/* ---- the calls ---- */

/* The group of the ranks in MASK, which may differ in every call: ranks outside it take no part in making it. Its
 * collectives all have one tag: between two of them messages are matched in the order they were sent. COLLECTIVE gets
 * its root as a member. */
static void group_mask(const char *call, struct coll_group *group, const int *mask, struct coll_call *collective)
{
    int *member = malloc(sizeof(int) * (size_t)vmplite.size);
    int root = collective->kind == COLL_BCAST ? collective->root : -1;
    if (!member)
        vmplite_fail(call, "no memory for a list of %d ranks", vmplite.size);
    *group = (struct coll_group){.context = vmplite.inner, .rank = -1, .member = member, .sequence = MASKED_TAG};
    for (int rank = 0; rank < vmplite.size; rank++) {
        if (rank == root)
            collective->root = mask[rank] ? group->size : -1;
        if (mask[rank] && rank == vmplite.rank)
            group->rank = group->size;
        if (mask[rank])
            member[group->size++] = rank;
    }
    if (group->rank < 0)
        vmplite_fail(call, "the mask leaves this rank out, so it must not call");
    if (collective->root < 0)
        vmplite_fail(call, "the mask leaves the root out, rank %d", root);
}

/* MASK NULL: all ranks. */
static void run(const char *call, const int *mask, struct coll_call *collective)
{
    struct coll_group masked = {.member = NULL};
    collective->group = mask ? &masked : &vmplite.group;
    if (mask)
        group_mask(call, &masked, mask, collective);
    vmplite_must(call, vcoll_run(collective));
    free((void *)masked.member);
}

VEXPORT void MP_Sync(void)
{
    DOING("MP_Sync");
    vmplite_check_started("MP_Sync");
    run("MP_Sync", NULL, &(struct coll_call){.kind = COLL_BARRIER});
}

static void broadcast(const char *call, const struct element *of, void *data, long count, int root, const int *mask)
{
    uint64_t bytes = vmplite_bytes(call, count, of->size);
    vmplite_check_rank(call, "root", root);
    run(call, mask, &(struct coll_call){.kind = COLL_BCAST, .root = root, .receive = {.base = data, .count = bytes}});
}

static void gather(const char *call, const struct element *of, void *data, long count, const int *mask)
{
    uint64_t bytes = vmplite_bytes(call, count, of->size);
    vmplite_check_started(call);
    run(call, mask,
        &(struct coll_call){
            .kind = COLL_ALLGATHER, .send = {.base = COLL_IN_PLACE}, .receive = {.base = data, .count = bytes}});
}

static void combine(const char *call, enum type_operation operation, const struct element *of, void *data, long count,
                    const int *mask)
{
    struct type_layout *layout;
    vmplite_check_started(call);
    (void)vmplite_bytes(call, count, of->size);
    vmplite_must(call, vtype_layout_bytes(of->size, (uint32_t)of->size, &layout));
    run(call, mask,
        &(struct coll_call){.kind = COLL_ALLREDUCE,
                            .send = {.base = COLL_IN_PLACE},
                            .receive = {.base = data, .count = (uint64_t)count, .layout = layout},
                            .reduction = {.kernel = vtype_kernel(operation, of->element), .commutative = true}});
    vtype_layout_drop(layout);
}

/* ---- names ---- */

#define BROADCAST(name, type, what)                                                                                    \
    FUNCTION(name, (void *data, long count, int root), broadcast(#name, &of_##type, data, count, root, NULL))
OF_ALL(MP_Bcast, MP_dBcast, MP_iBcast, MP_fBcast, BROADCAST, )

#define BROADCAST_FROM_0(name, type, what)                                                                             \
    FUNCTION(name, (void *data, long count), broadcast(#name, &of_##type, data, count, 0, NULL))
OF_ALL(MP_Broadcast, MP_dBroadcast, MP_iBroadcast, MP_fBroadcast, BROADCAST_FROM_0, )

#define BROADCAST_MASKED(name, type, what)                                                                             \
    FUNCTION(name, (void *data, long count, int root, const int *mask),                                                \
             broadcast(#name, &of_##type, data, count, root, mask))
OF_ALL(MP_Bcast_masked, MP_dBcast_masked, MP_iBcast_masked, MP_fBcast_masked, BROADCAST_MASKED, )

#define GATHER(name, type, what) FUNCTION(name, (type *data, long count), gather(#name, &of_##type, data, count, NULL))
OF_ALL(MP_Gather, MP_dGather, MP_iGather, MP_fGather, GATHER, )

#define GATHER_MASKED(name, type, what)                                                                                \
    FUNCTION(name, (type *data, long count, const int *mask), gather(#name, &of_##type, data, count, mask))
OF_ALL(MP_Gather_masked, MP_dGather_masked, MP_iGather_masked, MP_fGather_masked, GATHER_MASKED, )

#define COMBINE(name, type, operation)                                                                                 \
    FUNCTION(name, (type *data, long count), combine(#name, operation, &of_##type, data, count, NULL))
OF_NUMBERS(MP_dSum, MP_iSum, MP_fSum, COMBINE, OPERATION_SUM)
OF_NUMBERS(MP_dMax, MP_iMax, MP_fMax, COMBINE, OPERATION_MAX)
OF_NUMBERS(MP_dMin, MP_iMin, MP_fMin, COMBINE, OPERATION_MIN)

#define COMBINE_MASKED(name, type, operation)                                                                          \
    FUNCTION(name, (type *data, long count, const int *mask),                                                          \
             combine(#name, operation, &of_##type, data, count, mask))
OF_NUMBERS(MP_dSum_masked, MP_iSum_masked, MP_fSum_masked, COMBINE_MASKED, OPERATION_SUM)
OF_NUMBERS(MP_dMax_masked, MP_iMax_masked, MP_fMax_masked, COMBINE_MASKED, OPERATION_MAX)
OF_NUMBERS(MP_dMin_masked, MP_iMin_masked, MP_fMin_masked, COMBINE_MASKED, OPERATION_MIN)
