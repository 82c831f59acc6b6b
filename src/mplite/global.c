/* mplite: what all ranks do together, on coll; and the same among some of them, told by a mask, with trees of plain
 * messages: a mask may be another one in every call, and nobody outside it takes part in making a group. */
#include "lite.h"
#include "base/counters.h"
#include "base/error.h"
#include "mplite.h"
#include <stdlib.h>
#include <string.h>

#define MASKED_TAG 1

/* What the data of a call are. */
struct element {
    size_t size;
    enum type_element element;
};
static const struct element of_bytes = {1, ELEMENT_BYTE}, of_doubles = {sizeof(double), ELEMENT_F64},
                            of_ints = {sizeof(int), ELEMENT_I32}, of_floats = {sizeof(float), ELEMENT_F32};

/* ---- all ranks ---------------------------------------------------------------------------------------------------- */

static void run(const char *call, struct coll_call *collective)
{
    collective->group = &vmplite.group;
    int error = vcoll_run(collective);
    if (unlikely(error))
        vmplite_fail_code(call, error);
}

VEXPORT void MP_Sync(void)
{
    vmplite_check_started("MP_Sync");
    DOING("MP_Sync");
    run("MP_Sync", &(struct coll_call){.kind = COLL_BARRIER});
}

static void broadcast(const char *call, const struct element *of, void *data, long count, int root)
{
    uint64_t bytes = vmplite_bytes(call, count, of->size);
    vmplite_check_rank(call, "root", root);
    run(call, &(struct coll_call){.kind = COLL_BCAST, .root = root, .receive = {.base = data, .count = bytes}});
}

static void gather(const char *call, const struct element *of, void *data, long count)
{
    uint64_t bytes = vmplite_bytes(call, count, of->size);
    vmplite_check_started(call);
    run(call, &(struct coll_call){.kind = COLL_ALLGATHER,
                                  .send = {.base = COLL_IN_PLACE},
                                  .receive = {.base = data, .count = bytes}});
}

static void combine(const char *call, enum type_operation operation, const struct element *of, void *data, long count)
{
    vmplite_check_started(call);
    (void)vmplite_bytes(call, count, of->size);
    struct type_layout *layout;
    int error = vtype_layout_bytes(of->size, (uint32_t)of->size, &layout);
    if (unlikely(error))
        vmplite_fail_code(call, error);
    run(call, &(struct coll_call){
                  .kind = COLL_ALLREDUCE,
                  .send = {.base = COLL_IN_PLACE},
                  .receive = {.base = data, .count = (uint64_t)count, .layout = layout},
                  .reduction = {.kernel = vtype_kernel(operation, of->element), .commutative = true}});
    vtype_layout_drop(layout);
}

/* ---- some ranks --------------------------------------------------------------------------------------------------- */

/* The members of a mask, counted round from the one that is the root of the tree. */
struct circle {
    const char *call;
    int *rank; /* world ranks of the members, in order */
    int size, own, root;
};

static struct circle circle_open(const char *call, const int *mask, int root)
{
    vmplite_check_started(call);
    struct circle circle = {.call = call, .rank = malloc(sizeof(int) * (size_t)vmplite.size), .own = -1, .root = -1};
    if (!circle.rank)
        vmplite_fail(call, "no memory for a list of %d ranks", vmplite.size);
    for (int rank = 0; rank < vmplite.size; rank++) {
        if (!mask[rank])
            continue;
        if (rank == vmplite.rank)
            circle.own = circle.size;
        if (rank == root)
            circle.root = circle.size;
        circle.rank[circle.size++] = rank;
    }
    if (circle.own < 0)
        vmplite_fail(call, "the mask leaves this rank out, so it must not call");
    if (root >= 0 && circle.root < 0)
        vmplite_fail(call, "the mask leaves the root out, rank %d", root);
    if (circle.root < 0)
        circle.root = 0;
    return circle;
}

static int member(const struct circle *circle, int from_root)
{
    return circle->rank[(circle->root + from_root) % circle->size];
}

static void circle_send(const struct circle *circle, int to, const void *data, uint64_t bytes)
{
    int error = vmsg_send(vmplite.inner, to, MASKED_TAG, data, bytes);
    if (unlikely(error))
        vmplite_fail_code(circle->call, error);
}

static void circle_receive(const struct circle *circle, int from, void *data, uint64_t bytes)
{
    struct msg_result result;
    int error = vmsg_recv(vmplite.inner, from, MASKED_TAG, data, bytes, &result);
    if (unlikely(error))
        vmplite_fail_code(circle->call, error);
    if (unlikely(result.bytes != bytes))
        vmplite_fail(circle->call, "rank %d calls it with %llu bytes, this rank with %llu", from,
                     (unsigned long long)result.bytes, (unsigned long long)bytes);
}

/* A binomial tree: whoever is PLACE steps from the root has its parent at PLACE without its lowest bit. */
static void circle_spread(const struct circle *circle, void *data, uint64_t bytes)
{
    int place = (circle->own - circle->root + circle->size) % circle->size, bit = 1;
    while (bit < circle->size && !(place & bit))
        bit <<= 1;
    if (place)
        circle_receive(circle, member(circle, place - bit), data, bytes);
    for (bit >>= 1; bit; bit >>= 1)
        if (place + bit < circle->size)
            circle_send(circle, member(circle, place + bit), data, bytes);
}

static void broadcast_masked(const char *call, const struct element *of, void *data, long count, int root,
                             const int *mask)
{
    uint64_t bytes = vmplite_bytes(call, count, of->size);
    vmplite_check_rank(call, "root", root);
    struct circle circle = circle_open(call, mask, root);
    circle_spread(&circle, data, bytes);
    free(circle.rank);
}

/* Up the same tree, then down: the lower ranks are always the left operand. */
static void combine_masked(const char *call, enum type_operation operation, const struct element *of, void *data,
                           long count, const int *mask)
{
    uint64_t bytes = vmplite_bytes(call, count, of->size);
    struct circle circle = circle_open(call, mask, -1);
    void *other = malloc(bytes + 1);
    if (!other)
        vmplite_fail(call, "no memory for %llu bytes", (unsigned long long)bytes);
    int bit = 1;
    for (; bit < circle.size && !(circle.own & bit); bit <<= 1) {
        if (circle.own + bit >= circle.size)
            continue;
        circle_receive(&circle, member(&circle, circle.own + bit), other, bytes);
        vtype_kernel(operation, of->element)(other, data, (size_t)count); /* all of them are commutative */
    }
    if (circle.own)
        circle_send(&circle, member(&circle, circle.own - bit), data, bytes);
    circle_spread(&circle, data, bytes);
    free(other);
    free(circle.rank);
}

static void gather_masked(const char *call, const struct element *of, void *data, long count, const int *mask)
{
    uint64_t bytes = vmplite_bytes(call, count, of->size);
    struct circle circle = circle_open(call, mask, -1);
    uint64_t all;
    if (__builtin_mul_overflow(bytes, (uint64_t)circle.size, &all))
        vmplite_fail(call, "%llu bytes of each of %d ranks", (unsigned long long)bytes, circle.size);
    char *place = data;
    if (circle.own)
        circle_send(&circle, member(&circle, 0), place + (uint64_t)circle.own * bytes, bytes);
    for (int i = 1; i < circle.size && circle.own == 0; i++)
        circle_receive(&circle, member(&circle, i), place + (uint64_t)i * bytes, bytes);
    circle_spread(&circle, data, all);
    free(circle.rank);
}

/* ---- names -------------------------------------------------------------------------------------------------------- */

/* A row is a function of mplite.h, with what its data are. */
#define BROADCAST(name, of)                                                                                            \
    VEXPORT void name(void *data, long count, int root)                                                                \
    {                                                                                                                  \
        DOING(#name);                                                                                                  \
        broadcast(#name, of, data, count, root);                                                                       \
    }
BROADCAST(MP_Bcast, &of_bytes)
BROADCAST(MP_dBcast, &of_doubles)
BROADCAST(MP_iBcast, &of_ints)
BROADCAST(MP_fBcast, &of_floats)

#define BROADCAST_FROM_0(name, of)                                                                                     \
    VEXPORT void name(void *data, long count)                                                                          \
    {                                                                                                                  \
        DOING(#name);                                                                                                  \
        broadcast(#name, of, data, count, 0);                                                                          \
    }
BROADCAST_FROM_0(MP_Broadcast, &of_bytes)
BROADCAST_FROM_0(MP_dBroadcast, &of_doubles)
BROADCAST_FROM_0(MP_iBroadcast, &of_ints)
BROADCAST_FROM_0(MP_fBroadcast, &of_floats)

#define COMBINE(name, type, of, operation)                                                                             \
    VEXPORT void name(type *data, long count)                                                                          \
    {                                                                                                                  \
        DOING(#name);                                                                                                  \
        combine(#name, operation, of, data, count);                                                                    \
    }
COMBINE(MP_dSum, double, &of_doubles, OPERATION_SUM)
COMBINE(MP_iSum, int, &of_ints, OPERATION_SUM)
COMBINE(MP_fSum, float, &of_floats, OPERATION_SUM)
COMBINE(MP_dMax, double, &of_doubles, OPERATION_MAX)
COMBINE(MP_iMax, int, &of_ints, OPERATION_MAX)
COMBINE(MP_fMax, float, &of_floats, OPERATION_MAX)
COMBINE(MP_dMin, double, &of_doubles, OPERATION_MIN)
COMBINE(MP_iMin, int, &of_ints, OPERATION_MIN)
COMBINE(MP_fMin, float, &of_floats, OPERATION_MIN)

#define GATHER(name, type, of)                                                                                         \
    VEXPORT void name(type *data, long count)                                                                          \
    {                                                                                                                  \
        DOING(#name);                                                                                                  \
        gather(#name, of, data, count);                                                                                \
    }
GATHER(MP_Gather, void, &of_bytes)
GATHER(MP_dGather, double, &of_doubles)
GATHER(MP_iGather, int, &of_ints)
GATHER(MP_fGather, float, &of_floats)

#define BROADCAST_MASKED(name, of)                                                                                     \
    VEXPORT void name(void *data, long count, int root, const int *mask)                                               \
    {                                                                                                                  \
        DOING(#name);                                                                                                  \
        broadcast_masked(#name, of, data, count, root, mask);                                                          \
    }
BROADCAST_MASKED(MP_Bcast_masked, &of_bytes)
BROADCAST_MASKED(MP_dBcast_masked, &of_doubles)
BROADCAST_MASKED(MP_iBcast_masked, &of_ints)
BROADCAST_MASKED(MP_fBcast_masked, &of_floats)

#define COMBINE_MASKED(name, type, of, operation)                                                                      \
    VEXPORT void name(type *data, long count, const int *mask)                                                         \
    {                                                                                                                  \
        DOING(#name);                                                                                                  \
        combine_masked(#name, operation, of, data, count, mask);                                                       \
    }
COMBINE_MASKED(MP_dSum_masked, double, &of_doubles, OPERATION_SUM)
COMBINE_MASKED(MP_iSum_masked, int, &of_ints, OPERATION_SUM)
COMBINE_MASKED(MP_fSum_masked, float, &of_floats, OPERATION_SUM)
COMBINE_MASKED(MP_dMax_masked, double, &of_doubles, OPERATION_MAX)
COMBINE_MASKED(MP_iMax_masked, int, &of_ints, OPERATION_MAX)
COMBINE_MASKED(MP_fMax_masked, float, &of_floats, OPERATION_MAX)
COMBINE_MASKED(MP_dMin_masked, double, &of_doubles, OPERATION_MIN)
COMBINE_MASKED(MP_iMin_masked, int, &of_ints, OPERATION_MIN)
COMBINE_MASKED(MP_fMin_masked, float, &of_floats, OPERATION_MIN)

#define GATHER_MASKED(name, type, of)                                                                                  \
    VEXPORT void name(type *data, long count, const int *mask)                                                         \
    {                                                                                                                  \
        DOING(#name);                                                                                                  \
        gather_masked(#name, of, data, count, mask);                                                                   \
    }
GATHER_MASKED(MP_Gather_masked, void, &of_bytes)
GATHER_MASKED(MP_dGather_masked, double, &of_doubles)
GATHER_MASKED(MP_iGather_masked, int, &of_ints)
GATHER_MASKED(MP_fGather_masked, float, &of_floats)
