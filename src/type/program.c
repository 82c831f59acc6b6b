/* Builds programs of runs. Called by layout.c; the builder is on the caller's stack, its run list is its own until
 * vtype_program_end gives it to the layout. No locks: a builder has one user.
 *
 * Surprise: offsets are added modulo 2^64. Sums of nested offsets may wrap on the way to an address that does not; the
 * span of the payload is checked for overflow, the steps to it are not. */
#include "type/program.h"

static int64_t wrapped(int64_t at, uint64_t times, int64_t stride)
{
    return (int64_t)((uint64_t)at + times * (uint64_t)stride);
}

static int overflow(const char *what)
{
    return vbase_fail(ERR_ARGUMENT, "the %s of a layout do not fit into 64 bits", what);
}

void vtype_program_begin(struct program_builder *builder)
{
    builder->run = builder->few;
    builder->runs = 0;
    builder->room = PROGRAM_FLAT;
    builder->size = 0;
    builder->payload = builder->bounds = (struct program_span){INT64_MAX, INT64_MIN};
    builder->bounded = false;
    builder->alignment = 1;
}

void vtype_program_abandon(struct program_builder *builder)
{
    if (builder->run != builder->few)
        free(builder->run);
}

/* ---- runs ------------------------------------------------------------------------------------------------------ */

static int grow(struct program_builder *builder)
{
    uint64_t room = builder->room * 2;
    if (room > UINT32_MAX)
        return vbase_fail(ERR_LIMIT, "a layout of more than %u runs", UINT32_MAX);
    bool first = builder->run == builder->few;
    struct type_run *run = realloc(first ? NULL : builder->run, room * sizeof *run);
    if (!run)
        return vbase_fail(ERR_MEMORY, "a layout of %llu runs", (unsigned long long)builder->runs);
    if (first)
        memcpy(run, builder->few, sizeof builder->few);
    builder->run = run;
    builder->room = room;
    return OK;
}

static int put(struct program_builder *builder, const struct type_run *run)
{
    if (unlikely(builder->runs == builder->room)) {
        int error = grow(builder);
        if (error)
            return error;
    }
    builder->run[builder->runs++] = *run;
    return OK;
}

/* Close the last run: join it to the one before where both are steps of one stride. */
static void fold(struct program_builder *builder)
{
    if (builder->runs < 2)
        return;
    struct type_run *a = &builder->run[builder->runs - 2], *b = a + 1;
    if (a->nested != b->nested || a->length != b->length)
        return;
    int64_t stride = a->count > 1 ? a->stride : b->count > 1 ? b->stride : wrapped(b->offset, -1ull, a->offset);
    if (b->offset != wrapped(a->offset, a->count, stride) || (b->count > 1 && b->stride != stride))
        return;
    a->stride = stride;
    a->count += b->count;
    builder->runs--;
}

/* One piece that may touch the end of the open run: then that run, or its last piece, becomes longer. */
static bool touched(struct program_builder *builder, const struct type_run *piece, int *error)
{
    if (builder->runs == 0)
        return false;
    struct type_run *open = &builder->run[builder->runs - 1];
    int64_t last = wrapped(open->offset, open->count - 1, open->stride);
    if (open->nested || wrapped(last, open->length, 1) != piece->offset)
        return false;
    if (open->count == 1) {
        open->length += piece->length;
        return true;
    }
    struct type_run longer = {.offset = last, .length = open->length + piece->length, .count = 1};
    open->count--;
    fold(builder);
    *error = put(builder, &longer);
    return true;
}

static int append(struct program_builder *builder, struct type_run run)
{
    if (!run.nested && run.count > 1 && (uint64_t)run.stride == run.length) {
        run.length *= run.count;
        run.count = 1;
    }
    int error = OK;
    if (!run.nested && run.count == 1 && touched(builder, &run, &error))
        return error;
    fold(builder);
    return put(builder, &run);
}

/* The runs of every copy, one after the other, instead of one nested run. */
static int append_flat(struct program_builder *builder, struct type_layout *of, int64_t at, int64_t stride, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < of->runs; k++) {
            struct type_run run = of->run[k];
            run.offset = wrapped(wrapped(at, i, stride), 1, run.offset);
            int error = append(builder, run);
            if (error)
                return error;
        }
    return OK;
}

static int append_copies(struct program_builder *builder, struct type_layout *of, int64_t at, int64_t stride,
                         uint64_t count)
{
    struct type_run run;
    if (program_one_run(of, stride, count, &run)) {
        run.offset = wrapped(at, 1, run.offset);
        return append(builder, run);
    }
    uint64_t flat;
    if (__builtin_mul_overflow(count, of->runs, &flat))
        flat = UINT64_MAX;
    if (flat <= PROGRAM_FLAT && builder->runs + flat <= PROGRAM_FLAT)
        return append_flat(builder, of, at, stride, count);
    if (of->depth < PROGRAM_DEPTH)
        return append(builder, (struct type_run){at, of->shape.size, stride, count, 0, of});
    if (flat <= PROGRAM_EXPAND && builder->runs + flat <= PROGRAM_EXPAND)
        return append_flat(builder, of, at, stride, count);
    return vbase_fail(ERR_LIMIT, "a layout nested more than %d deep that would need more than %d runs to be flat",
                      PROGRAM_DEPTH, PROGRAM_EXPAND);
}

/* ---- bounds ---------------------------------------------------------------------------------------------------- */

/* Widen a span by COUNT intervals [low, low + extent), STRIDE apart from AT. */
static bool widen(struct program_span *span, const struct program_span *one, int64_t at, int64_t stride, uint64_t count)
{
    int64_t reach, low, high;
    if (__builtin_mul_overflow(count - 1, stride, &reach))
        return false;
    if (__builtin_add_overflow(at, one->low, &low) || __builtin_add_overflow(at, one->high, &high))
        return false;
    if (__builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
        return false;
    span->low = low < span->low ? low : span->low;
    span->high = high > span->high ? high : span->high;
    return !__builtin_sub_overflow(span->high, span->low, &reach);
}

static int add_bounds(struct program_builder *builder, const struct type_layout *of, int64_t at, int64_t stride,
                      uint64_t count)
{
    const struct type_shape *shape = &of->shape;
    struct program_span bounds = {shape->lower_bound, shape->lower_bound + shape->extent};
    struct program_span payload = {shape->true_lower_bound, shape->true_lower_bound + shape->true_extent};
    if (of->bounded && !widen(&builder->bounds, &bounds, at, stride, count))
        return overflow("bounds");
    builder->bounded |= of->bounded;
    if (of->runs && !widen(&builder->payload, &payload, at, stride, count))
        return overflow("offsets");
    if (shape->alignment > builder->alignment)
        builder->alignment = shape->alignment;
    return OK;
}

int vtype_program_add(struct program_builder *builder, struct type_layout *of, int64_t at, int64_t stride, uint64_t count)
{
    if (count == 0)
        return OK;
    int error = add_bounds(builder, of, at, stride, count);
    if (error || of->runs == 0)
        return error;
    uint64_t bytes;
    if (__builtin_mul_overflow(count, of->shape.size, &bytes) || __builtin_add_overflow(bytes, builder->size, &bytes) ||
        bytes > INT64_MAX)
        return overflow("bytes");
    builder->size = bytes;
    return append_copies(builder, of, at, stride, count);
}

/* The extent is padded to the alignment, as the size of a C struct is, unless the bounds were set. */
static int set_shape(const struct program_builder *builder, struct type_layout *layout)
{
    const struct program_span *payload = &builder->payload, *bounds = &builder->bounds;
    struct type_shape *shape = &layout->shape;
    shape->size = builder->size;
    shape->alignment = builder->alignment;
    if (builder->size) {
        shape->true_lower_bound = shape->lower_bound = payload->low;
        shape->true_extent = payload->high - payload->low;
        uint64_t mask = shape->alignment - 1, padded = ((uint64_t)shape->true_extent + mask) & ~mask;
        if (padded > INT64_MAX)
            return overflow("bounds");
        shape->extent = (int64_t)padded;
        if (__builtin_add_overflow(shape->lower_bound, shape->extent, &(int64_t){0}))
            return overflow("bounds");
    }
    layout->bounded = builder->bounded;
    if (builder->bounded) {
        shape->lower_bound = bounds->low;
        shape->extent = bounds->high - bounds->low;
    }
    return OK;
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

static struct type_run *own_runs(struct program_builder *builder)
{
    bool first = builder->run == builder->few;
    size_t bytes = builder->runs * sizeof *builder->run;
    struct type_run *run = realloc(first ? NULL : builder->run, bytes ? bytes : 1);
    if (run && first)
        memcpy(run, builder->few, bytes);
    else if (!run && !first)
        run = builder->run; /* it did not shrink: as good */
    builder->run = builder->few;
    return run;
}

/* Neighbouring runs of one nested layout hold one reference together; vtype_layout_drop goes by the same rule. */
static void count_runs(struct type_layout *layout)
{
    uint64_t before = 0;
    struct type_layout *held = NULL;
    layout->record = layout->runs <= PROGRAM_FLAT;
    for (uint32_t i = 0; i < layout->runs; i++) {
        struct type_run *run = &layout->run[i];
        run->before = before;
        before += run->count * run->length;
        layout->record &= !run->nested && run->count == 1;
        if (run->nested && run->nested != held)
            vtype_layout_keep(run->nested);
        held = run->nested;
        if (run->nested && run->nested->depth >= layout->depth)
            layout->depth = run->nested->depth + 1;
    }
}

int vtype_program_end(struct program_builder *builder, struct type_layout **out)
{
    int error;
    fold(builder);
    struct type_layout *layout = calloc(1, sizeof *layout);
    if (!layout) {
        error = vbase_fail(ERR_MEMORY, "a layout");
        goto abandon;
    }
    error = set_shape(builder, layout);
    if (error)
        goto release;
    layout->runs = (uint32_t)builder->runs;
    layout->run = own_runs(builder);
    if (!layout->run) {
        error = vbase_fail(ERR_MEMORY, "a layout of %u runs", layout->runs);
        goto release;
    }
    layout->depth = 1;
    layout->references = 1;
    count_runs(layout);
    layout->shape.contiguous = program_contiguous(layout);
    *out = layout;
    return OK;
release:
    free(layout);
abandon:
    vtype_program_abandon(builder);
    return error;
}
