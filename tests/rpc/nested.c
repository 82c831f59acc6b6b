/* A handler takes messages of the channel on which the rank itself waits for one: each message comes once, and whole.
 * timeout: 60
 * tcp: 1 */
#include "pack/pack_test.h"

enum { ROUNDS = 200, EACH = 8, LENGTH = 3000 };

static vd_channel *channel;
static int got[3];
static bool came[3][ROUNDS * EACH];
static int sent[2]; /* a pipe: what rank 1 sent first lies at rank 0 */

static void take(vd_connection *from)
{
    unsigned char data[LENGTH]; /* a handler may run while we wait for it */
    int number = -1, source = vd_remote(from);
    CHECK_EQUAL(vd_unpack(from, &number, sizeof number, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
    CHECK(number >= 0 && number < ROUNDS * EACH && !came[source][number]);
    came[source][number] = true;
    got[source]++;
    CHECK_EQUAL(vd_unpack(from, data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
    CHECK_EQUAL(vd_end_unpacking(from), VD_OK);
    CHECK_EQUAL(first_wrong(data, (unsigned)(number * 3 + source), LENGTH), LENGTH);
}

static void handle_take(vd_call *call, void *context)
{
    vd_connection *from;
    (void)call, (void)context;
    while (vd_begin_unpacking_now(channel, got[1] % 3 ? VD_ANYONE : 1 + got[2] % 2, &from) == VD_OK)
        take(from);
}

static void send_all(int rank)
{
    static unsigned char data[EACH][LENGTH];
    vd_connection *to[EACH];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < EACH; i++) {
            int number = round * EACH + i;
            fill(data[i], (unsigned)(number * 3 + rank), LENGTH);
            to[i] = vd_begin_packing(channel, 0);
            CHECK_EQUAL(vd_pack(to[i], &number, sizeof number, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
            CHECK_EQUAL(vd_pack(to[i], data[i], LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
            CHECK_EQUAL(vd_end_packing_start(to[i]), VD_OK);
            if (i % 3 == 0)
                CHECK_EQUAL(vd_rpc_send(vd_rpc_begin(0, "take", VD_ONE_WAY)), VD_OK);
        }
        for (int i = 0; i < EACH; i++)
            CHECK_EQUAL(vd_wait(to[i]), VD_OK);
    }
}

/* Waits for anyone or for the one who is behind, while there must be more; then looks. */
static void take_all(void)
{
    vd_connection *from;
    int turn = 0;
    while (got[1] + got[2] < ROUNDS * EACH)
        take(turn++ % 2 ? vd_begin_unpacking_from(channel, 1 + (got[1] > got[2])) : vd_begin_unpacking(channel));
    while (got[1] + got[2] < 2 * ROUNDS * EACH)
        if (vd_begin_unpacking_now(channel, VD_ANYONE, &from) == VD_OK)
            take(from);
}

static void handle_steal(vd_call *call, void *context)
{
    vd_connection *from;
    (void)call, (void)context;
    CHECK_EQUAL(vd_begin_unpacking_now(context, VD_ANYONE, &from), VD_AGAIN);
}

/* The first wait of a channel finds a message and a call that came before it: the message is that of the wait, and the
 * handler leaves it. */
static void first_wait(int rank)
{
    int number = 17;
    char byte = 0;
    vd_channel *first = channel_open("first");
    CHECK_EQUAL(vd_rpc_register("steal", handle_steal, first, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    if (rank == 1) {
        vd_connection *to = vd_begin_packing(first, 0);
        CHECK_EQUAL(vd_pack(to, &number, sizeof number, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_end_packing(to), VD_OK);
        CHECK_EQUAL(vd_rpc_send(vd_rpc_begin(0, "steal", VD_ONE_WAY)), VD_OK);
        CHECK_EQUAL(write(sent[1], &byte, 1), 1);
    }
    if (rank == 0) {
        CHECK_EQUAL(read(sent[0], &byte, 1), 1);
        vd_connection *from = vd_begin_unpacking(first);
        CHECK_EQUAL(vd_unpack(from, &number, sizeof number, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_end_unpacking(from), VD_OK);
        CHECK_EQUAL(number, 17);
    }
}

static void body(int rank)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_register("take", handle_take, NULL, VD_AT_ONCE), VD_OK);
    first_wait(rank);
    channel = channel_open("numbers");
    if (rank)
        send_all(rank);
    else
        take_all();
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

int main(void)
{
    CHECK_EQUAL(pipe(sent), 0);
    harness_run(3, body);
    return check_done();
}
