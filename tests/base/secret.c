/* SHA-256 and HMAC against the standards' examples (FIPS 180-4, RFC 4231). */
#include "base/error.h"
#include "base/secret.h"
#include "check.h"

static const char *hex(const uint8_t digest[DIGEST_SIZE])
{
    static char text[2 * DIGEST_SIZE + 1];
    for (int i = 0; i < DIGEST_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return text;
}

static void sha256(const void *data, size_t length, uint8_t digest[DIGEST_SIZE])
{
    struct base_sha256 sha;
    vbase_sha256_start(&sha);
    vbase_sha256_add(&sha, data, length);
    vbase_sha256_end(&sha, digest);
}

static void hash_examples(void)
{
    static const struct {
        const char *text, *digest;
    } example[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"}};
    uint8_t digest[DIGEST_SIZE];
    for (size_t i = 0; i < ARRAY_LENGTH(example); i++) {
        sha256(example[i].text, strlen(example[i].text), digest);
        CHECK_TEXT(hex(digest), example[i].digest);
    }
    struct base_sha256 sha;
    vbase_sha256_start(&sha);
    for (int i = 0; i < 1000000; i += 100)
        vbase_sha256_add(&sha, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                         100);
    vbase_sha256_end(&sha, digest);
    CHECK_TEXT(hex(digest), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* However a text is cut, its hash is the same: all lengths around the block, all cuts. */
static void cuts(void)
{
    uint8_t data[200], whole[DIGEST_SIZE], parts[DIGEST_SIZE];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = check_byte(3, i);
    for (size_t length = 0; length <= sizeof(data); length++) {
        sha256(data, length, whole);
        for (size_t cut = 0; cut <= length; cut++) {
            struct base_sha256 sha;
            vbase_sha256_start(&sha);
            vbase_sha256_add(&sha, data, cut);
            vbase_sha256_add(&sha, data + cut, length - cut);
            vbase_sha256_end(&sha, parts);
            CHECK(memcmp(whole, parts, DIGEST_SIZE) == 0);
        }
    }
}

/* Our keys have 32 bytes. A shorter key is the same as one filled with zeros, a key longer than a block is its hash. */
static void hmac_example(const void *key, size_t key_length, const void *data, size_t length, const char *want)
{
    uint8_t secret[SECRET_SIZE] = {0}, digest[DIGEST_SIZE];
    if (key_length > SECRET_SIZE)
        sha256(key, key_length, secret);
    else
        memcpy(secret, key, key_length);
    vbase_hmac(secret, data, length, digest);
    CHECK_TEXT(hex(digest), want);
}

static void hmac_examples(void)
{
    static const char first[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    static const char longer[] = "This is a test using a larger than block-size key and a larger than block-size data. The key "
                                 "needs to be hashed before being used by the HMAC algorithm.";
    uint8_t key[131], data[50];
    memset(key, 0x0b, 20);
    hmac_example(key, 20, "Hi There", 8, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    hmac_example("Jefe", 4, "what do ya want for nothing?", 28,
                 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof(key));
    memset(data, 0xdd, sizeof(data));
    hmac_example(key, 20, data, 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    hmac_example(key, 131, first, sizeof(first) - 1, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    hmac_example(key, 131, longer, sizeof(longer) - 1, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
    for (int i = 0; i < 25; i++)
        key[i] = (uint8_t)(i + 1);
    memset(data, 0xcd, sizeof(data));
    hmac_example(key, 25, data, 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
}

static void comparison(void)
{
    uint8_t a[32], b[32];
    for (size_t i = 0; i < 32; i++)
        a[i] = b[i] = check_byte(9, i);
    CHECK(vbase_equal_secretly(a, b, 32));
    CHECK(vbase_equal_secretly(a, b, 0));
    for (size_t bit = 0; bit < 256; bit++) {
        b[bit / 8] ^= 1 << bit % 8;
        CHECK(!vbase_equal_secretly(a, b, 32));
        b[bit / 8] ^= 1 << bit % 8;
    }
}

static void random_bytes(void)
{
    uint8_t a[1000] = {0}, b[1000] = {0};
    int count[256] = {0};
    CHECK_EQUAL(vbase_random(a, sizeof(a)), OK);
    CHECK_EQUAL(vbase_random(b, sizeof(b) - 1), OK);
    CHECK(memcmp(a, b, sizeof(a)) != 0);
    CHECK_EQUAL(b[999], 0);
    for (size_t i = 0; i < sizeof(a); i++)
        count[a[i]]++;
    for (int i = 0; i < 256; i++)
        CHECK(count[i] < 50);
}

int main(void)
{
    hash_examples();
    cuts();
    hmac_examples();
    comparison();
    random_bytes();
    return check_done();
}
