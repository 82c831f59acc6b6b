/* Bytes that no honest rank would send, on a channel and among remote calls: frames of any length and content. The receiver gets
 * errors or other bytes than he wanted, and never writes outside the places he gave; remote calls go on.
 * timeout: 60 */
#include "base/settings.h"
#include "pack/pack.h"
#include "pack_test.h"
#include "rpc/rpc.h"

#define ROUNDS 400
#define LONGEST 20000

static unsigned char junk[LONGEST];

static void junk_make(unsigned seed)
{
    for (size_t i = 0; i < LONGEST; i++)
        junk[i] = (unsigned char)mixed(seed, (unsigned)i);
}

static size_t any_length(unsigned round, unsigned what)
{
    unsigned any = mixed(round, what);
    return any % 4 == 0 ? any / 4 % 40 : any % 4 == 1 ? PACK_FRAME - any / 4 % 3 : any / 4 % PACK_FRAME;
}

static struct msg_request sent[ROUNDS * 4];
static unsigned char sent_from[ROUNDS * 4][PACK_FRAME];

/* Without waiting: nobody may want it. */
static void junk_send(struct msg_context *context, unsigned round, int which, int tag, size_t length)
{
    unsigned at = round * 4 + (unsigned)which;
    struct msg_where to = {context, 1, tag};
    struct type_buffer buffer = {.base = sent_from[at], .count = length};
    memcpy(sent_from[at], junk, length);
    CHECK_EQUAL(vmsg_send_start(&sent[at], &to, &buffer, MSG_STANDARD), OK);
}

/* First frames, and two of either kind that may follow: as many as the two blocks that are unpacked can ask for. */
static void frames(int rank)
{
    static unsigned char place[LONGEST + 1];
    CHECK_EQUAL(vd_init(), VD_OK);
    vd_channel *channel = channel_open("hostile");
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (rank == 0) {
            junk_make(round);
            CHECK_EQUAL(vmsg_send(channel->context, 1, PACK_TAG_FIRST, junk, any_length(round, 1)), OK);
            for (int i = 0; i < 4; i++)
                junk_send(channel->context, round, i, (int)(2 * round) + 1 + i % 2, any_length(round, (unsigned)i));
            if (vbase_settings.check) /* a complaint, now and then a longer one than there are */
                CHECK_EQUAL(vmsg_send(channel->context, 1, PACK_TAG_COMPLAINT, junk, round % 8 ? round % 400 : 500), OK);
        } else {
            vd_connection *from = vd_begin_unpacking(channel);
            CHECK(from);
            int code = VD_OK;
            size_t first = any_length(round, 1), length = mixed(round, 7) % 2 ? first : any_length(round, 8);
            for (int b = 0; b < 2 && !code; b++) {
                size_t bytes = b ? any_length(round, 9) : length;
                memset(place, GUARD, sizeof place);
                code = vd_unpack(from, place, bytes, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS);
                for (size_t i = bytes; i < sizeof place; i++)
                    CHECK(place[i] == GUARD);
            }
            (void)vd_end_unpacking(from);
        }
    }
    for (int i = 0; i < ROUNDS * 4 && rank == 0; i++)
        vmsg_cancel(&sent[i]);
    int closed = vd_channel_close(channel); /* what was left is dropped, and so its sends are over */
    CHECK(closed == VD_OK || (closed == VD_ASYMMETRY && vbase_settings.check));
    for (int i = 0; i < ROUNDS * 4 && rank == 0; i++)
        (void)vmsg_wait(&sent[i]);
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* The same with checking: marks and complaints are read, too. */
static void frames_checked(int rank)
{
    vbase_settings.check = true;
    frames(rank);
}

static void handle_nothing(vd_call *call, void *context) { (void)call, (void)context; }

static void calls(int rank)
{
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    CHECK_EQUAL(vd_rpc_register("nothing", handle_nothing, NULL, VD_AT_ONCE), VD_OK);
    vd_channel *channel = channel_open("go");
    for (unsigned round = 0; round < ROUNDS && rank == 0; round++) {
        struct rpc_head head = {.id = mixed(round, 1), .kind = (uint16_t)(round % 7), .name = mixed(round, 4)};
        head.code = (int64_t)mixed(round, 2) - (round % 5 ? 1000 : INT64_MAX);
        if (round % 3 == 0) { /* else it is all here */
            head.frames = (uint16_t)mixed(round, 3);
            head.alone = mixed(round, 6);
        }
        junk_make(round);
        memcpy(junk, &head, sizeof head);
        size_t length = round % 10 == 9 ? LONGEST : any_length(round, 5);
        CHECK_EQUAL(vmsg_send(vrpc.channel->context, 1, PACK_TAG_FIRST, junk, length), OK);
        vrpc.channel->sent[1]++;
        vd_progress();
    }
    if (rank == 0) {
        vd_call *call = vd_rpc_begin(1, "nothing", 0);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_OK);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    }
    CHECK_EQUAL(vd_channel_close(channel), VD_OK); /* rank 1 serves while it waits here */
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

static void calls_checked(int rank)
{
    vbase_settings.check = true;
    calls(rank);
}

int main(void)
{
    setenv("VIADUCT_LOG", "error", 1);
    setenv("VIADUCT_LOG_FILE", "/dev/null", 1);
    harness_run(2, frames);
    harness_run(2, frames_checked);
    harness_run(2, calls);
    harness_run(2, calls_checked);
    return check_done();
}
