/* What two ranks can do to a message besides sending it: probe it, take it by a matched probe, cancel it at every
 * stage, receive it into too little room, describe it by layouts on both sides; and callbacks, contexts that open
 * late. tcp: 1 */
#include "harness.h"
#include "base/counters.h"

#define BIG 300000
static unsigned char out[BIG], in[BIG];

/* Both ranks get here before either goes on. */
static void meet(int rank)
{
    struct msg_where where = {world, 1 - rank, 99};
    struct type_buffer nothing = {.count = 0};
    struct msg_request receive = {0};
    CHECK_EQUAL(vmsg_recv_start(&receive, &where, &nothing), OK);
    CHECK_EQUAL(vmsg_send(world, 1 - rank, 99, NULL, 0), OK);
    CHECK_EQUAL(vmsg_wait(&receive), OK);
}

static void start_send(struct msg_request *send, int tag, size_t bytes, enum msg_mode mode)
{
    struct msg_where where = {world, 1, tag};
    struct type_buffer buffer = {.base = out, .count = bytes};
    *send = (struct msg_request){0};
    CHECK_EQUAL(vmsg_send_start(send, &where, &buffer, mode), OK);
}

static void probes(int rank, size_t bytes)
{
    fill(out, 3, bytes);
    if (rank == 0) {
        struct msg_request send;
        start_send(&send, 5, bytes, MSG_STANDARD);
        CHECK_EQUAL(vmsg_send(world, 1, 5, out, 1), OK);
        CHECK_EQUAL(vmsg_wait(&send), OK);
    } else {
        struct msg_where from = {world, MSG_ANY_SOURCE, MSG_ANY_TAG};
        struct msg_result result;
        struct msg_message *message = NULL;
        struct msg_request request = {0};
        struct type_buffer buffer = {.base = in, .count = BIG};
        bool found = false;
        while (!found)
            CHECK_EQUAL(vmsg_probe(&from, &found, &result), OK);
        CHECK_EQUAL(result.bytes, bytes);
        CHECK_EQUAL(result.tag, 5);
        while (!message)
            CHECK_EQUAL(vmsg_message_probe(&from, &message, &result), OK);
        CHECK_EQUAL(vmsg_recv(world, 0, 5, in, 8, &result), OK); /* the second: the first is taken out already */
        CHECK_EQUAL(result.bytes, 1);
        CHECK_EQUAL(vmsg_message_recv(&request, message, &buffer), OK);
        CHECK_EQUAL(vmsg_wait(&request), OK);
        CHECK_EQUAL(first_wrong(in, 3, bytes), bytes);
    }
}

static void cancelled_in_time(int rank, size_t bytes, enum msg_mode mode)
{
    struct msg_request send;
    if (rank == 0) {
        start_send(&send, 6, bytes, mode);
        vmsg_cancel(&send);
        CHECK_EQUAL(vmsg_wait(&send), ERR_CANCELLED);
    }
    meet(rank);
    if (rank == 1) {
        struct msg_where from = {world, 0, 6};
        struct msg_result result;
        bool found;
        CHECK_EQUAL(vmsg_probe(&from, &found, &result), OK);
        CHECK(!found);
        CHECK_EQUAL(vbase_counters->unexpected_bytes, 0);
    }
    meet(rank); /* what rank 0 sends next comes later */
}

static void cancelled_too_late(int rank, size_t bytes)
{
    struct msg_request send, receive = {0};
    if (rank == 0) {
        meet(rank);
        fill(out, 4, bytes);
        start_send(&send, 7, bytes, MSG_SYNCHRONOUS);
        vmsg_cancel(&send);
        CHECK_EQUAL(vmsg_wait(&send), OK);
    } else {
        struct msg_where from = {world, 0, 7};
        struct type_buffer buffer = {.base = in, .count = BIG};
        CHECK_EQUAL(vmsg_recv_start(&receive, &from, &buffer), OK);
        meet(rank);
        CHECK_EQUAL(vmsg_wait(&receive), OK);
        CHECK_EQUAL(receive.result.bytes, bytes);
        CHECK_EQUAL(first_wrong(in, 4, bytes), bytes);
    }
    meet(rank);
}

/* A message to a context that its receiver never opened. */
static void cancelled_early(int rank)
{
    struct msg_context *mine;
    if (rank == 0) {
        struct msg_request send = {0};
        CHECK_EQUAL(vmsg_context_open(40, NULL, 2, 0, &mine), OK);
        struct msg_where to = {mine, 1, 1};
        struct type_buffer buffer = {.base = out, .count = 10};
        CHECK_EQUAL(vmsg_send_start(&send, &to, &buffer, MSG_SYNCHRONOUS), OK);
        vmsg_cancel(&send);
        CHECK_EQUAL(vmsg_wait(&send), ERR_CANCELLED);
        vmsg_context_close(mine);
    }
    meet(rank);
}

static void truncated(int rank, size_t bytes, size_t room)
{
    struct msg_result result;
    fill(out, 8, bytes);
    if (rank == 0) {
        struct msg_request send;
        start_send(&send, 8, bytes, MSG_SYNCHRONOUS);
        CHECK_EQUAL(vmsg_wait(&send), OK);
    } else {
        memset(in, 0xA5, BIG);
        CHECK_EQUAL(vmsg_recv(world, 0, 8, in, room, &result), ERR_TRUNCATED);
        CHECK_EQUAL(result.bytes, room);
        CHECK_EQUAL(first_wrong(in, 8, room), room);
        CHECK_EQUAL(in[room], 0xA5);
    }
}

/* COUNT pieces of PIECE bytes, every other one of the sender's into every third of the receiver's. */
static void layouts(int rank, size_t count, size_t piece)
{
    struct type_layout *bytes, *spread;
    CHECK_EQUAL(vtype_layout_bytes(piece, 1, &bytes), OK);
    int64_t stride = (int64_t)piece * (rank == 0 ? 2 : 3);
    CHECK_EQUAL(vtype_layout_vector(count, 1, stride, bytes, &spread), OK);
    struct type_buffer buffer = {.base = rank == 0 ? out : in, .count = 1, .layout = spread};
    struct msg_request request = {0};
    struct msg_where where = {world, 1 - rank, 11};
    if (rank == 0) {
        fill(out, 12, 2 * count * piece);
        CHECK_EQUAL(vmsg_send_start(&request, &where, &buffer, MSG_STANDARD), OK);
    } else {
        memset(in, 0x5A, 3 * count * piece);
        CHECK_EQUAL(vmsg_recv_start(&request, &where, &buffer), OK);
    }
    CHECK_EQUAL(vmsg_wait(&request), OK);
    for (size_t i = 0; rank == 1 && i < count * piece; i++) {
        CHECK_EQUAL(in[i / piece * 3 * piece + i % piece], check_byte(12, i / piece * 2 * piece + i % piece));
        CHECK_EQUAL(in[i / piece * 3 * piece + piece + i % piece], 0x5A);
    }
    vtype_layout_drop(spread);
    vtype_layout_drop(bytes);
}

/* A contiguous sender and a scattered receiver, and the other way round. */
static void half_layout(int rank, bool sender_scattered)
{
    enum { COUNT = 9000, PIECE = 10 };
    struct type_layout *bytes, *spread;
    CHECK_EQUAL(vtype_layout_bytes(PIECE, 1, &bytes), OK);
    CHECK_EQUAL(vtype_layout_vector(COUNT, 1, 2 * PIECE, bytes, &spread), OK);
    bool scattered = sender_scattered == (rank == 0);
    struct type_buffer buffer = {rank == 0 ? out : in, scattered ? 1 : COUNT * PIECE, scattered ? spread : NULL};
    struct msg_request request = {0};
    struct msg_where where = {world, 1 - rank, 13};
    if (rank == 0) {
        fill(out, 14, 2 * COUNT * PIECE);
        CHECK_EQUAL(vmsg_send_start(&request, &where, &buffer, MSG_STANDARD), OK);
    } else {
        CHECK_EQUAL(vmsg_recv_start(&request, &where, &buffer), OK);
    }
    CHECK_EQUAL(vmsg_wait(&request), OK);
    for (size_t i = 0; rank == 1 && i < COUNT * PIECE; i++) {
        size_t there = sender_scattered ? i / PIECE * 2 * PIECE + i % PIECE : i;
        size_t here = sender_scattered ? i : i / PIECE * 2 * PIECE + i % PIECE;
        CHECK_EQUAL(in[here], check_byte(14, there));
    }
    vtype_layout_drop(spread);
    vtype_layout_drop(bytes);
}

/* A chain: each completion starts the next operation, without anybody waiting for one of them. */
#define CHAIN 500
static int links;
static struct msg_request chain;
static int chain_value;

static void chain_next(struct msg_request *request)
{
    int rank = vmsg_job()->rank;
    struct msg_where where = {world, 1 - rank, 20};
    struct type_buffer buffer = {.base = &chain_value, .count = sizeof chain_value};
    (void)request;
    if (++links > CHAIN)
        return;
    if ((links + rank) % 2) {
        chain_value = links;
        CHECK_EQUAL(vmsg_send_start(&chain, &where, &buffer, MSG_STANDARD), OK);
    } else {
        CHECK_EQUAL(vmsg_recv_start(&chain, &where, &buffer), OK);
    }
}

static bool chain_over(void *unused)
{
    (void)unused;
    return links > CHAIN;
}

static void callbacks(int rank)
{
    (void)rank;
    links = 0;
    chain.completed = chain_next;
    chain_next(NULL);
    CHECK_EQUAL(vmsg_wait_until(chain_over, NULL), OK);
    CHECK_EQUAL(chain_value, CHAIN);
}

/* Rank 0 sends into a context, with its ranks turned round, before rank 1 has opened it. */
static void early(int rank)
{
    static const int members[2] = {1, 0};
    struct msg_context *context;
    if (rank == 0) {
        CHECK_EQUAL(vmsg_context_open(7, members, 2, 1, &context), OK);
        for (int i = 0; i < 20; i++)
            CHECK_EQUAL(vmsg_send(context, 0, 1, &i, sizeof i), OK);
        meet(rank);
    } else {
        meet(rank);
        CHECK_EQUAL(vmsg_context_open(7, members, 2, 0, &context), OK);
        for (int i = 0; i < 20; i++) {
            int value = -1;
            struct msg_result result;
            CHECK_EQUAL(vmsg_recv(context, 1, 1, &value, sizeof value, &result), OK);
            CHECK_EQUAL(value, i);
            CHECK_EQUAL(result.source, 1);
        }
    }
    vmsg_context_close(context);
}

/* Messages that nobody receives do not keep their senders, nor the window. */
static void dropped(int rank)
{
    struct msg_context *context;
    CHECK_EQUAL(vmsg_context_open(9, NULL, 2, rank, &context), OK);
    struct msg_request send[3] = {{.completed = NULL}};
    if (rank == 0) {
        static const size_t sizes[3] = {100, BIG, 100};
        for (int i = 0; i < 3; i++) {
            struct msg_where where = {context, 1, i};
            struct type_buffer buffer = {.base = out, .count = sizes[i]};
            CHECK_EQUAL(vmsg_send_start(&send[i], &where, &buffer, i == 2 ? MSG_SYNCHRONOUS : MSG_STANDARD), OK);
        }
    }
    meet(rank);
    vmsg_context_close(context);
    for (int i = 0; rank == 0 && i < 3; i++)
        CHECK_EQUAL(vmsg_wait(&send[i]), OK);
    meet(rank);
    CHECK_EQUAL(vbase_counters->unexpected_now, 0);
}

static void body(int rank)
{
    static const size_t sizes[] = {0, 1, 40, 41, 1000, 16000, BIG};
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
        probes(rank, sizes[i]);
        cancelled_in_time(rank, sizes[i], MSG_SYNCHRONOUS);
        cancelled_too_late(rank, sizes[i]);
    }
    cancelled_in_time(rank, BIG, MSG_STANDARD);
    cancelled_early(rank);
    truncated(rank, 100, 99);
    truncated(rank, 100, 0);
    truncated(rank, BIG, 70001);
    truncated(rank, BIG, 0);
    layouts(rank, 1, 1);
    layouts(rank, 100, 3);
    layouts(rank, 10, 1000);
    layouts(rank, 12000, 7);
    layouts(rank, 10, 9000);
    half_layout(rank, true);
    half_layout(rank, false);
    callbacks(rank);
    early(rank);
    dropped(rank);
    CHECK_EQUAL(vbase_counters->refused, 0);
}

int main(void)
{
    harness_run(2, body);
    setenv("VIADUCT_SINGLE_COPY", "no", 1);
    harness_run(2, body);
    setenv("VIADUCT_WINDOW", "2K", 1); /* some of these programs rely on a little buffering */
    harness_run(2, body);
    return check_done();
}
