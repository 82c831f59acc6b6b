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
struct lite_element {
    size_t size;
    enum type_element element;
};
static const struct lite_element lite_byte = {1, ELEMENT_BYTE}, lite_double = {sizeof(double), ELEMENT_F64},
                                 lite_int = {sizeof(int), ELEMENT_I32}, lite_float = {sizeof(float), ELEMENT_F32};

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

static void broadcast(const char *call, void *data, uint64_t bytes, int root)
{
    vmplite_check_rank(call, "root", root);
    run(call, &(struct coll_call){.kind = COLL_BCAST, .root = root, .receive = {.base = data, .count = bytes}});
}

static void gather(const char *call, void *data, uint64_t bytes)
{
    vmplite_check_started(call);
    run(call, &(struct coll_call){.kind = COLL_ALLGATHER,
                                  .send = {.base = COLL_IN_PLACE},
                                  .receive = {.base = data, .count = bytes}});
}

static void combine(const char *call, enum type_operation operation, void *data, long count,
                    const struct lite_element *of)
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

static void broadcast_masked(const char *call, void *data, uint64_t bytes, int root, const int *mask)
{
    vmplite_check_rank(call, "root", root);
    struct circle circle = circle_open(call, mask, root);
    circle_spread(&circle, data, bytes);
    free(circle.rank);
}

/* Up the same tree, then down: the lower ranks are always the left operand. */
static void combine_masked(const char *call, enum type_operation operation, void *data, long count,
                           const struct lite_element *of, const int *mask)
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

static void gather_masked(const char *call, void *data, uint64_t bytes, const int *mask)
{
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

VEXPORT void MP_Bcast(void *data, long bytes, int root)
{
    DOING("MP_Bcast");
    broadcast("MP_Bcast", data, vmplite_bytes("MP_Bcast", bytes, lite_byte.size), root);
}

VEXPORT void MP_dBcast(void *data, long count, int root)
{
    DOING("MP_dBcast");
    broadcast("MP_dBcast", data, vmplite_bytes("MP_dBcast", count, lite_double.size), root);
}

VEXPORT void MP_iBcast(void *data, long count, int root)
{
    DOING("MP_iBcast");
    broadcast("MP_iBcast", data, vmplite_bytes("MP_iBcast", count, lite_int.size), root);
}

VEXPORT void MP_fBcast(void *data, long count, int root)
{
    DOING("MP_fBcast");
    broadcast("MP_fBcast", data, vmplite_bytes("MP_fBcast", count, lite_float.size), root);
}

VEXPORT void MP_Broadcast(void *data, long bytes)
{
    DOING("MP_Broadcast");
    broadcast("MP_Broadcast", data, vmplite_bytes("MP_Broadcast", bytes, lite_byte.size), 0);
}

VEXPORT void MP_dBroadcast(void *data, long count)
{
    DOING("MP_dBroadcast");
    broadcast("MP_dBroadcast", data, vmplite_bytes("MP_dBroadcast", count, lite_double.size), 0);
}

VEXPORT void MP_iBroadcast(void *data, long count)
{
    DOING("MP_iBroadcast");
    broadcast("MP_iBroadcast", data, vmplite_bytes("MP_iBroadcast", count, lite_int.size), 0);
}

VEXPORT void MP_fBroadcast(void *data, long count)
{
    DOING("MP_fBroadcast");
    broadcast("MP_fBroadcast", data, vmplite_bytes("MP_fBroadcast", count, lite_float.size), 0);
}

VEXPORT void MP_dSum(double *data, long count)
{
    DOING("MP_dSum");
    combine("MP_dSum", OPERATION_SUM, data, count, &lite_double);
}

VEXPORT void MP_iSum(int *data, long count)
{
    DOING("MP_iSum");
    combine("MP_iSum", OPERATION_SUM, data, count, &lite_int);
}

VEXPORT void MP_fSum(float *data, long count)
{
    DOING("MP_fSum");
    combine("MP_fSum", OPERATION_SUM, data, count, &lite_float);
}

VEXPORT void MP_dMax(double *data, long count)
{
    DOING("MP_dMax");
    combine("MP_dMax", OPERATION_MAX, data, count, &lite_double);
}

VEXPORT void MP_iMax(int *data, long count)
{
    DOING("MP_iMax");
    combine("MP_iMax", OPERATION_MAX, data, count, &lite_int);
}

VEXPORT void MP_fMax(float *data, long count)
{
    DOING("MP_fMax");
    combine("MP_fMax", OPERATION_MAX, data, count, &lite_float);
}

VEXPORT void MP_dMin(double *data, long count)
{
    DOING("MP_dMin");
    combine("MP_dMin", OPERATION_MIN, data, count, &lite_double);
}

VEXPORT void MP_iMin(int *data, long count)
{
    DOING("MP_iMin");
    combine("MP_iMin", OPERATION_MIN, data, count, &lite_int);
}

VEXPORT void MP_fMin(float *data, long count)
{
    DOING("MP_fMin");
    combine("MP_fMin", OPERATION_MIN, data, count, &lite_float);
}

VEXPORT void MP_Gather(void *data, long bytes)
{
    DOING("MP_Gather");
    gather("MP_Gather", data, vmplite_bytes("MP_Gather", bytes, lite_byte.size));
}

VEXPORT void MP_dGather(double *data, long count)
{
    DOING("MP_dGather");
    gather("MP_dGather", data, vmplite_bytes("MP_dGather", count, lite_double.size));
}

VEXPORT void MP_iGather(int *data, long count)
{
    DOING("MP_iGather");
    gather("MP_iGather", data, vmplite_bytes("MP_iGather", count, lite_int.size));
}

VEXPORT void MP_fGather(float *data, long count)
{
    DOING("MP_fGather");
    gather("MP_fGather", data, vmplite_bytes("MP_fGather", count, lite_float.size));
}

VEXPORT void MP_Bcast_masked(void *data, long bytes, int root, const int *mask)
{
    DOING("MP_Bcast_masked");
    broadcast_masked("MP_Bcast_masked", data, vmplite_bytes("MP_Bcast_masked", bytes, lite_byte.size), root, mask);
}

VEXPORT void MP_dBcast_masked(void *data, long count, int root, const int *mask)
{
    DOING("MP_dBcast_masked");
    broadcast_masked("MP_dBcast_masked", data, vmplite_bytes("MP_dBcast_masked", count, lite_double.size), root, mask);
}

VEXPORT void MP_iBcast_masked(void *data, long count, int root, const int *mask)
{
    DOING("MP_iBcast_masked");
    broadcast_masked("MP_iBcast_masked", data, vmplite_bytes("MP_iBcast_masked", count, lite_int.size), root, mask);
}

VEXPORT void MP_fBcast_masked(void *data, long count, int root, const int *mask)
{
    DOING("MP_fBcast_masked");
    broadcast_masked("MP_fBcast_masked", data, vmplite_bytes("MP_fBcast_masked", count, lite_float.size), root, mask);
}

VEXPORT void MP_dSum_masked(double *data, long count, const int *mask)
{
    DOING("MP_dSum_masked");
    combine_masked("MP_dSum_masked", OPERATION_SUM, data, count, &lite_double, mask);
}

VEXPORT void MP_iSum_masked(int *data, long count, const int *mask)
{
    DOING("MP_iSum_masked");
    combine_masked("MP_iSum_masked", OPERATION_SUM, data, count, &lite_int, mask);
}

VEXPORT void MP_fSum_masked(float *data, long count, const int *mask)
{
    DOING("MP_fSum_masked");
    combine_masked("MP_fSum_masked", OPERATION_SUM, data, count, &lite_float, mask);
}

VEXPORT void MP_dMax_masked(double *data, long count, const int *mask)
{
    DOING("MP_dMax_masked");
    combine_masked("MP_dMax_masked", OPERATION_MAX, data, count, &lite_double, mask);
}

VEXPORT void MP_iMax_masked(int *data, long count, const int *mask)
{
    DOING("MP_iMax_masked");
    combine_masked("MP_iMax_masked", OPERATION_MAX, data, count, &lite_int, mask);
}

VEXPORT void MP_fMax_masked(float *data, long count, const int *mask)
{
    DOING("MP_fMax_masked");
    combine_masked("MP_fMax_masked", OPERATION_MAX, data, count, &lite_float, mask);
}

VEXPORT void MP_dMin_masked(double *data, long count, const int *mask)
{
    DOING("MP_dMin_masked");
    combine_masked("MP_dMin_masked", OPERATION_MIN, data, count, &lite_double, mask);
}

VEXPORT void MP_iMin_masked(int *data, long count, const int *mask)
{
    DOING("MP_iMin_masked");
    combine_masked("MP_iMin_masked", OPERATION_MIN, data, count, &lite_int, mask);
}

VEXPORT void MP_fMin_masked(float *data, long count, const int *mask)
{
    DOING("MP_fMin_masked");
    combine_masked("MP_fMin_masked", OPERATION_MIN, data, count, &lite_float, mask);
}

VEXPORT void MP_Gather_masked(void *data, long bytes, const int *mask)
{
    DOING("MP_Gather_masked");
    gather_masked("MP_Gather_masked", data, vmplite_bytes("MP_Gather_masked", bytes, lite_byte.size), mask);
}

VEXPORT void MP_dGather_masked(double *data, long count, const int *mask)
{
    DOING("MP_dGather_masked");
    gather_masked("MP_dGather_masked", data, vmplite_bytes("MP_dGather_masked", count, lite_double.size), mask);
}

VEXPORT void MP_iGather_masked(int *data, long count, const int *mask)
{
    DOING("MP_iGather_masked");
    gather_masked("MP_iGather_masked", data, vmplite_bytes("MP_iGather_masked", count, lite_int.size), mask);
}

VEXPORT void MP_fGather_masked(float *data, long count, const int *mask)
{
    DOING("MP_fGather_masked");
    gather_masked("MP_fGather_masked", data, vmplite_bytes("MP_fGather_masked", count, lite_float.size), mask);
}
