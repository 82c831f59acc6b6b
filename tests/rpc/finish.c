/* Each one-way call that was sent before vd_finalize is handled with all its arguments, and so is the call that a handler
 * sends then.
 * timeout: 30
 * tcp: 1 */
#include "pack/pack_test.h"

enum { RANKS = 4, CALLS = 60, LENGTH = 20000 };

static unsigned char data[LENGTH];
static int handled, handled_next, of[RANKS];

static void handle_next(vd_call *call, void *unused) { (void)call, (void)unused, handled_next++; }

static void handle(vd_call *call, void *length)
{
    unsigned char came[LENGTH] = {0};
    size_t bytes = (size_t)*(int *)length;
    int caller = vd_rpc_caller(call);
    CHECK_EQUAL(vd_unpack(vd_rpc_arguments(call), came, bytes, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    CHECK_EQUAL(first_wrong(came, (unsigned)caller, bytes), bytes);
    handled++;
    if (++of[caller] == CALLS)
        CHECK_EQUAL(vd_rpc_send(vd_rpc_begin(caller, "next", VD_ONE_WAY)), VD_OK);
}

static void calls_of(int rank, int length)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_register("take", handle, &length, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("next", handle_next, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    handled = handled_next = 0;
    memset(of, 0, sizeof of);
    fill(data, (unsigned)rank, LENGTH);
    for (int i = 0; i < CALLS * RANKS; i++) {
        if (i % RANKS == rank)
            continue;
        vd_call *call = vd_rpc_begin(i % RANKS, "take", VD_ONE_WAY);
        CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), data, (size_t)length, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
    CHECK_EQUAL(handled, CALLS * (RANKS - 1));
    CHECK_EQUAL(handled_next, RANKS - 1);
}

static void body(int rank)
{
    calls_of(rank, 16);
    calls_of(rank, LENGTH);
}

int main(void)
{
    harness_run(RANKS, body);
    return check_done();
}
