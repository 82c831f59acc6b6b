/* Seats: how a rank gets its calls from the door of its node. See door.h. */
#include "vi/tcp/door.h"

union control {
    struct cmsghdr head;
    char space[CMSG_SPACE(sizeof(int))];
};

int tcp_seat_pass(int seat, const struct tcp_hello *hello, int fd)
{
    union control control = {0};
    struct iovec piece = {(void *)(uintptr_t)hello, sizeof(*hello)};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &fd, sizeof(int));
    if (sendmsg(seat, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return OK;
    return errno == EPIPE || errno == ECONNRESET ? ERR_PEER_DEAD : ERR_AGAIN;
}

int tcp_seat_make(const struct tcp_note *note, int rank, int *near, int *far)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return vbase_fail_errno(ERR_LIMIT, "a pair of sockets between the door and rank %d", rank);
    *near = ends[0];
    *far = ends[1];
    if (send(*near, note, sizeof(*note), MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(*note))
        return vbase_fail_errno(ERR_SYSTEM, "a note to rank %d", rank);
    return OK;
}

int tcp_seat_note(int seat, struct tcp_note *note)
{
    if (recv(seat, note, sizeof(*note), MSG_DONTWAIT) != sizeof(*note) || note->magic != TCP_NOTE_MAGIC || note->port == 0 ||
        note->port > 65535)
        return vbase_fail(ERR_PROTOCOL, "what the node's door says makes no sense");
    return OK;
}

int tcp_seat_take(int seat, struct tcp_hello *hello, int *fd)
{
    union control control = {0};
    struct iovec piece = {hello, sizeof(*hello)};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    ssize_t got = recvmsg(seat, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        return vbase_fail(ERR_LINK_DOWN, "the door of this node is gone");
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
        return 0; /* nothing now; or no descriptor was left for it, then it is closed */
    memcpy(fd, CMSG_DATA(head), sizeof(int));
    if (got == sizeof(*hello))
        return 1;
    close(*fd);
    return 0;
}
