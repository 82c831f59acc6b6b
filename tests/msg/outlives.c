/* A send outlives its context: what this rank waits for can still be written where `viaduct stuck` reads it, and the
 * send ends when its receiver takes the message.
 * timeout: 60 tcp: 1 */
#include "base/counters.h"
#include "msg/transfer.h"
#include "msg/wait.h"
#include "harness.h"

#define BYTES (1 << 20)
#define CONTEXT 7

static unsigned char data[BYTES];

static void outlives(int rank)
{
    struct msg_context *context;
    CHECK_EQUAL(vmsg_context_open(CONTEXT, NULL, 2, rank, &context), OK);
    if (rank == 0) {
        struct msg_request request = {.completed = NULL};
        struct msg_where to = {context, 1, 5};
        struct type_buffer buffer = {.base = data, .count = BYTES};
        fill(data, 1, BYTES);
        CHECK_EQUAL(vmsg_send_start(&request, &to, &buffer, MSG_STANDARD), OK);
        vmsg_context_close(context);
        vmsg_waits_tell(&request, NULL, NULL, false, clock_ticks());
        const struct base_waiting *waiting = &vbase_counters->waiting;
        CHECK_EQUAL(waiting->kind, WAITS_SEND);
        CHECK_EQUAL(waiting->message.peer, 1);
        CHECK_EQUAL(waiting->message.tag, 5);
        CHECK_EQUAL(waiting->message.context, CONTEXT);
        CHECK_EQUAL(waiting->message.bytes, BYTES);
        vmsg_waits_end(0);
        CHECK_EQUAL(vmsg_send(world, 1, 0, "x", 1), OK);
        CHECK_EQUAL(vmsg_wait(&request), OK);
        return;
    }
    char byte;
    CHECK_EQUAL(vmsg_recv(world, 0, 0, &byte, 1, NULL), OK);
    CHECK_EQUAL(vmsg_recv(context, 0, 5, data, BYTES, NULL), OK);
    CHECK_EQUAL(first_wrong(data, 1, BYTES), BYTES);
    vmsg_context_close(context);
}

int main(void)
{
    harness_run(2, outlives);
    return check_done();
}
