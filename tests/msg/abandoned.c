/* The job is lost while blocking calls wait: they give their requests back complete, so that nothing of the engine points
 * into a stack that has gone, and the calls after them find its lists whole.
 * timeout: 60 tcp: 1 */
#include "boot/boot.h"
#include "msg/transfer.h"
#include "harness.h"

static __attribute__((noinline)) void scribble(void)
{
    volatile char stack[16384];
    memset((char *)(uintptr_t)stack, 0x5A, sizeof stack);
}

static unsigned char large[1 << 20];

static int receive(int tag)
{
    return vmsg_recv(world, MSG_ANY_SOURCE, tag, large, 1, NULL);
}

static struct vi_ops busy;
static int (*poll_of_nic)(struct vi_nic *nic, struct vi *only, int budget, unsigned flags);
static int busy_poll(struct vi_nic *nic, struct vi *only, int budget, unsigned flags) { return poll_of_nic(nic, only, budget, flags) + 1; }

static void lost(int rank)
{
    char byte = 0;
    /* they have met: over a network nobody else would notice that the other is gone */
    int error = rank == 0 ? vmsg_recv(world, 1, 0, &byte, 1, NULL) : vmsg_send(world, 0, 0, "x", 1);
    for (int i = 0; i < 1000 && !error; i++)
        error = rank == 0 ? vmsg_send(world, 1, 1, "x", 1) : vmsg_recv(world, 0, 1, &byte, 1, NULL);
    if (rank == 1 && !error)
        error = vmsg_send(world, 0, 2, "x", 1);
    else if (!error)
        error = vmsg_recv(world, 1, 2, &byte, 1, NULL);
    if (getenv("VIADUCT_TRANSPORTS")) /* over a network a lost link is no loss */
        vmsg_failed(error = vbase_fail(ERR_PEER_DEAD, "the test says so"));
    CHECK_EQUAL(error, ERR_PEER_DEAD);
    scribble();
    for (int i = 0; i < 3; i++) { /* nobody sends this, and nobody takes that */
        CHECK_EQUAL(receive(2 + i), ERR_PEER_DEAD);
        scribble();
        CHECK(vmsg_send(world, rank, 9, large, sizeof large) != OK);
        scribble();
        CHECK(vmsg_send(world, 1 - rank, 9, large, sizeof large) != OK);
        scribble();
    }
    struct vi_nic *nic = vmsg_engine.nic[0]; /* something always goes on, and the wait ends all the same */
    const struct vi_ops *ops = nic->ops;
    busy = *ops;
    poll_of_nic = ops->poll;
    busy.poll = busy_poll;
    nic->ops = &busy;
    CHECK_EQUAL(receive(6), ERR_PEER_DEAD);
    nic->ops = ops;
    struct msg_request request = {.completed = NULL};
    struct msg_where from = {world, rank, 5};
    struct type_buffer buffer = {.base = &byte, .count = 1};
    CHECK_EQUAL(vmsg_recv_start(&request, &from, &buffer), OK);
    CHECK_EQUAL(vmsg_wait(&request), ERR_PEER_DEAD);
    CHECK(vmsg_request_done(&request));
    CHECK_EQUAL(vmsg_send(world, rank, 9, "y", 1), OK); /* kept: goes by all that was given up */
    CHECK_EQUAL(vmsg_recv(world, rank, 9, &byte, 1, NULL), OK);
    CHECK_EQUAL(byte, 'y');
    /* a rank that ends drops what was announced to it, and tells its sender that this is over */
    CHECK_EQUAL(vboot_fence(vmsg_engine.job), OK);
}

int main(void)
{
    setenv("VIADUCT_LOG_FILE", "/dev/null", 1); /* the loss is logged as an error */
    if (!getenv("VIADUCT_TRANSPORTS"))
        setenv("FAULT", "drop-link=1@100,rank=0", 1);
    harness_run(2, lost);
    return check_done();
}
