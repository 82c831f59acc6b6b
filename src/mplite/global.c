/* mplite: what all ranks do together, on coll; and the same among some of them, told by a mask, with trees of plain
 * messages: a mask may be another one in every call, and nobody outside it takes part in making a group. */
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

/* ---- all ranks ---------------------------------------------------------------------------------------------------- */

static void run(const char *call, struct coll_call *collective)
{
    collective->group = &vmplite.group;
    vmplite_must(call, vcoll_run(collective));
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
    vmplite_must(call, vtype_layout_bytes(of->size, (uint32_t)of->size, &layout));
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
    vmplite_must(circle->call, vmsg_send(vmplite.inner, to, MASKED_TAG, data, bytes));
}

static void circle_receive(const struct circle *circle, int from, void *data, uint64_t bytes)
{
    struct msg_result result;
    vmplite_must(circle->call, vmsg_recv(vmplite.inner, from, MASKED_TAG, data, bytes, &result));
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

#define BROADCAST(name, type, what)                                                                                    \
    FUNCTION(name, (void *data, long count, int root), broadcast(#name, &of_##type, data, count, root))
OF_ALL(MP_Bcast, MP_dBcast, MP_iBcast, MP_fBcast, BROADCAST, )

#define BROADCAST_FROM_0(name, type, what)                                                                             \
    FUNCTION(name, (void *data, long count), broadcast(#name, &of_##type, data, count, 0))
OF_ALL(MP_Broadcast, MP_dBroadcast, MP_iBroadcast, MP_fBroadcast, BROADCAST_FROM_0, )

#define BROADCAST_MASKED(name, type, what)                                                                             \
    FUNCTION(name, (void *data, long count, int root, const int *mask),                                                \
             broadcast_masked(#name, &of_##type, data, count, root, mask))
OF_ALL(MP_Bcast_masked, MP_dBcast_masked, MP_iBcast_masked, MP_fBcast_masked, BROADCAST_MASKED, )

#define GATHER(name, type, what) FUNCTION(name, (type *data, long count), gather(#name, &of_##type, data, count))
OF_ALL(MP_Gather, MP_dGather, MP_iGather, MP_fGather, GATHER, )

#define GATHER_MASKED(name, type, what)                                                                                \
    FUNCTION(name, (type *data, long count, const int *mask), gather_masked(#name, &of_##type, data, count, mask))
OF_ALL(MP_Gather_masked, MP_dGather_masked, MP_iGather_masked, MP_fGather_masked, GATHER_MASKED, )

#define COMBINE(name, type, operation)                                                                                 \
    FUNCTION(name, (type *data, long count), combine(#name, operation, &of_##type, data, count))
OF_NUMBERS(MP_dSum, MP_iSum, MP_fSum, COMBINE, OPERATION_SUM)
OF_NUMBERS(MP_dMax, MP_iMax, MP_fMax, COMBINE, OPERATION_MAX)
OF_NUMBERS(MP_dMin, MP_iMin, MP_fMin, COMBINE, OPERATION_MIN)

#define COMBINE_MASKED(name, type, operation)                                                                          \
    FUNCTION(name, (type *data, long count, const int *mask),                                                          \
             combine_masked(#name, operation, &of_##type, data, count, mask))
OF_NUMBERS(MP_dSum_masked, MP_iSum_masked, MP_fSum_masked, COMBINE_MASKED, OPERATION_SUM)
OF_NUMBERS(MP_dMax_masked, MP_iMax_masked, MP_fMax_masked, COMBINE_MASKED, OPERATION_MAX)
OF_NUMBERS(MP_dMin_masked, MP_iMin_masked, MP_fMin_masked, COMBINE_MASKED, OPERATION_MIN)
