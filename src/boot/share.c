/* Handing a descriptor round the node, where the launcher did not.
 *
 * The lowest rank listens on an abstract socket (no file, no name left behind) whose name can only be computed from the
 * job's secret; the others try to connect until it is there. Both sides check the other's user (SO_PEERCRED), then
 * three packets:
 *
 *      server  -> nonce_s                                       32 bytes
 *      client  -> rank, nonce_c, HMAC("client", both, rank)     68 bytes
 *      server  -> HMAC("server", both, rank) + the descriptor   32 bytes
 *
 * The secret itself is never sent. An unauthenticated connection may take CLIENT_MS, everything together
 * DEADLINE_MS. */
#include "boot/inside.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#define DEADLINE_MS 30000
#define CLIENT_MS 2000

struct client_proof { /* the second packet */
    uint8_t nonce[32];
    uint8_t proof[DIGEST_SIZE];
    uint32_t rank;
};
_Static_assert(sizeof(struct client_proof) == 68, "the packet has no holes");

struct meeting { /* what the proofs are computed from */
    char role[8];
    uint8_t server[32], client[32];
    uint32_t rank, round;
};
_Static_assert(sizeof(struct meeting) == 80, "hashed as bytes: no holes");

static uint64_t now_ms(void) { return vbase_clock_ns() / 1000000; }

/* False: nothing came until END_MS. */
static bool packet_comes(int fd, uint64_t end_ms)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    for (uint64_t now; (now = now_ms()) < end_ms;)
        if (poll(&ready, 1, (int)(end_ms - now)) > 0)
            return true;
    return false;
}

static socklen_t address_make(const struct boot_own *own, struct sockaddr_un *address)
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

static bool peer_is_same_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

static void proof_make(const struct boot_own *own, const char *role, const struct meeting *with,
                       uint8_t proof[DIGEST_SIZE])
{
    struct meeting words = *with;
    memset(words.role, 0, sizeof words.role);
    memcpy(words.role, role, strlen(role));
    vbase_hmac(own->job.secret, &words, sizeof words, proof);
}

/* A message of SIZE bytes until END_MS, and exactly one descriptor beside it; where DESCRIPTOR is NULL, none. */
static bool packet_hear(int fd, void *data, size_t size, int *descriptor, uint64_t end_ms)
{
    int came = -1;
    bool good = packet_comes(fd, end_ms) &&
                vbase_packet_receive(fd, data, size, &came, MSG_DONTWAIT) == (ssize_t)size &&
                (came >= 0) == (descriptor != NULL);
    if (good && descriptor)
        *descriptor = came;
    else base_close(came);
    return good;
}

/* Under our launcher all ranks inherit the segment; only ranks of another build than the launcher's come here. */
static const char *mismatch_hint(const struct boot_own *own)
{
    return own->job.kind == BOOT_VIADUCT ? ": are all of one build of Viaduct?" : "";
}

/* One connection. True: it was a rank of this node and has its descriptor now. */
static bool client_serve(const struct boot_own *own, int fd, const int *descriptor)
{
    struct meeting with = {.round = own->shared};
    struct client_proof client;
    uint8_t proof[DIGEST_SIZE];
    int index = own->job.local_count - 1;
    if (!peer_is_same_user(fd) || vbase_random(with.server, sizeof with.server) != OK ||
        !vbase_packet_send(fd, with.server, sizeof with.server, -1, MSG_DONTWAIT) ||
        !packet_hear(fd, &client, sizeof client, NULL, now_ms() + CLIENT_MS))
        return false;
    memcpy(with.client, client.nonce, sizeof with.client);
    with.rank = client.rank;
    proof_make(own, "client", &with, proof);
    if (!vbase_equal_secretly(proof, client.proof, DIGEST_SIZE))
        return false;
    while (index > 0 && (uint32_t)own->job.local_ranks[index] != client.rank)
        index--;
    proof_make(own, "server", &with, proof);
    return index > 0 && vbase_packet_send(fd, proof, sizeof proof, descriptor[index], MSG_DONTWAIT);
}

static int descriptors_serve(struct boot_own *own, const int *descriptor)
{
    struct sockaddr_un address;
    socklen_t length = address_make(own, &address);
    uint64_t end = now_ms() + DEADLINE_MS;
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener < 0)
        return vbase_fail_errno(ERR_SYSTEM, "a socket to pass the node's segment");
    int error = OK, served = 1;
    if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, own->job.local_count) < 0)
        error = vbase_fail_errno(ERR_SYSTEM, "an abstract socket to pass the node's segment");
    while (error == OK && served < own->job.local_count) {
        if (!packet_comes(listener, end)) {
            error = vbase_fail(ERR_TIMEOUT, "only %d of %d ranks of this node took the segment within %d s%s",
                               served - 1, own->job.local_count - 1, DEADLINE_MS / 1000, mismatch_hint(own));
            break;
        }
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue; /* it hung up, or a signal came: the deadline holds */
        if (client_serve(own, fd, descriptor))
            served++;
        else
            COUNT(refused);
        close(fd);
    }
    close(listener);
    return error;
}

static int server_connect(const struct boot_own *own, uint64_t end, int *out)
{
    struct sockaddr_un address;
    socklen_t length = address_make(own, &address);
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
                              own->job.local_ranks[0], DEADLINE_MS / 1000, mismatch_hint(own));
        nanosleep(&(struct timespec){.tv_nsec = pause_us * 1000}, NULL);
    }
}

static int descriptor_fetch(struct boot_own *own, int fd, uint64_t end, int *descriptor)
{
    struct meeting with = {.rank = (uint32_t)own->job.rank, .round = own->shared};
    struct client_proof client = {.rank = with.rank};
    uint8_t proof[DIGEST_SIZE], expected[DIGEST_SIZE];
    int got;
    if (!peer_is_same_user(fd))
        return vbase_fail(ERR_DENIED, "a process of another user answers in place of rank %d", own->job.local_ranks[0]);
    if (vbase_random(with.client, sizeof with.client) != OK)
        return ERR_SYSTEM;
    if (!packet_hear(fd, with.server, sizeof with.server, NULL, end))
        return vbase_fail(ERR_TIMEOUT, "rank %d of this node does not answer", own->job.local_ranks[0]);
    memcpy(client.nonce, with.client, sizeof client.nonce);
    proof_make(own, "client", &with, client.proof);
    if (!vbase_packet_send(fd, &client, sizeof client, -1, MSG_DONTWAIT) ||
        !packet_hear(fd, proof, sizeof proof, &got, end))
        return vbase_fail(ERR_DENIED, "rank %d of this node gave no descriptor", own->job.local_ranks[0]);
    proof_make(own, "server", &with, expected);
    if (!vbase_equal_secretly(expected, proof, DIGEST_SIZE)) {
        close(got);
        return vbase_fail(ERR_DENIED, "the process that answers for rank %d does not know the job's secret",
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
        error = descriptors_serve(own, fd);
    else if (job->local_count > 1) {
        uint64_t end = now_ms() + DEADLINE_MS;
        int connection = -1;
        error = server_connect(own, end, &connection);
        if (error == OK) {
            error = descriptor_fetch(own, connection, end, fd);
            close(connection);
        }
    }
    own->shared++;
    return error;
}
