/* A process that confines itself, or that hands its descriptors to io_uring, does not use shared memory any more: a
 * filter may kill it for a call that only we make, and io_uring reads past us. What is joined goes back to TCP before
 * that. */
#include "sock/sandbox.h"
#include "sock/hooks.h"
#include "sock/policy.h"
#include "sock/stream.h"

#include <errno.h>
#include <sys/prctl.h>

void sock_sandbox_enter(void)
{
    int saved = errno;
    sock_policy.on = false;
    for (int fd = 0; fd < sock_table_end(); fd++) {
        struct sock_file *file = sock_known(fd) ? sock_hold(fd) : NULL;
        if (!file)
            continue;
        if (sock_joined(file)) {
            sock_stream_back_out(file);
            (void)sock_stream_back_in(file); /* bytes that lie there are read by loads alone */
        }
        sock_drop(file);
    }
    errno = saved;
}

int sock_prctl(int what, long a, long b, long c, long d)
{
    if (what == PR_SET_SECCOMP)
        sock_sandbox_enter();
    return sock_real.prctl(what, a, b, c, d);
}
