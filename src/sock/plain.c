/* What base calls instead of our hooks: see plain.h. */
#include "sock/real.h"
#include "sock/table.h"

#include <fcntl.h>

#define PLAIN(type, name, parameters, arguments)                                                                       \
    type sock_plain_##name parameters;                                                                                 \
    type sock_plain_##name parameters { return sock_real.name arguments; }
PLAIN(ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))
PLAIN(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
PLAIN(int, fcntl, (int fd, int command, long argument), (fd, command, argument))
PLAIN(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
PLAIN(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
PLAIN(long, syscall, (long number, long a, long b, long c, long d, long e, long f), (number, a, b, c, d, e, f))

int sock_plain_open(const char *path, int flags, int mode);
int sock_plain_open(const char *path, int flags, int mode) { return sock_own_keep(open(path, flags, mode)); }

int sock_plain_close(int fd);
int sock_plain_close(int fd)
{
    sock_own_close(fd);
    return 0;
}
