/* A rank that waits for two seconds sleeps, and where nothing but a message can end that he rarely looks up: under 2 % of a core,
 * for a blocking receive, for a wait of several threads, and in a job of one. And it wakes at once: the message that ends
 * the wait is not found by a time-out.
 * timeout: 60 waits: 6 clock: 1 tcp: 1 */
#include "harness.h"
#include "base/clock.h"
#include "base/counters.h"
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

static double processor_ms(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3;
}

static void pause_ms(long ms)
{
    struct timespec moment = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&moment, NULL);
}

struct moment {
    uint64_t ns;
    double used_ms;
};

static struct moment now(void)
{
    return (struct moment){vbase_clock_ns(), processor_ms()};
}

/* Since BEFORE a rank waited, for two seconds or as long as a busy machine made of them. */
static void check_idle(struct moment before)
{
    double used = processor_ms() - before.used_ms;
    double ms = (double)(vbase_clock_ns() - before.ns) / 1e6;
    uint64_t sleeps = vbase_counters->sleeps;
    if (used > ms / 50 || (double)sleeps > ms / 80)
        fprintf(stderr, "waiting %.0f ms used %.1f ms of a processor and slept %lu times\n", ms, used, sleeps);
    CHECK(used <= ms / 50);
    CHECK(sleeps > 0);
    if (!getenv("VIADUCT_TRANSPORTS")) /* shared memory alone: no timers */
        CHECK((double)sleeps <= ms / 80);
}

static void receive(int rank)
{
    if (rank == 0) {
        char word[6];
        struct moment before = now();
        CHECK_EQUAL(vmsg_recv(world, 1, 1, word, sizeof word, NULL), OK);
        CHECK_TEXT(word, "hello");
        check_idle(before);
    } else {
        pause_ms(2000);
        CHECK_EQUAL(vmsg_send(world, 0, 1, "hello", 6), OK);
    }
}

static void *receive_in_thread(void *tag)
{
    char word[6];
    CHECK_EQUAL(vmsg_recv(world, 1, *(int *)tag, word, sizeof word, NULL), OK);
    CHECK_TEXT(word, "hello");
    return NULL;
}

static void threads(int rank)
{
    static int tags[3] = {1, 2, 3};
    pthread_t thread[3];
    struct moment before = now();
    if (rank == 1)
        pause_ms(2000);
    else
        vmsg_threads(true);
    for (int i = 0; i < 3; i++) {
        if (rank == 0)
            CHECK_EQUAL(pthread_create(&thread[i], NULL, receive_in_thread, &tags[i]), 0);
        else
            CHECK_EQUAL(vmsg_send(world, 0, tags[i], "hello", 6), OK);
    }
    for (int i = 0; rank == 0 && i < 3; i++)
        pthread_join(thread[i], NULL);
    if (rank == 0)
        check_idle(before);
}

/* Naps of 3 ms before each message: the receiver is asleep each time, and its time-outs are at least 1 ms, so a lost
 * wake-up shows in the sum. */
#define NAPS 100
static void wake_ups(int rank)
{
    int value = 0;
    uint64_t late = 0;
    for (int i = 0; i < NAPS; i++) {
        if (rank == 1)
            pause_ms(3);
        uint64_t sent = vbase_clock_ns();
        if (rank == 1) {
            CHECK_EQUAL(vmsg_send(world, 0, 1, &sent, sizeof sent), OK);
            CHECK_EQUAL(vmsg_recv(world, 0, 2, &value, sizeof value, NULL), OK);
        } else {
            CHECK_EQUAL(vmsg_recv(world, 1, 1, &sent, sizeof sent, NULL), OK);
            late += vbase_clock_ns() - sent; /* one clock for the machine */
            CHECK_EQUAL(vmsg_send(world, 1, 2, &value, sizeof value), OK);
        }
    }
    if (rank == 0) {
        CHECK(vbase_counters->sleeps >= NAPS / 2);
        CHECK(late / NAPS < 10000000); /* 10 ms in the mean, on a machine that does other things, too */
    }
}

static bool never(void *until)
{
    return vbase_clock_ns() > *(uint64_t *)until;
}

static void alone(int rank)
{
    (void)rank;
    uint64_t until = vbase_clock_ns() + 2000000000u;
    struct moment before = now();
    CHECK_EQUAL(vmsg_wait_until(never, &until), OK);
    check_idle(before);
}

int main(void)
{
    harness_run(2, receive);
    harness_run(2, threads);
    harness_run(2, wake_ups);
    harness_run(1, alone);
    return check_done();
}
