/* The steps of a cursor, inline for the movers: private to src/type. While position < end the current run is one of
 * pieces (not nested), repeat < its count and within < its length. */
#ifndef TYPE_CURSOR_H
#define TYPE_CURSOR_H

#include "type/layout.h"

/* Go one level down, into the program of which LEVEL's current copy is made; RUN is LEVEL's. */
static inline void cursor_enter(struct type_level *level, const struct type_run *run)
{
    const struct type_layout *nested = run->nested;
    level[1].base = level->base + (uint64_t)run->offset + level->repeat * (uint64_t)run->stride;
    level[1].repeat = 0;
    level[1].run = nested->run;
    level[1].last = nested->run + nested->runs - 1;
    level[1].record = nested->record ? nested->run : NULL;
}

static inline const struct type_run *cursor_run(const struct type_cursor *cursor)
{
    return cursor->depth ? cursor->level[cursor->depth].run : &cursor->root;
}

static inline uintptr_t cursor_address(const struct type_cursor *cursor, const struct type_run *run)
{
    const struct type_level *level = &cursor->level[cursor->depth];
    return level->base + (uint64_t)run->offset + level->repeat * (uint64_t)run->stride + cursor->within;
}

/* The current run is done (repeat == count): go to the next one of pieces. At the end of the buffer it stays. */
void vtype_cursor_next(struct type_cursor *cursor);

/* COUNT whole pieces are done. */
static inline void cursor_step(struct type_cursor *cursor, const struct type_run *run, uint64_t count)
{
    struct type_level *level = &cursor->level[cursor->depth];
    level->repeat += count;
    if (level->repeat < run->count)
        return;
    if (cursor->depth && level->run < level->last && !level->run[1].nested) {
        level->run++; /* the usual case of a long list */
        level->repeat = 0;
    } else {
        vtype_cursor_next(cursor);
    }
}

/* BYTES of the current piece, no more than it has left, are done. */
static inline void cursor_advance(struct type_cursor *cursor, const struct type_run *run, uint64_t bytes)
{
    cursor->within += bytes;
    if (cursor->within < run->length)
        return;
    cursor->within = 0;
    cursor_step(cursor, run, 1);
}

#endif
