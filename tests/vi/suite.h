/* What every conformance case stands on: forked processes over one segment, numbered messages whose length and bytes
 * follow from (sender, receiver, number), a barrier, and a watchdog. One process is one rank; the state is global. */
#ifndef TESTS_VI_SUITE_H
#define TESTS_VI_SUITE_H

#include "check.h"
#include "each.h"
#include "fault/fault.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/settings.h"
#include "vi/shm/segment.h"
#include "vi/vi.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct vi_ops shm_ops, tcp_ops, verbs_ops;

#define SUITE_RANKS    8
#define SUITE_MOST     16448
#define SUITE_WATCHDOG 40 /* seconds for one case; PATIENCE times as long */

struct suite_shared { /* by all processes of a case */
    _Atomic uint32_t arrivals;
    _Atomic uint32_t word[16];
    struct vi_key key[SUITE_RANKS];
    char card[SUITE_RANKS][1000];
};

static struct suite {
    struct vi_nic *nic;
    int rank, ranks;
    const char *script;
    struct suite_shared *shared;
    struct vi *vi[SUITE_RANKS];
    uint64_t sent[SUITE_RANKS], got[SUITE_RANKS]; /* messages by peer */
    unsigned down[SUITE_RANKS], called[SUITE_RANKS];
    int down_cause;
    unsigned arrived, done;
    uint32_t immediate;
    int done_status;
    uint32_t barriers;
    size_t (*length)(int from, int to, uint64_t number);
    unsigned random;
    bool accept_later, enough; /* enough: as each delivery says */
} suite;

static inline unsigned suite_random(void)
{
    suite.random = suite.random * 1103515245u + 12345u;
    return suite.random >> 8;
}

static unsigned suite_id(int from, int to, uint64_t number)
{
    return (unsigned)(number * 64 + (unsigned)from * 8 + (unsigned)to);
}

/* Sizes around the limits of inline, of the block classes, and whatever lies between. */
static size_t suite_length(int from, int to, uint64_t number)
{
    static const size_t edges[] = {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 255, 256, 257, 320, 321,
                                   1024, 1088, 1089, 4096, 4160, 4161, 16384, SUITE_MOST - 1, SUITE_MOST};
    unsigned id = suite_id(from, to, number) * 2654435761u >> 8;

    return number % 2 ? edges[number / 2 % (sizeof(edges) / sizeof(edges[0]))] : id % (id % 3 ? 200 : SUITE_MOST);
}

/* ---- the sink ------------------------------------------------------------------------------------------------------- */

static bool suite_one_received(struct vi *vi, uint64_t header, const void *data, size_t length)
{
    int from = (int)vi->peer;
    const unsigned char *bytes = data;
    unsigned id;

    CHECK(suite.vi[from] == vi);
    CHECK_EQUAL(header, suite.got[from]);
    CHECK_EQUAL(length, suite.length(from, suite.rank, header));
    id = suite_id(from, suite.rank, header);
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == check_byte(id, i))
            continue;
        CHECK_EQUAL(bytes[i], check_byte(id, i));
        break;
    }
    suite.got[from]++;
    return suite.enough;
}

static bool suite_received(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count)
{
    return vi_each(suite_one_received, vi, header, data, length, count);
}

static void suite_arrived(struct vi *vi, uint32_t immediate, uint64_t length)
{
    (void)length;
    (void)vi;
    suite.arrived++;
    suite.immediate = immediate;
}

static void suite_done(struct vi *vi, void *cookie, int status)
{
    (void)vi;
    CHECK(cookie == &suite);
    suite.done++;
    suite.done_status = status;
}

static void suite_called(struct vi_nic *nic, uint32_t peer)
{
    CHECK(nic == suite.nic);
    suite.called[peer]++;
    if (!suite.accept_later)
        CHECK_EQUAL(vi_accept(nic, peer, &suite, &suite.vi[peer]), OK);
}

static void suite_down(struct vi *vi, int cause)
{
    suite.down[vi->peer]++;
    suite.down_cause = cause;
}

/* ---- moving --------------------------------------------------------------------------------------------------------- */

static int suite_poll(void)
{
    int events;

    events = vi_poll(suite.nic, 16);
    CHECK(events >= 0);
    if (events == 0) /* on a busy machine a yield takes milliseconds */
        sched_yield();
    return events;
}

#define SUITE_WAIT(condition)                                                                                           \
    do {                                                                                                                \
        while (!(condition))                                                                                            \
            suite_poll();                                                                                               \
    } while (0)

static void suite_connect(int peer)
{
    struct vi_address to = {.peer = (uint32_t)peer, .card = suite.shared->card[peer]};
    int error;

    while ((error = vi_connect(suite.nic, &to, &suite, &suite.vi[peer])) == ERR_AGAIN)
        suite_poll();
    CHECK_EQUAL(error, OK);
    CHECK(suite.vi[peer] && suite.vi[peer]->owner == &suite && suite.vi[peer]->peer == (uint32_t)peer);
}

/* A last piece that lies nowhere in a row: written when it is asked for, in order and not too much of it. */
static struct suite_source {
    struct vi_source source;
    const unsigned char *from;
    uint64_t left;
} suite_source;

static void suite_write(struct vi_source *source, void *to, uint64_t bytes)
{
    CHECK(source == &suite_source.source && bytes <= suite_source.left);
    memcpy(to, suite_source.from, bytes);
    suite_source.from += bytes;
    suite_source.left -= bytes;
}

static int suite_send_written(struct vi *vi, uint64_t header, struct iovec *piece, int pieces)
{
    struct iovec *last = &piece[pieces - 1];
    int error;

    suite_source = (struct suite_source){{suite_write}, last->iov_base, last->iov_len};
    last->iov_base = &suite_source.source;
    error = vi_send_as(vi, header, piece, pieces, VI_SOURCE);
    CHECK_EQUAL(suite_source.left, error ? last->iov_len : 0);
    return error;
}

/* The next message to PEER, cut into 1 to 4 pieces; one try. */
static int suite_try_send(int peer)
{
    static unsigned char data[SUITE_MOST];
    uint64_t number = suite.sent[peer];
    size_t length = suite.length(suite.rank, peer, number);
    unsigned id = suite_id(suite.rank, peer, number);
    int pieces = 1 + (int)(number / 3 % 4), error;
    struct iovec piece[4];

    for (size_t i = 0; i < length; i++)
        data[i] = check_byte(id, i);
    for (int i = 0; i < pieces; i++) {
        size_t from = length * (size_t)i / (size_t)pieces, to = length * (size_t)(i + 1) / (size_t)pieces;
        piece[i] = (struct iovec){data + from, to - from};
    }
    if (suite.nic->caps.source && pieces > 1 && number % 2)
        error = suite_send_written(suite.vi[peer], number, piece, pieces);
    else
        error = vi_send(suite.vi[peer], number, piece, pieces);
    if (length > 0)
        memset(data, 0xEE, length); /* ours again */
    if (error == OK)
        suite.sent[peer]++;
    return error;
}

static void suite_send(int peer)
{
    int error;

    while ((error = suite_try_send(peer)) == ERR_AGAIN)
        suite_poll();
    CHECK_EQUAL(error, OK);
}

static void suite_barrier(void)
{
    uint32_t target = ++suite.barriers * (uint32_t)suite.ranks;

    atomic_fetch_add(&suite.shared->arrivals, 1);
    SUITE_WAIT(atomic_load(&suite.shared->arrivals) >= target);
}

/* Everybody waits, nobody polls. */
static inline void suite_barrier_still(void)
{
    uint32_t target = ++suite.barriers * (uint32_t)suite.ranks;

    atomic_fetch_add(&suite.shared->arrivals, 1);
    while (atomic_load(&suite.shared->arrivals) < target)
        sched_yield();
}

/* ---- processes ------------------------------------------------------------------------------------------------------ */

static void suite_run_rank(const struct vi_provider *provider, int fd, void (*run)(void))
{
    static const struct vi_sink sink = {&suite,       suite_received, suite_arrived,
                                        suite_done, suite_called,   suite_down, NULL};
    static const int local_ranks[SUITE_RANKS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct vi_setup setup = {
        .rank = (uint32_t)suite.rank, .ranks = (uint32_t)suite.ranks, .local_index = (uint32_t)suite.rank,
        .local_count = (uint32_t)suite.ranks, .local_ranks = local_ranks, .node_fd = fd, .seat_fd = -1, .direct_children = true,
        .sink = &sink,
        .secret = (const uint8_t *)"the secret of the job of this suite"};

    const char *patience = getenv("PATIENCE");
    alarm(SUITE_WATCHDOG * (patience ? (unsigned)atoi(patience) : 1));
    suite.random = 17u + (unsigned)suite.rank;
    suite.length = suite_length;
    fault_words = suite.script;
    CHECK_EQUAL(vi_nic_open(provider, &setup, &suite.nic), OK);
    if (!suite.nic)
        return;
    if (suite.nic->card)
        snprintf(suite.shared->card[suite.rank], sizeof(suite.shared->card[0]), "%s", suite.nic->card);
    suite_barrier_still(); /* who polled here would be called by those who have gone on */
    run();
    suite_barrier();
    for (int i = 0; i < suite.ranks; i++)
        if (suite.vi[i])
            vi_disconnect(suite.vi[i]);
    vi_nic_close(suite.nic);
}

/* One case, once: false when a rank failed or hung. */
static bool suite_case(const struct vi_provider *provider, const char *script, int ranks, const char *name,
                       void (*run)(void))
{
    pid_t pid[SUITE_RANKS];
    bool good = true;
    int fd;

    CHECK_EQUAL(shm_segment_create(ranks, &fd), OK);
    memset(&suite, 0, sizeof(suite));
    suite.ranks = ranks;
    suite.script = script;
    suite.shared = mmap(NULL, sizeof(*suite.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(NULL);
    for (int i = 0; i < ranks; i++) {
        pid[i] = fork();
        if (pid[i] == 0) {
            suite.rank = i;
            check_failed = 0;
            suite_run_rank(provider, fd, run);
            exit(check_done());
        }
    }
    for (int i = 0; i < ranks; i++) {
        int status;
        waitpid(pid[i], &status, 0);
        if (status == 0)
            continue;
        fprintf(stderr, "%s \"%s\", %s, %d ranks: rank %d %s %d\n", provider->name, script ? script : "", name, ranks, i,
                WIFSIGNALED(status) ? "died of signal" : "failed with", WIFSIGNALED(status) ? WTERMSIG(status)
                                                                                            : WEXITSTATUS(status));
        good = false;
    }
    munmap(suite.shared, sizeof(*suite.shared));
    close(fd);
    return good;
}

#endif
