/* A server without memory for a call says so to its caller, and gives the place of a one-way call back: nobody waits for ever.
 * timeout: 8
 * presets: release clang
 * apart: 1 */
#include "pack/pack_test.h"
#include "rpc/rpc.h"
#include <errno.h>

#define ONE_WAY (3 * VD_RPC_ROOM)

static int missing; /* calls for which there will be no memory */
static size_t many; /* bytes of each of them */
static int filled[2]; /* a pipe: the number of messages after which the way from rank 0 to rank 1 is full */

void *__libc_malloc(size_t size);
void *malloc(size_t size)
{
    if (missing && size == many) {
        missing--;
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(size);
}

static int stopped(void *context) { return *(int *)context; }
static void handle_stop(vd_call *call, void *context)
{
    (void)call;
    *(int *)context = 1;
}

static vd_call *start(uint64_t ns)
{
    vd_call *call = vd_rpc_begin(0, "stop", ns);
    CHECK(call);
    CHECK_EQUAL(vd_rpc_send(call), VD_OK);
    return call;
}

static void turned_away(int rank)
{
    int stop = 0;
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    CHECK_EQUAL(vd_rpc_register("stop", handle_stop, &stop, VD_AT_ONCE), VD_OK);
    if (rank == 0) {
        many = vrpc.calls.first_objects * (vrpc.calls.object_size + 16);
        missing = 1 + ONE_WAY;
        CHECK_EQUAL(vd_rpc_serve(stopped, &stop), VD_OK);
        CHECK_EQUAL(missing, 0);
    } else {
        vd_call *call = start(0);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_NO_MEMORY);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
        for (int i = 0; i < ONE_WAY; i++)
            start(VD_ONE_WAY);
        call = start(0);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_OK);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* There is no memory for the arguments of a call, nor for a place to receive the next one in: the caller is told, and the
 * next one is received. */
static void not_received(int rank)
{
    int stop = 0, argument = 1;
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    CHECK_EQUAL(vd_rpc_register("stop", handle_stop, &stop, VD_AT_ONCE), VD_OK);
    if (rank == 0) {
        many = PACK_FRAME;
        missing = 2;
        CHECK_EQUAL(vd_rpc_serve(stopped, &stop), VD_OK);
        CHECK_EQUAL(missing, 0);
    } else {
        vd_call *call = vd_rpc_begin(0, "stop", 0);
        CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), &argument, sizeof argument, VD_SEND_SAFER, VD_RECEIVE_EXPRESS),
                    VD_OK);
        CHECK_EQUAL(vd_rpc_send(call), VD_OK);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_NO_MEMORY);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
        call = start(0);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_OK);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* There is no memory to queue a call where the way to its server is full: it was not sent, and vd_finalize does not
 * wait for it. */
static void not_sent(int rank)
{
    static unsigned char data[2000];
    int argument = 1;
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    vd_channel *channel = channel_open("full");
    if (rank == 0) {
        vd_connection *to;
        bool full = false;
        uint32_t messages = 0;
        do {
            to = vd_begin_packing(channel, 1);
            CHECK_EQUAL(vd_pack(to, data, sizeof data, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
            CHECK_EQUAL(vd_end_packing_start(to), VD_OK);
            full = to->parts_under_way > 0;
            messages++;
            if (!full)
                CHECK_EQUAL(vd_wait(to), VD_OK);
        } while (!full);
        vd_call *call = vd_rpc_begin(1, "unknown", VD_ONE_WAY);
        CHECK_EQUAL(vd_pack(vd_rpc_arguments(call), &argument, sizeof argument, VD_SEND_SAFER, VD_RECEIVE_EXPRESS),
                    VD_OK);
        many = PACK_FRAME;
        missing = 1;
        CHECK_EQUAL(vd_rpc_send(call), VD_NO_MEMORY);
        CHECK_EQUAL(missing, 0);
        CHECK_EQUAL(write(filled[1], &messages, sizeof messages), (int)sizeof messages);
        CHECK_EQUAL(vd_wait(to), VD_OK);
    } else {
        uint32_t messages = 0;
        CHECK_EQUAL(read(filled[0], &messages, sizeof messages), (int)sizeof messages);
        for (uint32_t i = 0; i < messages; i++) {
            vd_connection *from = vd_begin_unpacking(channel);
            CHECK_EQUAL(vd_unpack(from, data, sizeof data, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
            CHECK_EQUAL(vd_end_unpacking(from), VD_OK);
        }
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

int main(void)
{
    CHECK_EQUAL(pipe(filled), 0);
    harness_run(2, turned_away);
    harness_run(2, not_received);
    harness_run(2, not_sent);
    return check_done();
}
