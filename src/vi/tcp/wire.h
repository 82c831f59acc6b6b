/* The frames that the tcp provider puts on a connection behind its greeting (call/hello.h). Little endian.
 *
 *      frame   0        4      5      6        8       12          16       24
 *              | length | kind | flag | number | taken | immediate | word   | payload, LENGTH bytes
 *      put     the same, then                                      | region | offset (8) | payload
 *
 * `number` counts the sends and puts of this side up to this frame, modulo 2^16: a stream that lost its place shows.
 * `taken` counts those of the other side that this side has taken (a put: is in memory), modulo 2^32: it is credit, and
 * the completion of puts. */
#pragma once

#include "base/base.h"

enum tcp_kind {
    TCP_SEND = 1, /* word: the header of the send */
    TCP_PUT,      /* word: the region */
    TCP_TAKEN,    /* `taken`, and nothing else */
    TCP_REFUSED,  /* word: the number (modulo 2^32, sends count too, from 1) of a put that found no memory */
    TCP_GOODBYE,  /* the last frame: this side has disconnected */
    TCP_KINDS
};
#define TCP_FLAG_SIGNAL 1u /* of a put: tell `immediate` */
#define TCP_FLAG_QUIET  2u /* of a put: the sender does not wait to hear that it is in memory */

struct tcp_frame {
    uint32_t length;
    uint8_t kind, flags;
    uint16_t number;
    uint32_t taken;
    uint32_t immediate;
    uint64_t word;
};
_Static_assert(sizeof(struct tcp_frame) == 24, "frame on the wire");

struct tcp_put_frame {
    struct tcp_frame frame;
    uint64_t offset; /* in the region */
};
_Static_assert(sizeof(struct tcp_put_frame) == 32, "put on the wire");
