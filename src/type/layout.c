/* The makers of layouts and their lifetime. Each maker fills a builder and ends it. A layout is immutable once it is
 * returned; only its reference count changes, from any thread.
 *
 * A builder collects members (COUNT copies of a layout, STRIDE apart, the first at an offset), keeps the bounds of the
 * whole, and appends their runs to a program, merging as it goes. The last run is open: a piece that touches its end
 * makes it longer. It is closed when something else comes; then it is folded into the run before it where both are
 * steps of one stride. So a list of equal pieces at equal distances becomes one run, however it was described. The
 * builder is on its maker's stack, its run list is its own until it is given to the layout. No locks: a builder has one
 * user.
 *
 * Surprise: offsets are added modulo 2^64. Sums of nested offsets may wrap on the way to an address that does not; the
 * span of the payload is checked for overflow, the steps to it are not. */
#include "type/layout.h"

#define PROGRAM_FLAT 16          /* small nested programs are copied until the program has this many runs */
#define PROGRAM_EXPAND (1 << 20) /* runs that a program may grow to in order to stay shallow enough */
#define PROGRAM_DEPTH (TYPE_DEPTH_MAX - 1) /* a cursor's first level is the buffer itself */

/* The lowest of all lower ends that were added, and the highest of all upper ends. */
struct program_span {
    int64_t low, high;
};

#define EMPTY (struct program_span){INT64_MAX, INT64_MIN}

struct program_builder {
    struct type_run *run; /* NULL: none yet */
    uint64_t runs, room;
    uint64_t size;
    struct program_span payload, bounds; /* bounds: if some members' were set, of these alone */
    bool bounded;
    uint32_t alignment;
    int error; /* the first one: nothing more is added */
};

/* ---- life ---- */

struct type_layout *vtype_layout_keep(struct type_layout *layout)
{
    /* relaxed: the caller has a reference already */
    atomic_fetch_add_explicit(&layout->references, 1, memory_order_relaxed);
    return layout;
}

void vtype_layout_drop(struct type_layout *layout)
{
    /* release and acquire pair with each other: all uses of other threads come before the free */
    if (atomic_fetch_sub_explicit(&layout->references, 1, memory_order_acq_rel) != 1)
        return;
    if (layout->owner) {
        vtype_layout_drop(layout->owner);
    } else {
        for (uint32_t i = 0; i < layout->runs; i++) {
            struct type_layout *nested = layout->run[i].nested;
            if (nested && (i == 0 || nested != layout->run[i - 1].nested))
                vtype_layout_drop(nested);
        }
        free(layout->run);
    }
    free(layout);
}

/* ---- building ---- */

static bool is_contiguous(const struct type_layout *layout)
{
    const struct type_run *only = layout->run;
    return layout->runs == 0 || (layout->runs == 1 && only->count == 1 && !only->nested && only->offset == 0 &&
                                 (int64_t)only->length == layout->shape.extent);
}

static int64_t wrapped(int64_t at, uint64_t times, int64_t stride)
{
    return (int64_t)((uint64_t)at + times * (uint64_t)stride);
}

static void overflow(struct program_builder *builder, const char *what)
{
    if (!builder->error)
        builder->error = vbase_fail(ERR_ARGUMENT, "the %s of a layout do not fit into 64 bits", what);
}

static void begin(struct program_builder *builder)
{
    builder->run = NULL;
    builder->runs = builder->room = 0;
    builder->size = 0;
    builder->payload = builder->bounds = EMPTY;
    builder->bounded = false;
    builder->alignment = 1;
    builder->error = OK;
}

/* ---- runs ---- */

static void put(struct program_builder *builder, const struct type_run *run)
{
    if (unlikely(builder->runs == builder->room)) {
        bool limit = builder->room > UINT32_MAX / 2;
        uint64_t room = builder->room ? 2 * builder->room : PROGRAM_FLAT;
        struct type_run *more = limit ? NULL : realloc(builder->run, room * sizeof *more);
        if (!more) {
            builder->error = vbase_fail(limit ? ERR_LIMIT : ERR_MEMORY, "a layout of more than %llu runs",
                                        (unsigned long long)builder->runs);
            return;
        }
        builder->run = more;
        builder->room = room;
    }
    builder->run[builder->runs++] = *run;
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
static bool touched(struct program_builder *builder, const struct type_run *piece)
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
    put(builder, &longer);
    return true;
}

static void append(struct program_builder *builder, struct type_run run)
{
    if (!run.nested && run.count > 1 && (uint64_t)run.stride == run.length) {
        run.length *= run.count;
        run.count = 1;
    }
    if (!run.nested && run.count == 1 && touched(builder, &run))
        return;
    fold(builder);
    put(builder, &run);
}

/* The runs of every copy, one after the other, instead of one nested run. */
static void append_flat(struct program_builder *builder, struct type_layout *of, int64_t at, int64_t stride,
                        uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < of->runs && !builder->error; k++) {
            struct type_run run = of->run[k];
            run.offset = wrapped(wrapped(at, i, stride), 1, run.offset);
            append(builder, run);
        }
}

static void append_copies(struct program_builder *builder, struct type_layout *of, int64_t at, int64_t stride,
                          uint64_t count)
{
    struct type_run run;
    uint64_t flat;
    if (type_one_run(of, stride, count, &run)) {
        run.offset = wrapped(at, 1, run.offset);
        append(builder, run);
        return;
    }
    if (__builtin_mul_overflow(count, of->runs, &flat))
        flat = UINT64_MAX;
    if (flat <= PROGRAM_FLAT && builder->runs + flat <= PROGRAM_FLAT)
        append_flat(builder, of, at, stride, count);
    else if (of->depth < PROGRAM_DEPTH)
        append(builder, (struct type_run){at, of->shape.size, stride, count, 0, of});
    else if (flat <= PROGRAM_EXPAND && builder->runs + flat <= PROGRAM_EXPAND)
        append_flat(builder, of, at, stride, count);
    else
        builder->error =
            vbase_fail(ERR_LIMIT, "a layout nested more than %d deep that would need more than %d runs to be flat",
                       PROGRAM_DEPTH, PROGRAM_EXPAND);
}

/* ---- bounds ---- */

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

static void add_bounds(struct program_builder *builder, const struct type_layout *of, int64_t at, int64_t stride,
                       uint64_t count)
{
    const struct type_shape *shape = &of->shape;
    struct program_span bounds = {shape->lower_bound, shape->lower_bound + shape->extent};
    struct program_span payload = {shape->true_lower_bound, shape->true_lower_bound + shape->true_extent};
    if (of->bounded && !builder->bounded)
        builder->bounds = EMPTY;
    builder->bounded |= of->bounded;
    if ((of->bounded || (of->runs && !builder->bounded)) && !widen(&builder->bounds, &bounds, at, stride, count))
        overflow(builder, "bounds");
    if (of->runs && !widen(&builder->payload, &payload, at, stride, count))
        overflow(builder, "offsets");
    if (shape->alignment > builder->alignment)
        builder->alignment = shape->alignment;
}

static void add(struct program_builder *builder, struct type_layout *of, int64_t at, int64_t stride, uint64_t count)
{
    uint64_t bytes;
    if (builder->error || count == 0)
        return;
    add_bounds(builder, of, at, stride, count);
    if (__builtin_mul_overflow(count, of->shape.size, &bytes) ||
        __builtin_add_overflow(bytes, builder->size, &builder->size) || builder->size > INT64_MAX)
        overflow(builder, "bytes");
    if (!builder->error && of->runs)
        append_copies(builder, of, at, stride, count);
}

/* The extent is padded to the alignment, as the size of a C struct is, unless the bounds were set. */
static void set_shape(struct program_builder *builder, struct type_layout *layout)
{
    const struct program_span *payload = &builder->payload, *bounds = &builder->bounds;
    struct type_shape *shape = &layout->shape;
    shape->size = builder->size;
    shape->alignment = builder->alignment;
    layout->bounded = builder->bounded;
    if (builder->size) {
        shape->true_lower_bound = payload->low;
        shape->true_extent = payload->high - payload->low;
    }
    if (!builder->size && !builder->bounded)
        return;
    shape->lower_bound = bounds->low;
    shape->extent = bounds->high - bounds->low;
    if (builder->bounded)
        return;
    uint64_t mask = shape->alignment - 1, padded = ((uint64_t)shape->extent + mask) & ~mask;
    shape->extent = (int64_t)padded;
    if (padded > INT64_MAX || __builtin_add_overflow(shape->lower_bound, shape->extent, &(int64_t){0}))
        overflow(builder, "bounds");
}

/* ---- the end ---- */

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

static int end(struct program_builder *builder, struct type_layout **out)
{
    fold(builder);
    struct type_layout *layout = calloc(1, sizeof *layout);
    if (!layout && !builder->error)
        builder->error = vbase_fail(ERR_MEMORY, "a layout of %llu runs", (unsigned long long)builder->runs);
    if (!builder->error)
        set_shape(builder, layout);
    if (builder->error) {
        free(layout);
        free(builder->run);
        return builder->error;
    }
    struct type_run *run = builder->runs ? realloc(builder->run, builder->runs * sizeof *run) : NULL;
    layout->runs = (uint32_t)builder->runs;
    layout->run = run ? run : builder->run; /* it did not shrink: as good */
    layout->depth = 1;
    layout->references = 1;
    count_runs(layout);
    layout->shape.contiguous = is_contiguous(layout);
    *out = layout;
    return OK;
}

/* ---- makers ---- */

/* COUNT copies, STRIDE apart. */
static int repeated(uint64_t count, int64_t stride, struct type_layout *of, struct type_layout **out)
{
    struct program_builder builder;
    begin(&builder);
    add(&builder, of, 0, stride, count);
    return end(&builder, out);
}

int vtype_layout_bytes(uint64_t size, uint32_t alignment, struct type_layout **out)
{
    if (alignment == 0 || (alignment & (alignment - 1)))
        return vbase_fail(ERR_ARGUMENT, "an alignment of %u: it must be a power of two", alignment);
    if (size > INT64_MAX)
        return vbase_fail(ERR_ARGUMENT, "a layout of %llu bytes: they do not fit into 63 bits",
                          (unsigned long long)size);
    struct type_run piece = {.length = size, .count = 1};
    struct type_layout bytes = {.shape = {.size = size, .true_extent = (int64_t)size, .alignment = alignment},
                                .depth = 1, .runs = size > 0, .run = &piece};
    struct type_layout *layout;
    int error = repeated(1, (int64_t)size, &bytes, &layout);
    if (error)
        return error;
    layout->shape.extent = (int64_t)size; /* a basic element is as long as it is, whatever its alignment */
    layout->shape.contiguous = true;
    *out = layout;
    return OK;
}

int vtype_layout_contiguous(uint64_t count, struct type_layout *of, struct type_layout **out)
{
    return repeated(count, of->shape.extent, of, out);
}

int vtype_layout_vector(uint64_t count, uint64_t block, int64_t stride, struct type_layout *of,
                        struct type_layout **out)
{
    struct type_layout *one;
    int error = repeated(block, of->shape.extent, of, &one);
    if (error)
        return error;
    error = repeated(count, stride, one, out);
    vtype_layout_drop(one);
    return error;
}

/* BLOCKS[i] copies at DISPLACEMENTS[i], of OF[i]; EACH is false: all of the first. */
static int members(uint64_t count, const uint64_t *blocks, const int64_t *displacements, struct type_layout *const *of,
                   bool each, struct type_layout **out)
{
    struct program_builder builder;
    begin(&builder);
    for (uint64_t i = 0; i < count; i++) {
        struct type_layout *one = of[each ? i : 0];
        add(&builder, one, displacements[i], one->shape.extent, blocks[i]);
    }
    return end(&builder, out);
}

int vtype_layout_indexed(uint64_t count, const uint64_t *blocks, const int64_t *displacements, struct type_layout *of,
                         struct type_layout **out)
{
    return members(count, blocks, displacements, &of, false, out);
}

int vtype_layout_struct(uint64_t count, const uint64_t *blocks, const int64_t *displacements,
                        struct type_layout *const *of, struct type_layout **out)
{
    return members(count, blocks, displacements, of, true, out);
}

int vtype_layout_resized(int64_t lower_bound, int64_t extent, struct type_layout *of, struct type_layout **out)
{
    int64_t upper_bound;
    if (__builtin_add_overflow(lower_bound, extent, &upper_bound))
        return vbase_fail(ERR_ARGUMENT, "a lower bound of %lld and an extent of %lld do not fit into 64 bits together",
                          (long long)lower_bound, (long long)extent);
    struct type_layout *layout = malloc(sizeof *layout);
    if (!layout)
        return vbase_fail(ERR_MEMORY, "a layout");
    *layout = (struct type_layout){.shape = of->shape, .references = 1, .depth = of->depth, .runs = of->runs,
                                   .bounded = true, .record = of->record, .run = of->run};
    layout->owner = vtype_layout_keep(of->owner ? of->owner : of);
    layout->shape.lower_bound = lower_bound;
    layout->shape.extent = extent;
    layout->shape.contiguous = is_contiguous(layout);
    *out = layout;
    return OK;
}
