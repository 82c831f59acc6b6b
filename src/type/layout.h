/* Layouts: a described piece of memory as a short program of runs, and everything that moves bytes through it.
 *
 * A layout is immutable after it was made, reference-counted, and shared freely between threads. Offsets are in bytes
 * and signed; sizes are 64-bit. It is made of runs {offset, length, stride, count, nested}: COUNT pieces of LENGTH
 * bytes, STRIDE bytes apart, the first at OFFSET; or, where nested is set, COUNT copies of another program. Building
 * merges what touches (a vector whose stride equals its block is one run; a struct of neighbours is one run), so that
 * a contiguous layout, however it was described, has one run of one piece and moves at memcpy's speed.
 *
 * The order of the bytes is the order of the description (the type map's), never sorted: messages depend on it.
 * Callers: msg, coll, pack and mpi. Nothing here knows MPI. */
#ifndef TYPE_LAYOUT_H
#define TYPE_LAYOUT_H

#include "base/compiler.h"
#include <sys/uio.h>

struct type_layout;

/* What everyone may read of a layout. */
struct type_shape {
    uint64_t size;                        /* bytes of payload in one element */
    int64_t lower_bound, extent;          /* element i lies at base + i * extent */
    int64_t true_lower_bound, true_extent; /* first byte and span of the payload itself */
    uint32_t alignment;
    bool contiguous;                      /* one piece, true_lower_bound 0, and size == extent: count elements are one run */
};

struct type_layout {
    struct type_shape shape;
    _Atomic uint32_t references;
    uint32_t depth; /* of nesting; bounded, so that a cursor needs no allocation */
    uint32_t runs;
    struct type_run *run; /* the program; private to src/type */
};

/* Makers. They take a reference on what they are made of; the result has one reference. ERR_ARGUMENT for what cannot be
 * (negative counts, overflow of 64 bits), ERR_MEMORY, ERR_LIMIT for nesting that is too deep to walk (it is flattened
 * before that happens, where it can be). Displacements and strides are in bytes. */
VEXPORT int vtype_layout_bytes(uint64_t size, uint32_t alignment, struct type_layout **out) MUST_CHECK;
VEXPORT int vtype_layout_contiguous(uint64_t count, struct type_layout *of, struct type_layout **out) MUST_CHECK;
VEXPORT int vtype_layout_vector(uint64_t count, uint64_t block, int64_t stride, struct type_layout *of,
                                struct type_layout **out) MUST_CHECK;
VEXPORT int vtype_layout_indexed(uint64_t count, const uint64_t *blocks, const int64_t *displacements,
                                 struct type_layout *of, struct type_layout **out) MUST_CHECK;
VEXPORT int vtype_layout_struct(uint64_t count, const uint64_t *blocks, const int64_t *displacements,
                                struct type_layout *const *of, struct type_layout **out) MUST_CHECK;
VEXPORT int vtype_layout_resized(int64_t lower_bound, int64_t extent, struct type_layout *of,
                                 struct type_layout **out) MUST_CHECK;

VEXPORT struct type_layout *vtype_layout_keep(struct type_layout *layout); /* one more reference */
VEXPORT void vtype_layout_drop(struct type_layout *layout);                /* one less; frees the last */

/* COUNT elements of a layout at BASE: what a message is sent from or received into. layout NULL: plain bytes. The
 * caller keeps a reference on the layout as long as a buffer or cursor uses it. */
struct type_buffer {
    void *base;
    uint64_t count;
    struct type_layout *layout;
};

static inline uint64_t type_buffer_bytes(const struct type_buffer *buffer)
{
    return buffer->layout ? buffer->count * buffer->layout->shape.size : buffer->count;
}
static inline bool type_buffer_contiguous(const struct type_buffer *buffer)
{
    return !buffer->layout || buffer->layout->shape.contiguous || buffer->count == 0;
}

/* A place in the byte stream of a buffer, from which every mover goes on. It is a value: copying it saves the place. */
#define TYPE_DEPTH_MAX 16
struct type_cursor {
    struct type_buffer buffer;
    uint64_t position, end; /* in bytes of payload */
    struct {
        uint64_t repeat; /* which copy or piece of the run */
        uint32_t run;    /* index in the program of this level */
        int64_t base;    /* added to the offsets of this level */
    } level[TYPE_DEPTH_MAX];
    const struct type_layout *program[TYPE_DEPTH_MAX];
    uint64_t within; /* bytes done of the current piece */
    uint32_t depth;
};

VEXPORT void vtype_cursor_start(struct type_cursor *cursor, const struct type_buffer *buffer);
VEXPORT void vtype_cursor_seek(struct type_cursor *cursor, uint64_t position); /* any place, in time of the depth and
                                                                                  the runs of each level, not the bytes */

/* Movers: as many bytes as there are in the cursor and fit; the number moved is returned and the cursor advanced. */
VEXPORT uint64_t vtype_pack(struct type_cursor *from, void *to, uint64_t room);
VEXPORT uint64_t vtype_unpack(struct type_cursor *to, const void *from, uint64_t bytes);
VEXPORT uint64_t vtype_copy(struct type_cursor *to, struct type_cursor *from, uint64_t bytes);

/* The next pieces of the stream as an iovec: at most COUNT pieces and BYTES bytes; *pieces tells how many. */
VEXPORT uint64_t vtype_gather(struct type_cursor *cursor, struct iovec *piece, int count, uint64_t bytes, int *pieces);

#endif
