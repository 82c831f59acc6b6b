/* The meeting of two ends; see meet.h.
 *
 *   side that connected                          side that accepted
 *   asks the kernel for the other end            asks the kernel for the other end
 *   listens at a name made of the addresses
 *                       <----- connects -------
 *   compares the user                            compares the user
 *                       <--- segment, board, eventfd ---
 *   maps, checks, joins ---- board, eventfd ---->
 *                       (a word in the segment)  joins
 *
 * Each step is tried after a data call of the program, at gaps that grow. One thread at a time is in a meeting. */
#include "sock/meet.h"
#include "base/clock.h"
#include "base/log.h"
#include "sock/epoll.h"
#include "sock/find.h"
#include "sock/link.h"
#include "sock/place.h"
#include "sock/policy.h"
#include "sock/real.h"
#include "sock/sandbox.h"
#include "sock/stream.h"
#include "sock/tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define MOST_CALLS     1024 /* of the program, from the first step on: then it is given up */
#define MOST_LISTENERS 64   /* at a time */
#define MOST_BYTES     65536

enum step { STEP_FIRST, STEP_LISTEN, STEP_CALL, STEP_ANSWER };

enum packet_kind { PACKET_SEGMENT, PACKET_BOARD, PACKET_EVENT };
struct packet {
    uint32_t version, kind;
    uint64_t value; /* PACKET_BOARD: its number; PACKET_EVENT: the place */
};

static _Atomic uint32_t listeners;

/* The connection stays TCP for good, and costs nothing any more. Its descriptors are found by going through the
 * table. */
static void give_up(struct sock_file *file, const char *why)
{
    LOG_DEBUG("connection %u stays TCP: %s", (unsigned)(file - sock_files), why);
    sock_meet_end(file);
    for (int fd = 0; fd < sock_table_end(); fd++)
        (void)sock_table_remove(fd, file);
}

static void try_later(struct sock_file *file)
{
    uint32_t calls = atomic_load(&file->link->calls);
    atomic_store(&file->next_step, calls + 1 + (calls - file->first_step) / 2);
}

static socklen_t name_make(struct sockaddr_un *name, const struct sock_ends *ends)
{
    memset(name, 0, sizeof(*name));
    name->sun_family = AF_UNIX;
    int n = sprintf(name->sun_path + 1, "viaduct/sock/%u/", SEGMENT_VERSION);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 16; i++)
            n += sprintf(name->sun_path + 1 + n, "%02x", ends->address[side][i]);
        n += sprintf(name->sun_path + 1 + n, "%04x", ends->port[side]);
    }
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* The process at the other end of FD may be who the kernel named. SAME: it has our user, so it may write to our
 * board. */
static bool user_fits(int fd, const struct sock_owner *owner, bool *same)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);
    if (sock_real.getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return false;
    *same = peer.uid == geteuid();
    if (*same || peer.uid == 0 || peer.uid == owner->user || sock_policy_user(peer.uid))
        return true;
    LOG_WARN("user %u answers for a connection of user %u: it stays TCP", (unsigned)peer.uid, (unsigned)owner->user);
    return false;
}

static bool packet_send(int fd, enum packet_kind kind, uint64_t value, int descriptor)
{
    struct packet packet = {.version = SEGMENT_VERSION, .kind = kind, .value = value};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec piece = {&packet, sizeof(packet)};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    memcpy(CMSG_DATA(&control.head), &descriptor, sizeof(int));
    return sock_real.sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(packet);
}

/* The descriptor that came; -1: no such packet. */
static int packet_receive(int fd, enum packet_kind kind, uint64_t *value)
{
    struct packet packet;
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec piece = {&packet, sizeof(packet)};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_LEN(sizeof(int))};
    ssize_t n = sock_real.recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    int descriptor = -1;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
        memcpy(&descriptor, CMSG_DATA(head), sizeof(int));
    if (descriptor >= 0 && n == sizeof(packet) && packet.version == SEGMENT_VERSION && packet.kind == (uint32_t)kind) {
        *value = packet.value;
        return descriptor;
    }
    if (descriptor >= 0)
        sock_real.close(descriptor);
    return -1;
}

/* Where this process will wait for the connection, as far as it is known now: the place that was sent, -1: none. */
static int board_send(struct sock_file *file, int fd)
{
    uint64_t id;
    int board;
    if (!sock_board_open(&id, &board))
        return -1;
    int place = atomic_load(&file->link->set) ? sock_set_place_of(file) : sock_place_thread();
    bool sent = packet_send(fd, PACKET_BOARD, id, board) && place >= 0 &&
                packet_send(fd, PACKET_EVENT, (uint64_t)place, sock_place_event(place));
    return sent ? place : -1;
}

static void board_receive(struct sock_file *file, int fd)
{
    uint64_t id, place;
    int board = packet_receive(fd, PACKET_BOARD, &id);
    if (board < 0)
        return;
    file->peer = sock_peer_take(id, board);
    sock_real.close(board);
    int event = packet_receive(fd, PACKET_EVENT, &place);
    if (event >= 0 && file->peer && place < SOCK_PLACES)
        sock_peer_event(file->peer, (int)place, event);
    else if (event >= 0)
        sock_real.close(event);
}

static uint64_t limit_read(int fd, int name)
{
    struct timeval time = {0, 0};
    socklen_t length = sizeof(time);
    (void)sock_real.getsockopt(fd, SOL_SOCKET, name, &time, &length);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

static void join(struct sock_file *file, int fd)
{
    struct sock_link *link = file->link;
    uint32_t number = (uint32_t)(file - sock_files);
    atomic_store(&link->nonblocking, sock_real.fcntl(fd, F_GETFL, 0) & O_NONBLOCK);
    link->receive_limit = limit_read(fd, SO_RCVTIMEO);
    link->send_limit = limit_read(fd, SO_SNDTIMEO);
    atomic_store(&file->mapping.words->bit[sock_out(file)], number);
    sock_lock(&link->receive);
    atomic_store(&link->stage, STAGE_JOINED); /* seq_cst: pairs with sock_plain_begin */
    sock_stream_be_ready(file, fd);
    sock_unlock(&link->receive);
    sock_set_joined(file);
    LOG_DEBUG("connection %u is joined", (unsigned)number);
}

static void first_step(struct sock_file *file, int fd)
{
    struct sock_link *link = file->link;
    struct sockaddr_un name;
    file->first_step = atomic_load(&link->calls);
    if (!sock_policy.on || sock_sandbox_there()) {
        give_up(file, "a sandbox");
        return;
    }
    if (link->never || !sock_ends_read(fd, link->active, &file->ends) ||
        !sock_policy_port(file->ends.port[0], file->ends.port[1]) || sock_tcp_special(fd)) {
        give_up(file, "its kind or ports");
        return;
    }
    if (!sock_link_alone(link)) {
        file->first_step = 0;
        try_later(file);
        return;
    }
    if (!sock_find_peer(&file->ends, link->active, &file->owner)) {
        give_up(file, "the other end is not here");
        return;
    }
    file->step = STEP_CALL;
    if (!link->active)
        return;
    if (atomic_fetch_add(&listeners, 1) >= MOST_LISTENERS) {
        atomic_fetch_sub(&listeners, 1);
        file->step = STEP_FIRST;
        try_later(file);
        return;
    }
    file->step = STEP_LISTEN;
    file->channel = sock_own_keep(sock_real.socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    socklen_t length = name_make(&name, &file->ends);
    if (file->channel < 0 || bind(file->channel, (struct sockaddr *)&name, length) != 0 ||
        listen(file->channel, 4) != 0)
        give_up(file, "its name is taken");
}

/* The side that connected: has the other one called? */
static void listen_step(struct sock_file *file, int fd)
{
    uint64_t none, cookie[2] = {sock_tcp_cookie(fd), file->owner.cookie};
    bool same = false;
    int call = sock_real.accept4(file->channel, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (call < 0) {
        try_later(file);
        return;
    }
    int segment = user_fits(call, &file->owner, &same) ? packet_receive(call, PACKET_SEGMENT, &none) : -1;
    bool taken = segment >= 0 && sock_link_alone(file->link) &&
                 sock_segment_take(segment, (uint32_t)(file - sock_files), cookie, &file->mapping);
    if (segment >= 0)
        sock_real.close(segment);
    if (taken) {
        if (same) {
            board_receive(file, call);
            int place = board_send(file, call);
            if (file->peer && place >= 0)
                sock_peer_told(file->peer, place);
        }
        sock_meet_end(file);
        join(file, fd);
        atomic_store(&file->mapping.words->joined, 1);
    } else {
        try_later(file);
    }
    sock_real.close(call);
}

/* The side that accepted: is the other one listening? */
static void call_step(struct sock_file *file, int fd)
{
    struct sockaddr_un name;
    socklen_t length = name_make(&name, &file->ends);
    uint64_t cookie[2] = {file->owner.cookie, sock_tcp_cookie(fd)};
    bool same = false;
    int call = sock_real.socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (call < 0 || sock_real.connect(call, (struct sockaddr *)&name, length) != 0) {
        if (call >= 0)
            sock_real.close(call);
        try_later(file);
        return;
    }
    int segment = -1;
    if (user_fits(call, &file->owner, &same) && sock_link_alone(file->link))
        segment = sock_segment_make((uint32_t)(file - sock_files), cookie, &file->mapping);
    if (segment >= 0 && packet_send(call, PACKET_SEGMENT, 0, segment)) {
        file->told_place = same ? board_send(file, call) : -1;
        file->channel = sock_own_keep(call);
        file->step = STEP_ANSWER;
        call = -1;
    }
    if (segment >= 0)
        sock_real.close(segment);
    if (call >= 0) {
        sock_real.close(call);
        give_up(file, "no segment could be made");
    }
}

static void answer_step(struct sock_file *file, int fd)
{
    if (!atomic_load(&file->mapping.words->joined)) {
        try_later(file);
        return;
    }
    if (!sock_link_alone(file->link)) {
        try_later(file); /* the other side is ready, and waits without end */
        return;
    }
    if (file->channel >= 0)
        board_receive(file, file->channel);
    if (file->peer && file->told_place >= 0)
        sock_peer_told(file->peer, file->told_place);
    sock_meet_end(file);
    join(file, fd);
}

void sock_meet_end(struct sock_file *file)
{
    if (file->step == STEP_LISTEN)
        atomic_fetch_sub(&listeners, 1);
    if (file->channel > 0)
        sock_own_close(file->channel);
    file->channel = 0;
    file->step = STEP_FIRST;
}

void sock_meet(struct sock_file *file, int fd)
{
    struct sock_link *link = file->link;
    uint32_t calls = atomic_load_explicit(&link->calls, memory_order_relaxed);
    uint32_t next = atomic_load_explicit(&file->next_step, memory_order_relaxed);
    if (next == 0)
        next = atomic_load_explicit(&link->bytes, memory_order_relaxed) >= MOST_BYTES ? 0 : sock_policy.after;
    if (likely(calls < next) || atomic_exchange(&file->meeting, true))
        return;
    int saved = errno;
    if (atomic_load(&link->stage) == STAGE_PLAIN) {
        if (file->step != STEP_FIRST && file->step != STEP_ANSWER && calls - file->first_step > MOST_CALLS)
            give_up(file, "the other end does not answer");
        else if (file->step == STEP_FIRST)
            first_step(file, fd);
        if (file->step == STEP_LISTEN)
            listen_step(file, fd);
        else if (file->step == STEP_CALL)
            call_step(file, fd);
        else if (file->step == STEP_ANSWER)
            answer_step(file, fd);
    }
    atomic_store(&file->meeting, false);
    errno = saved;
}
