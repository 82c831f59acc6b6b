/* Cursors: a place in the byte stream of a buffer. Level 0 is the buffer (its elements as one run), each further level a
 * nested program. Nothing is allocated; a cursor has one user at a time. */
#include "type/cursor.h"
#include "type/program.h"

/* From a run of copies down to the first run of pieces of its current copy. */
static void descend(struct type_cursor *cursor)
{
    const struct type_run *run;
    while ((run = cursor_run(cursor))->nested)
        cursor_enter(&cursor->level[cursor->depth++], run);
}

void vtype_cursor_next(struct type_cursor *cursor)
{
    while (cursor->depth) {
        struct type_level *level = &cursor->level[cursor->depth];
        if (level->run < level->last) {
            level->run++;
            level->repeat = 0;
            descend(cursor);
            return;
        }
        cursor->depth--;
        if (++level[-1].repeat < cursor_run(cursor)->count) {
            descend(cursor);
            return;
        }
    }
}

void vtype_cursor_start(struct type_cursor *cursor, const struct type_buffer *buffer)
{
    struct type_layout *layout = buffer->layout;
    uint64_t bytes = type_buffer_bytes(buffer);
    cursor->buffer = *buffer;
    cursor->position = cursor->within = 0;
    cursor->end = bytes;
    cursor->depth = 0;
    cursor->level[0].base = (uintptr_t)buffer->base;
    cursor->level[0].repeat = 0;
    cursor->level[0].record = NULL;
    if (type_buffer_contiguous(buffer)) {
        cursor->root = (struct type_run){.length = bytes, .count = 1};
    } else if (!program_one_run(layout, layout->shape.extent, buffer->count, &cursor->root)) {
        cursor->root = (struct type_run){.length = layout->shape.size, .stride = layout->shape.extent,
                                         .count = buffer->count, .nested = layout};
    }
    if (bytes)
        descend(cursor);
}

/* The last run whose bytes begin at or before POSITION. */
static const struct type_run *find(const struct type_run *run, uint32_t count, uint64_t position)
{
    while (count > 1) {
        uint32_t half = count / 2;
        bool right = run[half].before <= position;
        run = right ? run + half : run;
        count = right ? count - half : half;
    }
    return run;
}

void vtype_cursor_seek(struct type_cursor *cursor, uint64_t position)
{
    const struct type_run *run = &cursor->root;
    struct type_level *level = cursor->level;
    uint64_t rest = position;
    cursor->depth = 0;
    cursor->within = 0;
    if (position >= cursor->end) {
        cursor->position = cursor->end;
        level->repeat = run->count;
        return;
    }
    cursor->position = position;
    for (;;) {
        level->repeat = rest / run->length;
        rest -= level->repeat * run->length;
        if (!run->nested)
            break;
        cursor_enter(level, run);
        run = find(run->nested->run, run->nested->runs, rest);
        rest -= run->before;
        level++;
        level->run = run;
        cursor->depth++;
    }
    cursor->within = rest;
}
