/* The making of programs of runs: private to src/type.
 *
 * A builder collects members (COUNT copies of a layout, STRIDE apart, the first at an offset), keeps the bounds of the
 * whole, and appends their runs to a program, merging as it goes. The last run is open: a piece that touches its end
 * makes it longer. It is closed when something else comes; then it is folded into the run before it where both are steps
 * of one stride. So a list of equal pieces at equal distances becomes one run, whoever described it and how. */
#ifndef TYPE_PROGRAM_H
#define TYPE_PROGRAM_H

#include "type/layout.h"

#define PROGRAM_FLAT 16          /* small nested programs are copied until the program has this many runs */
#define PROGRAM_EXPAND (1 << 20) /* runs that a program may grow to in order to stay shallow enough */
#define PROGRAM_DEPTH (TYPE_DEPTH_MAX - 1) /* a cursor's first level is the buffer itself */

/* The lowest of all lower ends that were added, and the highest of all upper ends. */
struct program_span {
    int64_t low, high;
};

struct program_builder {
    struct type_run few[PROGRAM_FLAT];
    struct type_run *run; /* few, or allocated */
    uint64_t runs, room;
    uint64_t size;
    struct program_span payload, bounds; /* bounds: of the members whose bounds were set, if there are any */
    bool bounded;
    uint32_t alignment;
};

void vtype_program_begin(struct program_builder *builder);
/* An error leaves the builder as it must be left: by vtype_program_abandon. */
int vtype_program_add(struct program_builder *builder, struct type_layout *of, int64_t at, int64_t stride,
                      uint64_t count) MUST_CHECK;
int vtype_program_end(struct program_builder *builder, struct type_layout **out) MUST_CHECK; /* abandons on error */
void vtype_program_abandon(struct program_builder *builder);

static inline bool program_contiguous(const struct type_layout *layout)
{
    const struct type_run *only = layout->run;
    return layout->runs == 0 || (layout->runs == 1 && only->count == 1 && !only->nested && only->offset == 0 &&
                                 (int64_t)only->length == layout->shape.extent);
}

/* COUNT copies of a layout, the first at 0, as one run of its own kind where that can be: the run, else false. */
static inline bool program_one_run(const struct type_layout *of, int64_t stride, uint64_t count, struct type_run *run)
{
    const struct type_run *only = of->run;
    if (of->runs != 1)
        return false;
    *run = *only;
    if (only->count == 1) {
        run->stride = stride;
        run->count = count;
        return true;
    }
    run->count = only->count * count;
    return count == 1 || (uint64_t)stride == (uint64_t)only->stride * only->count;
}

#endif
