/* Layouts: a described piece of memory as a short program of runs, and everything that moves bytes through it.
 *
 * A layout is immutable after it was made, reference-counted, and shared freely between threads. Offsets are in bytes
 * and signed; sizes are 64-bit. It is made of runs {offset, length, stride, count, nested}: COUNT pieces of LENGTH
 * bytes, STRIDE bytes apart, the first at OFFSET; or, where nested is set, COUNT copies of another program. Building
 * merges what touches (a vector whose stride equals its block is one run; a struct of neighbours is one run), so that
 * a contiguous layout, however it was described, has one run of one piece and moves at memcpy's speed.
 *
 * The order of the bytes is the order of the description (the type map's), never sorted: messages depend on it.
 *
 * Bounds follow MPI's definition: without set bounds the lower bound is the first byte and the extent reaches to the
 * end of the last member, padded to a multiple of the alignment as a C struct is (in every shape, not in structs
 * alone). Bounds set by vtype_layout_resized win over that, also deep inside another layout: where one member has set
 * bounds only members with set bounds count. What has no payload and no set bounds, or is there zero times, counts
 * for nothing.
 *
 * Callers: msg, coll, pack and mpi. Nothing here knows MPI. */
#pragma once

#include "base/base.h"
#include <sys/uio.h>

struct type_layout;

/* What everyone may read of a layout. */
struct type_shape {
    uint64_t size;                        /* bytes of payload in one element */
    int64_t lower_bound, extent;          /* element i lies at base + i * extent */
    int64_t true_lower_bound, true_extent; /* first byte and span of the payload itself */
    uint32_t alignment;
    /* no payload, or one piece at 0 with size == extent: count elements are one run */
    bool contiguous;
};

struct type_layout {
    struct type_shape shape;
    _Atomic uint32_t references;
    uint32_t depth; /* of nesting; bounded, so that a cursor needs no allocation */
    uint32_t runs;
    bool bounded;         /* lower bound and extent were set, not found */
    bool record;          /* its program is a short list of single pieces, as of a C struct with holes */
    struct type_run *run; /* the program */
    struct type_layout *owner; /* whose program it is, where it is not its own */
};

struct type_run {
    int64_t offset;
    uint64_t length; /* bytes of payload in one piece or one copy */
    int64_t stride;
    uint64_t count;
    uint64_t before;            /* bytes of payload in the runs before this one: a seek searches here */
    struct type_layout *nested; /* NULL: pieces of memory; else copies of its program */
};

/* Private: COUNT copies of a layout, the first at 0, as one run of its own kind where that can be: the run, else
 * false. */
static inline bool type_one_run(const struct type_layout *of, int64_t stride, uint64_t count, struct type_run *run)
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

/* Makers. They keep what they need of what they are made of; the result has one reference. ERR_ARGUMENT for what cannot
 * be (overflow of 64 bits, an alignment that is no power of two), ERR_MEMORY, ERR_LIMIT for nesting too deep to walk
 * (it is flattened before that happens, where it can be). Displacements and strides are in bytes. */
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

/* A place in the byte stream of a buffer, from which every mover goes on. It is a value: copying it saves the place.
 * Addresses are computed modulo 2^64, so that base may be NULL with absolute offsets. Private but for `position` and
 * `end`. */
#define TYPE_DEPTH_MAX 16
struct type_level {
    uintptr_t base;                    /* added to the offsets of this level */
    uint64_t repeat;                   /* which piece or copy of the run */
    const struct type_run *run, *last; /* in the program of this level; level 0 has the cursor's root instead */
    const struct type_run *record;     /* the first run, where a copy of this program is a record; else NULL */
};
struct type_cursor {
    struct type_buffer buffer;
    uint64_t position, end; /* in bytes of payload */
    uint64_t within;        /* bytes done of the current piece */
    uint32_t depth;         /* of the current run, which is always one of pieces while position < end */
    struct type_run root;   /* the elements of the buffer as one run */
    struct type_level level[TYPE_DEPTH_MAX]; /* only 0 to depth are ever written */
};

VEXPORT void vtype_cursor_start(struct type_cursor *cursor, const struct type_buffer *buffer);
VEXPORT void vtype_cursor_seek(struct type_cursor *cursor, uint64_t position); /* any place; beyond the end is the end.
                                                                                  Time: log of the runs of each level */

/* Movers: as many bytes as there are in the cursor and fit; the number moved is returned and the cursor advanced. The
 * two sides of a move do not overlap; pieces of one layout may (the later in order wins). */
VEXPORT uint64_t vtype_pack(struct type_cursor *from, void *to, uint64_t room);
VEXPORT uint64_t vtype_unpack(struct type_cursor *to, const void *from, uint64_t bytes);
VEXPORT uint64_t vtype_copy(struct type_cursor *to, struct type_cursor *from, uint64_t bytes);

/* The first two from byte AT of a buffer on, where nothing follows. */
VEXPORT uint64_t vtype_pack_at(const struct type_buffer *from, uint64_t at, void *to, uint64_t room);
VEXPORT uint64_t vtype_unpack_at(const struct type_buffer *to, uint64_t at, const void *from, uint64_t bytes);

/* The next pieces of the stream as an iovec: at most COUNT pieces and BYTES bytes; *pieces tells how many. Pieces that
 * touch in memory and follow each other in the stream become one. */
VEXPORT uint64_t vtype_gather(struct type_cursor *cursor, struct iovec *piece, int count, uint64_t bytes, int *pieces);
