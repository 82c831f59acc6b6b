/* The functions of libc that lie behind our hooks, one member for each row of hooks.def: sock_real.read(...).
 *
 * Until sock_real_find has run, members are system calls without libc around them: nothing allocates and nothing is
 * looked up, since an allocator of the program may be reading files under its own lock while it starts. */
#ifndef SOCK_REAL_H
#define SOCK_REAL_H

#include "base/compiler.h"
#include <aio.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

struct sock_real {
#define HOOK(type, name, parameters, arguments) type(*name) parameters;
#include "sock/hooks.def"
};
extern struct sock_real sock_real;

void sock_real_find(void); /* once, by the constructor */

/* A system call without libc: -errno on failure. */
long sock_raw(long number, long a, long b, long c, long d, long e, long f);

#endif
