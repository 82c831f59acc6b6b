/* Handing a descriptor round the node, where the launcher did not.
 *
 * The lowest rank listens on an abstract socket (no file, no name left behind) whose name only those can compute who
 * know the job's secret; the others dial until it is there. Kernel-vouched user on both sides, then
 *
 *      server  -> nonce_s                                       32 bytes
 *      client  -> rank, nonce_c, HMAC("client", both, rank)     68 bytes
 *      server  -> HMAC("server", both, rank) + the descriptor   32 bytes
 *
 * The secret itself never travels. A stranger costs at most STRANGER_MS, all of it at most DEADLINE_MS. */
#include "boot/inside.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#define DEADLINE_MS 30000
#define STRANGER_MS 2000

struct knock { /* the client's word */
    uint8_t nonce[32];
    uint8_t proof[DIGEST_SIZE];
    uint32_t rank;
};
_Static_assert(sizeof(struct knock) == 68, "the knock has no holes");

struct meeting { /* what the proofs are made over */
    char role[8];
    uint8_t server[32], client[32];
    uint32_t rank, round;
};
_Static_assert(sizeof(struct meeting) == 80, "hashed as bytes: no holes");

static uint64_t now_ms(void) { return vbase_clock_ns() / 1000000; }

static int time_left(uint64_t end_ms)
{
    uint64_t now = now_ms();
    return now >= end_ms ? 0 : (int)(end_ms - now);
}

static socklen_t rendezvous(const struct boot_own *own, struct sockaddr_un *address)
{
    char words[64];
    uint8_t digest[DIGEST_SIZE];
    int length = snprintf(words, sizeof words, "rendezvous %d %u", own->job.local_ranks[0], own->shared);
    vbase_hmac(own->job.secret, words, (size_t)length, digest);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    char *name = address->sun_path + 1; /* the first byte stays NUL: abstract */
    int used = snprintf(name, sizeof address->sun_path - 1, "viaduct-");
    for (int i = 0; i < 16; i++)
        used += snprintf(name + used, 3, "%02x", digest[i]);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)used);
}

static bool same_user(int fd)
{
    struct ucred who;
    socklen_t size = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid();
}

static void prove(const struct boot_own *own, const char *role, const struct meeting *with, uint8_t proof[DIGEST_SIZE])
{
    struct meeting words = *with;
    memset(words.role, 0, sizeof words.role);
    memcpy(words.role, role, strlen(role));
    vbase_hmac(own->job.secret, &words, sizeof words, proof);
}

/* All SIZE bytes or nothing, until END_MS. */
static bool read_all(int fd, void *data, size_t size, uint64_t end_ms)
{
    size_t have = 0;
    while (have < size) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        int left = time_left(end_ms);
        if (left == 0 || poll(&ready, 1, left) == 0)
            return false;
        ssize_t got = recv(fd, (char *)data + have, size - have, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
            return false;
        if (got > 0)
            have += (size_t)got;
    }
    return true;
}

static bool send_all(int fd, const void *data, size_t size)
{
    return send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size; /* a few dozen bytes always fit a new socket */
}

static bool send_descriptor(int fd, const uint8_t proof[DIGEST_SIZE], int descriptor)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec piece = {(void *)(uintptr_t)proof, DIGEST_SIZE};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
    return sendmsg(fd, &message, MSG_NOSIGNAL) == DIGEST_SIZE;
}

/* The proof and, with it, exactly one descriptor; -1 for anything else. */
static int receive_descriptor(int fd, uint8_t proof[DIGEST_SIZE], uint64_t end_ms)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(4 * sizeof(int))];
    } control = {0};
    struct iovec piece = {proof, DIGEST_SIZE};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, time_left(end_ms)) <= 0)
        return -1;
    ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    int descriptor = -1;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= head->cmsg_len; i++) {
            if (descriptor >= 0)
                close(descriptor);
            memcpy(&descriptor, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
        }
    }
    if (got != DIGEST_SIZE && descriptor >= 0) {
        close(descriptor);
        descriptor = -1;
    }
    return descriptor;
}

/* Which of the node's ranks knocks? Its local index; -1: nobody who can prove it. */
static int hear_knock(struct boot_own *own, int fd, struct meeting *with)
{
    struct knock knock;
    uint8_t expected[DIGEST_SIZE];
    if (!same_user(fd) || vbase_random(with->server, sizeof with->server) != OK ||
        !send_all(fd, with->server, sizeof with->server) || !read_all(fd, &knock, sizeof knock, now_ms() + STRANGER_MS))
        return -1;
    memcpy(with->client, knock.nonce, sizeof with->client);
    with->rank = knock.rank;
    with->round = own->shared;
    prove(own, "client", with, expected);
    if (!vbase_equal_secretly(expected, knock.proof, DIGEST_SIZE))
        return -1;
    for (int i = 1; i < own->job.local_count; i++)
        if ((uint32_t)own->job.local_ranks[i] == knock.rank)
            return i;
    return -1;
}

/* Our launcher's segment is there for all; only ranks of another build than its own come here. */
static const char *guess(const struct boot_own *own)
{
    return own->job.kind == BOOT_VIADUCT ? ": are all of one build of Viaduct?" : "";
}

/* One caller: 1 when it was a rank of ours and has its descriptor now. */
static int serve_one(struct boot_own *own, int fd, const int *descriptor)
{
    struct meeting with;
    uint8_t proof[DIGEST_SIZE];
    int who = hear_knock(own, fd, &with);
    if (who < 0) {
        COUNT(refused);
        return 0;
    }
    prove(own, "server", &with, proof);
    return send_descriptor(fd, proof, descriptor[who]);
}

static int serve(struct boot_own *own, const int *descriptor)
{
    struct sockaddr_un address;
    socklen_t length = rendezvous(own, &address);
    uint64_t end = now_ms() + DEADLINE_MS;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0)
        return vbase_fail_errno(ERR_SYSTEM, "a socket to pass the node's segment");
    int error = OK, served = 1;
    if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, own->job.local_count) < 0)
        error = vbase_fail_errno(ERR_SYSTEM, "an abstract socket to pass the node's segment");
    while (error == OK && served < own->job.local_count) {
        struct pollfd ready = {.fd = listener, .events = POLLIN};
        int left = time_left(end);
        if (left == 0 || poll(&ready, 1, left) == 0) {
            error = vbase_fail(ERR_TIMEOUT, "only %d of %d ranks of this node took the segment within %d s%s", served - 1,
                               own->job.local_count - 1, DEADLINE_MS / 1000, guess(own));
            break;
        }
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue; /* it hung up, or a signal came: the deadline holds */
        served += serve_one(own, fd, descriptor);
        close(fd);
    }
    close(listener);
    return error;
}

static int dial(const struct boot_own *own, uint64_t end, int *out)
{
    struct sockaddr_un address;
    socklen_t length = rendezvous(own, &address);
    for (long pause_us = 100;; pause_us = pause_us < 10000 ? 2 * pause_us : pause_us) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
            return vbase_fail_errno(ERR_SYSTEM, "a socket to take the node's segment");
        if (connect(fd, (struct sockaddr *)&address, length) == 0) {
            *out = fd;
            return OK;
        }
        close(fd);
        if (time_left(end) == 0)
            return vbase_fail(ERR_TIMEOUT, "rank %d of this node did not offer its segment within %d s%s",
                              own->job.local_ranks[0], DEADLINE_MS / 1000, guess(own));
        nanosleep(&(struct timespec){.tv_nsec = pause_us * 1000}, NULL);
    }
}

static int fetch(struct boot_own *own, int fd, uint64_t end, int *descriptor)
{
    struct meeting with = {.rank = (uint32_t)own->job.rank, .round = own->shared};
    struct knock knock = {.rank = with.rank};
    uint8_t proof[DIGEST_SIZE], expected[DIGEST_SIZE];
    if (!same_user(fd))
        return vbase_fail(ERR_DENIED, "another user answers in the name of rank %d", own->job.local_ranks[0]);
    if (vbase_random(with.client, sizeof with.client) != OK)
        return ERR_SYSTEM;
    if (!read_all(fd, with.server, sizeof with.server, end))
        return vbase_fail(ERR_TIMEOUT, "rank %d of this node says nothing", own->job.local_ranks[0]);
    memcpy(knock.nonce, with.client, sizeof knock.nonce);
    prove(own, "client", &with, knock.proof);
    int got = send_all(fd, &knock, sizeof knock) ? receive_descriptor(fd, proof, end) : -1;
    if (got < 0)
        return vbase_fail(ERR_DENIED, "rank %d of this node gave no descriptor", own->job.local_ranks[0]);
    prove(own, "server", &with, expected);
    if (!vbase_equal_secretly(expected, proof, DIGEST_SIZE)) {
        close(got);
        return vbase_fail(ERR_DENIED, "who answers for rank %d does not know the job's secret",
                          own->job.local_ranks[0]);
    }
    *descriptor = got;
    return OK;
}

int vboot_share_descriptor(struct boot_job *job, int *fd)
{
    struct boot_own *own = (struct boot_own *)(void *)job;
    int error = OK;
    if (job->local_count > 1 && job->local_index == 0)
        error = serve(own, fd);
    else if (job->local_count > 1) {
        uint64_t end = now_ms() + DEADLINE_MS;
        int connection = -1;
        error = dial(own, end, &connection);
        if (error == OK) {
            error = fetch(own, connection, end, fd);
            close(connection);
        }
    }
    own->shared++;
    return error;
}
