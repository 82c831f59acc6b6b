/* Who has said goodbye receives nothing any more: a message that needs his answer ends with an error that names him, whether
 * it was announced before his goodbye was heard or after; what was small is gone, and nobody hangs.
 * timeout: 30 tcp: 1 */
#include "harness.h"

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

int main(void)
{
    harness_run(2, parted);
    return check_done();
}
