/* Checking: packers whose messages were refused get the error from vd_done and from vd_wait, whatever else was refused before
 * they look: by another receiver, or before a second long block.
 * timeout: 20 */
#include "pack_test.h"

enum { LONG = 1000000 };

static unsigned char data[LONG];

static vd_connection *send_two_blocks(vd_channel *channel, int rank)
{
    vd_connection *to = vd_begin_packing(channel, rank);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(vd_pack(to, data, LONG, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
    CHECK_EQUAL(vd_end_packing_start(to), VD_OK);
    return to;
}

static void refuse(vd_channel *channel)
{
    vd_connection *from = vd_begin_unpacking(channel);
    CHECK_EQUAL(vd_unpack(from, data, 5, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_ASYMMETRY);
    CHECK_EQUAL(vd_end_unpacking(from), VD_ASYMMETRY); /* the packer has the complaint now */
    CHECK_EQUAL(vd_end_packing(vd_begin_packing(channel, 0)), VD_OK);
}

static void body(int rank)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    vd_channel *channel = channel_open("refused");
    for (int waits = 0; waits < 2; waits++)
        if (rank) {
            refuse(channel);
        } else {
            vd_connection *to[2] = {send_two_blocks(channel, 1), send_two_blocks(channel, 2)};
            for (int i = 0; i < 2; i++)
                CHECK_EQUAL(vd_end_unpacking(vd_begin_unpacking(channel)), VD_OK);
            for (int i = 0; i < 2; i++) {
                int code = waits ? vd_wait(to[i]) : VD_AGAIN;
                while (code == VD_AGAIN)
                    code = vd_done(to[i]);
                CHECK_EQUAL(code, VD_ASYMMETRY);
            }
        }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

int main(void)
{
    setenv("VIADUCT_CHECK", "yes", 1);
    setenv("VIADUCT_LOG_FILE", "/dev/null", 1);
    harness_run(3, body);
    return check_done();
}
