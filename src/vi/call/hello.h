/* The greeting, with which every connection between two ranks begins: its messages, how they are made and judged, said
 * and heard. What follows is its provider's. Little endian, as on all machines that Viaduct runs on.
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
 *
 * A proof is HMAC-SHA256 under the job's secret over both nonces, both ranks, rail, epoch and the role of its maker.
 * A rail is the number of a pair of cards among those of all providers (CALL_PAIRS each), an epoch that of a connection
 * over it: a later one is higher. */
#pragma once

#include "base/base.h"

#define CALL_MAGIC   0x7463756461697631ull
#define CALL_VERSION 2u
#define CALL_NONCE   32
#define CALL_PROVIDERS 4u
#define CALL_RAILS     64u /* CALL_PAIRS of each provider */

struct call_hello {
    uint64_t magic;
    uint32_t version, from, to, rail, epoch, zero;
    uint8_t nonce[CALL_NONCE];
};
_Static_assert(sizeof(struct call_hello) == 64, "hello on the wire");

struct call_welcome {
    uint64_t magic;
    uint32_t version, zero; /* another version: nothing else follows that could be understood */
    uint8_t nonce[CALL_NONCE];
    uint8_t proof[DIGEST_SIZE];
};
_Static_assert(sizeof(struct call_welcome) == 80, "welcome on the wire");

struct call_proof {
    uint8_t proof[DIGEST_SIZE];
};
_Static_assert(sizeof(struct call_proof) == 32, "proof on the wire");

enum call_verdict_word {
    CALL_ACCEPTED = 1,
    CALL_CROSSED, /* the decider's own call reaches you soon, or has */
    CALL_STALE    /* call again with a higher epoch */
};
struct call_verdict {
    uint32_t word;
    uint32_t epoch; /* the newest that the decider knows */
};
_Static_assert(sizeof(struct call_verdict) == 8, "verdict on the wire");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire is little endian");

/* A hello with a fresh nonce. ERR_SYSTEM: no random bytes. */
int call_hello_make(struct call_hello *hello, uint32_t from, uint32_t to, uint32_t rail, uint32_t epoch) MUST_CHECK;

/* Checks a hello from an unauthenticated connection, in a job of RANKS; whether `to` is a rank of this node is checked
 * by the listener. ERR_PROTOCOL, ERR_MISMATCH (another version), ERR_DENIED. */
int call_hello_judge(const struct call_hello *hello, uint32_t ranks) MUST_CHECK;

/* The answer of the called side, with its nonce and proof. */
int call_welcome_make(struct call_welcome *welcome, const struct call_hello *hello,
                      const uint8_t secret[SECRET_SIZE]) MUST_CHECK;
int call_welcome_judge(const struct call_welcome *welcome, const struct call_hello *hello,
                       const uint8_t secret[SECRET_SIZE]) MUST_CHECK;

/* The caller's proof. */
void call_proof_make(struct call_proof *proof, const struct call_hello *hello, const struct call_welcome *welcome,
                     const uint8_t secret[SECRET_SIZE]);
int call_proof_judge(const struct call_proof *proof, const struct call_hello *hello, const struct call_welcome *welcome,
                     const uint8_t secret[SECRET_SIZE]) MUST_CHECK;

/* At once and as a whole, or not at all. */
bool call_greeting_say(int fd, const void *message, size_t length) MUST_CHECK;
/* Reads the message awaited, of which *HEARD bytes are here, and never beyond it. OK: it is whole, and *HEARD 0 again;
 * ERR_AGAIN: not yet; else the connection is of no use: ERR_LINK_DOWN. */
int call_greeting_hear(int fd, void *message, size_t length, uint32_t *heard) MUST_CHECK;
