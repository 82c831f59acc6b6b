/* The same traffic while the transport misbehaves as far as its contract lets it: full lanes, late events, gets that
 * are told later. A lost link of shared memory ends every wait with the rank's name, and stop does not hang on it; over a
 * network it is no loss at all, however often. timeout: 120 tcp: 1 */
#include "base/counters.h"
#include "traffic.h"

static void traffic_under(const char *script)
{
    setenv("FAULT", script, 1);
    int before = check_failed;
    harness_run(TRAFFIC_RANKS, traffic_everybody);
    if (check_failed != before)
        fprintf(stderr, "under FAULT=%s\n", script);
}

static void lost_link(int rank)
{
    char byte = 0;
    /* they have met: over a network nobody else would notice that the other is gone */
    int error = rank == 0 ? vmsg_recv(world, 1, 0, &byte, 1, NULL) : vmsg_send(world, 0, 0, "x", 1);
    for (int i = 0; i < 1000 && !error; i++)
        error = rank == 0 ? vmsg_send(world, 1, 1, "x", 1) : vmsg_recv(world, 0, 1, &byte, 1, NULL);
    if (getenv("VIADUCT_TRANSPORTS")) {
        CHECK_EQUAL(error, OK);
        CHECK(rank == 0 || vbase_counters->rails_lost > 5);
        return;
    }
    CHECK_EQUAL(error, ERR_PEER_DEAD);
    CHECK(strstr(vbase_error_detail(), rank == 0 ? "rank 1" : "rank 0") != NULL);
}

int main(void)
{
    traffic_under("refuse=40%");
    traffic_under("delay=30us");
    traffic_under("late-put");
    traffic_under("delay=20us,reorder=5%,refuse=20%,late-put,seed=3");
    setenv("FAULT", "drop-link=1@100,rank=0", 1);
    setenv("VIADUCT_LOG_FILE", "/dev/null", 1); /* the loss is logged as an error */
    harness_run(2, lost_link);
    return check_done();
}
