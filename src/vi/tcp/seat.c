/* Seats: how a rank gets its connections from the listener of its node. See door.h. */
#include "vi/tcp/door.h"

int tcp_seat_pass(int seat, const struct tcp_hello *hello, int fd)
{
    if (vbase_packet_send(seat, hello, sizeof(*hello), fd, MSG_DONTWAIT))
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
    return vbase_packet_send(*near, note, sizeof(*note), -1, MSG_DONTWAIT)
               ? OK
               : vbase_fail_errno(ERR_SYSTEM, "a note to rank %d", rank);
}

int tcp_seat_note(int seat, struct tcp_note *note)
{
    if (recv(seat, note, sizeof(*note), MSG_DONTWAIT) != sizeof(*note) || note->magic != TCP_NOTE_MAGIC ||
        note->port == 0 || note->port > 65535)
        return vbase_fail(ERR_PROTOCOL, "what the node's door says makes no sense");
    return OK;
}

int tcp_seat_take(int seat, struct tcp_hello *hello, int *fd)
{
    int given;
    ssize_t got = vbase_packet_receive(seat, hello, sizeof(*hello), &given, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        return vbase_fail(ERR_LINK_DOWN, "the door of this node is gone");
    if (given < 0)
        return 0; /* nothing now; or no descriptor was left for it, then it is closed */
    if (got != sizeof(*hello)) {
        close(given);
        return 0;
    }
    *fd = given;
    return 1;
}
