/* Packed messages and remote calls from a rank that sends anything: a job of one sends to itself. */
#include "fuzz.h"
#include "base/settings.h"
#include "pack/pack.h"
#include "pack/pack_test.h"
#include "rpc/rpc.h"

static int handled;
static void handle(vd_call *call, void *context) { (void)call, (void)context, handled++; }

static void begin(void)
{
    setenv("VIADUCT_LOG_FILE", "/dev/null", 1);
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    CHECK_EQUAL(vd_rpc_register("nothing", handle, NULL, VD_AT_ONCE), VD_OK);
}

/* The next piece of the input as a message to ourselves. */
static bool give(struct msg_context *context, int tag, struct msg_request *request, unsigned char *from)
{
    size_t length = fuzz_below(16384);
    if (length > (size_t)(fuzz_end - fuzz_at))
        length = (size_t)(fuzz_end - fuzz_at);
    struct msg_where to = {context, 0, tag};
    struct type_buffer buffer = {.base = from, .count = length};
    memcpy(from, fuzz_at, length);
    fuzz_at += length;
    return vmsg_send_start(request, &to, &buffer, MSG_STANDARD) == OK;
}

int FUZZ(const uint8_t *data, size_t size)
{
    static bool begun;
    static unsigned char place[20000 + 16], from[5][16384];
    static struct msg_request sent[5];
    if (!begun)
        begin();
    begun = true;
    fuzz_begin(data, size);
    memset(sent, 0, sizeof sent);
    if (fuzz_byte() % 2) { /* a call */
        if (give(vrpc.channel->context, PACK_TAG_FIRST, &sent[0], from[0]))
            vrpc.channel->sent[0]++;
        for (int i = 0; i < 4; i++)
            vd_progress();
        vmsg_cancel(&sent[0]);
        (void)vmsg_wait(&sent[0]);
        return 0;
    }
    vd_channel *channel = channel_open("fuzz");
    int count = 0;
    size_t bytes = fuzz_below(20000);
    while (count < 5 && give(channel->context, count ? 1 + count % 2 : PACK_TAG_FIRST, &sent[count], from[count]))
        count++;
    vd_connection *in;
    if (vd_begin_unpacking_now(channel, VD_ANYONE, &in) == VD_OK) {
        memset(place, GUARD, sizeof place);
        /* never more than can be here: a receive that waits for more would wait for ever */
        (void)vd_unpack(in, place, bytes, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS);
        for (size_t i = bytes; i < sizeof place; i++)
            if (place[i] != GUARD)
                abort();
        (void)vd_end_unpacking(in);
    }
    for (int i = 0; i < count; i++)
        vmsg_cancel(&sent[i]);
    (void)vd_channel_close(channel);
    for (int i = 0; i < count; i++)
        (void)vmsg_wait(&sent[i]);
    if (check_failed)
        abort();
    return 0;
}
