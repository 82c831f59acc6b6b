/* The greeting's messages: how they are made and judged, said and heard. */
#pragma once

#include "vi/call/wire.h"

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
