/* Handing a descriptor round the node, where the launcher did not.
 *
 * The lowest rank listens on an abstract socket (no file, no name left behind) whose name only those can compute who
 * know the job's secret; the others dial until it is there. Kernel-vouched user on both sides, then three packets:
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

/* False: nothing came until END_MS. */
static bool comes(int fd, uint64_t end_ms)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    for (uint64_t now; (now = now_ms()) < end_ms;)
        if (poll(&ready, 1, (int)(end_ms - now)) > 0)
            return true;
    return false;
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

/* A message of SIZE bytes until END_MS, and exactly one descriptor beside it; where DESCRIPTOR is NULL, none. */
static bool hear(int fd, void *data, size_t size, int *descriptor, uint64_t end_ms)
{
    int came = -1;
    bool good = comes(fd, end_ms) && vbase_packet_receive(fd, data, size, &came, MSG_DONTWAIT) == (ssize_t)size &&
                (came >= 0) == (descriptor != NULL);
    if (good && descriptor)
        *descriptor = came;
    else if (came >= 0)
        close(came);
    return good;
}

/* Our launcher's segment is there for all; only ranks of another build than its own come here. */
static const char *guess(const struct boot_own *own)
{
    return own->job.kind == BOOT_VIADUCT ? ": are all of one build of Viaduct?" : "";
}

/* One caller. True: it was a rank of ours and has its descriptor now. */
static bool serve_one(const struct boot_own *own, int fd, const int *descriptor)
{
    struct meeting with = {.round = own->shared};
    struct knock knock;
    uint8_t proof[DIGEST_SIZE];
    int who = own->job.local_count - 1;
    if (!same_user(fd) || vbase_random(with.server, sizeof with.server) != OK ||
        !vbase_packet_send(fd, with.server, sizeof with.server, -1, MSG_DONTWAIT) ||
        !hear(fd, &knock, sizeof knock, NULL, now_ms() + STRANGER_MS))
        return false;
    memcpy(with.client, knock.nonce, sizeof with.client);
    with.rank = knock.rank;
    prove(own, "client", &with, proof);
    if (!vbase_equal_secretly(proof, knock.proof, DIGEST_SIZE))
        return false;
    while (who > 0 && (uint32_t)own->job.local_ranks[who] != knock.rank)
        who--;
    prove(own, "server", &with, proof);
    return who > 0 && vbase_packet_send(fd, proof, sizeof proof, descriptor[who], MSG_DONTWAIT);
}

static int serve(struct boot_own *own, const int *descriptor)
{
    struct sockaddr_un address;
    socklen_t length = rendezvous(own, &address);
    uint64_t end = now_ms() + DEADLINE_MS;
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener < 0)
        return vbase_fail_errno(ERR_SYSTEM, "a socket to pass the node's segment");
    int error = OK, served = 1;
    if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, own->job.local_count) < 0)
        error = vbase_fail_errno(ERR_SYSTEM, "an abstract socket to pass the node's segment");
    while (error == OK && served < own->job.local_count) {
        if (!comes(listener, end)) {
            error = vbase_fail(ERR_TIMEOUT, "only %d of %d ranks of this node took the segment within %d s%s", served - 1,
                               own->job.local_count - 1, DEADLINE_MS / 1000, guess(own));
            break;
        }
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue; /* it hung up, or a signal came: the deadline holds */
        if (serve_one(own, fd, descriptor))
            served++;
        else
            COUNT(refused);
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
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (fd < 0)
            return vbase_fail_errno(ERR_SYSTEM, "a socket to take the node's segment");
        if (connect(fd, (struct sockaddr *)&address, length) == 0) {
            *out = fd;
            return OK;
        }
        close(fd);
        if (now_ms() >= end)
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
    int got;
    if (!same_user(fd))
        return vbase_fail(ERR_DENIED, "another user answers in the name of rank %d", own->job.local_ranks[0]);
    if (vbase_random(with.client, sizeof with.client) != OK)
        return ERR_SYSTEM;
    if (!hear(fd, with.server, sizeof with.server, NULL, end))
        return vbase_fail(ERR_TIMEOUT, "rank %d of this node says nothing", own->job.local_ranks[0]);
    memcpy(knock.nonce, with.client, sizeof knock.nonce);
    prove(own, "client", &with, knock.proof);
    if (!vbase_packet_send(fd, &knock, sizeof knock, -1, MSG_DONTWAIT) || !hear(fd, proof, sizeof proof, &got, end))
        return vbase_fail(ERR_DENIED, "rank %d of this node gave no descriptor", own->job.local_ranks[0]);
    prove(own, "server", &with, expected);
    if (!vbase_equal_secretly(expected, proof, DIGEST_SIZE)) {
        close(got);
        return vbase_fail(ERR_DENIED, "who answers for rank %d does not know the job's secret", own->job.local_ranks[0]);
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
