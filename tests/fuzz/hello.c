/* The greeting of a connection: hello, welcome and proof of a process that does not know the secret, in pieces. */
#include "fuzz.h"
#include "base/error.h"
#include "check.h"
#include "vi/call/hello.h"
#include <sys/socket.h>
#include <unistd.h>

static const uint8_t secret[SECRET_SIZE] = "this is the secret of this job..";

int FUZZ(const uint8_t *data, size_t size)
{
    struct call_hello hello, ours;
    struct call_welcome welcome, answer;
    struct call_proof proof;
    uint32_t heard = 0;
    int pair[2];
    if (size > 4000 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0)
        return 0;
    if (write(pair[1], data, size) != (ssize_t)size)
        abort();
    close(pair[1]);
    if (call_greeting_hear(pair[0], &hello, sizeof hello, &heard) == OK) {
        if (call_hello_judge(&hello, 8) == OK && call_welcome_make(&answer, &hello, secret) == OK &&
            call_greeting_hear(pair[0], &proof, sizeof proof, &heard) == OK &&
            call_proof_judge(&proof, &hello, &answer, secret) == OK)
            abort(); /* nobody proves what it does not know */
        if (call_hello_make(&ours, 3, 5, 0, 7) == OK && size >= sizeof hello + sizeof welcome) {
            memcpy(&welcome, data + sizeof hello, sizeof welcome);
            if (call_welcome_judge(&welcome, &ours, secret) == OK)
                abort();
        }
    }
    close(pair[0]);
    return 0;
}
