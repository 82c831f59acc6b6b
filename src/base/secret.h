/* SHA-256, HMAC-SHA256, random bytes, comparison in constant time. Self-contained; checked with the standard
 * vectors. */
#pragma once

#include "base/compiler.h"

#define SECRET_SIZE 32
#define DIGEST_SIZE 32

struct base_sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
};
void vbase_sha256_start(struct base_sha256 *sha);
void vbase_sha256_add(struct base_sha256 *sha, const void *data, size_t length);
void vbase_sha256_end(struct base_sha256 *sha, uint8_t digest[DIGEST_SIZE]);

VEXPORT void vbase_hmac(const uint8_t secret[SECRET_SIZE], const void *data, size_t length,
                        uint8_t digest[DIGEST_SIZE]);
VEXPORT int vbase_random(void *out, size_t length) MUST_CHECK; /* from the kernel; ERR_SYSTEM */
VEXPORT bool vbase_equal_secretly(const void *a, const void *b, size_t length);
