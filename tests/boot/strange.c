/* What a foreign launcher's space and strangers on the node's socket may say: maps of nodes and secrets with random
 * changes, random knocks, random answers. Whatever it is, the outcome is an error or a sane job, and no descriptor stays.
 * CHECK_SEED draws others. */
#include "boot/inside.h"
#include "base/error.h"
#include "check.h"
#include <dirent.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SIZE  5
#define OWN   3
#define KNOCK 68 /* bytes of a whole one */

static unsigned long long state;

static unsigned below(unsigned n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 20) % n;
}

/* ---- a key-value space that lies --------------------------------------------------------------------------------- */

static char secret_text[200], map_text[3][256];

static int put(struct boot_own *own, const char *key, const char *value)
{
    (void)own, (void)key, (void)value;
    return OK;
}

static int get(struct boot_own *own, int rank, const char *key, char *value, size_t size)
{
    unsigned chunk;
    (void)own;
    CHECK_EQUAL(rank, 0);
    if (sscanf(key, "viaduct-nodes-%u", &chunk) == 1 && chunk < 3)
        snprintf(value, size, "%s", map_text[chunk]);
    else if (strcmp(key, "viaduct-secret") == 0)
        snprintf(value, size, "%s", secret_text);
    else
        return ERR_NOT_FOUND;
    return OK;
}

static int fence(struct boot_own *own, struct boot_fence *fence)
{
    (void)own;
    fence->over = true;
    return OK;
}

static const struct boot_starter liar = {.put = put, .get = get, .fence_begin = fence};

static void change(char *text, unsigned times)
{
    static const char letters[] = "0123456789*,!-+ xf\t";
    size_t length = strlen(text);
    while (times-- && length)
        text[below((unsigned)length)] = letters[below(sizeof letters - 1)];
    if (length && below(4) == 0)
        text[below((unsigned)length)] = 0;
}

static void maps(void)
{
    static const char *const whole[] = {"2*0,3*1!", "5*0!", "1*0,1*1,1*2,1*3,1*4!", "1*0,1*1,1*0,1*1,1*0!"};
    unsigned sane = 0;
    for (int round = 0; round < 100000; round++) {
        struct boot_own own = {.starter = &liar, .job = {.kind = BOOT_PMI, .rank = OWN, .size = SIZE, .host = "here"}};
        snprintf(map_text[0], sizeof map_text[0], "%s", whole[below(sizeof whole / sizeof *whole)]);
        snprintf(map_text[1], sizeof map_text[1], "%s", whole[below(sizeof whole / sizeof *whole)]);
        memset(secret_text, 'a', 2 * SECRET_SIZE);
        change(map_text[0], below(4));
        change(secret_text, round % 16 == 0);
        if (vboot_node_meet(&own) != OK)
            continue;
        sane++;
        struct boot_job *job = &own.job;
        CHECK(job->local_count >= 1 && job->local_count <= SIZE);
        CHECK(job->local_index >= 0 && job->local_index < job->local_count);
        CHECK_EQUAL(job->local_ranks[job->local_index], OWN);
        for (int i = 1; i < job->local_count; i++)
            CHECK(job->local_ranks[i - 1] < job->local_ranks[i]);
        CHECK(job->local_ranks[0] >= 0 && job->local_ranks[job->local_count - 1] < SIZE);
        free(job->local_ranks);
    }
    CHECK(sane > 5000 && sane < 90000);
}

/* ---- strangers on the socket ------------------------------------------------------------------------------------- */

static int ranks[2] = {0, 1};

static struct boot_own rank_of_two(int rank)
{
    struct boot_own own = {.job = {.kind = BOOT_PMI, .rank = rank, .size = 2, .local_index = rank, .local_count = 2,
                                   .local_ranks = ranks}};
    memset(own.job.secret, 's', SECRET_SIZE);
    return own;
}

static struct sockaddr_un place(const struct boot_own *own, socklen_t *length)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uint8_t digest[DIGEST_SIZE];
    char words[64], *name = address.sun_path + 1;
    vbase_hmac(own->job.secret, words, (size_t)snprintf(words, sizeof words, "rendezvous 0 %u", own->shared), digest);
    int used = sprintf(name, "viaduct-");
    for (int i = 0; i < 16; i++)
        used += sprintf(name + used, "%02x", digest[i]);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)used);
    return address;
}

static size_t random_bytes(unsigned char *bytes, size_t room)
{
    size_t length = below(3) ? KNOCK : below((unsigned)room);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)below(256);
    if (below(2)) /* the rank that is awaited */
        memset(bytes + KNOCK - 4, 0, 4), bytes[KNOCK - 4] = 1;
    return length;
}

static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void *serve(void *into)
{
    struct boot_own own = rank_of_two(0);
    int fd[2] = {0, 0};
    *(int *)into = vboot_share_descriptor(&own.job, fd);
    return NULL;
}

/* Those who know the name and not the secret, any number of them, then the rank itself. */
static void knocks(void)
{
    struct boot_own own = rank_of_two(1);
    socklen_t length;
    struct sockaddr_un address = place(&own, &length);
    int before = descriptors(), served, fd = -1;
    pthread_t server;
    CHECK_EQUAL(pthread_create(&server, NULL, serve, &served), 0);
    for (int stranger = 0; stranger < 300;) {
        unsigned char bytes[2 * KNOCK];
        int dialled = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (connect(dialled, (struct sockaddr *)&address, length) == 0) {
            size_t count = random_bytes(bytes, sizeof bytes);
            (void)!send(dialled, bytes, count, MSG_NOSIGNAL);
            stranger++;
        } /* else the server is not there yet, or has its hands full */
        close(dialled);
    }
    CHECK_EQUAL(vboot_share_descriptor(&own.job, &fd), OK);
    pthread_join(server, NULL);
    CHECK_EQUAL(served, OK);
    close(fd);
    CHECK_EQUAL(descriptors(), before);
}

static void *impostor(void *listener)
{
    for (int round = 0; round < 300; round++) {
        unsigned char bytes[2 * KNOCK], knock[KNOCK];
        int fd = accept4(*(int *)listener, NULL, NULL, SOCK_CLOEXEC), given[3] = {fd, fd, fd};
        char space[CMSG_SPACE(sizeof given)] = {0};
        size_t count = random_bytes(bytes, sizeof bytes), said = below(4) ? 32 : count;
        (void)!send(fd, bytes, said, MSG_NOSIGNAL);
        if (said >= 32)
            (void)!recv(fd, knock, sizeof knock, MSG_WAITALL);
        struct iovec piece = {bytes, below(2) ? DIGEST_SIZE : count};
        struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
        unsigned gifts = below(4);
        if (gifts) {
            message.msg_control = space, message.msg_controllen = CMSG_SPACE(gifts * sizeof(int));
            struct cmsghdr *head = CMSG_FIRSTHDR(&message);
            *head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(gifts * sizeof(int))};
            memcpy(CMSG_DATA(head), given, gifts * sizeof(int));
        }
        (void)!sendmsg(fd, &message, MSG_NOSIGNAL);
        close(fd);
    }
    return NULL;
}

/* Who holds the name and knows no secret gives nothing that a rank would take. */
static void answers(void)
{
    struct boot_own own = rank_of_two(1);
    socklen_t length;
    struct sockaddr_un address = place(&own, &length);
    int before = descriptors(), listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    pthread_t thread;
    CHECK(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 8) == 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, impostor, &listener), 0);
    for (int round = 0; round < 300; round++) {
        int fd = -1;
        own.shared = 0;
        CHECK(vboot_share_descriptor(&own.job, &fd) != OK);
        CHECK_EQUAL(fd, -1);
    }
    pthread_join(thread, NULL);
    close(listener);
    CHECK_EQUAL(descriptors(), before);
}

int main(void)
{
    state = check_seed();
    maps();
    knocks();
    answers();
    return check_done();
}
