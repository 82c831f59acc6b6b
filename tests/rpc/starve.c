/* A rank whose handlers always have something to do still looks at what it waits for itself: at the end of vd_rpc_serve,
 * at a deadline, at a call from another rank.
 * timeout: 20 */
#include "pack/pack_test.h"

enum { LENGTH = 20000, ENOUGH = 100, TURN = 64 };

static unsigned char data[LENGTH];
static int began[2]; /* a pipe: calls lie at rank 0 */
static int handled;
static bool stopped;

static void call_one_way(int rank, const char *name)
{
    vd_call *call = vd_rpc_begin(rank, name, VD_ONE_WAY);
    CHECK(call);
    CHECK_EQUAL(vd_rpc_send(call), VD_OK);
}

static void handle_stop(vd_call *call, void *unused) { (void)call, (void)unused, stopped = true; }

/* Calls itself at its own rank. */
static void handle_again(vd_call *call, void *unused)
{
    (void)call, (void)unused;
    if (!stopped)
        call_one_way(vd_rank(), "again");
}

/* Others are queued while it waits for its block. */
static void handle_long(vd_call *call, void *unused)
{
    (void)unused;
    CHECK_EQUAL(vd_unpack(vd_rpc_arguments(call), data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    handled++;
}

static int is_stopped(void *unused) { return unused || stopped; }
static int has_handled_enough(void *unused) { return unused || handled >= ENOUGH; }

static void start(void)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_register("stop", handle_stop, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("again", handle_again, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("long", handle_long, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
}

static void other_ranks(int rank)
{
    start();
    if (rank == 0) {
        call_one_way(0, "again");
        CHECK_EQUAL(vd_rpc_serve(is_stopped, NULL), VD_OK);
    } else {
        call_one_way(0, "stop");
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* Rank 1 answers only when it calls vd_finalize. */
static void deadline(int rank)
{
    char byte = 0;
    start();
    if (rank == 0) {
        call_one_way(0, "again");
        vd_call *call = vd_rpc_begin(1, "stop", 1000000);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_TIMEOUT);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
        stopped = true;
        CHECK_EQUAL(write(began[1], &byte, 1), 1);
    } else {
        CHECK_EQUAL(read(began[0], &byte, 1), 1);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

static void serve(int rank)
{
    char byte = 0;
    int calls = 0;
    start();
    if (rank == 0) {
        CHECK_EQUAL(read(began[0], &byte, 1), 1);
        CHECK_EQUAL(vd_rpc_serve(has_handled_enough, NULL), VD_OK);
        CHECK(handled < ENOUGH + 2 * TURN);
        for (int other = 1; other < vd_size(); other++)
            call_one_way(other, "stop");
    }
    while (rank && !stopped) {
        vd_call *call = vd_rpc_begin_now(0, "long", VD_ONE_WAY);
        if (call) {
            CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
            CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        }
        if (++calls == TURN && rank == 1)
            CHECK_EQUAL(write(began[1], &byte, 1), 1);
        (void)vd_progress();
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

int main(void)
{
    CHECK_EQUAL(pipe(began), 0);
    harness_run(2, other_ranks);
    harness_run(2, deadline);
    harness_run(4, serve);
    return check_done();
}
