/* The messages of the greeting, which authenticates both sides. Called by the listener, by the greeting of link.c, and
 * by tests; owns nothing.
 *
 * Each side proves that it knows the job's secret for these very nonces, ranks, rail, epoch and role. Both proofs
 * contain both nonces, so a recorded greeting proves nothing; they contain the role, so a proof sent back to its maker
 * proves nothing. The called side proves itself first: what it says to an unauthenticated connection is a value that is
 * of no use anywhere else. */
#include "vi/call/hello.h"
#include "vi/call/cards.h"
#include <sys/socket.h>

struct transcript {
    uint64_t magic;
    uint32_t version, role, from, to, rail, epoch;
    uint8_t caller_nonce[CALL_NONCE], called_nonce[CALL_NONCE];
};
_Static_assert(sizeof(struct transcript) == 96, "no padding in what is proved");

enum role { CALLER = 1, CALLED = 2 };

static void proof_make(uint8_t out[DIGEST_SIZE], enum role role, const struct call_hello *hello,
                       const uint8_t called_nonce[CALL_NONCE], const uint8_t secret[SECRET_SIZE])
{
    struct transcript all = {.magic = CALL_MAGIC, .version = CALL_VERSION, .role = role, .from = hello->from,
                             .to = hello->to, .rail = hello->rail, .epoch = hello->epoch};
    memcpy(all.caller_nonce, hello->nonce, CALL_NONCE);
    memcpy(all.called_nonce, called_nonce, CALL_NONCE);
    vbase_hmac(secret, &all, sizeof(all), out);
}

int call_hello_make(struct call_hello *hello, uint32_t from, uint32_t to, uint32_t rail, uint32_t epoch)
{
    *hello = (struct call_hello){.magic = CALL_MAGIC, .version = CALL_VERSION, .from = from, .to = to, .rail = rail,
                                 .epoch = epoch};
    return vbase_random(hello->nonce, sizeof(hello->nonce));
}

int call_hello_judge(const struct call_hello *hello, uint32_t ranks)
{
    if (hello->magic != CALL_MAGIC)
        return vbase_fail(ERR_PROTOCOL, "not a Viaduct peer");
    if (hello->version != CALL_VERSION)
        return vbase_fail(ERR_MISMATCH,
                          "it speaks version %u of the wire protocol, this process version %u: use the same Viaduct",
                          hello->version, CALL_VERSION);
    if (hello->from >= ranks || hello->from == hello->to || hello->epoch == 0 || hello->zero != 0)
        return vbase_fail(ERR_DENIED, "rank %u, epoch %u cannot be", hello->from, hello->epoch);
    if (hello->rail >= CALL_RAILS)
        return vbase_fail(ERR_DENIED, "its handshake names rail %u, which does not exist", hello->rail);
    return OK;
}

int call_welcome_make(struct call_welcome *welcome, const struct call_hello *hello, const uint8_t secret[SECRET_SIZE])
{
    *welcome = (struct call_welcome){.magic = CALL_MAGIC, .version = CALL_VERSION};
    int error = vbase_random(welcome->nonce, sizeof(welcome->nonce));
    if (!error)
        proof_make(welcome->proof, CALLED, hello, welcome->nonce, secret);
    return error;
}

int call_welcome_judge(const struct call_welcome *welcome, const struct call_hello *hello,
                       const uint8_t secret[SECRET_SIZE])
{
    uint8_t right[DIGEST_SIZE];
    if (welcome->magic != CALL_MAGIC)
        return vbase_fail(ERR_PROTOCOL, "the process that answers there does not use Viaduct");
    if (welcome->version != CALL_VERSION)
        return vbase_fail(ERR_MISMATCH,
                          "it speaks version %u of the wire protocol, this process version %u: use the same Viaduct",
                          welcome->version, CALL_VERSION);
    proof_make(right, CALLED, hello, welcome->nonce, secret);
    if (!vbase_equal_secretly(right, welcome->proof, DIGEST_SIZE))
        return vbase_fail(ERR_DENIED, "the process that answers there does not belong to this job");
    return OK;
}

void call_proof_make(struct call_proof *proof, const struct call_hello *hello, const struct call_welcome *welcome,
                     const uint8_t secret[SECRET_SIZE])
{
    proof_make(proof->proof, CALLER, hello, welcome->nonce, secret);
}

int call_proof_judge(const struct call_proof *proof, const struct call_hello *hello, const struct call_welcome *welcome,
                     const uint8_t secret[SECRET_SIZE])
{
    uint8_t right[DIGEST_SIZE];
    proof_make(right, CALLER, hello, welcome->nonce, secret);
    if (!vbase_equal_secretly(right, proof->proof, DIGEST_SIZE))
        return vbase_fail(ERR_DENIED, "it does not know the job's secret");
    return OK;
}

bool call_greeting_say(int fd, const void *message, size_t length)
{
    return send(fd, message, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length;
}

int call_greeting_hear(int fd, void *message, size_t length, uint32_t *heard)
{
    ssize_t got = recv(fd, (uint8_t *)message + *heard, length - *heard, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? ERR_AGAIN : vbase_fail_errno(ERR_LINK_DOWN, "its greeting");
    if (got == 0)
        return vbase_fail(ERR_LINK_DOWN, "it closed the connection before it was authenticated");
    *heard += (uint32_t)got;
    if (*heard < length)
        return ERR_AGAIN;
    *heard = 0;
    return OK;
}
