/* Messages to the own rank, in a job of one: every mode, both orders, layouts on either side, probes, cancels,
 * truncation, and a window that runs out. tcp: 1 */
#include "harness.h"
#include "base/counters.h"
#include "base/settings.h"
#include "base/tunables.h"

static struct msg_where to_self(int tag)
{
    return (struct msg_where){world, 0, tag};
}

static void both_orders(size_t bytes, enum msg_mode mode)
{
    unsigned char *out = malloc(bytes + 1), *in = malloc(bytes + 1);
    struct type_buffer from = {.base = out, .count = bytes}, to = {.base = in, .count = bytes};
    for (int receive_first = 0; receive_first < 2; receive_first++) {
        struct msg_request send = {0}, receive = {0};
        struct msg_where where = to_self(5);
        fill(out, (unsigned)(bytes + (size_t)receive_first), bytes);
        memset(in, 0, bytes);
        if (receive_first)
            CHECK_EQUAL(vmsg_recv_start(&receive, &where, &to), OK);
        CHECK_EQUAL(vmsg_send_start(&send, &where, &from, mode), OK);
        if (!receive_first) {
            CHECK_EQUAL(vmsg_request_done(&send), mode == MSG_STANDARD && bytes <= vbase_tuned(TUNABLE_EAGER_MOST, CLASS_SLOW));
            CHECK_EQUAL(vmsg_recv_start(&receive, &where, &to), OK);
        }
        CHECK_EQUAL(vmsg_wait(&send), OK);
        CHECK_EQUAL(vmsg_wait(&receive), OK);
        CHECK_EQUAL(first_wrong(in, (unsigned)(bytes + (size_t)receive_first), bytes), bytes);
        CHECK_EQUAL(receive.result.bytes, bytes);
        CHECK_EQUAL(receive.result.source, 0);
    }
    free(out);
    free(in);
}

/* Every second int out of one array into every third of another. */
static void layouts(void)
{
    enum { COUNT = 5000 };
    struct type_layout *word, *second, *third;
    static int out[2 * COUNT], in[3 * COUNT];
    CHECK_EQUAL(vtype_layout_bytes(4, 4, &word), OK);
    CHECK_EQUAL(vtype_layout_vector(COUNT, 1, 8, word, &second), OK);
    CHECK_EQUAL(vtype_layout_vector(COUNT, 1, 12, word, &third), OK);
    for (int i = 0; i < 2 * COUNT; i++)
        out[i] = i;
    memset(in, 0xff, sizeof in);
    struct msg_request send = {0}, receive = {0};
    struct msg_where where = to_self(1);
    struct type_buffer from = {out, 1, second}, to = {in, 1, third};
    CHECK_EQUAL(vmsg_send_start(&send, &where, &from, MSG_STANDARD), OK);
    CHECK_EQUAL(vmsg_recv_start(&receive, &where, &to), OK);
    CHECK_EQUAL(vmsg_wait(&send), OK);
    CHECK_EQUAL(vmsg_wait(&receive), OK);
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQUAL(in[3 * i], 2 * i);
        CHECK_EQUAL(in[3 * i + 1], -1);
    }
    vtype_layout_drop(second);
    vtype_layout_drop(third);
    vtype_layout_drop(word);
}

static void truncation(void)
{
    char out[100], in[60];
    struct msg_result result;
    fill(out, 9, sizeof out);
    CHECK_EQUAL(vmsg_send(world, 0, 3, out, sizeof out), OK);
    CHECK_EQUAL(vmsg_recv(world, 0, 3, in, 50, &result), ERR_TRUNCATED);
    CHECK_EQUAL(result.bytes, 50);
    CHECK_EQUAL(first_wrong(in, 9, 50), 50);
}

static void cancels(void)
{
    char data[8] = {0};
    struct msg_request send = {0}, receive = {0};
    struct msg_where where = to_self(4);
    struct type_buffer buffer = {.base = data, .count = sizeof data};
    CHECK_EQUAL(vmsg_send_start(&send, &where, &buffer, MSG_SYNCHRONOUS), OK);
    vmsg_cancel(&send);
    CHECK_EQUAL(vmsg_wait(&send), ERR_CANCELLED);
    CHECK_EQUAL(vmsg_recv_start(&receive, &where, &buffer), OK);
    vmsg_cancel(&receive);
    CHECK_EQUAL(vmsg_wait(&receive), ERR_CANCELLED);
    bool found;
    CHECK_EQUAL(vmsg_probe(&where, &found, NULL), OK);
    CHECK(!found);
}

/* More than the window: the rest waits at the sender, in order, and nothing is lost. */
static void flood(void)
{
    enum { COUNT = 400, BYTES = 4000 };
    static char out[COUNT][BYTES], in[BYTES];
    static struct msg_request send[COUNT];
    struct msg_where where = to_self(2);
    for (int i = 0; i < COUNT; i++) {
        fill(out[i], (unsigned)i, BYTES);
        struct type_buffer from = {.base = out[i], .count = BYTES};
        CHECK_EQUAL(vmsg_send_start(&send[i], &where, &from, MSG_STANDARD), OK);
    }
    CHECK(vbase_counters->unexpected_bytes <= vbase_settings.window);
    CHECK(!vmsg_request_done(&send[COUNT - 1]));
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQUAL(vmsg_recv(world, MSG_ANY_SOURCE, 2, in, BYTES, NULL), OK);
        CHECK_EQUAL(first_wrong(in, (unsigned)i, BYTES), BYTES);
        CHECK_EQUAL(vmsg_wait(&send[i]), OK);
    }
    CHECK_EQUAL(vbase_counters->unexpected_bytes, 0);
}

int main(void)
{
    CHECK_EQUAL(vmsg_start(), OK);
    CHECK_EQUAL(vmsg_job()->size, 1);
    CHECK_EQUAL(vmsg_context_open(0, NULL, 1, 0, &world), OK);
    static const size_t sizes[] = {0, 1, 8, 79, 80, 81, 1000, 16384, 16385, 300000};
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
        for (int mode = MSG_STANDARD; mode <= MSG_READY; mode++)
            if (mode != MSG_READY)
                both_orders(sizes[i], (enum msg_mode)mode);
    layouts();
    truncation();
    cancels();
    flood();
    vmsg_context_close(world);
    vmsg_stop();
    CHECK_EQUAL(vmsg_context_open(0, NULL, 1, 0, &world), ERR_STATE);
    return check_done();
}
