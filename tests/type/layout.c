/* What is described in different ways and is the same memory becomes the same short program; bounds as MPI defines
 * them; nesting deeper than a cursor; what does not fit is refused. */
#include "check.h"
#include "base/error.h"
#include "type/layout.h"

static struct type_layout *bytes(uint64_t size, uint32_t alignment)
{
    struct type_layout *layout;
    CHECK_EQUAL(vtype_layout_bytes(size, alignment, &layout), OK);
    return layout;
}

static void check_one_piece(struct type_layout *layout, uint64_t size)
{
    CHECK(layout->shape.contiguous);
    CHECK_EQUAL(layout->shape.size, size);
    CHECK_EQUAL(layout->runs, 1);
    CHECK_EQUAL(layout->run[0].count, 1);
    CHECK_EQUAL(layout->run[0].length, size);
    vtype_layout_drop(layout);
}

static void contiguous_however_described(void)
{
    struct type_layout *i = bytes(4, 4), *d = bytes(8, 8), *two, *t;
    CHECK_EQUAL(vtype_layout_contiguous(10, i, &t), OK);
    check_one_piece(t, 40);
    CHECK_EQUAL(vtype_layout_vector(5, 3, 12, i, &t), OK);
    check_one_piece(t, 60);
    CHECK_EQUAL(vtype_layout_indexed(4, (uint64_t[]){1, 0, 3, 2}, (int64_t[]){0, 999, 4, 16}, i, &t), OK);
    check_one_piece(t, 24);
    struct type_layout *of[] = {i, i, d};
    CHECK_EQUAL(vtype_layout_struct(3, (uint64_t[]){1, 1, 2}, (int64_t[]){0, 4, 8}, of, &t), OK);
    check_one_piece(t, 24);
    CHECK_EQUAL(vtype_layout_vector(2, 1, 8, i, &two),
                OK); /* two pieces, then the hole filled by order of description */
    CHECK_EQUAL(vtype_layout_resized(0, 16, two, &t), OK);
    CHECK_EQUAL(t->shape.contiguous, false);
    vtype_layout_drop(t);
    vtype_layout_drop(two);
    vtype_layout_drop(i);
    vtype_layout_drop(d);
}

static void check_one_run(struct type_layout *layout, uint64_t count, uint64_t length, int64_t stride)
{
    CHECK_EQUAL(layout->runs, 1);
    CHECK_EQUAL(layout->run[0].count, count);
    CHECK_EQUAL(layout->run[0].length, length);
    CHECK_EQUAL(layout->run[0].stride, stride);
    vtype_layout_drop(layout);
}

static void strided_however_described(void)
{
    struct type_layout *i = bytes(4, 4), *wide, *t, *row;
    uint64_t blocks[100];
    int64_t at[100];
    for (int k = 0; k < 100; k++) {
        blocks[k] = 2;
        at[k] = 20 * k;
    }
    CHECK_EQUAL(vtype_layout_vector(100, 2, 20, i, &t), OK);
    check_one_run(t, 100, 8, 20);
    CHECK_EQUAL(vtype_layout_indexed(100, blocks, at, i, &t), OK);
    check_one_run(t, 100, 8, 20);
    CHECK_EQUAL(vtype_layout_resized(0, 20, i, &wide), OK);
    CHECK_EQUAL(vtype_layout_contiguous(100, wide, &t), OK);
    check_one_run(t, 100, 4, 20);
    CHECK_EQUAL(vtype_layout_vector(10, 10, 200, wide, &t), OK);
    check_one_run(t, 100, 4, 20);
    CHECK_EQUAL(vtype_layout_vector(10, 1, 20, i, &row), OK);
    CHECK_EQUAL(vtype_layout_indexed(2, (uint64_t[]){1, 1}, (int64_t[]){0, 200}, row, &t), OK);
    check_one_run(t, 20, 4, 20);
    for (int k = 0; k < 100; k++)
        at[k] = -24 * k;
    CHECK_EQUAL(vtype_layout_indexed(100, blocks, at, i, &t), OK);
    check_one_run(t, 100, 8, -24);
    vtype_layout_drop(row);
    vtype_layout_drop(wide);
    vtype_layout_drop(i);
}

static void check_bounds(struct type_layout *layout, int64_t lower, int64_t extent, int64_t true_lower,
                         int64_t true_extent)
{
    CHECK_EQUAL(layout->shape.lower_bound, lower);
    CHECK_EQUAL(layout->shape.extent, extent);
    CHECK_EQUAL(layout->shape.true_lower_bound, true_lower);
    CHECK_EQUAL(layout->shape.true_extent, true_extent);
    vtype_layout_drop(layout);
}

static void bounds(void)
{
    struct type_layout *c = bytes(1, 1), *i = bytes(4, 4), *d = bytes(8, 8), *none, *set, *t;
    check_bounds(bytes(12, 8), 0, 12, 0, 12); /* an element is not padded, however it is aligned */
    CHECK_EQUAL(vtype_layout_struct(2, (uint64_t[]){1, 1}, (int64_t[]){0, 8}, (struct type_layout *[]){d, c}, &t), OK);
    check_bounds(t, 0, 16, 0, 9);
    CHECK_EQUAL(vtype_layout_struct(2, (uint64_t[]){1, 0}, (int64_t[]){0, 8}, (struct type_layout *[]){c, d}, &t), OK);
    check_bounds(t, 0, 1, 0, 1); /* what is there zero times does not align */
    CHECK_EQUAL(vtype_layout_vector(3, 1, -8, i, &t), OK);
    check_bounds(t, -16, 20, -16, 20);
    CHECK_EQUAL(vtype_layout_vector(2, 1, 9, i, &set), OK);
    CHECK_EQUAL(vtype_layout_vector(2, 1, 33, set, &t), OK);
    check_bounds(t, 0, 52, 0, 46); /* 33 + 16: the padding of the last member counts, and then 49 is padded */
    vtype_layout_drop(set);
    CHECK_EQUAL(vtype_layout_contiguous(0, i, &none), OK);
    CHECK_EQUAL(vtype_layout_struct(2, (uint64_t[]){1, 1}, (int64_t[]){40, 100}, (struct type_layout *[]){none, c}, &t),
                OK);
    check_bounds(t, 100, 1, 100, 1);
    CHECK_EQUAL(vtype_layout_resized(-4, 16, i, &set), OK);
    CHECK_EQUAL(vtype_layout_contiguous(3, set, &t), OK);
    check_bounds(t, -4, 48, 0, 36);
    CHECK_EQUAL(vtype_layout_struct(2, (uint64_t[]){1, 1}, (int64_t[]){0, 100}, (struct type_layout *[]){set, c}, &t),
                OK);
    check_bounds(t, -4, 16, 0, 101); /* set bounds win over those found */
    CHECK_EQUAL(vtype_layout_struct(2, (uint64_t[]){0, 1}, (int64_t[]){0, 100}, (struct type_layout *[]){set, c}, &t),
                OK);
    check_bounds(t, 100, 1, 100, 1);
    vtype_layout_drop(set);
    CHECK_EQUAL(vtype_layout_resized(0, 8, none, &set), OK);
    CHECK_EQUAL(vtype_layout_struct(2, (uint64_t[]){2, 1}, (int64_t[]){40, 100}, (struct type_layout *[]){set, c}, &t),
                OK);
    check_bounds(t, 40, 16, 100, 1); /* a set bound needs no payload */
    CHECK_EQUAL(none->shape.size, 0);
    check_bounds(none, 0, 0, 0, 0);
    vtype_layout_drop(set);
    vtype_layout_drop(c);
    vtype_layout_drop(i);
    vtype_layout_drop(d);
}

static void refused(void)
{
    struct type_layout *i = bytes(4, 4), *huge, *t = NULL;
    CHECK_EQUAL(vtype_layout_bytes(8, 3, &t), ERR_ARGUMENT);
    CHECK_EQUAL(vtype_layout_bytes(8, 0, &t), ERR_ARGUMENT);
    CHECK_EQUAL(vtype_layout_bytes((uint64_t)INT64_MAX + 1, 1, &t), ERR_ARGUMENT);
    CHECK_EQUAL(vtype_layout_contiguous((uint64_t)1 << 62, i, &t), ERR_ARGUMENT);
    CHECK_EQUAL(vtype_layout_vector(3, 1, INT64_MAX / 2, i, &t), ERR_ARGUMENT);
    CHECK_EQUAL(vtype_layout_vector(2, 1, INT64_MIN, i, &t), ERR_ARGUMENT);
    CHECK_EQUAL(vtype_layout_indexed(2, (uint64_t[]){1, 1}, (int64_t[]){INT64_MIN, 0}, i, &t), ERR_ARGUMENT);
    CHECK_EQUAL(vtype_layout_indexed(1, (uint64_t[]){1}, (int64_t[]){INT64_MAX - 2}, i, &t), ERR_ARGUMENT);
    CHECK_EQUAL(vtype_layout_indexed(1, (uint64_t[]){1}, (int64_t[]){INT64_MAX - 9}, i, &t), OK);
    vtype_layout_drop(t);
    CHECK_EQUAL(vtype_layout_vector((uint64_t)1 << 61, 1, 0, i, &t), ERR_ARGUMENT); /* all in one place, and too many */
    CHECK_EQUAL(vtype_layout_resized(INT64_MAX, 1, i, &t), ERR_ARGUMENT);
    CHECK_EQUAL(vtype_layout_bytes(INT64_MAX, 1, &huge), OK);
    CHECK_EQUAL(vtype_layout_contiguous(2, huge, &t), ERR_ARGUMENT);
    CHECK(strstr(vbase_error_detail(), "64 bits") != NULL);
    vtype_layout_drop(huge);
    vtype_layout_drop(i);
}

/* The offset of one byte of a single element. */
static uint64_t offset_at(struct type_layout *layout, uint64_t position)
{
    struct type_buffer buffer = {NULL, 1, layout};
    struct type_cursor cursor;
    struct iovec piece;
    int pieces;
    vtype_cursor_start(&cursor, &buffer);
    vtype_cursor_seek(&cursor, position);
    CHECK_EQUAL(vtype_gather(&cursor, &piece, 1, 1, &pieces), 1);
    return (uint64_t)(uintptr_t)piece.iov_base;
}

/* Each level doubles what is below it, 3^level bytes apart: byte k lies where k's bits stand in base 3. */
static void deep_doubling(void)
{
    struct type_layout *layout = bytes(1, 1), *next;
    int64_t stride = 1;
    for (int level = 0; level < 30; level++) {
        stride *= 3;
        CHECK_EQUAL(vtype_layout_vector(2, 1, stride, layout, &next), OK);
        vtype_layout_drop(layout);
        layout = next;
    }
    CHECK_EQUAL(layout->shape.size, 1 << 30);
    CHECK(layout->depth < TYPE_DEPTH_MAX);
    for (uint64_t k = 1; k < 1u << 30; k = k * 5 + 3) {
        uint64_t want = 0, power = 3;
        for (int bit = 0; bit < 30; bit++, power *= 3)
            want += (k >> bit & 1) * power;
        CHECK_EQUAL(offset_at(layout, k), want);
    }
    vtype_layout_drop(layout);
}

/* A struct of (all before, one byte), many times over: a long list in the end, however it was nested. */
static void deep_chain(void)
{
    struct type_layout *one = bytes(1, 1), *layout = vtype_layout_keep(one), *next;
    for (int level = 1; level <= 2000; level++) {
        struct type_layout *of[] = {layout, one};
        CHECK_EQUAL(vtype_layout_struct(2, (uint64_t[]){1, 1}, (int64_t[]){0, (int64_t)level * (level + 1)}, of, &next),
                    OK);
        vtype_layout_drop(layout);
        layout = next;
    }
    CHECK_EQUAL(layout->shape.size, 2001);
    for (uint64_t k = 0; k <= 2000; k++)
        CHECK_EQUAL(offset_at(layout, k), k * (k + 1));
    vtype_layout_drop(layout);
    vtype_layout_drop(one);
}

/* Too deep and too wide to be flattened: refused with a sentence, and what was made before still works. */
static void too_deep(void)
{
    struct type_layout *one = bytes(1, 1), *layout = vtype_layout_keep(one), *next;
    int error = OK, level;
    int64_t span = 1;
    for (level = 0; level < 200; level++) {
        struct type_layout *of[] = {layout, one, layout};
        error = vtype_layout_struct(3, (uint64_t[]){1, 1, 1}, (int64_t[]){0, (int64_t)((uint64_t)span + 1), (int64_t)((uint64_t)span + 3)},
                                    of, &next);
        if (error)
            break;
        vtype_layout_drop(layout);
        layout = next;
        span = layout->shape.true_extent;
    }
    CHECK(error == ERR_LIMIT || error == ERR_ARGUMENT);
    CHECK(level > 20);
    CHECK(vbase_error_detail()[0] != 0);
    CHECK_EQUAL(offset_at(layout, layout->shape.size - 1), span - 1);
    vtype_layout_drop(layout);
    vtype_layout_drop(one);
}

static void long_list(void)
{
    enum { N = 1000000 };
    uint64_t *blocks = malloc(N * sizeof *blocks);
    int64_t *at = malloc(N * sizeof *at), next = 0;
    for (int k = 0; k < N; k++) {
        blocks[k] = 1 + (uint64_t)k % 3;
        at[k] = next;
        next += 4 * (int64_t)blocks[k] + 4 + k % 7;
    }
    struct type_layout *i = bytes(4, 1), *layout;
    CHECK_EQUAL(vtype_layout_indexed(N, blocks, at, i, &layout), OK);
    CHECK(layout->runs <= N);
    uint64_t position = 0;
    for (int k = 0; k < N; k++) {
        if (k % 977 == 0)
            CHECK_EQUAL(offset_at(layout, position), at[k]);
        position += 4 * blocks[k];
    }
    CHECK_EQUAL(layout->shape.size, position);
    vtype_layout_drop(layout);
    vtype_layout_drop(i);
    free(blocks);
    free(at);
}

int main(void)
{
    contiguous_however_described();
    strided_however_described();
    bounds();
    refused();
    deep_doubling();
    deep_chain();
    too_deep();
    long_list();
    return check_done();
}
