/* What a program may do wrong with calls: each has its code, and calls go on.
 * timeout: 60 */
#include "pack/pack_test.h"

static int stop;
static int stopped(void *context) { return (void)context, stop; }
static void handle_stop(vd_call *call, void *context) { (void)call, (void)context, stop = 1; }

static void start(void)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    CHECK_EQUAL(vd_rpc_register("stop", handle_stop, NULL, VD_AT_ONCE), VD_OK);
}

static void stop_server(void)
{
    CHECK_EQUAL(vd_rpc_send(vd_rpc_begin(0, "stop", VD_ONE_WAY)), VD_OK);
}

static void end(int rank)
{
    if (rank == 0)
        CHECK_EQUAL(vd_rpc_serve(stopped, NULL), VD_OK);
    else
        stop_server();
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* Arguments and replies are no messages of their own. */
static void handle_next(vd_call *call, void *context)
{
    int number = 0;
    (void)context;
    CHECK_EQUAL(vd_unpack(vd_rpc_arguments(call), &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    number++;
    CHECK_EQUAL(vd_pack(vd_rpc_reply(call), &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    CHECK_EQUAL(vd_end_packing(vd_rpc_reply(call)), VD_STATE);
    CHECK_EQUAL(vd_end_packing_start(vd_rpc_reply(call)), VD_STATE);
}

static void ended_like_a_message(int rank)
{
    start();
    CHECK_EQUAL(vd_rpc_register("next", handle_next, NULL, VD_AT_ONCE), VD_OK);
    for (int i = 0; i < 10 && rank == 1; i++) {
        int number = i;
        vd_connection *reply;
        vd_call *call = vd_rpc_begin(0, "next", 0);
        CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_end_packing(vd_rpc_arguments(call)), VD_STATE);
        CHECK(strstr(vd_error_text(VD_STATE), "vd_rpc_send"));
        CHECK_EQUAL(vd_end_packing_start(vd_rpc_arguments(call)), VD_STATE);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(call, &reply), VD_OK);
        CHECK_EQUAL(vd_unpack(reply, &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(number, i + 1);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    }
    end(rank);
}

int main(void)
{
    harness_run(2, ended_like_a_message);
    return check_done();
}
