/* What happens at a step of the tests' build of the preload (src/sock/step.h): the environment names the step, the
 * number of times that it is passed before, and what is done there:
 *   SOCK_STEP="published 3 kill"     kill, stop, descriptors (none is left), memory (none is left), wait (for a byte
 *                                    on descriptor 98)
 * The process says on descriptor 99 that it was done. */
#include "sock/step.h"
#include "sock/real.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void limit_set(int what, rlim_t value)
{
    struct rlimit limit;
    if (getrlimit(what, &limit) != 0)
        abort();
    limit.rlim_cur = value;
    setrlimit(what, &limit);
}

static rlim_t descriptors_used(void)
{
    long next = sock_raw(SYS_dup, 0, 0, 0, 0, 0, 0);
    sock_raw(SYS_close, next, 0, 0, 0, 0, 0);
    return next > 0 ? (rlim_t)next : 0;
}

void sock_step(const char *name)
{
    static int passed;
    const char *said = getenv("SOCK_STEP");
    char step[32], action[32];
    int before;
    char byte;
    if (!said || sscanf(said, "%31s %d %31s", step, &before, action) != 3 || strcmp(step, name) != 0 ||
        passed++ != before)
        return;
    sock_raw(SYS_write, 99, (long)"!", 1, 0, 0, 0);
    if (strcmp(action, "kill") == 0)
        sock_raw(SYS_kill, getpid(), SIGKILL, 0, 0, 0, 0);
    else if (strcmp(action, "stop") == 0)
        sock_raw(SYS_kill, getpid(), SIGSTOP, 0, 0, 0, 0);
    else if (strcmp(action, "wait") == 0)
        sock_raw(SYS_read, 98, (long)&byte, 1, 0, 0, 0);
    else if (strcmp(action, "memory") == 0)
        limit_set(RLIMIT_AS, 0);
    else
        limit_set(RLIMIT_NOFILE, descriptors_used());
}
