/* Every size around every threshold arrives whole, aligned and not, both ways at once, from blocking and from started
 * operations, and nothing is written beside the buffer.
 * timeout: 120 tcp: 1 */
#include "harness.h"

#define MOST (4u << 20)
static unsigned char *out, *in;

static void exchange(int rank, unsigned message, size_t bytes, size_t shift)
{
    int other = 1 - rank;
    struct msg_request send = {0}, receive = {0};
    fill(out + shift, message * 2 + (unsigned)rank, bytes);
    memset(in, 0xA5, shift + bytes + 16);
    struct msg_where where = {world, other, (int)message};
    struct type_buffer from = {.base = out + shift, .count = bytes}, to = {.base = in + shift, .count = bytes};
    CHECK_EQUAL(vmsg_recv_start(&receive, &where, &to), OK);
    CHECK_EQUAL(vmsg_send_start(&send, &where, &from, message % 3 ? MSG_STANDARD : MSG_SYNCHRONOUS), OK);
    CHECK_EQUAL(vmsg_wait(&send), OK);
    CHECK_EQUAL(vmsg_wait(&receive), OK);
    CHECK_EQUAL(receive.result.bytes, bytes);
    CHECK_EQUAL(receive.result.source, other);
    CHECK_EQUAL(receive.result.tag, message);
    CHECK_EQUAL(first_wrong(in + shift, message * 2 + (unsigned)other, bytes), bytes);
    CHECK(shift == 0 || in[shift - 1] == 0xA5);
    CHECK_EQUAL(in[shift + bytes], 0xA5);
}

/* One way, blocking; the receiver is late every other time. */
static void one_way(int rank, unsigned message, size_t bytes)
{
    struct msg_result result;
    if (rank == 0) {
        fill(out, message, bytes);
        CHECK_EQUAL(vmsg_send(world, 1, 7, out, bytes), OK);
        CHECK_EQUAL(vmsg_recv(world, 1, 8, in, 0, &result), OK);
    } else {
        CHECK_EQUAL(vmsg_recv(world, 0, 7, in, bytes + 8, &result), OK);
        CHECK_EQUAL(result.bytes, bytes);
        CHECK_EQUAL(first_wrong(in, message, bytes), bytes);
        CHECK_EQUAL(vmsg_send(world, 0, 8, NULL, 0), OK);
    }
}

static void body(int rank)
{
    unsigned message = 0;
    out = malloc(MOST + 64);
    in = malloc(MOST + 64);
    for (size_t bytes = 0; bytes <= 70000; bytes += bytes < 600 ? 1 : 97)
        exchange(rank, ++message, bytes, bytes % 9);
    for (size_t power = 1; power <= MOST / 2; power *= 2)
        for (int d = -1; d <= 1; d++) {
            exchange(rank, ++message, power + (size_t)d, 1);
            one_way(rank, ++message, power + (size_t)d);
        }
    free(out);
    free(in);
}

int main(void)
{
    harness_run(2, body);
    setenv("VIADUCT_SINGLE_COPY", "no", 1);
    harness_run(2, body);
    setenv("VIADUCT_EAGER", "64", 1);
    harness_run(2, body);
    unsetenv("VIADUCT_SINGLE_COPY");
    setenv("VIADUCT_EAGER", "0", 1);
    harness_run(2, body);
    setenv("VIADUCT_EAGER", "1M", 1);
    setenv("VIADUCT_WINDOW", "1K", 1);
    harness_run(2, body);
    return check_done();
}
