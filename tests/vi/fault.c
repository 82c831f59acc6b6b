/* The fault provider itself: its scripts, and that each accident really happens, once, at its place. */
#include "suite.h"

#include <signal.h>

static void scripts(void)
{
    static const char *const bad[] = {"nonsense", "delay=", "delay=fast", "refuse=101%", "refuse=10", "refuse=100%",
                                      "drop-link=3", "drop-link=@7", "drop-link=3@0", "die@", "die@x", "late-put=3",
                                      "seed=", "rank=-1", "delay=1us,,seed=1", "reorder=%"};
    struct fault_script script;

    CHECK_EQUAL(fault_script_parse("delay=50us,refuse=10%,reorder=2.5%,drop-link=3@9,late-put,die@77,seed=7,rank=2",
                                   &script), OK);
    CHECK_EQUAL(script.delay_ns, 50000);
    CHECK_EQUAL(script.refuse, 1000);
    CHECK_EQUAL(script.reorder, 250);
    CHECK(script.drop_peer == 3 && script.drop_at == 9 && script.late_put && script.die_at == 77);
    CHECK(script.seed == 7 && script.rank == 2);
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        CHECK_EQUAL(fault_script_parse(bad[i], &script), ERR_ARGUMENT);
        CHECK(strstr(vbase_error_detail(), "not understood") != NULL);
    }
    CHECK_EQUAL(script.seed, 7); /* written on success only */
}

/* Rank 0 loses the link at the 50th frame; both sides are told once; they may meet again. */
static void drop_link(void)
{
    if (suite.rank == 0) {
        suite_connect(1);
        while (!suite.down[1]) {
            (void)suite_try_send(1);
            suite_poll();
        }
        CHECK_EQUAL(suite.sent[1], 50);
        CHECK_EQUAL(suite.down_cause, ERR_LINK_DOWN);
        CHECK_EQUAL(suite_try_send(1), ERR_LINK_DOWN);
        vi_disconnect(suite.vi[1]);
    } else {
        SUITE_WAIT(suite.down[0] == 1);
        CHECK_EQUAL(suite.down_cause, ERR_LINK_DOWN);
        CHECK_EQUAL(suite.got[0], 50);
        vi_disconnect(suite.vi[0]);
        suite.vi[0] = NULL;
    }
    for (int n = 0; n < 100; n++)
        suite_poll();
    CHECK_EQUAL(suite.down[1 - suite.rank], 1);
    suite_barrier();
    if (suite.rank == 0) {
        suite_connect(1);
        suite_send(1);
    } else {
        SUITE_WAIT(suite.got[0] == 51);
    }
}

/* What is held back when the link goes is lost, and a late transfer is told as failed. */
static void drop_by_hand(void)
{
    static char memory[100];
    struct vi_region region;
    struct iovec piece = {memory, 100};

    CHECK_EQUAL(vi_reg(suite.nic, memory, 100, &region), OK);
    suite.shared->key[suite.rank] = region.key;
    suite_barrier();
    if (suite.rank == 0) {
        suite_connect(1);
        for (int n = 0; n < 10; n++)
            suite_send(1);
        CHECK(fault_frames(suite.nic) == 10);
        struct vi_transfer put = {.local = &piece, .pieces = 1, .key = suite.shared->key[1], .cookie = &suite};
        CHECK_EQUAL(vi_put(suite.vi[1], &put), OK);
        fault_drop(suite.nic, 1);
        SUITE_WAIT(suite.down[1] == 1);
        CHECK_EQUAL(suite.done, 1);
        CHECK_EQUAL(suite.done_status, ERR_LINK_DOWN);
    } else {
        SUITE_WAIT(suite.down[0] == 1);
        CHECK_EQUAL(suite.got[0], 10); /* accepted before: the provider below keeps its word */
    }
}

/* The process dies at its tenth frame: nobody hears of an eleventh. */
static void die(void)
{
    suite_connect(1 - suite.rank);
    if (suite.rank == 1) {
        SUITE_WAIT(suite.got[0] == 10);
        for (int n = 0; n < 1000; n++)
            suite_poll();
        CHECK_EQUAL(suite.got[0], 10);
        exit(check_done());
    }
    for (;;)
        suite_send(1);
}

static bool dies(void)
{
    int status[2], fd;
    pid_t pid[2];

    CHECK_EQUAL(shm_segment_create(2, &fd), OK);
    memset(&suite, 0, sizeof(suite));
    suite.ranks = 2;
    suite.script = "die@10,rank=0";
    suite.shared = mmap(NULL, sizeof(*suite.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 2; i++) {
        pid[i] = fork();
        if (pid[i] == 0) {
            suite.rank = i;
            suite_run_rank(vi_providers, fd, die);
            exit(99);
        }
    }
    for (int i = 0; i < 2; i++)
        waitpid(pid[i], &status[i], 0);
    close(fd);
    return WIFSIGNALED(status[0]) && WTERMSIG(status[0]) == SIGKILL && status[1] == 0;
}

/* The same seed, the same refusals, at the same sends. */
static uint32_t pattern(const char *script)
{
    static const struct vi_sink sink = {&suite, suite_received, suite_arrived, suite_done, suite_called, suite_down, NULL};
    static const int local_ranks[] = {0, 1};
    struct vi_setup setup = {.ranks = 2, .local_count = 2, .local_ranks = local_ranks, .sink = &sink};
    struct vi_address to = {.peer = 1};
    struct iovec nothing = {NULL, 0};
    uint32_t refused = 0;
    struct vi *vi;

    CHECK_EQUAL(shm_segment_create(2, &setup.node_fd), OK);
    fault_words = script;
    CHECK_EQUAL(vi_nic_open(vi_providers, &setup, &suite.nic), OK);
    CHECK_EQUAL(vi_connect(suite.nic, &to, NULL, &vi), OK);
    for (int n = 0; n < 32; n++)
        refused = refused << 1 | (vi_send(vi, 0, &nothing, 1) == ERR_AGAIN);
    vi_disconnect(vi);
    vi_nic_close(suite.nic);
    close(setup.node_fd);
    return refused;
}

static void seeds(void)
{
    uint32_t nine = pattern("refuse=50%,seed=9");

    CHECK_EQUAL(nine, pattern("refuse=50%,seed=9"));
    CHECK(nine != pattern("refuse=50%,seed=10"));
    CHECK(nine != 0 && nine != UINT32_MAX);
    CHECK_EQUAL(pattern("refuse=50%,rank=1"), 0);
}

int main(void)
{
    CHECK_EQUAL(vbase_settings_read(), OK);
    scripts();
    CHECK(suite_case(vi_providers, "drop-link=1@50,rank=0", 2, "drop_link", drop_link));
    CHECK(suite_case(vi_providers, "delay=200us,late-put", 2, "drop_by_hand", drop_by_hand));
    CHECK(dies());
    seeds();
    return check_done();
}
