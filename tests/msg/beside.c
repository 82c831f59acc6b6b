/* What a thread starts and leaves alone goes on while another thread sleeps in a wait: the sleeper is woken for it, and
 * not only when its time is over. So is one that waits for what a callback changes which another thread runs,
 * and one that says goodbye.
 * timeout: 120 waits: 3 tcp: 1 */
#include "harness.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/tunables.h"
#include <pthread.h>
#include <time.h>

enum { TIMES = 5, BYTES = 40000, BYTES_REMOTE = 200000 }; /* too long for a frame, too short to be copied by both */

static void *sleeper(void *nothing)
{
    char byte;
    CHECK_EQUAL(vmsg_recv(world, 1, 1, &byte, 1, NULL), OK);
    return nothing;
}

static void sleep_ms(long ms)
{
    struct timespec moment = {0, ms * 1000000};
    nanosleep(&moment, NULL);
}

static void check_overslept(void)
{
    fprintf(stderr, "%lu sleeps, %lu of them too long\n", vbase_counters->sleeps, vbase_counters->overslept);
    CHECK(vbase_counters->sleeps >= TIMES);
    CHECK(vbase_counters->overslept <= 1); /* it may come in the moment of a time-out */
}

static void beside(int rank)
{
    static unsigned char data[BYTES_REMOTE];
    const char *transports = getenv("VIADUCT_TRANSPORTS");
    size_t bytes = transports && strstr(transports, "tcp") ? BYTES_REMOTE : BYTES;
    pthread_t thread;
    vmsg_threads(true);
    if (rank == 0)
        CHECK_EQUAL(pthread_create(&thread, NULL, sleeper, NULL), 0);
    for (int i = 0; i < TIMES; i++) {
        if (rank == 1) {
            CHECK_EQUAL(vmsg_send(world, 0, 2, data, bytes), OK);
            continue;
        }
        struct msg_request request = {.completed = NULL};
        struct msg_where from = {world, 1, 2};
        struct type_buffer buffer = {.base = data, .count = bytes};
        sleep_ms(300); /* it was announced, and the sleeper's sleeps have grown long */
        CHECK_EQUAL(vmsg_recv_start(&request, &from, &buffer), OK);
        while (!vmsg_request_done(&request)) /* that looks only: the sleeper must do it */
            sleep_ms(1);
        CHECK_EQUAL(vmsg_wait(&request), OK);
    }
    if (rank == 1) {
        CHECK_EQUAL(vmsg_send(world, 0, 1, "", 1), OK);
    } else {
        pthread_join(thread, NULL);
        check_overslept();
    }
}

static _Atomic int callbacks, turn;

/* Longer than the waiting thread needs to see that its request is done, and to sleep again. */
static void callback(struct msg_request *request)
{
    (void)request;
    sleep_ms(20);
    callbacks++;
}

static bool callback_has_run(void *unused)
{
    (void)unused;
    return callbacks > turn;
}

static void *callback_waiter(void *nothing)
{
    for (; turn < TIMES; turn++)
        CHECK_EQUAL(vmsg_wait_until(callback_has_run, NULL), OK);
    return nothing;
}

static void callbacks_beside(int rank)
{
    pthread_t thread;
    vmsg_threads(true);
    if (rank == 0)
        CHECK_EQUAL(pthread_create(&thread, NULL, callback_waiter, NULL), 0);
    for (int i = 0; i < TIMES; i++) {
        char byte;
        struct msg_request request = {.completed = callback};
        struct msg_where from = {world, 1, 2};
        struct type_buffer buffer = {.base = &byte, .count = 1};
        sleep_ms(300); /* its sleeps have grown long */
        if (rank == 1) {
            CHECK_EQUAL(vmsg_send(world, 0, 2, "", 1), OK);
            continue;
        }
        CHECK_EQUAL(vmsg_recv_start(&request, &from, &buffer), OK);
        while (callbacks == i) /* the sleeper is slower */
            vmsg_progress();
    }
    if (rank == 0) {
        pthread_join(thread, NULL);
        check_overslept();
    }
}

static _Atomic bool over;
static bool is_over(void *unused)
{
    (void)unused;
    return over;
}

static void *watcher(void *nothing)
{
    CHECK_EQUAL(vmsg_wait_until(is_over, NULL), OK);
    return nothing;
}

/* The goodbyes of others come to a thread that waits for something else, while this one sleeps, and so does it in the
 * fence. */
static void rest_beside(int rank)
{
    pthread_t thread;
    char byte;
    vmsg_threads(true);
    CHECK_EQUAL(pthread_create(&thread, NULL, watcher, NULL), 0);
    if (rank == 0)
        CHECK_EQUAL(vmsg_send(world, 1, 1, "", 1), OK);
    else
        CHECK_EQUAL(vmsg_recv(world, 0, 1, &byte, 1, NULL), OK);
    sleep_ms(rank ? 300 : 100);
    uint64_t since = vbase_clock_ns();
    vmsg_rest(true);
    CHECK(vbase_clock_ns() - since < TUNED(SLEEP_FENCE) / 4);
    vmsg_rest_end();
    over = true;
    vmsg_wake();
    pthread_join(thread, NULL);
}

int main(void)
{
    harness_run(2, beside);
    harness_run(2, callbacks_beside);
    harness_run(2, rest_beside);
    return check_done();
}
