/* Collectives with their right answers: random calls, the buffers of all ranks between guards, and a serial model that says
 * what must be in every byte of them in the end, holes of layouts too. Included once by a test. Everything follows from
 * the seed, so every rank of a real job can make the same cases and play its own part in them. */
#ifndef TESTS_COLL_CASES_H
#define TESTS_COLL_CASES_H

#include "coll/bytes.h"
#include "coll/coll.h"

#define GUARD 64

/* ---- layouts ------------------------------------------------------------------------------------------------------- */

/* Payloads of equal size in different clothes: [0] plain, [1] a vector with holes, [2] with bounds of its own. */
static struct type_layout *of4[3], *of12[3], *of16[3];

static void dress(struct type_layout **out, uint64_t size)
{
    struct type_layout *word, *vector, *indexed;
    CHECK_EQUAL(vtype_layout_bytes(4, 4, &word), OK);
    CHECK_EQUAL(vtype_layout_bytes(size, 4, &out[0]), OK);
    CHECK_EQUAL(vtype_layout_vector(size / 4, 1, 8, word, &vector), OK);
    out[1] = vector;
    uint64_t blocks[4] = {1, 1, 1, 1};
    int64_t places[4] = {12, 4, 20, 28};
    CHECK_EQUAL(vtype_layout_indexed(size / 4, blocks, places, word, &indexed), OK);
    CHECK_EQUAL(vtype_layout_resized(-8, 44, indexed, &out[2]), OK);
    vtype_layout_drop(indexed);
    vtype_layout_drop(word);
}

/* ---- areas --------------------------------------------------------------------------------------------------------- */

struct area {
    unsigned char *memory, *expected; /* what is there, and what must be there in the end */
    size_t size;
    void *base;
};

static void fill(struct area *area, unsigned seed)
{
    for (size_t i = 0; i < area->size; i += 8) { /* as check_byte, eight at once: every rank fills those of all */
        uint64_t x = (i + 1) * 0x9E3779B97F4A7C15ull ^ (seed + 1) * 0xC2B2AE3D27D4EB4Full;
        x = (x ^ x >> 32) * 0x9E3779B97F4A7C15ull;
        x ^= x >> 29;
        memcpy(area->memory + i, &x, area->size - i < 8 ? area->size - i : 8);
    }
    memcpy(area->expected, area->memory, area->size);
}

/* Room for elements 0 to COUNT-1 of LAYOUT with guards on both sides. */
static struct area area_new(const struct type_layout *layout, uint64_t count, unsigned seed)
{
    int64_t low = 0, span = (int64_t)count;
    if (layout) {
        low = layout->shape.true_lower_bound;
        span = count ? layout->shape.true_extent + ((int64_t)count - 1) * layout->shape.extent : 0;
    }
    struct area area = {.size = (size_t)span + 2 * GUARD};
    area.memory = malloc(area.size);
    area.expected = malloc(area.size);
    area.base = area.memory + GUARD - low;
    fill(&area, seed);
    return area;
}

static void area_check(const struct area *area, const char *what, int rank)
{
    if (memcmp(area->memory, area->expected, area->size) == 0)
        return;
    size_t i = 0;
    while (area->memory[i] == area->expected[i])
        i++;
    fprintf(stderr, "%s, rank %d: byte %zu of %zu (guards of %d) is %02x, not %02x\n", what, rank, i, area->size, GUARD,
            area->memory[i], area->expected[i]);
    CHECK(!"the bytes are right");
}

static void area_free(struct area *area)
{
    free(area->memory);
    free(area->expected);
}

/* The same place in what must be there in the end. */
static struct type_buffer in_expected(const struct area *area, struct type_buffer buffer)
{
    buffer.base = (unsigned char *)buffer.base - area->memory + area->expected;
    return buffer;
}

/* ---- one collective on all ranks ----------------------------------------------------------------------------------- */

struct one {
    struct coll_call call;
    struct area send, receive;
    int64_t counts[2][CASE_RANKS], displacements[2][CASE_RANKS];
    struct type_layout *layouts[2][CASE_RANKS];
    struct coll_schedule *schedule;
    int completions, error;
};

struct test {
    enum coll_kind kind;
    int size, root;
    uint64_t count;
    bool in_place;
    struct type_layout **clothes; /* the three layouts of one payload, or NULL: bytes */
    struct type_reduction reduction;
    unsigned seed;
    struct one one[CASE_RANKS];
};

static struct coll_group group[CASE_RANKS];

static const char *name(const struct test *test)
{
    static const char *const names[COLL_KINDS] = {
        "barrier", "bcast", "reduce", "allreduce", "scan", "exscan", "reduce_scatter", "reduce_scatter_block", "gather",
        "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"};
    static char text[120];
    snprintf(text, sizeof text, "%s of %llu on %d ranks%s, root %d, seed %u", names[test->kind],
             (unsigned long long)test->count, test->size, test->in_place ? " in place" : "", test->root, test->seed);
    return text;
}

static struct type_layout *clothing(const struct test *test, int which)
{
    return test->clothes ? test->clothes[which % 3] : NULL;
}

static bool reduces(enum coll_kind kind)
{
    return kind >= COLL_REDUCE && kind <= COLL_REDUCE_SCATTER_BLOCK;
}

/* Elements that rank FROM gives to rank TO in a v form. */
static int64_t amount(const struct test *test, int from, int to)
{
    if (test->count == 0)
        return 0;
    if (test->kind == COLL_ALLTOALLV || test->kind == COLL_ALLTOALLW)
        return test->in_place ? (from * to + from + to) % 4 + (int64_t)test->count - 1
                              : (from * 5 + to * 3) % 7 % 3 + (int64_t)test->count - 1;
    int member = test->kind == COLL_SCATTERV ? to : from;
    return (member * 5 + 2) % 4 * (int64_t)test->count / 2;
}

/* Blocks in mixed order with gaps. AMOUNTS are set; returns elements (or for w: extents of the widest layout) in all. */
static uint64_t spread(const struct test *test, struct one *one, int side)
{
    int64_t at = 1;
    for (int k = 0; k < test->size; k++) {
        int i = (k * 7 + 3) % test->size;
        if (test->size % 7 == 0)
            i = test->size - 1 - k;
        one->displacements[side][i] = at;
        at += one->counts[side][i] + (i & 1);
    }
    return (uint64_t)at;
}

static void set_v(const struct test *test, int rank, int side)
{
    struct one *one = (struct one *)&test->one[rank];
    struct coll_side *to = side ? &one->call.receive : &one->call.send;
    for (int i = 0; i < test->size; i++)
        one->counts[side][i] = side ? amount(test, i, rank) : amount(test, rank, i);
    to->count = spread(test, one, side);
    to->counts = one->counts[side];
    to->displacements = one->displacements[side];
    if (test->kind != COLL_ALLTOALLW)
        return;
    for (int i = 0; i < test->size; i++) {
        one->layouts[side][i] = clothing(test, rank + i + side);
        one->displacements[side][i] *= test->clothes ? 44 : 1;
    }
    to->layouts = one->layouts[side];
    to->layout = clothing(test, 2); /* the widest; for the area only */
}

static void make_rank(struct test *test, int rank)
{
    struct one *one = &test->one[rank];
    enum coll_kind kind = test->kind;
    bool at_root = rank == test->root;
    uint64_t n = (uint64_t)test->size, c = test->count;
    memset(one, 0, sizeof *one);
    one->call = (struct coll_call){.kind = kind, .group = &group[rank], .root = test->root, .reduction = test->reduction};
    struct coll_side *send = &one->call.send, *receive = &one->call.receive;
    send->layout = clothing(test, reduces(kind) ? 0 : rank);
    receive->layout = clothing(test, reduces(kind) ? 0 : rank + 1);
    send->count = receive->count = c;
    uint64_t sent = c, received = c;
    if (kind == COLL_SCATTER || kind == COLL_ALLTOALL || kind == COLL_REDUCE_SCATTER_BLOCK)
        sent = c * n;
    if (kind == COLL_GATHER || kind == COLL_ALLGATHER || kind == COLL_ALLTOALL)
        received = c * n;
    if (kind == COLL_SCATTERV || kind == COLL_ALLTOALLV || kind == COLL_ALLTOALLW)
        set_v(test, rank, 0), sent = send->count;
    if (kind == COLL_GATHERV || kind == COLL_ALLGATHERV || kind == COLL_ALLTOALLV || kind == COLL_ALLTOALLW)
        set_v(test, rank, 1), received = receive->count;
    if (kind == COLL_GATHERV || kind == COLL_ALLGATHERV)
        sent = send->count = (uint64_t)amount(test, rank, 0);
    if (kind == COLL_SCATTERV)
        received = receive->count = (uint64_t)amount(test, 0, rank);
    if (kind == COLL_REDUCE_SCATTER) {
        for (sent = 0, received = 0; received < n; received++)
            sent += (uint64_t)(one->counts[1][received] = (int64_t)((received * 5 + 2) % 4 * c / 2));
        receive->counts = one->counts[1];
        received = (uint64_t)one->counts[1][rank];
    }
    bool place_receive = test->in_place && (kind == COLL_SCATTER || kind == COLL_SCATTERV) && at_root;
    bool rooted = kind == COLL_REDUCE || kind == COLL_GATHER || kind == COLL_GATHERV;
    bool place_send = test->in_place && !place_receive && kind != COLL_SCATTER && kind != COLL_SCATTERV &&
                      kind != COLL_BCAST && kind != COLL_BARRIER && (!rooted || at_root);
    if (place_send && (kind == COLL_REDUCE_SCATTER || kind == COLL_REDUCE_SCATTER_BLOCK))
        received = sent;
    one->send = area_new(send->layout, sent, test->seed * 1000 + 2 * (unsigned)rank);
    one->receive = area_new(receive->layout, received, test->seed * 1000 + 2 * (unsigned)rank + 1);
    send->base = place_send ? COLL_IN_PLACE : one->send.base;
    receive->base = place_receive ? COLL_IN_PLACE : one->receive.base;
}

/* ---- the serial model ---------------------------------------------------------------------------------------------- */

static struct type_buffer block_of(const struct coll_side *side, int i)
{
    struct type_layout *layout = side->layouts ? side->layouts[i] : side->layout;
    int64_t extent = side->layouts || !layout ? 1 : layout->shape.extent;
    uint64_t count = side->counts ? (uint64_t)side->counts[i] : side->count;
    int64_t first = side->counts ? side->displacements[i] : i * (int64_t)side->count;
    return (struct type_buffer){(char *)side->base + first * extent, count, layout};
}

static struct type_buffer whole_of(const struct coll_side *side, uint64_t count)
{
    return (struct type_buffer){side->base, count, side->layout};
}

static void expect(struct test *test, int rank, struct type_buffer place, const unsigned char *data)
{
    struct type_buffer target = in_expected(&test->one[rank].receive, place);
    case_unpack(&target, data, type_buffer_bytes(&target));
}

/* What FROM gives to TO: packed as it was at the start. */
static unsigned char *given(const struct test *test, int from, int to)
{
    const struct coll_call *call = &test->one[from].call;
    struct type_buffer block;
    bool in_place = call->send.base == COLL_IN_PLACE;
    switch (test->kind) {
    case COLL_BCAST:
        block = whole_of(&call->receive, call->receive.count);
        break;
    case COLL_SCATTER:
    case COLL_SCATTERV:
        block = block_of(&call->send, to);
        break;
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        block = block_of(in_place ? &call->receive : &call->send, to);
        break;
    default:
        block = in_place ? block_of(&call->receive, from) : whole_of(&call->send, call->send.count);
    }
    return case_packed(&block);
}

static void expect_moves(struct test *test)
{
    bool to_root = test->kind == COLL_GATHER || test->kind == COLL_GATHERV;
    bool from_root = test->kind == COLL_SCATTER || test->kind == COLL_SCATTERV || test->kind == COLL_BCAST;
    for (int to = 0; to < test->size; to++)
        for (int from = 0; from < test->size; from++) {
            const struct coll_side *side = &test->one[to].call.receive;
            if ((to_root && to != test->root) || (from_root && from != test->root) || side->base == COLL_IN_PLACE)
                continue;
            unsigned char *data = given(test, from, to);
            expect(test, to, from_root ? whole_of(side, side->count) : block_of(side, from), data);
            free(data);
        }
}

/* data = data OP next, on packed elements, by the call's own operation in plain clothes. */
static void combine(const struct test *test, unsigned char *data, unsigned char *next, uint64_t count)
{
    struct type_layout *plain = test->clothes == of4 ? of4[0] : of16[0];
    if (test->reduction.function)
        test->reduction.function(plain, data, next, count);
    else
        test->reduction.kernel(data, next, count);
    memcpy(data, next, count * plain->shape.size);
}

static unsigned char *operand(const struct test *test, int rank, uint64_t count)
{
    const struct coll_call *call = &test->one[rank].call;
    struct type_buffer value = whole_of(call->send.base == COLL_IN_PLACE ? &call->receive : &call->send, count);
    value.layout = call->receive.layout;
    return case_packed(&value);
}

static void expect_reduction(struct test *test)
{
    uint64_t total = test->count, size = test->clothes[0]->shape.size, first = 0;
    if (test->kind == COLL_REDUCE_SCATTER_BLOCK)
        total *= (uint64_t)test->size;
    for (int i = 0; test->kind == COLL_REDUCE_SCATTER && i < test->size; i++)
        total = (i ? total : 0) + (uint64_t)test->one[0].counts[1][i];
    unsigned char *sum = operand(test, 0, total);
    for (int rank = 0; rank < test->size; rank++) {
        const struct coll_side *side = &test->one[rank].call.receive;
        if (test->kind == COLL_EXSCAN && rank)
            expect(test, rank, whole_of(side, total), sum);
        if (rank) {
            unsigned char *next = operand(test, rank, total);
            combine(test, sum, next, total);
            free(next);
        }
        if (test->kind == COLL_SCAN)
            expect(test, rank, whole_of(side, total), sum);
    }
    for (int rank = 0; rank < test->size; rank++) {
        const struct coll_side *side = &test->one[rank].call.receive;
        if (test->kind == COLL_ALLREDUCE || (test->kind == COLL_REDUCE && rank == test->root))
            expect(test, rank, whole_of(side, total), sum);
        if (test->kind != COLL_REDUCE_SCATTER && test->kind != COLL_REDUCE_SCATTER_BLOCK)
            continue;
        uint64_t mine = side->counts ? (uint64_t)side->counts[rank] : side->count;
        expect(test, rank, whole_of(side, mine), sum + first * size);
        first += mine;
    }
    free(sum);
}

/* ---- what is reduced ----------------------------------------------------------------------------------------------- */

/* Operands are four words in whatever layout CONTEXT says: a user's function sees the holes. */
static void four_words(void *context, const void *in, void *inout, size_t count,
                       void (*operation)(const uint32_t *a, uint32_t *b))
{
    struct type_layout *layout = context;
    for (size_t i = 0; i < count; i++) {
        uint32_t a[4], b[4];
        struct type_buffer left = {(char *)in + (int64_t)i * layout->shape.extent, 1, layout};
        struct type_buffer right = {(char *)inout + (int64_t)i * layout->shape.extent, 1, layout};
        struct type_cursor cursor;
        vtype_cursor_start(&cursor, &left);
        vtype_pack(&cursor, a, sizeof a);
        vtype_cursor_start(&cursor, &right);
        vtype_pack(&cursor, b, sizeof b);
        operation(a, b);
        case_unpack(&right, b, sizeof b);
    }
}

static void product(const uint32_t *a, uint32_t *b)
{
    uint32_t c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                     a[2] * b[1] + a[3] * b[3]};
    memcpy(b, c, sizeof c);
}

static void total(const uint32_t *a, uint32_t *b)
{
    for (int i = 0; i < 4; i++)
        b[i] += a[i];
}

static void matrix_product(void *context, const void *in, void *inout, size_t count)
{
    four_words(context, in, inout, count, product);
}

static void matrix_sum(void *context, const void *in, void *inout, size_t count)
{
    four_words(context, in, inout, count, total);
}

/* Sum of integers; sum and (ordered) product of matrices that lie plain, with holes, with strange bounds. */
static void choose_reduction(struct test *test, unsigned which)
{
    static struct type_layout *plain[3], *holes[3], *bounds[3];
    for (int i = 0; i < 3; i++)
        plain[i] = of16[0], holes[i] = of16[1], bounds[i] = of16[2];
    if (which % 7 == 0) {
        test->clothes = of4;
        test->reduction = (struct type_reduction){.kernel = vtype_kernel(OPERATION_SUM, ELEMENT_U32), .commutative = true};
        return;
    }
    bool ordered = which % 2;
    test->clothes = which % 7 < 3 ? plain : which % 7 < 5 ? holes : bounds;
    test->reduction = (struct type_reduction){.function = ordered ? matrix_product : matrix_sum,
                                              .context = test->clothes[0], .commutative = !ordered};
}

static void choose(struct test *test, enum coll_kind kind, int size, uint64_t count)
{
    static unsigned seed;
    static struct type_layout **const clothes[] = {of12, of16, of4, NULL};
    *test = (struct test){.kind = kind, .size = size, .count = count, .seed = ++seed};
    test->in_place = case_random(2);
    if (kind == COLL_BCAST || kind == COLL_REDUCE || (kind >= COLL_GATHER && kind <= COLL_SCATTERV))
        test->root = (int)case_random((uint64_t)size);
    if (reduces(kind))
        choose_reduction(test, (unsigned)case_random(14));
    else
        test->clothes = clothes[case_random(4)];
    if (kind == COLL_BCAST && size <= 5 && count > 1000) /* worth cutting */
        test->count = (uint64_t)size * 131072 / (test->clothes ? test->clothes[0]->shape.size : 1) + 9;
    if (reduces(kind) && size <= 5 && count > 1000 && case_random(3) == 0)
        test->count *= 10; /* in more than one chunk */
}

static uint64_t some_count(int size)
{
    switch (case_random(8)) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return 700 + case_random(30); /* beyond a small block */
    case 3:
        return size <= 8 ? 1600 * (uint64_t)size + case_random(9) : 5; /* worth cutting */
    default:
        return 2 + case_random(20);
    }
}

static void make_and_expect(struct test *test)
{
    for (int i = 0; i < test->size; i++)
        make_rank(test, i);
    if (reduces(test->kind))
        expect_reduction(test);
    else if (test->kind != COLL_BARRIER)
        expect_moves(test);
}

static void refill(struct test *test)
{
    test->seed++;
    for (int i = 0; i < test->size; i++) {
        fill(&test->one[i].send, test->seed * 1000 + 2 * (unsigned)i);
        fill(&test->one[i].receive, test->seed * 1000 + 2 * (unsigned)i + 1);
    }
    if (reduces(test->kind))
        expect_reduction(test);
    else if (test->kind != COLL_BARRIER)
        expect_moves(test);
}

#endif
