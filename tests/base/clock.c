/* The clock: ticks and nanoseconds agree with the kernel's time, at once and later, from several threads. */
#include "base/clock.h"
#include "check.h"
#include <pthread.h>
#include <time.h>

static void *convert(void *out)
{
    *(uint64_t *)out = vbase_clock_ns_of_ticks(1000000000);
    return NULL;
}

static void threads_agree(void)
{
    uint64_t result[4];
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, convert, &result[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    for (int i = 1; i < 4; i++) {
        double ratio = (double)result[i] / (double)result[0];
        CHECK(ratio > 0.998 && ratio < 1.002);
    }
}

/* Forty tries for one good one: on a busy machine a thread may lose the processor between the two reads. */
static bool error_below(double limit, long span_ns)
{
    for (int i = 0; i < 40; i++) {
        struct timespec nap = {.tv_nsec = span_ns};
        uint64_t ns = vbase_clock_ns(), ticks = clock_ticks();
        nanosleep(&nap, NULL);
        uint64_t passed = vbase_clock_ns() - ns, counted = vbase_clock_ns_of_ticks(clock_ticks() - ticks);
        double error = (double)counted / (double)passed - 1;
        if (error < limit && -error < limit)
            return true;
    }
    return false;
}

int main(void)
{
    uint64_t before = vbase_clock_ns(), ticks = vbase_clock_ticks_of_ns(1000000);
    uint64_t cost = vbase_clock_ns() - before;
    CHECK(cost < 100000000); /* usually far below a millisecond; a busy machine may take it away from us */
    CHECK(ticks > 0);
    threads_agree();
    CHECK(error_below(2e-3, 20000000));
    struct timespec second = {.tv_sec = 1, .tv_nsec = 100000000};
    nanosleep(&second, NULL);
    (void)vbase_clock_ticks_of_ns(1); /* now it is taken over more than a second */
    CHECK(error_below(1e-4, 50000000));

    static const uint64_t spans[] = {0, 1, 40, 2000, 1000000, 3600ull * 1000000000};
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        uint64_t back = vbase_clock_ns_of_ticks(vbase_clock_ticks_of_ns(spans[i]));
        CHECK(back <= spans[i] && spans[i] - back <= 2 + spans[i] / 1000000000 * 2 + vbase_clock_ns_of_ticks(1));
    }
    uint64_t last = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t now = vbase_clock_ns();
        CHECK(now >= last);
        last = now;
    }
    return check_done();
}
