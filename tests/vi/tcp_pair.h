/* Two or more tcp nics in one process, over loopback: rank i is nic[i]. Everything is polled by turns, so nothing races
 * but the kernel. Messages are numbered by their header; their bytes follow from it. */
#ifndef TESTS_VI_TCP_PAIR_H
#define TESTS_VI_TCP_PAIR_H

#include "vi/vi.h"
#include "check.h"
#include "each.h"
#include "base/clock.h"
#include "base/settings.h"

#include <unistd.h>

#define PAIR_RANKS 4
#define PAIR_PATIENCE 20000000000ull /* ns: a wait that lasts longer has failed */

static struct pair_side {
    struct vi_nic *nic;
    struct vi *vi[PAIR_RANKS];
    uint64_t got, bytes, expected; /* EXPECTED: the next header, when ORDERED */
    unsigned called, arrived, done, down;
    uint64_t landed;
    uint32_t immediate;
    int done_status, down_cause;
    void *done_cookie;
    bool accept_later, disconnect_in_sink;
    bool spoiled; /* what comes is not what was sent */
} pair[PAIR_RANKS];

extern const struct vi_ops tcp_ops;

static const uint8_t pair_secret[SECRET_SIZE] = "a secret of thirty-two bytes....";

static struct pair_side *side_of(struct vi_nic *nic)
{
    return &pair[nic->rank];
}

static bool pair_one_received(struct vi *vi, uint64_t header, const void *data, size_t length)
{
    struct pair_side *side = side_of(vi->nic);
    const unsigned char *bytes = data;

    if (side->spoiled)
        return false;
    CHECK_EQUAL(header, side->expected);
    side->expected++;
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != check_byte((unsigned)header, i)) {
            CHECK_EQUAL(bytes[i], check_byte((unsigned)header, i));
            break;
        }
    side->got++;
    side->bytes += length;
    return false;
}

static bool pair_received(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count)
{
    return vi_each(pair_one_received, vi, header, data, length, count);
}

static void pair_arrived(struct vi *vi, uint32_t immediate, uint64_t length)
{
    side_of(vi->nic)->landed += length;
    side_of(vi->nic)->arrived++;
    side_of(vi->nic)->immediate = immediate;
}

static void pair_done(struct vi *vi, void *cookie, int status)
{
    side_of(vi->nic)->done++;
    side_of(vi->nic)->done_cookie = cookie;
    side_of(vi->nic)->done_status = status;
}

static void pair_called(struct vi_nic *nic, uint32_t peer)
{
    struct pair_side *side = side_of(nic);

    side->called++;
    if (!side->accept_later)
        CHECK_EQUAL(vi_accept(nic, peer, side, &side->vi[peer]), OK);
}

static void pair_down(struct vi *vi, int cause)
{
    struct pair_side *side = side_of(vi->nic);

    CHECK(side->vi[vi->peer] == vi);
    side->down++;
    side->down_cause = cause;
    if (side->disconnect_in_sink) {
        side->vi[vi->peer] = NULL;
        vi_disconnect(vi);
    }
}

static inline int pair_open_with(uint32_t rank, const uint8_t *secret)
{
    static const struct vi_sink sink = {NULL, pair_received, pair_arrived, pair_done, pair_called, pair_down, NULL};
    static const struct vi_provider provider = {"tcp", &tcp_ops};
    struct vi_setup setup = {.rank = rank, .ranks = PAIR_RANKS, .secret = secret, .node_fd = -1, .seat_fd = -1, .sink = &sink,
                             .card = "lo"}; /* one rail: a slow call would make the others be called, too */

    memset(&pair[rank], 0, sizeof(pair[rank]));
    return vi_nic_open(&provider, &setup, &pair[rank].nic);
}

static inline void pair_open(uint32_t ranks)
{
    for (uint32_t i = 0; i < ranks; i++)
        CHECK_EQUAL(pair_open_with(i, pair_secret), OK);
}

static inline void pair_close(void)
{
    for (uint32_t i = 0; i < PAIR_RANKS; i++) {
        if (!pair[i].nic)
            continue;
        for (int j = 0; j < PAIR_RANKS; j++)
            if (pair[i].vi[j])
                vi_disconnect(pair[i].vi[j]);
        vi_nic_close(pair[i].nic);
        pair[i].nic = NULL;
    }
}

static inline int pair_connect(int from, int to)
{
    struct vi_address address = {.peer = (uint32_t)to, .card = pair[to].nic->card};

    return vi_connect(pair[from].nic, &address, &pair[from], &pair[from].vi[to]);
}

static inline void pair_poll(void)
{
    for (int i = 0; i < PAIR_RANKS; i++)
        if (pair[i].nic)
            CHECK(vi_poll(pair[i].nic, 16) >= 0);
}

static inline bool pair_late(uint64_t since)
{
    return vbase_clock_ns() - since > PAIR_PATIENCE;
}

#define PAIR_WAIT(condition)                                                                                            \
    do {                                                                                                                \
        uint64_t since_ = vbase_clock_ns();                                                                             \
        while (!(condition) && !pair_late(since_))                                                                      \
            pair_poll();                                                                                                \
        CHECK(condition);                                                                                               \
    } while (0)

static inline int pair_try_send(int from, int to, uint64_t number, size_t length)
{
    static unsigned char data[1 << 17];
    struct iovec piece[2] = {{data, length / 3}, {data + length / 3, length - length / 3}};

    for (size_t i = 0; i < length; i++)
        data[i] = check_byte((unsigned)number, i);
    return vi_send(pair[from].vi[to], number, piece, 2);
}

static inline void pair_send(int from, int to, uint64_t number, size_t length)
{
    int error;

    while ((error = pair_try_send(from, to, number, length)) == ERR_AGAIN)
        pair_poll();
    CHECK_EQUAL(error, OK);
}

#endif
