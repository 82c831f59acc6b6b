/* Packets of a meeting; see packet.h. */
#include "sock/packet.h"
#include "sock/real.h"
#include "sock/segment.h"

#include <string.h>

union control {
    struct cmsghdr head;
    char space[CMSG_SPACE(GIFTS * sizeof(int))];
};

bool sock_packet_send(int fd, struct sock_packet *packet, const int gifts[GIFTS])
{
    int descriptors[GIFTS], count = 0;
    packet->version = SEGMENT_VERSION;
    for (int i = 0; i < GIFTS; i++)
        if (gifts[i] >= 0) {
            packet->gifts |= 1u << i;
            descriptors[count++] = gifts[i];
        }
    size_t size = (size_t)count * sizeof(int);
    union control control = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(size)}};
    struct iovec piece = {packet, sizeof(*packet)};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (count) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(size);
        memcpy(CMSG_DATA(&control.head), descriptors, size);
    }
    return sock_real.sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*packet);
}

void sock_gifts_close(const int gifts[GIFTS])
{
    for (int i = 0; i < GIFTS; i++)
        if (gifts[i] >= 0)
            sock_real.close(gifts[i]);
}

bool sock_packet_receive(int fd, struct sock_packet *packet, int gifts[GIFTS])
{
    union control control;
    int descriptors[sizeof(control) / sizeof(int)], count = 0, used = 0; /* there is room for more than GIFTS */
    struct iovec piece = {packet, sizeof(*packet)};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    ssize_t n = sock_real.recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = n >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        count = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors, CMSG_DATA(head), (size_t)count * sizeof(int));
    }
    bool fits = n == sizeof(*packet) && packet->version == SEGMENT_VERSION;
    for (int i = 0; i < GIFTS; i++)
        gifts[i] = fits && packet->gifts & 1u << i && used < count ? descriptors[used++] : -1;
    for (; used < count; used++)
        sock_real.close(descriptors[used]);
    return fits;
}
