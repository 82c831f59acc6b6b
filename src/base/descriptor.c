/* Small files, and messages with descriptors; see descriptor.h. */
#include "base/base.h"
#include <fcntl.h>
#include <sys/socket.h>

size_t vbase_file_read(char *text, size_t size, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof(path), format, arguments);
    va_end(arguments);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, size - 1) : -1;
    base_close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

const char *vbase_self(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    return path;
}

union control {
    struct cmsghdr head;
    char space[CMSG_SPACE(sizeof(int))];
};

bool vbase_packet_send(int fd, const void *data, size_t size, int descriptor, int flags)
{
    union control control = {
        .head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec piece = {(void *)(uintptr_t)data, size};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
        memcpy(CMSG_DATA(&control.head), &descriptor, sizeof(int));
    }
    return sendmsg(fd, &message, flags | MSG_NOSIGNAL) == (ssize_t)size;
}

ssize_t vbase_packet_receive(int fd, void *data, size_t size, int *descriptor, int flags)
{
    union control control = {.space = ""};
    struct iovec piece = {data, size};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = CMSG_LEN(sizeof(int))};
    ssize_t got = recvmsg(fd, &message, flags | MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    *descriptor = -1;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
        memcpy(descriptor, CMSG_DATA(head), sizeof(int));
    return got;
}
