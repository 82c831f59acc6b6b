/* Channels that are bound to networks, side by side: each goes where it was bound to, also between ranks of one host, carries
 * messages of all lengths in their order while the others do, and one that cannot be is refused at all ranks. With an
 * argument: one that is bound to verbs, and one to the card of that name (verbs/channels.sh).
 * timeout: 60
 * tcp: 1 */
#include "base/counters.h"
#include "base/settings.h"
#include "pack/pack.h"
#include "pack_test.h"
#include <sys/resource.h>

#define ROUNDS 60

static vd_channel *open_over(const char *name, const char *network)
{
    vd_channel *channel = NULL;
    int code = vd_channel_open(name, network, &channel);
    if (code)
        fprintf(stderr, "%s\n", vd_error_text(code));
    CHECK_EQUAL(code, VD_OK);
    return channel;
}

static void goes_over(const vd_channel *channel, int remote, const char *transport, const char *card)
{
    struct msg_route route;
    CHECK_EQUAL(vmsg_route(channel->context, remote, &route), OK);
    CHECK(strcmp(route.transport, transport) == 0);
    CHECK(!card || strncmp(route.path, card, strlen(card)) == 0);
}

static uint64_t carried(void)
{
    uint64_t bytes = 0;
    for (int card = 0; card < COUNT_CARDS; card++)
        bytes += (&vbase_counters->card0)[card];
    return bytes;
}

static size_t length_of(int round, int which)
{
    return mixed((unsigned)round, (unsigned)which) % (round % 3 ? 3000 : 300000);
}

/* Each rank sends to the next and hears from the one before, on all channels at once. */
static void traffic(vd_channel **channel, int channels, int rank, int size)
{
    static unsigned char out[8][300000], in[300000];
    vd_connection *to[8];
    for (int round = 0; round < ROUNDS; round++) {
        for (int c = 0; c < channels; c++) {
            size_t length = length_of(round, c * 10 + rank);
            fill(out[c], (unsigned)(round * 100 + c * 10 + rank), length);
            to[c] = vd_begin_packing(channel[c], (rank + 1) % size);
            CHECK_EQUAL(vd_pack(to[c], &length, sizeof length, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
            CHECK_EQUAL(vd_pack(to[c], out[c], length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
            CHECK_EQUAL(vd_end_packing_start(to[c]), VD_OK);
        }
        for (int c = channels - 1; c >= 0; c--) {
            int before = (rank + size - 1) % size;
            size_t length = 0;
            vd_connection *from = vd_begin_unpacking(channel[c]);
            CHECK_EQUAL(vd_remote(from), before);
            CHECK_EQUAL(vd_unpack(from, &length, sizeof length, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), VD_OK);
            CHECK_EQUAL(length, length_of(round, c * 10 + before));
            CHECK_EQUAL(vd_unpack(from, in, length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER), VD_OK);
            CHECK_EQUAL(vd_end_unpacking(from), VD_OK);
            CHECK_EQUAL(first_wrong(in, (unsigned)(round * 100 + c * 10 + before), length), length);
        }
        for (int c = 0; c < channels; c++)
            CHECK_EQUAL(vd_wait(to[c]), VD_OK);
    }
}

/* What fails, at all ranks or at one, uses up none of the three that there may be. */
static void refused(int rank)
{
    struct rlimit limit, none = {4, 4};
    vd_channel *channel;
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(vd_channel_open("nothing", "nosuch0", &channel), VD_UNREACHABLE);
    getrlimit(RLIMIT_NOFILE, &limit);
    none.rlim_max = limit.rlim_max;
    for (int i = 0; i < 4; i++) {
        if (rank == 1)
            setrlimit(RLIMIT_NOFILE, &none); /* no more descriptors */
        int code = vd_channel_open("nothing", "lo", &channel);
        CHECK(code != VD_OK);
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void bound(int rank)
{
    enum { CHANNELS = 5 };
    static const char *const network[CHANNELS] = {NULL, "tcp", "lo", "tcp", "all"};
    vd_channel *channel[CHANNELS], *none;
    CHECK_EQUAL(vd_init(), VD_OK);
    int size = vd_size(), next = (rank + 1) % size;
    refused(rank);
    for (int i = 0; i < CHANNELS; i++)
        channel[i] = open_over("side by side", network[i]);
    bool tcp_alone = vbase_settings.transports && strcmp(vbase_settings.transports, "tcp") == 0;
    goes_over(channel[0], next, tcp_alone ? "tcp" : "shm", NULL);
    goes_over(channel[1], next, "tcp", NULL);
    goes_over(channel[2], next, "tcp", "lo ");
    CHECK_EQUAL(vd_channel_open("nothing", "nosuch0", &none), VD_UNREACHABLE);
    CHECK_EQUAL(vd_channel_open("nothing", "verbs", &none), VD_UNSUPPORTED);
    CHECK(strstr(vd_error_text(VD_UNSUPPORTED), "RDMA device") || strstr(vd_error_text(VD_UNSUPPORTED), "libibverbs"));
    CHECK_EQUAL(vd_channel_open("nothing", "shm", &none), tcp_alone ? VD_UNREACHABLE : VD_OK);
    uint64_t before = carried();
    traffic(channel, 1, rank, size);
    CHECK(tcp_alone || carried() - before < 10000); /* the goodbyes and greetings of connections */
    before = carried();
    traffic(channel + 1, 1, rank, size);
    CHECK(carried() - before > 100000);
    traffic(channel, CHANNELS, rank, size);
    CHECK_EQUAL(vd_channel_close(channel[1]), VD_OK);
    channel[1] = open_over("again", "tcp");
    traffic(channel, CHANNELS, rank, size);
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

/* The thread of the descriptor looks at all channels while others are bound. */
static void bound_beside_events(int rank)
{
    vd_channel *channel;
    (void)rank;
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK(vd_get_fd() > 0);
    for (int i = 0; i < 200; i++) {
        channel = open_over("one of many", "tcp");
        CHECK_EQUAL(vd_arm(), VD_OK);
        CHECK_EQUAL(vd_channel_close(channel), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

static const char *rdma_card;

static void bound_to_verbs(int rank)
{
    vd_channel *channel[2];
    CHECK_EQUAL(vd_init(), VD_OK);
    int size = vd_size(), next = (rank + 1) % size;
    channel[0] = open_over("by verbs", "verbs");
    channel[1] = open_over("by its name", rdma_card);
    goes_over(channel[0], next, "verbs", NULL);
    uint64_t before = carried();
    traffic(channel, 1, rank, size);
    CHECK(carried() - before > 100000);
    traffic(channel, 2, rank, size);
    CHECK_EQUAL(vd_channel_close(channel[0]), VD_OK);
    channel[0] = open_over("again", "verbs");
    traffic(channel, 2, rank, size);
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        rdma_card = argv[1];
        harness_run(3, bound_to_verbs);
        return check_done();
    }
    setenv("VIADUCT_TRANSPORTS", "shm,tcp", 0); /* the usual, and ranks have a place for their addresses */
    harness_run(2, bound);
    harness_run(3, bound);
    harness_run(2, bound_beside_events);
    return check_done();
}
