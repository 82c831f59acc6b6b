/* Every byte that the tcp provider puts on a wire. Little endian, as on all machines that Viaduct runs on.
 *
 * A connection begins with a greeting; only then come frames.
 *
 *      caller                                     called
 *        | hello    from, to, rail, epoch, nonce     |
 *        |------------------------------------------>|
 *        |          welcome  nonce, called's proof   |
 *        |<------------------------------------------|
 *        | proof    the caller's                     |   the lower rank decides which of two crossing connections
 *        |------------------------------------------>|   stays: as caller by sending its proof at all, as called by
 *        |                                  verdict  |   its verdict. Before the verdict the caller sends nothing: a
 *        |<------------------------------------------|   crowded listener may have closed the connection
 *        | frames                             frames |
 *        |<----------------------------------------->|
 *
 * A proof is HMAC-SHA256 under the job's secret over both nonces, both ranks, rail, epoch and the role of its maker.
 * A rail is the number of a pair of cards, an epoch that of a connection over it: a later one is higher.
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

#define TCP_MAGIC   0x7463756461697631ull
#define TCP_VERSION 2u
#define TCP_NONCE   32

struct tcp_hello {
    uint64_t magic;
    uint32_t version, from, to, rail, epoch, zero;
    uint8_t nonce[TCP_NONCE];
};
_Static_assert(sizeof(struct tcp_hello) == 64, "hello on the wire");

struct tcp_welcome {
    uint64_t magic;
    uint32_t version, zero; /* another version: nothing else follows that could be understood */
    uint8_t nonce[TCP_NONCE];
    uint8_t proof[DIGEST_SIZE];
};
_Static_assert(sizeof(struct tcp_welcome) == 80, "welcome on the wire");

struct tcp_proof {
    uint8_t proof[DIGEST_SIZE];
};
_Static_assert(sizeof(struct tcp_proof) == 32, "proof on the wire");

enum tcp_verdict_word {
    TCP_ACCEPTED = 1,
    TCP_CROSSED, /* the decider's own call reaches you soon, or has */
    TCP_STALE    /* call again with a higher epoch */
};
struct tcp_verdict {
    uint32_t word;
    uint32_t epoch; /* the newest that the decider knows */
};
_Static_assert(sizeof(struct tcp_verdict) == 8, "verdict on the wire");

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
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire is little endian");
