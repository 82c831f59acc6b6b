/* With several threads: a handler that runs at once waits for a long argument, on the thread that watches the network for
 * all. It sleeps until the argument comes, and no longer. A thread waits for a message of a channel on which another one
 * looks for another message all the time.
 * timeout: 60 waits: 2 */
#include "base/clock.h"
#include "base/tunables.h"
#include "pack/pack_test.h"
#include <pthread.h>
#include <time.h>

enum { TIMES = 5, LENGTH = 200000, MESSAGES = 100 };

static int handled;

static void sleep_ms(long ms)
{
    struct timespec moment = {0, ms * 1000000};
    nanosleep(&moment, NULL);
}

static void handle_long(vd_call *call, void *unused)
{
    static unsigned char data[LENGTH];
    (void)unused;
    CHECK_EQUAL(vd_unpack(vd_rpc_arguments(call), data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    CHECK_EQUAL(first_wrong(data, 7, LENGTH), LENGTH);
    handled++;
}

static int all_handled(void *unused)
{
    (void)unused;
    return handled == TIMES;
}

static void body(int rank)
{
    static unsigned char data[LENGTH];
    int late = 0;
    fill(data, 7, LENGTH);
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_threads(), VD_OK);
    CHECK_EQUAL(vd_rpc_register("long", handle_long, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    if (rank == 0)
        CHECK_EQUAL(vd_rpc_serve(all_handled, NULL), VD_OK);
    for (int i = 0; rank == 1 && i < TIMES; i++) {
        vd_call *call = vd_rpc_begin(0, "long", 0);
        sleep_ms(50); /* the server sleeps */
        CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        sleep_ms(20); /* so does the handler */
        uint64_t since = vbase_clock_ns();
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_OK);
        late += vbase_clock_ns() - since > TUNED(SLEEP_LONGEST) / 2;
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    }
    CHECK(late <= TIMES / 2); /* a machine may be busy */
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

static vd_channel *channel;
static _Atomic bool over;

/* For a message that never comes: while it looks, no other thread can. */
static void *looker(void *nothing)
{
    vd_connection *from;
    while (!over)
        CHECK_EQUAL(vd_begin_unpacking_now(channel, 0, &from), VD_AGAIN);
    return nothing;
}

/* How many messages came to a sleeper by its time-out. */
static int messages_late(void)
{
    int late = 0;
    for (int i = 0; i < MESSAGES; i++) {
        uint64_t sent = 0;
        vd_connection *from = vd_begin_unpacking(channel);
        CHECK_EQUAL(vd_unpack(from, &sent, sizeof sent, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_end_unpacking(from), VD_OK);
        CHECK_EQUAL(vd_end_packing(vd_begin_packing(channel, 1)), VD_OK);
        late += vbase_clock_ns() - sent > TUNED(SLEEP_LONGEST) / 4 * 3;
    }
    return late;
}

static void messages(int rank)
{
    pthread_t thread;
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_threads(), VD_OK);
    channel = channel_open("two");
    if (rank == 0) {
        CHECK_EQUAL(pthread_create(&thread, NULL, looker, NULL), 0);
        int late = messages_late();
        over = true;
        pthread_join(thread, NULL);
        fprintf(stderr, "%d messages too late\n", late);
        CHECK(late <= MESSAGES / 20); /* a machine may be busy */
    }
    for (int i = 0; rank == 1 && i < MESSAGES; i++) {
        sleep_ms(10); /* the other rank sleeps */
        uint64_t now = vbase_clock_ns();
        vd_connection *to = vd_begin_packing(channel, 0);
        CHECK_EQUAL(vd_pack(to, &now, sizeof now, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_end_packing(to), VD_OK);
        CHECK_EQUAL(vd_end_unpacking(vd_begin_unpacking(channel)), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

int main(void)
{
    harness_run(2, messages);
    setenv("VIADUCT_SINGLE_COPY", "no", 1); /* the caller must send the argument */
    harness_run(2, body);
    return check_done();
}
