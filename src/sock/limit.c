/* The program reads or sets its limit of descriptors: not in a moment in which it is raised (table.h). */
#include "sock/hooks.h"
#include "sock/table.h"

/* The address sanitizer asks for limits before there is the memory in which it notes what may be read. */
#define EARLY __attribute__((no_sanitize("address")))

EARLY int sock_getrlimit(int what, struct rlimit *limit)
{
    if (what != RLIMIT_NOFILE)
        return sock_real.getrlimit(what, limit);
    sock_limit_lock();
    int result = sock_real.getrlimit(what, limit);
    sock_limit_unlock();
    return result;
}

EARLY int sock_setrlimit(int what, const struct rlimit *limit)
{
    if (what != RLIMIT_NOFILE)
        return sock_real.setrlimit(what, limit);
    sock_limit_lock();
    int result = sock_real.setrlimit(what, limit);
    sock_limit_unlock();
    return result;
}

EARLY int sock_prlimit(pid_t pid, int what, const struct rlimit *limit, struct rlimit *old)
{
    if (what != RLIMIT_NOFILE)
        return sock_real.prlimit(pid, what, limit, old);
    sock_limit_lock();
    int result = sock_real.prlimit(pid, what, limit, old);
    sock_limit_unlock();
    return result;
}
