/* The promises of order and of bounded memory, between ranks:
 *   10,000 started sends of tag 1, then one of tag 2 that is received first: the receiver keeps no more than the
 * window; everybody sends to everybody, sizes mixed over all ways a message can take, received by wildcards in sender's
 * order. Each message that is not in the window costs two ways, and on a busy machine each way a turn of the scheduler.
 * tcp: 1 timeout: 180 */
#include "traffic.h"
#include "base/counters.h"
#include "base/settings.h"

#define FLOOD 10000
#define BYTES 1000

static void flood_send(void)
{
    struct msg_request *send = calloc(FLOOD, sizeof *send);
    unsigned char *data = malloc((size_t)FLOOD * BYTES);
    struct msg_where to = {world, 1, 1};
    for (unsigned i = 0; i < FLOOD; i++) {
        struct type_buffer from = {.base = data + (size_t)i * BYTES, .count = BYTES};
        fill(from.base, i, BYTES);
        CHECK_EQUAL(vmsg_send_start(&send[i], &to, &from, MSG_STANDARD), OK);
    }
    CHECK_EQUAL(vmsg_send(world, 1, 2, "two", 4), OK);
    for (int i = 0; i < FLOOD; i++)
        CHECK_EQUAL(vmsg_wait(&send[i]), OK);
    CHECK(vbase_counters->window_empty > 0);
    CHECK(vbase_counters->send_eager >= 200);
    free(data);
    free(send);
}

static void flood_receive(void)
{
    char two[4] = "", in[BYTES];
    CHECK_EQUAL(vmsg_recv(world, 0, 2, two, 4, NULL), OK);
    CHECK_TEXT(two, "two");
    CHECK_EQUAL(vbase_counters->unexpected_now, FLOOD);
    CHECK(vbase_counters->unexpected_bytes <= vbase_settings.window);
    CHECK(vbase_counters->unexpected_bytes > 100 * 1024);
    for (unsigned i = 0; i < FLOOD; i++) {
        CHECK_EQUAL(vmsg_recv(world, i % 2 ? 0 : MSG_ANY_SOURCE, 1, in, BYTES, NULL), OK);
        CHECK_EQUAL(first_wrong(in, i, BYTES), BYTES);
    }
    CHECK_EQUAL(vbase_counters->unexpected_bytes, 0);
}

static void flood(int rank)
{
    if (rank == 0)
        flood_send();
    else
        flood_receive();
}

int main(void)
{
    harness_run(2, flood);
    harness_run(TRAFFIC_RANKS, traffic_everybody);
    setenv("VIADUCT_SINGLE_COPY", "no", 1);
    harness_run(2, flood);
    harness_run(TRAFFIC_RANKS, traffic_everybody);
    return check_done();
}
