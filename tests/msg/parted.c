/* Who has said goodbye receives nothing any more: a message that needs his answer ends with an error that names him, whether
 * it was announced before his goodbye was heard or after; what was small is gone, and nobody hangs.
 * timeout: 30 tcp: 1 */
#include "harness.h"
#include "base/counters.h"

static unsigned char large[1 << 20];

static int wait_send(struct msg_request *request, int rank, enum msg_mode mode, uint64_t bytes)
{
    struct msg_where to = {world, rank, 1};
    struct type_buffer buffer = {.base = large, .count = bytes};
    *request = (struct msg_request){.completed = NULL};
    CHECK_EQUAL(vmsg_send_start(request, &to, &buffer, mode), OK);
    return vmsg_wait(request);
}

static void parted(int rank)
{
    struct msg_request request;
    char byte = 0;
    CHECK_EQUAL(rank == 0 ? vmsg_send(world, 1, 0, &byte, 1) : vmsg_recv(world, 0, 0, &byte, 1, NULL), OK);
    if (rank == 1)
        return; /* and leaves, by the harness */
    (void)wait_send(&request, 1, MSG_STANDARD, sizeof large); /* dropped with the context, or it hears the goodbye */
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(wait_send(&request, 1, MSG_STANDARD, sizeof large), ERR_PEER_DEAD);
        CHECK(strstr(vbase_error_detail(), "rank 1 has left") != NULL);
        CHECK_EQUAL(wait_send(&request, 1, MSG_SYNCHRONOUS, 8), ERR_PEER_DEAD);
    }
    CHECK_EQUAL(vmsg_send(world, 1, 0, large, sizeof large), ERR_PEER_DEAD);
}

/* Rank 1 has a message that it does not receive, and drops it after its goodbye: the sender hears that its message is
 * done with when it has given it up already. That is the order of things, and no frame that makes no sense. */
static void dropped_late(int rank)
{
    struct msg_context *context;
    struct msg_request request;
    char byte = 0;
    CHECK_EQUAL(vmsg_context_open(5, NULL, 2, rank, &context), OK);
    if (rank == 0) {
        struct msg_where to = {context, 1, 1};
        struct type_buffer buffer = {.base = large, .count = sizeof large};
        request = (struct msg_request){.completed = NULL};
        CHECK_EQUAL(vmsg_send_start(&request, &to, &buffer, MSG_STANDARD), OK);
    }
    CHECK_EQUAL(rank == 0 ? vmsg_send(world, 1, 0, &byte, 1) : vmsg_recv(world, 0, 0, &byte, 1, NULL), OK);
    vmsg_rest(true); /* goodbye both ways */
    vmsg_rest_end();
    if (rank == 0)
        CHECK_EQUAL(vmsg_wait(&request), ERR_PEER_DEAD);
    vmsg_context_close(context);
    CHECK_EQUAL(rank == 1 ? vmsg_send(world, 0, 0, &byte, 1) : vmsg_recv(world, 1, 0, &byte, 1, NULL), OK);
    CHECK_EQUAL(vbase_counters->refused, 0);
}

int main(void)
{
    harness_run(2, parted);
    harness_run(2, dropped_late);
    return check_done();
}
