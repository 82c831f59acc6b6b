/* The PMI client against servers of every habit: rank, size, keys, fences, nodes, the secret, the passed descriptor.
 * Then against garbage: it may fail, it must not crash or hang.
 * timeout: 60 */
#include "boot/fake_server.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/settings.h"
#include "boot/inside.h"
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/un.h>

static bool with_stranger;
static int nodes; /* the ranks pretend to be on so many nodes */

/* Every rank puts, fences and reads all others; every value is of its rank, the secret is the same everywhere. */
static int keys(struct boot_job *job)
{
    char key[32], value[300], expected[300], secret[2 * SECRET_SIZE + 1];
    for (int i = 0; i < SECRET_SIZE; i++)
        snprintf(secret + 2 * i, 3, "%02x", job->secret[i]);
    snprintf(key, sizeof key, "card-%d", job->rank);
    snprintf(value, sizeof value, "%d:%s:a=b(c,d)", job->rank, secret);
    CHECK_EQUAL(vboot_put(job, key, value), OK);
    CHECK_EQUAL(vboot_put(job, "a key", "x"), ERR_ARGUMENT);
    CHECK_EQUAL(vboot_put(job, "a=key", "x"), ERR_ARGUMENT);
    CHECK_EQUAL(vboot_put(job, "key", "two words"), ERR_ARGUMENT);
    CHECK_EQUAL(vboot_put(job, "key", "a;b"), ERR_ARGUMENT);
    CHECK_EQUAL(vboot_put(job, "key", ""), ERR_ARGUMENT);
    CHECK_EQUAL(vboot_fence(job), OK);
    for (int rank = 0; rank < job->size; rank++) {
        snprintf(key, sizeof key, "card-%d", rank);
        snprintf(expected, sizeof expected, "%d:%s:a=b(c,d)", rank, secret);
        CHECK_EQUAL(vboot_get(job, rank, key, value, sizeof value), OK);
        CHECK_TEXT(value, expected);
    }
    CHECK_EQUAL(vboot_get(job, 0, "card-0", value, 4), OK);
    CHECK_EQUAL(strlen(value), 3);
    CHECK_EQUAL(vboot_get(job, 0, "nobody", value, sizeof value), ERR_NOT_FOUND);
    return vboot_fence(job);
}

/* Knocks at NAME with rubbish; how many bytes were answered. */
static size_t knock(const char *name)
{
    char bytes[68] = "I am rank 1, believe me", answer[64];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path + 1, name, strlen(name));
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    size_t got = 0;
    if (connect(fd, (struct sockaddr *)&address, length) == 0 && send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) > 0)
        for (ssize_t part; got < sizeof answer && (part = recv(fd, answer + got, sizeof answer - got, 0)) > 0;)
            got += (size_t)part;
    close(fd);
    return got;
}

/* Somebody of this user who knows no secret finds the rendezvous: he gets a nonce and then nothing. A meeting that ends
 * as he comes to it is not the one. */
static void stranger(void)
{
    size_t got = 0;
    for (uint64_t end = vbase_clock_ns() + 20000000000; got == 0 && vbase_clock_ns() < end;) { /* he waits longer */
        char line[512], name[128];
        FILE *file = fopen("/proc/net/unix", "re");
        while (file && got == 0 && fgets(line, sizeof line, file))
            if (strstr(line, "@viaduct-") && strstr(line, " 00010000 ") && /* it listens */
                sscanf(strstr(line, "@viaduct-") + 1, "%100s", name) == 1)
                got = knock(name);
        if (file)
            fclose(file);
        usleep(100);
    }
    CHECK_EQUAL(got, 32);
}

/* The lowest rank of a node has a file for each of them; the others read their words there. */
static void passed_descriptor(struct boot_job *job)
{
    int fd[64] = {-1}, all = job->local_index == 0 ? job->local_count : 1;
    char words[32] = "", expected[32];
    for (int i = 0; job->local_index == 0 && i < all; i++) {
        fd[i] = memfd_create("words", MFD_CLOEXEC);
        CHECK(dprintf(fd[i], "%d of node %d", job->local_ranks[i], job->local_ranks[0]) > 0);
    }
    CHECK_EQUAL(vboot_share_descriptor(job, fd), OK);
    CHECK(fd[0] >= 0);
    CHECK((fcntl(fd[0], F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(pread(fd[0], words, sizeof words - 1, 0) > 0);
    snprintf(expected, sizeof expected, "%d of node %d", job->rank, job->local_ranks[0]);
    CHECK_TEXT(words, expected);
    while (all > 0)
        close(fd[--all]);
}

static int be_rank(int rank, int size)
{
    check_failed = 0; /* only our own */
    char node[16];
    struct boot_job *job;
    snprintf(node, sizeof node, "node%d", rank % nodes);
    setenv("VIADUCT_NODE", node, 1);
    CHECK_EQUAL(vbase_settings_read(), OK);
    int error = vboot_open(&job);
    CHECK_EQUAL(error, OK);
    if (error != OK) {
        fprintf(stderr, "%s\n", vbase_error_detail());
        return 1;
    }
    CHECK_EQUAL(job->kind, BOOT_PMI);
    CHECK_EQUAL(job->rank, rank);
    CHECK_EQUAL(job->size, size);
    CHECK_EQUAL(job->node_fd, -1);
    CHECK_EQUAL(job->direct_children, 0);
    CHECK_EQUAL(job->local_count, size / nodes + (rank % nodes < size % nodes));
    CHECK_EQUAL(job->local_ranks[job->local_index], rank);
    for (int i = 0; i < job->local_count; i++)
        CHECK_EQUAL(job->local_ranks[i], rank % nodes + i * nodes);
    CHECK_EQUAL(keys(job), OK);
    passed_descriptor(job);
    if (with_stranger && rank == size - 1)
        stranger();
    passed_descriptor(job);
    vboot_close(job);
    return check_done();
}

static void habits(void)
{
    nodes = 1;
    with_stranger = true;
    CHECK_EQUAL(fake_job(4, PLAIN, be_rank), 0);
    with_stranger = false;
    static const int sizes[] = {1, 2, 5, 17};
    for (int habit = 0; habit < HABITS; habit++)
        for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
            for (nodes = 1; nodes <= 3 && nodes <= sizes[i]; nodes += 2) {
                int failed = fake_job(sizes[i], habit, be_rank);
                CHECK_EQUAL(failed, 0);
                if (failed)
                    fprintf(stderr, "habit %d, %d ranks on %d nodes\n", habit, sizes[i], nodes);
            }
}

static const char *const good_1[] = {
    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
    "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n",
    "cmd=appnum appnum=0\n",
    "cmd=universe_size size=4\n",
    "cmd=my_kvsname kvsname=x\n",
    "cmd=get_result rc=0 value=abc\n",
    "cmd=put_result rc=0\n",
    "cmd=barrier_out\n",
    "cmd=finalize_ack\n",
    NULL,
};

static int fence(struct boot_own *own)
{
    struct boot_fence fence = {.descriptor = -1};
    int error = vboot_pmi_fence_begin(own, &fence);
    while (!error && !fence.over) /* the far end is closed for writing: something always comes */
        vboot_pmi_fence_look(own, &fence);
    return error ? error : fence.error;
}

/* What a good server would say, with bytes of it changed or dropped: one to a line, or all of them. */
static void babble(int fd, const char *const *good, unsigned long long *state)
{
    unsigned long long manner = *state >> 32;
    for (; *good; good++) {
        char line[128];
        size_t length = strlen(*good);
        memcpy(line, *good, length);
        *state = *state * 6364136223846793005ull + 1442695040888963407ull;
        if (manner % 3 == 0 || (*state >> 40) % 16 == 0)
            line[(*state >> 20) % length] = (char)(*state >> 50);
        if ((*state >> 33) % 29 == 0)
            length /= 2;
        if (send(fd, line, length, MSG_NOSIGNAL) < 0)
            return;
    }
}

static void garbage(void)
{
    unsigned long long state = 20260101;
    int got_through = 0;
    for (int round = 0; round < 3000; round++) {
        struct boot_own own = {.pmi = {.deadline_ms = 1000}};
        char value[64];
        int pair[2];
        CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
        babble(pair[1], good_1, &state);
        shutdown(pair[1], SHUT_WR);
        own.pmi.fd = pair[0];
        int error = vboot_pmi_start(&own);
        if (error == OK) {
            if (vboot_pmi_get(&own, 0, "key", value, sizeof value) == OK)
                CHECK(strlen(value) < sizeof value);
            error = vboot_pmi_put(&own, "key", "value");
            if (error == OK)
                error = fence(&own);
            got_through += error == OK;
        }
        CHECK(error == OK || error == ERR_LAUNCHER || error == ERR_PROTOCOL || error == ERR_NOT_FOUND);
        vboot_pmi_finish(&own, true);
        close(pair[1]);
    }
    CHECK(got_through > 100 && got_through < 2900); /* both ways were walked */
}

/* A key is asked for during a fence. WORDS is what the launcher says then: the fence is over before that is answered, or after. */
static void fence_meanwhile(const char *words, bool over)
{
    int pair[2];
    char value[8];
    struct boot_own own = {.pmi = {.deadline_ms = 1000}};
    struct boot_fence fence = {.descriptor = -1};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    own.pmi.fd = pair[0];
    CHECK_EQUAL(vboot_pmi_fence_begin(&own, &fence), OK);
    CHECK_EQUAL(fence.descriptor, pair[0]);
    vboot_pmi_fence_look(&own, &fence);
    CHECK(!fence.over);
    CHECK(send(pair[1], words, strlen(words), 0) > 0);
    CHECK_EQUAL(vboot_pmi_get(&own, 0, "key", value, sizeof value), OK);
    CHECK_TEXT(value, "abc");
    vboot_pmi_fence_look(&own, &fence);
    CHECK_EQUAL(fence.over, over);
    if (!over)
        CHECK(send(pair[1], "cmd=barrier_out\n", 16, 0) > 0);
    vboot_pmi_fence_look(&own, &fence);
    CHECK(fence.over);
    CHECK_EQUAL(fence.error, OK);
    vboot_pmi_finish(&own, true);
    close(pair[1]);
}

/* A launcher that says nothing at all, or falls silent after some answers: a key that never comes. */
static void silence(int answers)
{
    struct boot_own own = {.pmi = {.deadline_ms = 50}};
    int pair[2];
    char value[8];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    own.pmi.fd = pair[0];
    for (int i = 0; i < answers; i++)
        CHECK(send(pair[1], good_1[i], strlen(good_1[i]), 0) > 0);
    int error = vboot_pmi_start(&own);
    if (error == OK)
        error = vboot_pmi_get(&own, 0, "key", value, sizeof value);
    CHECK_EQUAL(error, ERR_LAUNCHER);
    CHECK(strstr(vbase_error_detail(), "no answer of the launcher within 50 ms"));
    vboot_pmi_finish(&own, true); /* its goodbye has no answer either */
    CHECK_EQUAL(own.pmi.fd, -1);
    close(pair[1]);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    habits();
    garbage();
    fence_meanwhile("cmd=barrier_out\ncmd=get_result rc=0 value=abc\n", true);
    fence_meanwhile("cmd=get_result rc=0 value=abc\ncmd=barrier_out\n", true);
    fence_meanwhile("cmd=get_result rc=0 value=abc\n", false);
    silence(0);
    silence(5);
    return check_done();
}
