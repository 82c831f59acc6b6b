/* SHA-256 (FIPS 180-4), HMAC (RFC 2104) and the kernel's random bytes.
 *
 * Used a few times a connection, so plain loops; no table or branch depends on a secret. Keys and inner states on the
 * stack are wiped. */
#include "base/base.h"
#include <sys/random.h>

static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static uint32_t load_big(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_big(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(x >> (24 - 8 * i));
}

static void block_compress(uint32_t state[8], const uint8_t block[64])
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = load_big(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] =
            w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(v, state, sizeof(v));
    for (int i = 0; i < 64; i++) {
        uint32_t choose = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t t1 =
            v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + choose + round_constant[i] + w[i];
        uint32_t t2 = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + majority;
        memmove(v + 1, v, 7 * sizeof(v[0]));
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
    explicit_bzero(w, sizeof(w));
    explicit_bzero(v, sizeof(v));
}

void vbase_sha256_start(struct base_sha256 *sha)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, first, sizeof(first));
    sha->length = 0;
}

void vbase_sha256_add(struct base_sha256 *sha, const void *data, size_t length)
{
    const uint8_t *byte = data;
    while (length > 0) {
        size_t at = sha->length % 64, n = 64 - at < length ? 64 - at : length;
        memcpy(sha->block + at, byte, n);
        sha->length += n;
        byte += n;
        length -= n;
        if (at + n == 64)
            block_compress(sha->state, sha->block);
    }
}

void vbase_sha256_end(struct base_sha256 *sha, uint8_t digest[DIGEST_SIZE])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = sha->length * 8;
    uint8_t tail[8];
    store_big(tail, (uint32_t)(bits >> 32));
    store_big(tail + 4, (uint32_t)bits);
    vbase_sha256_add(sha, padding, 1 + (119 - sha->length % 64) % 64);
    vbase_sha256_add(sha, tail, 8);
    for (int i = 0; i < 8; i++)
        store_big(digest + 4 * i, sha->state[i]);
    explicit_bzero(sha, sizeof(*sha));
}

static void keyed_hash(const uint8_t secret[SECRET_SIZE], uint8_t pad, const void *data, size_t length,
                       uint8_t digest[DIGEST_SIZE])
{
    struct base_sha256 sha;
    uint8_t block[64];
    memset(block, pad, sizeof(block));
    for (int i = 0; i < SECRET_SIZE; i++)
        block[i] ^= secret[i];
    vbase_sha256_start(&sha);
    vbase_sha256_add(&sha, block, sizeof(block));
    vbase_sha256_add(&sha, data, length);
    vbase_sha256_end(&sha, digest);
    explicit_bzero(block, sizeof(block));
}

void vbase_hmac(const uint8_t secret[SECRET_SIZE], const void *data, size_t length, uint8_t digest[DIGEST_SIZE])
{
    uint8_t inner[DIGEST_SIZE];
    keyed_hash(secret, 0x36, data, length, inner);
    keyed_hash(secret, 0x5c, inner, sizeof(inner), digest);
    explicit_bzero(inner, sizeof(inner));
}

int vbase_random(void *out, size_t length)
{
    uint8_t *byte = out;
    while (length > 0) {
        ssize_t n = getrandom(byte, length, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return vbase_fail_errno(ERR_SYSTEM, "getrandom of %zu bytes", length);
        byte += n;
        length -= (size_t)n;
    }
    return OK;
}

bool vbase_equal_secretly(const void *a, const void *b, size_t length)
{
    /* volatile: the compiler must not stop at the first difference */
    const volatile uint8_t *x = a, *y = b;
    uint8_t difference = 0;
    for (size_t i = 0; i < length; i++)
        difference |= x[i] ^ y[i];
    return difference == 0;
}
