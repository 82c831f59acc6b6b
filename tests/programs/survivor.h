/* What survivors of a death do: call "twice" with LONGEST bytes at most, send, take; each gives the code that it got. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <viaduct.h>

static char data[LONGEST], back[LONGEST];
static vd_channel *channel;

#define EXPECT(code, wanted) \
    do { \
        int code_ = (code); \
        if (code_ != (wanted)) { \
            fprintf(stderr, "rank %d, line %d: %d (%s), not %d\n", vd_rank(), __LINE__, code_, vd_error_text(code_), wanted); \
            exit(7); \
        } \
    } while (0)

static void twice(vd_call *call, void *context)
{
    int length;
    static char his[LONGEST];
    (void)context;
    if (vd_unpack(vd_rpc_arguments(call), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS) ||
        vd_unpack(vd_rpc_arguments(call), his, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS))
        return;
    vd_pack(vd_rpc_reply(call), his, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER);
}

static int call(int rank, int length)
{
    vd_connection *reply;
    vd_call *call = vd_rpc_begin(rank, "twice", 0);
    if (!call)
        return vd_error();
    vd_pack(vd_rpc_arguments(call), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS);
    vd_pack(vd_rpc_arguments(call), data, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS);
    int code = vd_rpc_send(call);
    code = code ? code : vd_rpc_wait(call, &reply);
    if (!code) {
        memset(back, 0, sizeof back);
        code = vd_unpack(reply, back, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER);
    }
    int ended = vd_rpc_end(call);
    code = code ? code : ended;
    if (!code && memcmp(data, back, (size_t)length))
        exit(9);
    return code;
}

static int take_from(int rank, int length)
{
    vd_connection *from = vd_begin_unpacking_from(channel, rank);
    int code = from ? vd_unpack(from, back, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER) : vd_error();
    int ended = from ? vd_end_unpacking(from) : code;
    return code ? code : ended;
}

static int send_to(int rank, int length)
{
    vd_connection *to = vd_begin_packing(channel, rank);
    int code = to ? vd_pack(to, data, (size_t)length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER) : vd_error();
    int ended = to ? vd_end_packing(to) : code;
    return code ? code : ended;
}
