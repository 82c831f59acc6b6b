/* Checking: what packer and unpacker must agree upon. */
#ifndef PACK_CHECK_H
#define PACK_CHECK_H

#include "pack/pack.h"

/* Before each block, in the frame; behind the last one with PACK_MARK_END. */
struct pack_mark {
    uint64_t length;
    uint32_t number; /* of the block; at the end: how many there were */
    uint8_t send, receive, what, unused;
};
#define PACK_MARK_BLOCK 0xb1
#define PACK_MARK_END 0xe2
_Static_assert(sizeof(struct pack_mark) == 16, "the marks of both sides are alike");

/* PACKED came where UNPACKED was expected. OK when they agree; else both sides are told, and it is ERR_ASYMMETRY. */
int vpack_check_mark(vd_connection *connection, const struct pack_mark *packed, const struct pack_mark *unpacked) MUST_CHECK;

#endif
