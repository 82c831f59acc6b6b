/* The descriptor of an event loop is readable when a message is there, quiet when none is, and again readable after the next.
 * timeout: 30
 * tcp: 1 */
#include "pack_test.h"
#include <poll.h>
#include <pthread.h> /* pthread_create is inside */

static bool readable(int fd, int ms)
{
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    return poll(&watched, 1, ms) == 1;
}

static void body(int rank)
{
    CHECK_EQUAL(vd_arm(), VD_STATE);
    CHECK_EQUAL(vd_init(), VD_OK);
    vd_channel *one = channel_open("one"), *two = channel_open("two");
    if (rank == 0) {
        int fd = vd_get_fd();
        CHECK(fd > 0);
        CHECK_EQUAL(vd_get_fd(), fd);
        CHECK(!readable(fd, 20));
        for (int round = 0; round < 200; round++) {
            vd_channel *channel = round % 2 ? one : two;
            vd_connection *from = NULL;
            int number = -1;
            CHECK_EQUAL(vd_end_packing(vd_begin_packing(one, 1)), VD_OK); /* now he may send */
            while (!from) {
                CHECK(readable(fd, 10000));
                CHECK_EQUAL(vd_arm(), VD_OK);
                if (vd_begin_unpacking_now(channel, VD_ANYONE, &from) != VD_OK)
                    from = NULL;
            }
            CHECK_EQUAL(vd_unpack(from, &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
            CHECK_EQUAL(vd_end_unpacking(from), VD_OK);
            CHECK_EQUAL(number, round);
        }
        while (readable(fd, 20))
            CHECK_EQUAL(vd_arm(), VD_OK);
    } else {
        for (int round = 0; round < 200; round++) {
            CHECK_EQUAL(vd_end_unpacking(vd_begin_unpacking(one)), VD_OK);
            vd_connection *to = vd_begin_packing(round % 2 ? one : two, 0);
            CHECK_EQUAL(vd_pack(to, &round, sizeof round, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), VD_OK);
            CHECK_EQUAL(vd_end_packing(to), VD_OK);
        }
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

int main(void)
{
    harness_run(2, body);
    return check_done();
}
