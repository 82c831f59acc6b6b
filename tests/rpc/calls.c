/* Calls: replies of every length, one-way calls, names nobody knows, deadlines, cancelling, floods, handlers that call.
 * timeout: 120
 * tcp: 1 */
#include "base/counters.h"
#include "pack/pack_test.h"
#include <poll.h>
#include <pthread.h>
#include <time.h>

static int stop, seen;
static int told[2], told_too[2]; /* pipes: something has happened on another rank; who waits there makes no progress */
static void tell(const int pipe[2]) { CHECK_EQUAL(write(pipe[1], "", 1), 1); }
static void hear(const int pipe[2])
{
    char byte;
    CHECK_EQUAL(read(pipe[0], &byte, 1), 1);
}
static void hear_and_serve(const int pipe[2]) /* the same with progress */
{
    struct pollfd ready = {.fd = pipe[0], .events = POLLIN};
    while (poll(&ready, 1, 0) == 0)
        vd_progress();
    hear(pipe);
}

static int stopped(void *context)
{
    (void)context;
    return __atomic_load_n(&stop, __ATOMIC_ACQUIRE);
}

static void handle_stop(vd_call *call, void *context)
{
    (void)call, (void)context;
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
}

static void handle_nothing(vd_call *call, void *context) { (void)call, (void)context; }

/* The argument is a length and so many bytes; the reply is the same twice. */
static void handle_twice(vd_call *call, void *context)
{
    (void)context;
    size_t length = 0;
    vd_connection *from = vd_rpc_arguments(call);
    CHECK_EQUAL(vd_unpack(from, &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    unsigned char *data = malloc(length + 1);
    CHECK_EQUAL(vd_unpack(from, data, length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
    CHECK_EQUAL(vd_end_unpacking(from), VD_OK);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(vd_pack(vd_rpc_reply(call), data, length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
    memset(data, 0, length);
    free(data);
}

static void handle_count(vd_call *call, void *context)
{
    int number;
    CHECK_EQUAL(vd_unpack(vd_rpc_arguments(call), &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    int *next = context;
    CHECK_EQUAL(number, next[vd_rpc_caller(call)]++); /* in the order of their coming */
    __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
}

static void handle_fail(vd_call *call, void *context)
{
    (void)context;
    CHECK_EQUAL(vd_pack(vd_rpc_reply(call), "gone", 5, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
    vd_rpc_fail(call, VD_LIMIT);
}

static void start(int threads)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_start(threads), VD_OK);
    CHECK_EQUAL(vd_rpc_register("stop", handle_stop, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("nothing", handle_nothing, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("nothing", handle_nothing, NULL, VD_AT_ONCE), VD_ARGUMENT);
}

static void stop_server(int server)
{
    vd_call *call = vd_rpc_begin(server, "stop", VD_ONE_WAY);
    CHECK(call);
    CHECK_EQUAL(vd_rpc_send(call), VD_OK);
}

static int call_nothing(int server, const char *name, uint64_t ns)
{
    vd_call *call = vd_rpc_begin(server, name, ns);
    CHECK(call);
    CHECK_EQUAL(vd_rpc_send(call), VD_OK);
    int code = vd_rpc_wait(call, NULL);
    CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    return code;
}

static vd_receive_mode argument = VD_RECEIVE_CHEAPER; /* how it is received */
static void twice(int server, size_t length, unsigned name)
{
    unsigned char *data = malloc(length + 1), *back = malloc(2 * length + 1);
    vd_connection *reply;
    vd_call *call = vd_rpc_begin(server, "twice", 0);
    fill(data, name, length);
    CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), data, length, VD_SEND_CHEAPER, argument), VD_OK);
    CHECK_EQUAL(vd_rpc_send(call), VD_OK);
    memset(data, 0, length); /* they may be changed at once */
    CHECK_EQUAL(vd_rpc_wait(call, &reply), VD_OK);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(vd_unpack(reply, back + (size_t)i * length, length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
    CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(first_wrong(back + (size_t)i * length, name, length), length);
    free(data);
    free(back);
}

/* Arguments that the server does not unpack, of frames and of long blocks, and a reply that the caller does not: they come and
 * go, and nothing of them stays. */
static void dropped(int server)
{
    enum { LENGTH = 100000, CALLS = 100 };
    size_t length = LENGTH;
    unsigned char *data = calloc(1, LENGTH);
    for (int i = 0; i < CALLS; i++) {
        vd_call *call = vd_rpc_begin(server, i % 3 ? "nothing" : "twice", 0);
        CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        if (i % 3 == 0)
            CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        for (int b = 0; b < 20 && i % 3; b++)
            CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), data, b % 5 ? 3000 : 10000, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_OK);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    }
    free(data);
}

/* A handler that unpacks more than was packed hears of it, in frames and alone. */
static void greedy(int server)
{
    vd_call *call = vd_rpc_begin(server, "greedy", 0);
    CHECK_EQUAL(vd_rpc_send(call), VD_OK);
    CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_ASYMMETRY);
    CHECK_EQUAL(vd_rpc_end(call), VD_OK);
}

static void handle_greedy(vd_call *call, void *context)
{
    static unsigned char data[20000];
    (void)context;
    vd_connection *from = vd_rpc_arguments(call);
    CHECK_EQUAL(vd_unpack(from, data, sizeof data, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_ASYMMETRY);
    CHECK_EQUAL(vd_end_unpacking(from), VD_ASYMMETRY);
}

/* Calls that were begun and are given up leave nothing behind, not even a place that is taken. */
static void given_up(int server)
{
    unsigned char *data = calloc(1, 100000);
    for (int i = 0; i < 3 * VD_RPC_ROOM; i++) {
        vd_call *call = vd_rpc_begin_now(server, "twice", 0);
        CHECK(call);
        for (int b = 0; b < i % 3; b++)
            CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), data, b ? 100000 : 3, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_STATE);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    }
    free(data);
}

/* It is cancelled when its long reply is on its way already: the reply comes. */
static void cancelled_late(int server)
{
    enum { LENGTH = 100000 };
    struct timespec while_ = {0, 30000000};
    size_t length = LENGTH;
    unsigned char *data = calloc(2, LENGTH);
    vd_connection *reply;
    vd_call *call = vd_rpc_begin(server, "twice", 0);
    fill(data, 1, LENGTH);
    CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
    CHECK_EQUAL(vd_rpc_send(call), VD_OK);
    nanosleep(&while_, NULL);
    CHECK_EQUAL(vd_rpc_cancel(call), VD_OK);
    nanosleep(&while_, NULL);
    int code = vd_rpc_wait(call, &reply);
    CHECK(code == VD_OK || code == VD_CANCELLED);
    for (int i = 0; i < 2 && !code; i++) {
        CHECK_EQUAL(vd_unpack(reply, data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(first_wrong(data, 1, LENGTH), LENGTH);
    }
    CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    free(data);
}

static void replies(int rank)
{
    start(0);
    CHECK_EQUAL(vd_rpc_register("twice", handle_twice, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("fail", handle_fail, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("greedy", handle_greedy, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("pool", handle_nothing, NULL, VD_POOL), VD_ARGUMENT);
    if (rank == 0) {
        CHECK_EQUAL(vd_rpc_serve(stopped, NULL), VD_OK);
        CHECK_EQUAL(vbase_counters->unexpected_now, 0);
        tell(told); /* it has looked at its counters */
    } else {
        unsigned name = 0;
        for (size_t length = 0; length < 1 << 20; length = length * 3 + 1)
            twice(0, length, ++name);
        CHECK_EQUAL(call_nothing(0, "nothing", 0), VD_OK);
        CHECK_EQUAL(call_nothing(0, "unknown", 0), VD_NOT_FOUND);
        CHECK_EQUAL(call_nothing(0, "fail", 0), VD_LIMIT);
        CHECK_EQUAL(call_nothing(1, "nothing", 0), VD_OK); /* the own rank */
        CHECK_EQUAL(call_nothing(0, "nothing", 1000000000), VD_OK);
        dropped(0);
        greedy(0);
        given_up(0);
        cancelled_late(0);
        CHECK(!vd_rpc_begin(7, "nothing", 0));
        CHECK_EQUAL(vd_error(), VD_ARGUMENT);
        stop_server(0);
        hear(told); /* what comes next is of the end */
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* More one-way calls than a server has places for; they come in order, and the caller waits with them. */
static void flood(int rank)
{
    enum { CALLS = 3000 };
    int next[3] = {0, 0, 0};
    start(0);
    CHECK_EQUAL(vd_rpc_register("count", handle_count, next, VD_AT_ONCE), VD_OK);
    if (rank == 0) {
        while (seen < 2 * CALLS)
            vd_progress();
    } else {
        for (int i = 0; i < CALLS; i++) {
            vd_call *call = vd_rpc_begin(0, "count", VD_ONE_WAY);
            CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), &i, sizeof i, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
            CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        }
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* A server that makes no progress until it is told: no more than so many calls are begun, and deadlines end the waiting. */
static void silent_server(int rank)
{
    start(0);
    vd_channel *channel = channel_open("go");
    if (rank == 0) {
        tell(told_too);
        hear(told);
        CHECK_EQUAL(vd_rpc_serve(stopped, NULL), VD_OK);
    } else {
        vd_call *call[VD_RPC_ROOM];
        hear_and_serve(told_too); /* from now on it makes none */
        for (int i = 0; i < VD_RPC_ROOM; i++) {
            call[i] = vd_rpc_begin_now(0, "nothing", i % 2 ? 0 : 20000000);
            CHECK(call[i]);
            CHECK_EQUAL(vd_rpc_send(call[i]), VD_OK);
        }
        CHECK(!vd_rpc_begin_now(0, "nothing", 0));
        CHECK_EQUAL(vd_error(), VD_AGAIN);
        CHECK_EQUAL(vd_rpc_done(call[1]), VD_AGAIN);
        CHECK_EQUAL(vd_rpc_wait(call[0], NULL), VD_TIMEOUT);
        CHECK_EQUAL(vd_rpc_end(call[0]), VD_OK); /* its answer finds nothing */
        for (int i = 2; i < VD_RPC_ROOM; i += 2)
            CHECK_EQUAL(vd_rpc_wait(call[i], NULL), VD_TIMEOUT);
        tell(told);
        for (int i = 1; i < VD_RPC_ROOM; i += 2) {
            CHECK_EQUAL(vd_rpc_wait(call[i], NULL), VD_OK);
            CHECK_EQUAL(vd_rpc_end(call[i]), VD_OK);
        }
        for (int i = 2; i < VD_RPC_ROOM; i += 2) {
            int code = vd_rpc_done(call[i]); /* its answer may have come meanwhile */
            CHECK(code == VD_TIMEOUT || code == VD_OK);
            CHECK_EQUAL(vd_rpc_end(call[i]), VD_OK);
        }
        CHECK_EQUAL(call_nothing(0, "nothing", 0), VD_OK);
        stop_server(0);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
    (void)channel;
}

/* ---- the pool ---------------------------------------------------------------------------------------------------- */

/* Waits until it is cancelled. */
static void handle_patient(vd_call *call, void *context)
{
    struct timespec gap = {0, 1000000};
    (void)context;
    while (!vd_rpc_cancelled(call))
        nanosleep(&gap, NULL);
    vd_rpc_fail(call, VD_CANCELLED);
}

/* Calls the next rank, until the number is 0; adds up the ranks on the way. */
static void handle_round(vd_call *call, void *context)
{
    int number = 0, sum = 0;
    (void)context;
    CHECK_EQUAL(vd_unpack(vd_rpc_arguments(call), &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    if (number > 0) {
        number--;
        vd_connection *reply;
        vd_call *next = vd_rpc_begin((vd_rank() + 1) % vd_size(), "round", 0);
        CHECK_EQUAL(vd_pack(vd_rpc_arguments(next), &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_rpc_send(next), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(next, &reply), VD_OK);
        CHECK_EQUAL(vd_unpack(reply, &sum, sizeof sum, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_rpc_end(next), VD_OK);
    }
    sum += vd_rank() + 1;
    CHECK_EQUAL(vd_pack(vd_rpc_reply(call), &sum, sizeof sum, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
}

static void *caller(void *context)
{
    int server = *(int *)context;
    for (unsigned i = 0; i < 100; i++)
        twice(server, mixed(i, 3) % 40000, i);
    return NULL;
}

static void pool(int rank)
{
    start(3);
    CHECK_EQUAL(vd_rpc_register("round", handle_round, NULL, VD_POOL), VD_OK);
    CHECK_EQUAL(vd_rpc_register("twice", handle_twice, NULL, VD_POOL), VD_OK);
    CHECK_EQUAL(vd_rpc_register("patient", handle_patient, NULL, VD_POOL), VD_OK);
    if (rank == 0) {
        int number = 2, sum = 0, server = 1;
        vd_connection *reply;
        vd_call *call = vd_rpc_begin(1, "round", 0);
        CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(call, &reply), VD_OK);
        CHECK_EQUAL(vd_unpack(reply, &sum, sizeof sum, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
        CHECK_EQUAL(sum, 2 + 1 + 2); /* ranks 1, 0, 1 */
        vd_call *patient[8]; /* more than threads: some have not begun */
        for (int i = 0; i < 8; i++) {
            patient[i] = vd_rpc_begin(1, "patient", 0);
            CHECK_EQUAL(vd_rpc_send(patient[i]), VD_OK);
        }
        for (int i = 7; i >= 0; i--)
            CHECK_EQUAL(vd_rpc_cancel(patient[i]), VD_OK);
        for (int i = 0; i < 8; i++) {
            CHECK_EQUAL(vd_rpc_wait(patient[i], NULL), VD_CANCELLED);
            CHECK_EQUAL(vd_rpc_end(patient[i]), VD_OK);
        }
        pthread_t thread[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&thread[i], NULL, caller, &server);
        for (int i = 0; i < 3; i++)
            pthread_join(thread[i], NULL);
        stop_server(1);
    } else {
        CHECK_EQUAL(vd_rpc_serve(stopped, NULL), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* As "twice", and the argument is needed at once. */
static void handle_express(vd_call *call, void *context)
{
    static unsigned char data[1 << 16];
    size_t length = 0;
    (void)context;
    CHECK_EQUAL(vd_unpack(vd_rpc_arguments(call), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    CHECK_EQUAL(vd_unpack(vd_rpc_arguments(call), data, length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(vd_pack(vd_rpc_reply(call), data, length, VD_SEND_SAFER, VD_RECEIVE_CHEAPER), VD_OK);
}

/* Everybody calls everybody: while a handler waits for its arguments other calls and replies come in between. */
static void crossing(int rank)
{
    start(0);
    CHECK_EQUAL(vd_rpc_register("twice", handle_express, NULL, VD_AT_ONCE), VD_OK);
    argument = VD_RECEIVE_EXPRESS;
    for (unsigned i = 0; i < 500; i++)
        for (int server = 0; server < vd_size(); server++)
            if (server != rank)
                twice(server, (size_t)1 << i % 16, i);
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* A call is out; the one made after it has ended, and its memory serves another rank's call, whose number is that of the first. */
static void same_number(int rank)
{
    start(0);
    if (rank == 0) {
        vd_call *first = vd_rpc_begin(1, "nothing", 10000000000);
        CHECK_EQUAL(vd_rpc_send(first), VD_OK);
        CHECK_EQUAL(call_nothing(2, "stop", 0), VD_OK);
        tell(told); /* it has ended */
        CHECK_EQUAL(vd_rpc_wait(first, NULL), VD_OK);
        CHECK_EQUAL(vd_rpc_end(first), VD_OK);
        stop_server(1);
        stop_server(2);
    } else {
        if (rank == 2) {
            CHECK_EQUAL(vd_rpc_serve(stopped, NULL), VD_OK);
            stop = 0;
            hear_and_serve(told); /* what is left of its answer goes */
            CHECK_EQUAL(call_nothing(0, "nothing", 0), VD_OK);
            tell(told_too);
        } else {
            hear(told_too); /* until then the first call is out */
        }
        CHECK_EQUAL(vd_rpc_serve(stopped, NULL), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

int main(void)
{
    CHECK(pipe(told) == 0 && pipe(told_too) == 0);
    harness_run(2, replies);
    harness_run(3, same_number);
    harness_run(3, crossing);
    harness_run(3, flood);
    harness_run(2, silent_server);
    harness_run(2, pool);
    return check_done();
}
