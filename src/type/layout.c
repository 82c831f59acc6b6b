/* The makers of layouts and their lifetime. Each maker fills a builder (program.c) and ends it. A layout is immutable once
 * it is returned; only its reference count changes, from any thread. */
#include "type/layout.h"
#include "type/program.h"

/* ---- life ------------------------------------------------------------------------------------------------------ */

struct type_layout *vtype_layout_keep(struct type_layout *layout)
{
    /* relaxed: whoever keeps it already sees it */
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

/* ---- makers ---------------------------------------------------------------------------------------------------- */

static int refuse(struct program_builder *builder, int error)
{
    vtype_program_abandon(builder);
    return error;
}

/* COUNT copies, STRIDE apart. */
static int repeated(uint64_t count, int64_t stride, struct type_layout *of, struct type_layout **out)
{
    struct program_builder builder;
    vtype_program_begin(&builder);
    int error = vtype_program_add(&builder, of, 0, stride, count);
    return error ? refuse(&builder, error) : vtype_program_end(&builder, out);
}

int vtype_layout_bytes(uint64_t size, uint32_t alignment, struct type_layout **out)
{
    if (alignment == 0 || (alignment & (alignment - 1)))
        return vbase_fail(ERR_ARGUMENT, "an alignment of %u: it must be a power of two", alignment);
    if (size > INT64_MAX)
        return vbase_fail(ERR_ARGUMENT, "a layout of %llu bytes: they do not fit into 63 bits", (unsigned long long)size);
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

int vtype_layout_vector(uint64_t count, uint64_t block, int64_t stride, struct type_layout *of, struct type_layout **out)
{
    struct type_layout *one;
    int error = repeated(block, of->shape.extent, of, &one);
    if (error)
        return error;
    error = repeated(count, stride, one, out);
    vtype_layout_drop(one);
    return error;
}

int vtype_layout_indexed(uint64_t count, const uint64_t *blocks, const int64_t *displacements, struct type_layout *of,
                         struct type_layout **out)
{
    struct program_builder builder;
    vtype_program_begin(&builder);
    for (uint64_t i = 0; i < count; i++) {
        int error = vtype_program_add(&builder, of, displacements[i], of->shape.extent, blocks[i]);
        if (error)
            return refuse(&builder, error);
    }
    return vtype_program_end(&builder, out);
}

int vtype_layout_struct(uint64_t count, const uint64_t *blocks, const int64_t *displacements,
                        struct type_layout *const *of, struct type_layout **out)
{
    struct program_builder builder;
    vtype_program_begin(&builder);
    for (uint64_t i = 0; i < count; i++) {
        int error = vtype_program_add(&builder, of[i], displacements[i], of[i]->shape.extent, blocks[i]);
        if (error)
            return refuse(&builder, error);
    }
    return vtype_program_end(&builder, out);
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
    layout->shape.contiguous = program_contiguous(layout);
    *out = layout;
    return OK;
}
