/* A rank that waits for two seconds sleeps, and where nothing but a message can end that it rarely looks up: for a blocking
 * receive, for a wait of several threads, and in a job of one. And it is woken: the message that ends the wait is not found by
 * a time-out. Counters tell; of the processor's time only that it is a small part.
 * timeout: 60 waits: 6 tcp: 1 */
#include "harness.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/tunables.h"
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
    uint64_t ns, sleeps, yields;
    double used_ms;
};

static struct moment now(void)
{
    return (struct moment){vbase_clock_ns(), vbase_counters->sleeps, vbase_counters->yields, processor_ms()};
}

/* Since BEFORE a rank waited, for two seconds or as long as a busy machine made of them. It yields before the first sleep, and
 * only then; where there are no timers a sleep ends by a message, or after 100 ms. */
static void check_idle(struct moment before)
{
    double used = processor_ms() - before.used_ms;
    double ms = (double)(vbase_clock_ns() - before.ns) / 1e6;
    uint64_t sleeps = vbase_counters->sleeps - before.sleeps, yields = vbase_counters->yields - before.yields;
    fprintf(stderr, "waiting %.0f ms: %lu yields, %lu sleeps, %.1f ms of a processor\n", ms, yields, sleeps, used);
    CHECK(ms >= 1900);
    CHECK(used <= ms / 10);
    CHECK(yields < 1000);
    CHECK(sleeps > 0);
    if (getenv("VIADUCT_TRANSPORTS")) /* with timers of links */
        CHECK((double)sleeps <= ms / 10);
    else
        CHECK((double)sleeps <= ms * 1e6 / (double)TUNED(SLEEP_LONGEST) * 5 / 4);
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

/* Naps of 10 ms before each message, longer than a rank polls: the receiver is asleep each time. A lost wake-up is one
 * that a time-out has found. */
#define NAPS 100
static void wake_ups(int rank)
{
    int value = 0;
    for (int i = 0; i < NAPS; i++) {
        if (rank == 1)
            pause_ms(10);
        if (rank == 1) {
            CHECK_EQUAL(vmsg_send(world, 0, 1, &value, sizeof value), OK);
            CHECK_EQUAL(vmsg_recv(world, 0, 2, &value, sizeof value, NULL), OK);
        } else {
            CHECK_EQUAL(vmsg_recv(world, 1, 1, &value, sizeof value, NULL), OK);
            CHECK_EQUAL(vmsg_send(world, 1, 2, &value, sizeof value), OK);
        }
    }
    if (rank == 0) {
        CHECK(vbase_counters->sleeps >= NAPS / 2);
        fprintf(stderr, "%lu sleeps, %lu of them too long\n", vbase_counters->sleeps, vbase_counters->overslept);
        CHECK(vbase_counters->overslept <= NAPS / 10); /* a message may come in the moment of a time-out */
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
