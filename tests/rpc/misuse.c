/* What a program may do wrong with calls: each has its code, and calls go on.
 * timeout: 60
 * presets: release asan tsan clang */
#include "base/clock.h"
#include "base/settings.h"
#include "msg/engine.h"
#include "msg/match.h"
#include "pack/pack_test.h"

static _Atomic int stop;
static int stopped(void *context) { return (void)context, stop; }
static void handle_stop(vd_call *call, void *context) { (void)call, (void)context, stop = 1; }

static void handle_nothing(vd_call *call, void *context) { (void)call, (void)context; }

static void start(int threads)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_start(threads), VD_OK);
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
    start(0);
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

/* A reply that nobody looks at is thrown away, however long; one that is unpacked in part is a disagreement. */
static void handle_reply(vd_call *call, void *context)
{
    static unsigned char data[100000];
    int length;
    (void)context;
    CHECK_EQUAL(vd_unpack(vd_rpc_arguments(call), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    CHECK_EQUAL(vd_pack(vd_rpc_reply(call), data, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
}

static void unwanted(int rank)
{
    static const int lengths[] = {0, 1, 2000, 10000, 100000};
    start(0);
    CHECK_EQUAL(vd_rpc_register("reply", handle_reply, NULL, VD_AT_ONCE), VD_OK);
    for (int i = 0; i < 10 && rank == 1; i++) {
        unsigned char byte;
        vd_connection *reply;
        vd_call *call = vd_rpc_begin(0, "reply", 0);
        CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), &lengths[i / 2], sizeof(int), VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(call, i % 2 ? &reply : NULL), VD_OK);
        bool part = i % 2 && lengths[i / 2] == 2000;
        if (part)
            CHECK_EQUAL(vd_unpack(reply, &byte, 1, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_rpc_end(call), part ? VD_ASYMMETRY : VD_OK);
    }
    end(rank);
}

/* What a handler says is told; VD_AGAIN it cannot say, for who looks whether the call is done would look for ever. */
static void handle_say(vd_call *call, void *context) { vd_rpc_fail(call, *(int *)context); }

static void said(int rank)
{
    static const char *const names[] = {"again", "well", "strange", "timeout"};
    static int codes[] = {VD_AGAIN, VD_OK, -1000, VD_TIMEOUT}, heard[] = {VD_ARGUMENT, VD_ARGUMENT, -1000, VD_TIMEOUT};
    char longer[100];
    start(0);
    CHECK_EQUAL(vd_rpc_register("nowhere", handle_say, NULL, (vd_place)9), VD_ARGUMENT);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(vd_rpc_register(names[i], handle_say, &codes[i], VD_AT_ONCE), VD_OK);
    memset(longer, 'x', sizeof longer);
    longer[99] = 0;
    for (int i = 0; i < 5 && rank == 1; i++) {
        int code;
        vd_call *call = vd_rpc_begin(0, i < 4 ? names[i] : longer, 0);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        while ((code = vd_rpc_done(call)) == VD_AGAIN)
            continue;
        CHECK_EQUAL(code, i < 4 ? heard[i] : VD_NOT_FOUND);
        CHECK(strstr(vd_error_text(code), i < 4 ? names[i] : "so long a name"));
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    }
    end(rank);
}

/* A handler that runs at once and would wait is told so, and calls go on; none may end everything. */
static vd_channel *gate;

static void handle_wait(vd_call *call, void *context)
{
    vd_channel *channel;
    (void)call, (void)context;
    vd_call *own = vd_rpc_begin(vd_rank(), "stop", 0), *other = vd_rpc_begin(!vd_rank(), "stop", 0);
    CHECK_EQUAL(vd_rpc_send(own), VD_OK);
    CHECK_EQUAL(vd_rpc_wait(own, NULL), VD_STATE);
    CHECK_EQUAL(vd_rpc_end(own), VD_OK);
    CHECK_EQUAL(vd_rpc_send(other), VD_OK);
    CHECK_EQUAL(vd_rpc_wait(other, NULL), VD_STATE);
    CHECK_EQUAL(vd_rpc_end(other), VD_OK);
    CHECK_EQUAL(vd_rpc_serve(stopped, NULL), VD_STATE);
    CHECK_EQUAL(vd_channel_open("inside", NULL, &channel), VD_STATE);
    CHECK_EQUAL(vd_channel_close(gate), VD_STATE);
    CHECK_EQUAL(vd_finalize(), VD_STATE);
}

static void handle_wait_pool(vd_call *call, void *context)
{
    (void)call, (void)context;
    vd_call *own = vd_rpc_begin(vd_rank(), "stop", 0);
    CHECK_EQUAL(vd_rpc_send(own), VD_OK);
    CHECK_EQUAL(vd_rpc_wait(own, NULL), VD_OK);
    CHECK_EQUAL(vd_rpc_end(own), VD_OK);
    CHECK_EQUAL(vd_finalize(), VD_STATE);
}

static void call_it(const char *name)
{
    vd_call *call = vd_rpc_begin(0, name, 0);
    CHECK_EQUAL(vd_rpc_send(call), VD_OK);
    CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_OK);
    CHECK_EQUAL(vd_rpc_end(call), VD_OK);
}

static void waits_inside(int rank)
{
    start(1);
    CHECK_EQUAL(vd_rpc_register("wait", handle_wait, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("wait in the pool", handle_wait_pool, NULL, VD_POOL), VD_OK);
    gate = channel_open("both are here");
    for (int i = 0; i < 10 && rank == 1; i++)
        call_it(i % 2 ? "wait" : "wait in the pool");
    CHECK_EQUAL(vd_channel_close(gate), VD_OK); /* it is what it was */
    gate = channel_open("and the next one");
    if (rank == 1)
        stop_server();
    CHECK_EQUAL(vd_finalize(), VD_OK); /* rank 0 serves while it waits here */
}

/* A message lies here for which there is no receive and no context. */
static bool call_came(void)
{
    base_lock(&vmsg_engine.progress);
    bool came = !list_empty(&vmsg_early);
    base_unlock(&vmsg_engine.progress);
    return came;
}

/* Functions that were registered before the start miss no call, even where a thread takes calls from the start on. */
static void registered_before(int rank)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_register("stop", handle_stop, NULL, VD_AT_ONCE), VD_OK); /* and forgotten: nothing was started */
    CHECK_EQUAL(vd_finalize(), VD_OK);
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK(vd_get_fd() > 0);
    CHECK_EQUAL(vd_rpc_register("stop", handle_stop, NULL, VD_POOL), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_ARGUMENT);
    CHECK(strstr(vd_error_text(VD_ARGUMENT), "stop is for the pool"));
    vd_channel *both = channel_open("both are here");
    CHECK(both);
    while (rank == 0 && !call_came())
        vd_progress(); /* until the call is here, before what takes it */
    CHECK_EQUAL(vd_rpc_start(1), VD_OK);
    if (rank == 1) {
        vd_call *call = vd_rpc_begin(0, "stop", 0);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_OK);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    } else {
        while (!stop) /* by this thread, or by the one that waits for events */
            vd_progress();
        CHECK_EQUAL(vd_rpc_register("stop", handle_stop, NULL, VD_AT_ONCE), VD_ARGUMENT);
        CHECK_EQUAL(vd_rpc_serve(stopped, NULL), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* Long replies stay with the server: who does not unpack them gets no further place, and is not left waiting. */
static void hoarded(int rank)
{
    enum { LENGTH = 5000, ALL = VD_RPC_ROOM + 3 };
    static const int length = LENGTH;
    static unsigned char data[LENGTH];
    vd_call *call[ALL];
    start(0);
    CHECK_EQUAL(vd_rpc_register("reply", handle_reply, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("nothing", handle_nothing, NULL, VD_AT_ONCE), VD_OK);
    for (int i = 0; i < ALL && rank == 1; i++) {
        vd_connection *reply;
        if (i >= VD_RPC_ROOM) {
            CHECK(!vd_rpc_begin(0, "reply", 0));
            CHECK_EQUAL(vd_error(), VD_LIMIT);
            CHECK(!vd_rpc_begin_now(0, "reply", 0));
            CHECK_EQUAL(vd_error(), VD_LIMIT);
            CHECK_EQUAL(vd_rpc_wait(call[i - VD_RPC_ROOM], &reply), VD_OK);
            CHECK_EQUAL(vd_unpack(reply, data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
            CHECK_EQUAL(vd_rpc_end(call[i - VD_RPC_ROOM]), VD_OK);
        }
        call[i] = vd_rpc_begin(0, "reply", 0);
        CHECK_EQUAL(vd_pack(vd_rpc_arguments(call[i]), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        CHECK_EQUAL(vd_rpc_send(call[i]), VD_OK);
    }
    for (int i = ALL - VD_RPC_ROOM; i < ALL && rank == 1; i++)
        CHECK_EQUAL(vd_rpc_end(call[i]), VD_OK); /* answered, or not */
    for (int i = 0; i < ALL && rank == 1; i++)
        call_it("nothing"); /* all places are free again */
    end(rank);
}

/* A deadline holds for the wait for a place, too; where nobody else can free one, nobody waits. */
static void handle_gate(vd_call *call, void *context)
{
    (void)call, (void)context;
    CHECK_EQUAL(vd_end_unpacking(vd_begin_unpacking_from(gate, 1)), VD_OK);
}

static void begin_all(vd_call *call[VD_RPC_ROOM], const char *name, int one_way)
{
    for (int i = 0; i < VD_RPC_ROOM; i++)
        CHECK((call[i] = vd_rpc_begin(0, i < one_way ? "nothing" : name, i < one_way ? VD_ONE_WAY : 0)));
}

static void send_all(vd_call *call[VD_RPC_ROOM])
{
    for (int i = 0; i < VD_RPC_ROOM; i++)
        CHECK_EQUAL(vd_rpc_send(call[i]), VD_OK);
}

static void end_all(vd_call *call[VD_RPC_ROOM], int one_way)
{
    for (int i = one_way; i < VD_RPC_ROOM; i++) {
        CHECK_EQUAL(vd_rpc_wait(call[i], NULL), VD_OK);
        CHECK_EQUAL(vd_rpc_end(call[i]), VD_OK);
    }
}

static void no_place(uint64_t ns, int code)
{
    CHECK(!vd_rpc_begin(0, "nothing", ns));
    CHECK_EQUAL(vd_error(), code);
}

static void crowded(int rank)
{
    static const int length = 5000;
    vd_call *call[VD_RPC_ROOM];
    start(0);
    CHECK_EQUAL(vd_rpc_register("gate", handle_gate, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("reply", handle_reply, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_register("nothing", handle_nothing, NULL, VD_AT_ONCE), VD_OK);
    gate = channel_open("gate");
    CHECK(channel_open("both have the gate"));
    if (rank == 1) {
        begin_all(call, "gate", 0);
        no_place(VD_ONE_WAY, VD_LIMIT); /* before they are sent */
        send_all(call);
        no_place(20000000, VD_TIMEOUT);
        for (int i = 0; i < VD_RPC_ROOM; i++)
            CHECK_EQUAL(vd_end_packing(vd_begin_packing(gate, 0)), VD_OK);
        end_all(call, 0);
        begin_all(call, "reply", 15); /* so few are not told of */
        for (int i = 15; i < VD_RPC_ROOM; i++)
            CHECK_EQUAL(vd_pack(vd_rpc_arguments(call[i]), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
        send_all(call);
        no_place(0, VD_LIMIT);
        end_all(call, 15);
        for (int i = 0; i < 2 * VD_RPC_ROOM; i++)
            call_it("nothing");
    }
    end(rank);
}

/* No deadline is so far that it is over at once. */
static void handle_moment(vd_call *call, void *context) { (void)call, (void)context, usleep(20000); }

static void far_deadline(int rank)
{
    const uint64_t far[] = {UINT64_MAX - 1, INT64_MAX, vbase_clock_ns_of_ticks(UINT64_MAX) + 2};
    start(0);
    CHECK_EQUAL(vd_rpc_register("moment", handle_moment, NULL, VD_AT_ONCE), VD_OK);
    for (int i = 0; i < 3 && rank == 1; i++) {
        vd_call *call = vd_rpc_begin(0, "moment", far[i]);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_OK);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    }
    end(rank);
}

/* A caller of a rank that never starts with calls is told, at the latest when that rank ends, also where it has
 * registered the function for a pool. */
static bool pool_registered;

static void never_started(int rank)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    if (rank == 0 && pool_registered)
        CHECK_EQUAL(vd_rpc_register("nothing", handle_stop, NULL, VD_POOL), VD_OK);
    if (rank == 1) {
        CHECK_EQUAL(vd_rpc_start(0), VD_OK);
        vd_call *call = vd_rpc_begin(0, "nothing", 0);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_NOT_FOUND);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* A handler of the pool is amid a message when its rank ends: it ends it. */
static void handle_packs(vd_call *call, void *context)
{
    (void)context;
    vd_connection *to = vd_begin_packing(gate, vd_rpc_caller(call));
    stop = 1;
    usleep(30000);
    CHECK_EQUAL(vd_end_packing(to), VD_OK);
}

static void ends_amid_handlers(int rank)
{
    start(1);
    CHECK_EQUAL(vd_rpc_register("packs", handle_packs, NULL, VD_POOL), VD_OK);
    gate = channel_open("gate");
    CHECK(channel_open("both have the gate"));
    if (rank == 1) {
        CHECK_EQUAL(vd_rpc_send(vd_rpc_begin(0, "packs", VD_ONE_WAY)), VD_OK);
        CHECK_EQUAL(vd_end_unpacking(vd_begin_unpacking(gate)), VD_OK);
    } else {
        CHECK_EQUAL(vd_rpc_serve(stopped, NULL), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* Checking: who calls with wrong arguments hears it from that call, who unpacks a reply wrongly from that one; no other suffers. */
static void handle_one(vd_call *call, void *context)
{
    int number = 0;
    (void)context;
    if (vd_unpack(vd_rpc_arguments(call), &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS) == VD_OK)
        CHECK_EQUAL(vd_pack(vd_rpc_reply(call), &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
}

static void call_one(size_t packed, size_t unpacked)
{
    int64_t number = 7;
    vd_connection *reply;
    vd_call *call = vd_rpc_begin(0, "one", 0);
    int wanted = packed == sizeof(int) ? VD_OK : VD_ASYMMETRY;
    CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), &number, packed, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
    CHECK_EQUAL(vd_rpc_send(call), VD_OK);
    CHECK_EQUAL(vd_rpc_wait(call, &reply), wanted);
    wanted = unpacked == sizeof(int) ? VD_OK : VD_ASYMMETRY;
    if (packed == sizeof(int))
        CHECK_EQUAL(vd_unpack(reply, &number, unpacked, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), wanted);
    CHECK_EQUAL(vd_rpc_end(call), packed == sizeof(int) ? wanted : VD_OK);
}

static void checked(int rank)
{
    vbase_settings.check = true;
    start(0);
    CHECK_EQUAL(vd_rpc_register("one", handle_one, NULL, VD_AT_ONCE), VD_OK);
    for (int i = 0; i < 20 && rank == 1; i++)
        call_one(i % 5 == 1 ? 8 : sizeof(int), i % 5 == 3 ? 8 : sizeof(int));
    end(rank);
}

int main(void)
{
    setenv("VIADUCT_LOG_FILE", "/dev/null", 1); /* checking says it there as well */
    harness_run(2, waits_inside);
    harness_run(2, registered_before);
    harness_run(2, hoarded);
    harness_run(2, crowded);
    harness_run(2, far_deadline);
    harness_run(2, never_started);
    pool_registered = true;
    harness_run(2, never_started);
    harness_run(2, ends_amid_handlers);
    harness_run(2, checked);
    harness_run(2, unwanted);
    harness_run(2, said);
    harness_run(2, ended_like_a_message);
    return check_done();
}
