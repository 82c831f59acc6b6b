/* Memory that all members of a context share: all get it or none, whoever lacks something, and all see the same bytes. */
#include "msg/harness.h"

#define BYTES 10000

struct sight {
    _Atomic unsigned char *memory;
    int ranks;
};

static bool all_wrote(void *context)
{
    struct sight *sight = context;
    for (int rank = 0; rank < sight->ranks; rank++)
        if (!sight->memory[rank * 1000])
            return false;
    return true;
}

static void body(int rank)
{
    struct sight sight = {.ranks = vmsg_job()->size};
    struct msg_share *share;
    for (int poor = 0; poor < sight.ranks; poor++)
        CHECK_EQUAL(vmsg_share_open(world, 10 + poor, BYTES, rank != poor, &share), ERR_UNSUPPORTED);
    int error = vmsg_share_open(world, 9, BYTES, true, &share);
    CHECK_EQUAL(error, OK);
    if (error)
        return;
    sight.memory = vmsg_share_memory(share);
    for (int i = 0; i < 1000; i++)
        CHECK_EQUAL(sight.memory[rank * 1000 + i], 0);
    for (int i = 999; i >= 0; i--)
        sight.memory[rank * 1000 + i] = (unsigned char)(check_byte((unsigned)rank, (size_t)i) | 1);
    vmsg_share_wake_all(share);
    CHECK_EQUAL(vmsg_share_wait(share, all_wrote, &sight), OK);
    for (int from = 0; from < sight.ranks; from++)
        for (int i = 0; i < 1000; i++)
            CHECK_EQUAL(sight.memory[from * 1000 + i], (unsigned char)(check_byte((unsigned)from, (size_t)i) | 1));
    char byte = 0;
    for (int other = 1; other < sight.ranks && rank == 0; other++) /* his memory it is: he closes last */
        CHECK_EQUAL(vmsg_recv(world, other, 8, &byte, 1, NULL), OK);
    vmsg_share_close(share);
    if (rank > 0)
        CHECK_EQUAL(vmsg_send(world, 0, 8, &byte, 1), OK);
}

int main(void)
{
    harness_run(2, body);
    harness_run(5, body);
    return check_done();
}
