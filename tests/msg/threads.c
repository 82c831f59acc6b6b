/* Several threads of two ranks at once: each pair exchanges in its own tag over every way a message can take; cancels
 * race with matches; messages to self pass between threads; one thread waits for a word that another one changes.
 * timeout: 120 tcp: 1 */
#include "harness.h"
#include <pthread.h>

#define THREADS 3
#define ROUNDS  150
#define MOST    70000

struct worker {
    int rank, number;
    unsigned char out[MOST], in[MOST];
};

static size_t size_of(int number, int round)
{
    static const size_t sizes[] = {0, 8, 49, 2000, 16384, 17000, MOST};
    return sizes[(unsigned)(number + round) % ARRAY_LENGTH(sizes)];
}

static void exchange(struct worker *w, int round)
{
    size_t bytes = size_of(w->number, round);
    unsigned name = (unsigned)(w->number * ROUNDS + round) * 2;
    struct msg_where where = {world, 1 - w->rank, w->number};
    struct msg_request send = {0}, receive = {0};
    struct type_buffer from = {.base = w->out, .count = bytes}, to = {.base = w->in, .count = MOST};
    fill(w->out, name + (unsigned)w->rank, bytes);
    CHECK_EQUAL(vmsg_send_start(&send, &where, &from, round % 4 ? MSG_STANDARD : MSG_SYNCHRONOUS), OK);
    CHECK_EQUAL(vmsg_recv_start(&receive, &where, &to), OK);
    CHECK_EQUAL(vmsg_wait(&receive), OK);
    CHECK_EQUAL(vmsg_wait(&send), OK);
    CHECK_EQUAL(receive.result.bytes, bytes);
    CHECK_EQUAL(first_wrong(w->in, name + (unsigned)(1 - w->rank), bytes), bytes);
}

/* Either side may win; the messages that were not cancelled must all be there afterwards. */
static int sent_for_good;
static void cancel_race(struct worker *w, int round)
{
    struct msg_where where = {world, 1 - w->rank, 1000 + w->number};
    struct msg_request request = {0};
    int value = round;
    struct type_buffer buffer = {.base = &value, .count = sizeof value};
    if (w->rank == 0) {
        CHECK_EQUAL(vmsg_send_start(&request, &where, &buffer, MSG_SYNCHRONOUS), OK);
        vmsg_cancel(&request);
        if (vmsg_wait(&request) == OK)
            __atomic_fetch_add(&sent_for_good, 1, __ATOMIC_RELAXED);
    } else {
        CHECK_EQUAL(vmsg_recv_start(&request, &where, &buffer), OK);
        if (round % 2)
            vmsg_progress();
        vmsg_cancel(&request);
        if (vmsg_wait(&request) == OK)
            __atomic_fetch_add(&sent_for_good, 1, __ATOMIC_RELAXED);
    }
}

static void *work(void *context)
{
    struct worker *w = context;
    for (int round = 0; round < ROUNDS; round++) {
        exchange(w, round);
        cancel_race(w, round);
    }
    return NULL;
}

/* A ring of threads within one rank. */
static void *to_self(void *context)
{
    struct worker *w = context;
    int next = 2000 + (w->number + 1) % THREADS, mine = 2000 + w->number;
    for (int round = 0; round < ROUNDS; round++) {
        int value = -1;
        CHECK_EQUAL(vmsg_send(world, w->rank, next, &round, sizeof round), OK);
        CHECK_EQUAL(vmsg_recv(world, w->rank, mine, &value, sizeof value, NULL), OK);
        CHECK_EQUAL(value, round);
    }
    return NULL;
}

static _Atomic int word;
static bool word_is_two(void *unused)
{
    (void)unused;
    return word == 2;
}
static void *waiter(void *context)
{
    CHECK_EQUAL(vmsg_wait_until(word_is_two, NULL), OK);
    return context;
}
static void *changer(void *context)
{
    struct timespec moment = {0, 20000000};
    nanosleep(&moment, NULL); /* the waiters sleep by now; if not, the test is only easier */
    word = 2;
    vmsg_wake();
    return context;
}

static void run_all(int rank, void *(*start[THREADS])(void *))
{
    static struct worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i].rank = rank;
        workers[i].number = i;
        CHECK_EQUAL(pthread_create(&threads[i], NULL, start[i], &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void body(int rank)
{
    vmsg_threads(true);
    run_all(rank, (void *(*[])(void *)){work, work, work});
    int here = sent_for_good, there = -1;
    CHECK_EQUAL(vmsg_send(world, 1 - rank, 5000, &here, sizeof here), OK);
    CHECK_EQUAL(vmsg_recv(world, 1 - rank, 5000, &there, sizeof there, NULL), OK);
    CHECK_EQUAL(here, there);
    run_all(rank, (void *(*[])(void *)){to_self, to_self, to_self});
    run_all(rank, (void *(*[])(void *)){waiter, changer, waiter});
}

int main(void)
{
    harness_run(2, body);
    setenv("VIADUCT_SINGLE_FROM", "1", 1); /* both ends copy */
    harness_run(2, body);
    setenv("VIADUCT_SINGLE_COPY", "no", 1);
    harness_run(2, body);
    return check_done();
}
