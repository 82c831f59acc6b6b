/* Who may talk: right and wrong proofs, greetings of another time, place, role and version, and random bytes. */
#include "check.h"
#include "base/error.h"
#include "vi/call/hello.h"

static const uint8_t secret[SECRET_SIZE] = "this is the secret of this job..", other[SECRET_SIZE] = "this is the secret of that job..";

static struct call_hello hello;
static struct call_welcome welcome;
static struct call_proof proof;

static void greet(void)
{
    CHECK_EQUAL(call_hello_make(&hello, 3, 5, 0, 7), OK);
    CHECK_EQUAL(call_hello_judge(&hello, 8), OK);
    CHECK_EQUAL(call_welcome_make(&welcome, &hello, secret), OK);
    CHECK_EQUAL(call_welcome_judge(&welcome, &hello, secret), OK);
    call_proof_make(&proof, &hello, &welcome, secret);
    CHECK_EQUAL(call_proof_judge(&proof, &hello, &welcome, secret), OK);
}

static void wrong_secret(void)
{
    greet();
    CHECK_EQUAL(call_welcome_judge(&welcome, &hello, other), ERR_DENIED);
    CHECK_EQUAL(call_proof_judge(&proof, &hello, &welcome, other), ERR_DENIED);
}

/* What was right a moment ago is wrong in the next greeting, also for the same two. */
static void replayed(void)
{
    struct call_hello old_hello;
    struct call_welcome old_welcome;
    struct call_proof old_proof;

    greet();
    old_hello = hello, old_welcome = welcome, old_proof = proof;
    greet();
    CHECK(memcmp(old_hello.nonce, hello.nonce, CALL_NONCE) != 0);
    CHECK(memcmp(old_welcome.nonce, welcome.nonce, CALL_NONCE) != 0);
    CHECK_EQUAL(call_welcome_judge(&old_welcome, &hello, secret), ERR_DENIED);
    CHECK_EQUAL(call_proof_judge(&old_proof, &hello, &welcome, secret), ERR_DENIED);
    CHECK_EQUAL(call_welcome_make(&welcome, &old_hello, secret), OK); /* the same hello, another nonce in the answer */
    CHECK_EQUAL(call_proof_judge(&old_proof, &old_hello, &welcome, secret), ERR_DENIED);
}

/* A proof sent back to its maker is the proof of the wrong role. */
static void reflected(void)
{
    struct call_welcome mirror;
    struct call_proof back;

    greet();
    mirror = welcome;
    memcpy(mirror.proof, proof.proof, sizeof(mirror.proof));
    CHECK_EQUAL(call_welcome_judge(&mirror, &hello, secret), ERR_DENIED);
    memcpy(back.proof, welcome.proof, sizeof(back.proof));
    CHECK_EQUAL(call_proof_judge(&back, &hello, &welcome, secret), ERR_DENIED);
}

/* Everything that was said is proved: changing any of it spoils both proofs. */
static void bound(void)
{
    for (size_t i = 0; i < sizeof(hello) * 8; i++) {
        struct call_hello changed;
        bool proved;
        greet();
        changed = hello;
        ((uint8_t *)&changed)[i / 8] ^= (uint8_t)(1u << i % 8);
        proved = changed.from != hello.from || changed.to != hello.to || changed.rail != hello.rail ||
                 changed.epoch != hello.epoch || memcmp(changed.nonce, hello.nonce, CALL_NONCE) != 0;
        if (proved) {
            CHECK_EQUAL(call_welcome_judge(&welcome, &changed, secret), ERR_DENIED);
            CHECK_EQUAL(call_proof_judge(&proof, &changed, &welcome, secret), ERR_DENIED);
        } else {
            CHECK(call_hello_judge(&changed, 8) != OK);
        }
    }
    for (size_t i = 0; i < DIGEST_SIZE * 8; i++) {
        greet();
        proof.proof[i / 8] ^= (uint8_t)(1u << i % 8);
        CHECK_EQUAL(call_proof_judge(&proof, &hello, &welcome, secret), ERR_DENIED);
        welcome.proof[i / 8] ^= (uint8_t)(1u << i % 8);
        CHECK_EQUAL(call_welcome_judge(&welcome, &hello, secret), ERR_DENIED);
    }
}

static void impossible(void)
{
    const struct {
        uint32_t from, to, rail, epoch;
    } bad[] = {{8, 5, 0, 1}, {5, 5, 0, 1}, {3, 5, 64, 1}, {3, 5, UINT32_MAX, 1}, {3, 5, 0, 0}, {UINT32_MAX, 5, 0, 1}};

    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        CHECK_EQUAL(call_hello_make(&hello, bad[i].from, bad[i].to, bad[i].rail, bad[i].epoch), OK);
        CHECK_EQUAL(call_hello_judge(&hello, 8), ERR_DENIED);
    }
    greet();
    hello.version++;
    CHECK_EQUAL(call_hello_judge(&hello, 8), ERR_MISMATCH);
    welcome.version++;
    CHECK_EQUAL(call_welcome_judge(&welcome, &hello, secret), ERR_MISMATCH);
    welcome.magic ^= 1;
    CHECK_EQUAL(call_welcome_judge(&welcome, &hello, secret), ERR_PROTOCOL);
}

static void random_bytes(void)
{
    for (int round = 0; round < 20000; round++) {
        CHECK_EQUAL(vbase_random(&hello, sizeof(hello)), OK);
        CHECK_EQUAL(vbase_random(&welcome, sizeof(welcome)), OK);
        CHECK_EQUAL(vbase_random(&proof, sizeof(proof)), OK);
        if (round % 2) {
            hello.magic = welcome.magic = CALL_MAGIC;
            hello.version = welcome.version = CALL_VERSION;
        }
        CHECK(call_hello_judge(&hello, 8) != OK);
        CHECK(call_welcome_judge(&welcome, &hello, secret) != OK);
        CHECK(call_proof_judge(&proof, &hello, &welcome, secret) != OK);
    }
}

int main(void)
{
    wrong_secret();
    replayed();
    reflected();
    bound();
    impossible();
    random_bytes();
    return check_done();
}
