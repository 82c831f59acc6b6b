/* The calls that move data. */
#include "sock/hooks.h"
#include "sock/link.h"
#include "sock/table.h"

static ssize_t moved(int fd, ssize_t size)
{
    struct sock_file *file = size > 0 ? sock_hold(fd) : NULL;
    if (!file)
        return size;
    atomic_fetch_add_explicit(&file->link->calls, 1, memory_order_relaxed); /* alone: nothing is published with them */
    atomic_fetch_add_explicit(&file->link->bytes, (uint64_t)size, memory_order_relaxed);
    sock_drop(file);
    return size;
}

ssize_t sock_read(int fd, void *data, size_t size) { return moved(fd, sock_real.read(fd, data, size)); }
ssize_t sock_readv(int fd, const struct iovec *pieces, int count)
{
    return moved(fd, sock_real.readv(fd, pieces, count));
}
ssize_t sock_recv(int fd, void *data, size_t size, int flags) { return moved(fd, sock_real.recv(fd, data, size, flags)); }
ssize_t sock_recvfrom(int fd, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    return moved(fd, sock_real.recvfrom(fd, data, size, flags, from, length));
}
ssize_t sock_recvmsg(int fd, struct msghdr *message, int flags)
{
    return moved(fd, sock_real.recvmsg(fd, message, flags));
}
ssize_t sock_write(int fd, const void *data, size_t size) { return moved(fd, sock_real.write(fd, data, size)); }
ssize_t sock_writev(int fd, const struct iovec *pieces, int count)
{
    return moved(fd, sock_real.writev(fd, pieces, count));
}
ssize_t sock_send(int fd, const void *data, size_t size, int flags)
{
    return moved(fd, sock_real.send(fd, data, size, flags));
}
ssize_t sock_sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length)
{
    return moved(fd, sock_real.sendto(fd, data, size, flags, to, length));
}
ssize_t sock_sendmsg(int fd, const struct msghdr *message, int flags)
{
    return moved(fd, sock_real.sendmsg(fd, message, flags));
}
ssize_t sock_sendfile(int fd, int from, off_t *at, size_t size)
{
    return moved(fd, sock_real.sendfile(fd, from, at, size));
}
