/* The descriptor of an event loop is readable when something that was begun is over as well: a reply, a long block that has left, a
 * message that was ended before all of it came. Who asks after each wake-up alone misses none.
 * timeout: 30
 * tcp: 1 */
#include "pack_test.h"
#include <poll.h>
#include <pthread.h> /* pthread_create is inside */
#include <time.h>

enum { LENGTH = 300000, ROUNDS = 60 };

static void await(int fd)
{
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    CHECK_EQUAL(poll(&watched, 1, 10000), 1);
    CHECK_EQUAL(vd_arm(), VD_OK);
}

static void moment(void) { nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); }

static void handle_nothing(vd_call *call, void *context) { (void)call, (void)context, moment(); }

static void watch(vd_channel *channel, int fd)
{
    static unsigned char data[LENGTH];
    unsigned char last = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        int code;
        vd_call *call = vd_rpc_begin(1, "nothing", 0);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        while ((code = vd_rpc_done(call)) == VD_AGAIN)
            await(fd);
        CHECK_EQUAL(code, VD_OK);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);

        vd_connection *to = vd_begin_packing(channel, 1), *from = NULL;
        fill(data, i, LENGTH);
        CHECK_EQUAL(vd_pack(to, data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        CHECK_EQUAL(vd_end_packing_start(to), VD_OK);
        while ((code = vd_done(to)) == VD_AGAIN)
            await(fd);
        CHECK_EQUAL(code, VD_OK);

        while ((code = vd_begin_unpacking_now(channel, 1, &from)) == VD_AGAIN)
            await(fd);
        CHECK_EQUAL(code, VD_OK);
        memset(data, 0, LENGTH);
        if (i % 2)
            CHECK_EQUAL(vd_unpack(from, data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        for (int b = 0; b < 20 && i % 2 == 0; b++)
            CHECK_EQUAL(vd_unpack(from, data + 1000 * b, 1000, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        CHECK_EQUAL(vd_unpack(from, &last, 1, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        CHECK_EQUAL(vd_end_unpacking_start(from), VD_OK);
        while ((code = vd_done(from)) == VD_AGAIN)
            await(fd);
        CHECK_EQUAL(code, VD_OK);
        size_t length = i % 2 ? LENGTH : 20000;
        CHECK_EQUAL(first_wrong(data, i, length), length);
    }
}

/* Takes its time over everything. */
static void answer(vd_channel *channel)
{
    static unsigned char data[LENGTH];
    for (unsigned i = 0; i < ROUNDS; i++) {
        vd_connection *from = vd_begin_unpacking(channel);
        moment();
        CHECK_EQUAL(vd_unpack(from, data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        CHECK_EQUAL(vd_end_unpacking(from), VD_OK);
        vd_connection *to = vd_begin_packing(channel, 0);
        if (i % 2)
            CHECK_EQUAL(vd_pack(to, data, LENGTH, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        for (int b = 0; b < 20 && i % 2 == 0; b++) /* the first frame leaves, the others follow a moment later */
            CHECK_EQUAL(vd_pack(to, data + 1000 * b, 1000, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        moment();
        CHECK_EQUAL(vd_pack(to, data, 1, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
        CHECK_EQUAL(vd_end_packing(to), VD_OK);
    }
}

static void body(int rank)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_register("nothing", handle_nothing, NULL, VD_AT_ONCE), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    vd_channel *channel = channel_open("over");
    if (rank == 0)
        watch(channel, vd_get_fd());
    else
        answer(channel);
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

int main(void)
{
    harness_run(2, body);
    return check_done();
}
