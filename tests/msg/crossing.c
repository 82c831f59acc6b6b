/* Large messages in both directions at once, in numbers and sizes that change, as the table says and by each mover alone: whole. And
 * in one direction only in between. And a short one passes a long one.
 * timeout: 120 */
#include "harness.h"
#include "base/counters.h"

enum { ROUNDS = 240, WINDOW = 3, MOST = 600000 };
static unsigned char *out, *in;

static uint64_t word_of(unsigned message, size_t i) { return (i + 1) * 0x9E3779B97F4A7C15ull ^ message; }

static void stamp(unsigned char *to, unsigned message, size_t bytes)
{
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t word = word_of(message, i);
        memcpy(to + i, &word, 8);
    }
}

static bool stamped(const unsigned char *from, unsigned message, size_t bytes)
{
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t word;
        memcpy(&word, from + i, 8);
        if (word != word_of(message, i))
            return false;
    }
    return true;
}

/* Four sizes, on both sides of the borders. */
static size_t size_of(int round, int number) { return ((size_t)40000 << (round / 8 + number) % 4) + 8 * (size_t)(round % 5); }

static unsigned message_of(int rank, int round, int number) { return (unsigned)(rank * 100000 + round * 10 + number); }

/* Both send; in some rounds only one of them. */
static bool sends(int rank, int round) { return round / 20 % 4 != 3 || rank == round % 2; }

static void crossing(int rank)
{
    struct msg_request request[2 * WINDOW];
    out = malloc((size_t)WINDOW * MOST);
    in = malloc((size_t)WINDOW * MOST);
    for (int round = 0; round < ROUNDS; round++) {
        int window = 1 + round / 3 % WINDOW, started = 0;
        for (int i = 0; i < window && sends(1 - rank, round); i++) {
            struct msg_where from = {world, 1 - rank, i};
            struct type_buffer buffer = {.base = in + (size_t)i * MOST, .count = MOST};
            memset(buffer.base, 0, size_of(round, i));
            request[started] = (struct msg_request){.completed = NULL};
            CHECK_EQUAL(vmsg_recv_start(&request[started++], &from, &buffer), OK);
        }
        for (int i = 0; i < window && sends(rank, round); i++) {
            struct msg_where to = {world, 1 - rank, i};
            struct type_buffer buffer = {.base = out + (size_t)i * MOST, .count = size_of(round, i)};
            stamp(buffer.base, message_of(rank, round, i), buffer.count);
            request[started] = (struct msg_request){.completed = NULL};
            CHECK_EQUAL(vmsg_send_start(&request[started++], &to, &buffer, MSG_STANDARD), OK);
        }
        for (int i = 0; i < started; i++)
            CHECK_EQUAL(vmsg_wait(&request[i]), OK);
        for (int i = 0; i < window && sends(1 - rank, round); i++)
            CHECK(stamped(in + (size_t)i * MOST, message_of(1 - rank, round, i), size_of(round, i)));
    }
    free(out);
    free(in);
}

static void crossing_single(int rank)
{
    crossing(rank);
    CHECK(vbase_counters->copy_single > 0);
}

static int turn[2][2]; /* a pipe for each rank */

static void turn_give(int rank) { CHECK_EQUAL(write(turn[rank][1], "", 1), 1); }
static void turn_await(int rank) { CHECK_EQUAL(read(turn[rank][0], &(char){0}, 1), 1); }

/* From SENDER in frames, however the two are scheduled: the receiver does nothing while they are sent. */
static void framed(int rank, int sender)
{
    struct msg_request request = {.completed = NULL};
    struct msg_where other = {world, 1 - rank, 0};
    struct type_buffer buffer = {.base = rank == sender ? out : in, .count = MOST};
    if (rank == sender) {
        CHECK_EQUAL(vmsg_send_start(&request, &other, &buffer, MSG_STANDARD), OK);
        CHECK_EQUAL(vmsg_send(world, 1 - rank, 1, "", 1), OK);
        turn_await(rank);
        for (int i = 0; i < 1000; i++)
            vmsg_progress();
        turn_give(1 - rank);
    } else {
        CHECK_EQUAL(vmsg_recv(world, sender, 1, &(char){0}, 1, NULL), OK); /* so the other one is announced */
        CHECK_EQUAL(vmsg_recv_start(&request, &other, &buffer), OK);
        turn_give(sender);
        turn_await(rank);
    }
    CHECK_EQUAL(vmsg_wait(&request), OK);
    CHECK(rank == sender || vbase_counters->copy_pipelined > 0);
}

static void crossing_framed(int rank)
{
    crossing(rank);
    out = calloc(1, MOST);
    in = calloc(1, MOST);
    framed(rank, 0);
    framed(rank, 1);
    free(out);
    free(in);
}

/* What is short does not wait for something long that was there before, however the long one goes. */
static void overtaking(int rank)
{
    const size_t huge = 48 << 20, brief = TUNED(PASSING_MOST);
    struct msg_request request[2] = {{.completed = NULL}, {.completed = NULL}};
    struct type_buffer buffer[2] = {{.base = calloc(1, huge), .count = huge}, {.base = calloc(1, brief), .count = brief}};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2 && rank == 0; i++) {
            struct msg_where to = {world, 1, i};
            stamp(buffer[i].base, message_of(0, round, i), buffer[i].count);
            CHECK_EQUAL(vmsg_send_start(&request[i], &to, &buffer[i], MSG_STANDARD), OK);
        }
        if (rank == 0)
            CHECK_EQUAL(vmsg_send(world, 1, 2, "", 1), OK);
        else
            CHECK_EQUAL(vmsg_recv(world, 0, 2, &(char){0}, 1, NULL), OK); /* both were announced before */
        for (int i = 0; i < 2 && rank == 1; i++) {
            struct msg_where from = {world, 0, i};
            CHECK_EQUAL(vmsg_recv_start(&request[i], &from, &buffer[i]), OK);
        }
        CHECK_EQUAL(vmsg_wait(&request[1]), OK);
        if (rank == 1)
            CHECK(!vmsg_request_done(&request[0]));
        CHECK_EQUAL(vmsg_wait(&request[0]), OK);
        for (int i = 0; i < 2 && rank == 1; i++)
            CHECK(stamped(buffer[i].base, message_of(0, round, i), buffer[i].count));
    }
    free(buffer[0].base);
    free(buffer[1].base);
}

int main(void)
{
    CHECK_EQUAL(pipe(turn[0]) | pipe(turn[1]), 0);
    harness_run(2, crossing);
    harness_run(2, overtaking);
    setenv("VIADUCT_SINGLE_FROM", "1", 1);
    harness_run(2, crossing_single);
    harness_run(2, overtaking);
    setenv("VIADUCT_SINGLE_FROM", "1000000000", 1);
    harness_run(2, crossing_framed);
    harness_run(2, overtaking);
    return check_done();
}
