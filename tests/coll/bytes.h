/* What the tests of coll share: repeatable chance, and the payload of a buffer as plain bytes. */
#ifndef TESTS_COLL_BYTES_H
#define TESTS_COLL_BYTES_H

#include "check.h"
#include "type/layout.h"

#define CASE_RANKS 80

static uint64_t case_state;

static inline void case_seed(uint64_t seed)
{
    case_state = seed * 2654435761u + 88172645463325252ull;
}

static inline uint64_t case_random(uint64_t below)
{
    case_state ^= case_state << 13;
    case_state ^= case_state >> 7;
    case_state ^= case_state << 17;
    return (case_state >> 11) % below;
}

static inline unsigned char *case_packed(const struct type_buffer *buffer)
{
    uint64_t bytes = type_buffer_bytes(buffer);
    unsigned char *data = malloc(bytes + 1);
    struct type_cursor cursor;
    vtype_cursor_start(&cursor, buffer);
    CHECK_EQUAL(vtype_pack(&cursor, data, bytes), bytes);
    return data;
}

static inline void case_unpack(const struct type_buffer *buffer, const void *data, uint64_t bytes)
{
    struct type_cursor cursor;
    vtype_cursor_start(&cursor, buffer);
    CHECK_EQUAL(vtype_unpack(&cursor, data, bytes), bytes);
}

#endif
