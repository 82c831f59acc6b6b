/* The contract of vi, case by case, over every provider, bare and wrapped in the fault provider's scripts.
 * takes: 30 timeout: 300 */
#include "suite.h"
#include "base/counters.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* ---- channel semantics ---------------------------------------------------------------------------------------------- */

/* Everybody sends to everybody, all connecting at once; each pair gets one vi on each side. */
static void all_to_all(void)
{
    enum { EACH = 150 };

    for (int i = 0; i < suite.ranks; i++)
        if (i != suite.rank)
            suite_connect(i);
    for (int n = 0; n < EACH; n++)
        for (int i = 1; i < suite.ranks; i++)
            suite_send((suite.rank + i) % suite.ranks);
    for (int i = 0; i < suite.ranks; i++)
        if (i != suite.rank)
            SUITE_WAIT(suite.got[i] == EACH);
    for (int i = 0; i < suite.ranks; i++)
        CHECK_EQUAL(suite.called[i], 0);
}

/* Nobody but rank 0 connects; the others are called, once, and answer. */
static void called_once(void)
{
    for (int i = 1; suite.rank == 0 && i < suite.ranks; i++)
        suite_connect(i);
    for (int i = 1; suite.rank == 0 && i < suite.ranks; i++)
        for (int n = 0; n < 20; n++)
            suite_send(i);
    if (suite.rank != 0) {
        SUITE_WAIT(suite.got[0] == 20);
        for (int n = 0; n < 20; n++)
            suite_send(0);
    }
    suite_barrier();
    for (int i = 1; suite.rank == 0 && i < suite.ranks; i++)
        SUITE_WAIT(suite.got[i] == 20);
    CHECK_EQUAL(suite.called[0], suite.rank == 0 ? 0 : 1);
}

/* Until the call is answered the frames wait; then they come, in order. */
static void answered_late(void)
{
    suite.accept_later = true;
    if (suite.rank == 0) {
        suite_connect(1);
        for (int n = 0; n < 10; n++)
            suite_send(1);
    }
    suite_barrier();
    if (suite.rank == 1) {
        SUITE_WAIT(suite.called[0] == 1);
        for (int n = 0; n < 200; n++)
            suite_poll();
        CHECK_EQUAL(suite.called[0], 1);
        CHECK_EQUAL(vi_accept(suite.nic, 0, &suite, &suite.vi[0]), OK);
        SUITE_WAIT(suite.got[0] == 10);
    }
}

/* A receiver that does not poll: the sender is told to try again within the provider's own depth, and loses nothing. */
static size_t tiny(int from, int to, uint64_t number)
{
    (void)from, (void)to;
    return number % 49;
}

static void back_pressure(void)
{
    uint64_t accepted = 0;

    suite.length = atomic_load(&suite.shared->word[1]) ? suite_length : tiny;
    if (suite.rank == 0) {
        int refusals = 0;
        suite_connect(1);
        while (refusals < 100 && suite.sent[1] < 100000)
            refusals += suite_try_send(1) == ERR_AGAIN;
        accepted = suite.sent[1];
        CHECK_EQUAL(refusals, 100);
        CHECK(accepted <= suite.nic->caps.depth);
        CHECK(vbase_counters->lane_full + vbase_counters->blocks_empty + vbase_counters->socket_full >= 100);
        atomic_store(&suite.shared->word[0], (uint32_t)accepted);
    }
    suite_barrier_still();
    accepted = atomic_load(&suite.shared->word[0]);
    if (suite.rank == 0)
        for (int n = 0; n < 3000; n++)
            suite_send(1);
    else if (suite.rank == 1)
        SUITE_WAIT(suite.got[0] == accepted + 3000);
}

/* A sink that has enough ends the poll; what lies behind comes with the next ones, in order. */
static void enough(void)
{
    enum { RUN = 7 };

    if (suite.rank == 0) {
        suite_connect(1);
        for (int n = 0; n < 2000; n++)
            suite_send(1);
    } else if (suite.rank == 1) {
        suite.enough = true;
        while (suite.got[0] < 2000) {
            uint64_t before = suite.got[0];
            suite_poll();
            CHECK(suite.script || suite.got[0] - before <= RUN);
        }
    }
}

static void too_long(void)
{
    static char data[SUITE_MOST * 2];
    struct iovec piece[2] = {{data, suite.nic->caps.max_send}, {data, 1}};

    int right = (suite.rank + 1) % suite.ranks, error;

    suite_connect(right);
    while ((error = vi_send(suite.vi[right], 0, piece, 2)) == ERR_AGAIN)
        suite_poll();
    CHECK_EQUAL(error, ERR_ARGUMENT);
}

static void strangers(void)
{
    struct vi_address self = {.peer = (uint32_t)suite.rank}, nobody = {.peer = 4711};
    struct vi *vi;

    CHECK_EQUAL(vi_connect(suite.nic, &self, NULL, &vi), ERR_UNREACHABLE);
    CHECK_EQUAL(vi_connect(suite.nic, &nobody, NULL, &vi), ERR_UNREACHABLE);
}

/* ---- memory semantics ----------------------------------------------------------------------------------------------- */

/* Waits for a transfer that may be told later; gives its status. */
static int finish(int result)
{
    if (result == VI_COMPLETE || result < 0)
        return result == VI_COMPLETE ? OK : result;
    SUITE_WAIT(suite.done == 1);
    suite.done = 0;
    return suite.done_status;
}

static int put_retry(struct vi *vi, const struct vi_transfer *transfer)
{
    int result;

    while ((result = vi_put(vi, transfer)) == ERR_AGAIN)
        suite_poll();
    return finish(result);
}

static int get_retry(struct vi *vi, const struct vi_transfer *transfer)
{
    int result;

    while ((result = vi_get(vi, transfer)) == ERR_AGAIN)
        suite_poll();
    return finish(result);
}

/* A ring of transfers: everybody gets from his right neighbour and puts to him. */
static void transfers(unsigned char *memory, size_t length, bool user_memory)
{
    enum { PIECES = 300 };
    int right = (suite.rank + 1) % suite.ranks, left = (suite.rank + suite.ranks - 1) % suite.ranks;
    unsigned char *local = malloc(length);
    struct vi_region region;
    struct iovec piece[PIECES];
    struct vi_transfer transfer = {.local = piece, .pieces = PIECES, .cookie = &suite};
    struct vi_state state;

    CHECK_EQUAL(vi_reg(suite.nic, user_memory ? memory : NULL, length, &region), OK);
    memory = region.address;
    for (size_t i = 0; i < length; i++) {
        if (!user_memory)
            CHECK(memory[i] == 0);
        memory[i] = check_byte((unsigned)suite.rank, i);
    }
    suite.shared->key[suite.rank] = region.key;
    suite_connect(right);
    suite_barrier();
    for (size_t i = 0; i < PIECES; i++) /* every tenth piece is empty */
        piece[i] = (struct iovec){local + length / 2 * i / PIECES,
                                  i % 10 == 9 ? 0 : length / 2 * (i + 1 + (i % 10 == 8)) / PIECES - length / 2 * i / PIECES};
    transfer.key = suite.shared->key[right];
    transfer.offset = 5;
    if (suite.nic->caps.get)
        CHECK_EQUAL(get_retry(suite.vi[right], &transfer), OK);
    for (size_t i = 0; i < length / 2 && suite.nic->caps.get; i++)
        if (local[i] != check_byte((unsigned)right, i + 5)) {
            CHECK_EQUAL(local[i], check_byte((unsigned)right, i + 5));
            break;
        }
    CHECK_EQUAL(vi_query(suite.vi[right], &state), OK);
    CHECK(!user_memory || (state.get == suite.nic->caps.get && state.put == suite.nic->caps.put));
    suite_barrier();
    for (size_t i = 0; i < length / 2; i++)
        local[i] = check_byte(100u + (unsigned)suite.rank, i);
    transfer.offset = 7;
    transfer.signal = true;
    transfer.immediate = 1234u + (uint32_t)suite.rank;
    CHECK_EQUAL(put_retry(suite.vi[right], &transfer), OK);
    SUITE_WAIT(suite.arrived == 1);
    CHECK_EQUAL(suite.immediate, 1234 + left);
    CHECK_EQUAL(vi_query(suite.vi[right], &state), OK); /* a connection to another host tells how fast it goes */
    CHECK(state.line != CLASS_REMOTE || length < 300000 || state.rate > 0);
    for (size_t i = 0; i < length; i++) {
        unsigned char expected = i >= 7 && i < 7 + length / 2 ? check_byte(100u + (unsigned)left, i - 7)
                                                              : check_byte((unsigned)suite.rank, i);
        if (memory[i] != expected) {
            CHECK_EQUAL(memory[i], expected);
            break;
        }
    }
    suite_barrier();
    vi_dereg(&region);
    free(local);
}

static void user_memory(void)
{
    enum { LENGTH = 300001 };
    unsigned char *memory = malloc(LENGTH);

    transfers(memory, LENGTH, true);
    free(memory);
}

static void shared_memory(void)
{
    transfers(NULL, 100001, false);
}

static void bounds(void)
{
    static unsigned char memory[1000], local[2000];
    int right = (suite.rank + 1) % suite.ranks;
    struct vi_region own, shared;
    struct iovec piece[2] = {{local, 500}, {local + 500, 501}};
    void *pointer;

    CHECK_EQUAL(vi_reg(suite.nic, memory, sizeof(memory), &own), OK);
    CHECK_EQUAL(vi_reg(suite.nic, NULL, 1000, &shared), OK);
    for (int kind = 0; kind < 2; kind++) {
        suite.shared->key[suite.rank] = kind ? shared.key : own.key;
        suite_connect(right);
        suite_barrier();
        struct vi_key key = suite.shared->key[right];
        struct vi_transfer most[] = {
            {.local = piece, .pieces = 2, .key = key, .offset = 0, .cookie = &suite},          /* one byte too many */
            {.local = piece, .pieces = 1, .key = key, .offset = 501, .cookie = &suite},        /* one byte too far */
            {.local = piece, .pieces = 1, .key = key, .offset = UINT64_MAX - 3, .cookie = &suite}, /* wraps around */
        };
        for (size_t i = 0; i < ARRAY_LENGTH(most); i++) {
            if (suite.nic->caps.get)
                CHECK_EQUAL(get_retry(suite.vi[right], &most[i]), ERR_ARGUMENT);
            CHECK_EQUAL(put_retry(suite.vi[right], &most[i]), ERR_ARGUMENT);
        }
        CHECK_EQUAL(vi_map(suite.vi[right], key, 0, 1001, &pointer),
                    kind && suite.nic->caps.map ? ERR_ARGUMENT : ERR_UNSUPPORTED);
        key.word[0] |= 1ull << 63; /* a forged key: far outside what peers share */
        key.word[0] |= 1ull << 62;
        CHECK_EQUAL(vi_map(suite.vi[right], key, 0, 8, &pointer), suite.nic->caps.map ? ERR_ARGUMENT : ERR_UNSUPPORTED);
        suite_barrier();
    }
    for (size_t i = 0; i < sizeof(memory); i++)
        CHECK_EQUAL(memory[i], 0);
    vi_dereg(&own);
    vi_dereg(&shared);
}

/* Mapped memory is the same memory, and zeros when it is registered anew. */
static void mapped(void)
{
    int right = (suite.rank + 1) % suite.ranks;
    struct vi_region region;
    uint64_t *there;
    void *pointer;

    if (!suite.nic->caps.map)
        return;
    CHECK_EQUAL(vi_reg(suite.nic, NULL, 4096 * 3 + 8, &region), OK);
    suite.shared->key[suite.rank] = region.key;
    suite_barrier();
    suite_connect(right);
    CHECK_EQUAL(vi_map(suite.vi[right], suite.shared->key[right], 4096 * 3, 8, &pointer), OK);
    there = pointer;
    *there = 77u + (unsigned)suite.rank;
    suite_barrier();
    uint64_t *own = region.address;
    CHECK_EQUAL(own[4096 * 3 / 8], 77 + (suite.rank + suite.ranks - 1) % suite.ranks);
    suite_barrier();
    vi_dereg(&region);
    CHECK_EQUAL(vi_reg(suite.nic, NULL, 4096 * 3 + 8, &region), OK);
    for (size_t i = 0; i < 4096 * 3 / 8; i++)
        CHECK_EQUAL(((uint64_t *)region.address)[i], 0);
    vi_dereg(&region);
}

static void forbid(long call, int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {ARRAY_LENGTH(code), code};

    CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    CHECK_EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* The kernel refuses: an answer, said by vi_query too, no failure; sends and shared memory go on. */
static void refused(void)
{
    static unsigned char memory[100], local[100];
    int right = (suite.rank + 1) % suite.ranks;
    struct vi_region region;
    struct iovec piece = {local, sizeof(local)};
    struct vi_state state;

    if (!suite.nic->caps.node) /* it asks no kernel */
        return;
    CHECK_EQUAL(vi_reg(suite.nic, memory, sizeof(memory), &region), OK);
    suite.shared->key[suite.rank] = region.key;
    suite_barrier();
    suite_connect(right);
    struct vi_transfer transfer = {.local = &piece, .pieces = 1, .key = suite.shared->key[right], .cookie = &suite};
    if (suite.rank == 0) { /* refused from the start */
        forbid(SYS_process_vm_readv, EPERM);
    } else { /* refused later, the writing only */
        CHECK_EQUAL(get_retry(suite.vi[right], &transfer), OK);
        forbid(SYS_process_vm_writev, ENOSYS);
    }
    CHECK_EQUAL(get_retry(suite.vi[right], &transfer), suite.rank == 0 ? ERR_UNSUPPORTED : OK);
    CHECK_EQUAL(put_retry(suite.vi[right], &transfer), ERR_UNSUPPORTED);
    CHECK_EQUAL(vi_query(suite.vi[right], &state), OK);
    CHECK_EQUAL(state.get, suite.rank != 0);
    CHECK_EQUAL(state.put, 0);
    CHECK(state.usable);
    suite_send(right);
    SUITE_WAIT(suite.got[(suite.rank + suite.ranks - 1) % suite.ranks] == 1);
}

/* ---- sleeping ------------------------------------------------------------------------------------------------------- */

static unsigned slept;

/* Waits for the next message of PEER, asleep as early as the provider allows, and for as long as it takes: a wake-up that is
 * lost ends with the time of this test. */
static void sleep_for(int peer, uint64_t number)
{
    struct vi_wait wait;

    CHECK_EQUAL(vi_arm(suite.nic, VI_ARM_SOON, NULL), OK);
    while (suite.got[peer] < number) {
        int error = vi_arm(suite.nic, VI_ARM_SLEEP, &wait);
        if (error == OK) {
            if (wait.futex)
                vbase_futex_wait(wait.futex, wait.value, 0);
            else
                poll(&(struct pollfd){.fd = wait.descriptor, .events = wait.events}, 1, -1);
            slept++;
        } else {
            CHECK_EQUAL(error, ERR_AGAIN);
        }
        vi_poll(suite.nic, 16);
    }
    CHECK_EQUAL(vi_arm(suite.nic, VI_ARM_AWAKE, NULL), OK);
}

/* A token goes round; whoever has it dawdles a little, so that the next one is met before, while and after he sleeps. */
static void sleepers(void)
{
    enum { LAPS = 150 };
    int right = (suite.rank + 1) % suite.ranks, left = (suite.rank + suite.ranks - 1) % suite.ranks;

    suite_connect(right);
    for (uint64_t lap = 1; lap <= LAPS; lap++) {
        if (suite.rank != 0 || lap > 1)
            sleep_for(left, suite.rank == 0 ? lap - 1 : lap);
        uint64_t until = vbase_clock_ns() + suite_random() % 60000;
        while (vbase_clock_ns() < until)
            cpu_pause();
        int error;
        while ((error = suite_try_send(right)) == ERR_AGAIN)
            vi_poll(suite.nic, 4);
        CHECK_EQUAL(error, OK);
    }
    if (suite.rank == 0)
        sleep_for(left, LAPS);
    CHECK(slept > 0);
}

/* ---- the end -------------------------------------------------------------------------------------------------------- */

/* What was sent before a disconnect arrives, then "down" is told, once; and both may meet again. */
static void sessions(void)
{
    for (unsigned round = 1; round <= 5; round++) {
        if (suite.rank == 0) {
            suite_connect(1);
            for (int n = 0; n < 50; n++)
                suite_send(1);
            vi_disconnect(suite.vi[1]);
            suite.vi[1] = NULL;
        } else if (suite.rank == 1) {
            SUITE_WAIT(suite.down[0] == round);
            CHECK_EQUAL(suite.got[0], 50 * round);
            CHECK_EQUAL(suite.down_cause, ERR_LINK_DOWN);
            CHECK_EQUAL(suite.called[0], round);
            CHECK_EQUAL(suite_try_send(0), ERR_LINK_DOWN);
            for (int n = 0; n < 100; n++)
                suite_poll();
            CHECK_EQUAL(suite.down[0], round);
            vi_disconnect(suite.vi[0]);
            suite.vi[0] = NULL;
        }
        if (round % 2)
            suite_barrier();
    }
    CHECK_EQUAL(suite.called[1] + suite.down[1], 0);
}

/* What lies unread when its receiver disconnects is dropped; the next connection starts clean. */
static void unread(void)
{
    if (suite.rank > 1)
        return suite_barrier(), suite_barrier_still(), suite_barrier();
    suite.accept_later = true;
    suite_connect(1 - suite.rank);
    if (suite.rank == 0) {
        SUITE_WAIT(suite.got[1] == 1);
        suite_barrier();
        suite_barrier_still();
        vi_disconnect(suite.vi[1]);
        suite.got[1] = 30; /* numbers go on behind those that are dropped */
        suite_connect(1);
    } else {
        suite_send(0);
        suite_barrier();
        for (int n = 1; n < 30; n++)
            suite_send(0);
        suite_barrier_still();
        SUITE_WAIT(suite.down[0] == 1);
        vi_disconnect(suite.vi[0]);
        suite_connect(0);
    }
    suite_send(1 - suite.rank);
    SUITE_WAIT(suite.got[1 - suite.rank] == (suite.rank == 0 ? 31 : 1));
    suite_barrier();
}

/* A rank that sleeps is woken by one that wrote to memory that both share; where none is shared there is no such thing. */
static void woken(void)
{
    struct vi_wait wait;

    if (suite.rank > 1)
        return;
    suite_connect(1 - suite.rank);
    if (!suite.nic->caps.map) {
        CHECK_EQUAL(vi_wake(suite.vi[1 - suite.rank]), ERR_UNSUPPORTED);
    } else if (suite.rank == 0) {
        while (!atomic_load(&suite.shared->word[1])) {
            CHECK_EQUAL(vi_wake(suite.vi[1]), OK);
            sched_yield();
        }
    } else {
        uint32_t others = atomic_load(suite.nic->asleep);
        while (vi_arm(suite.nic, VI_ARM_SLEEP, &wait) == ERR_AGAIN)
            suite_poll();
        CHECK(atomic_load(suite.nic->asleep) > others);
        while (atomic_load(wait.futex) == wait.value) /* the watchdog ends it */
            vbase_futex_wait(wait.futex, wait.value, 0);
        CHECK_EQUAL(vi_arm(suite.nic, VI_ARM_AWAKE, NULL), OK);
        CHECK_EQUAL(atomic_load(suite.nic->asleep), others);
        atomic_store(&suite.shared->word[1], 1);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"all_to_all", all_to_all}, {"called_once", called_once}, {"answered_late", answered_late},
    {"back_pressure", back_pressure}, {"enough", enough}, {"too_long", too_long}, {"strangers", strangers},
    {"user_memory", user_memory}, {"shared_memory", shared_memory}, {"bounds", bounds}, {"mapped", mapped},
    {"refused", refused}, {"sleepers", sleepers}, {"sessions", sessions}, {"unread", unread}, {"woken", woken},
};

/* All cases over one provider, bare and with each script. */
static int provider_run(const struct vi_provider *provider, const char *only)
{
    static const char *const scripts[] = {NULL, "delay=50us", "refuse=30%,seed=3", "reorder=20%,delay=20us", "late-put"};
    static const int ranks[] = {2, 3, 5};
    int failed = 0;

    for (size_t s = 0; s < ARRAY_LENGTH(scripts); s++)
        for (size_t r = 0; r < ARRAY_LENGTH(ranks); r++)
            for (size_t c = 0; c < ARRAY_LENGTH(cases); c++)
                if (!only || strcmp(only, cases[c].name) == 0)
                    failed += !suite_case(provider, scripts[s], ranks[r], cases[c].name, cases[c].run);
    return failed;
}

/* usage: [CASE [PROVIDER]]; verbs only if it is named */
int main(int argc, char **argv)
{
    static const struct vi_provider providers[] = {{"shm", &shm_ops}, {"tcp", &tcp_ops}, {"verbs", &verbs_ops, .devices = ""}};
    int failed = 0;

    CHECK_EQUAL(vbase_settings_read(), OK);
    for (size_t i = 0; i < ARRAY_LENGTH(providers); i++)
        if (argc < 3 ? !providers[i].devices : strcmp(argv[2], providers[i].name) == 0)
            failed += provider_run(&providers[i], argc > 1 && argv[1][0] ? argv[1] : NULL);
    return failed > 0 || check_done();
}
