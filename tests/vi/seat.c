/* Two nics of different providers share one seat: whichever looks at it, each is given the connections that are for its rails; one
 * for a provider that is not there is refused, and one for a nic that is closed. */
#include "check.h"
#include "vi/call/call.h"

enum { RANKS = 4, CARDS_OF = 2 };

static struct call_nic nic[CARDS_OF];
static unsigned called[CARDS_OF];

static void told(struct vi_nic *of, uint32_t peer)
{
    CHECK_EQUAL(peer, 3);
    called[of == &nic[1].nic]++;
}

static const struct vi_ops ops;
static const struct call_provider provider[CARDS_OF] = {
    {.ops = &ops, .number = 1, .vi_size = sizeof(struct call_vi), .link_size = sizeof(struct call_link)},
    {.ops = &ops, .number = 3, .vi_size = sizeof(struct call_vi), .link_size = sizeof(struct call_link)},
};

static void poll_one(struct call_nic *one)
{
    struct epoll_event event[8];
    uint64_t now = vbase_clock_ns();
    int count = epoll_wait(one->epoll, event, 8, 0);
    for (int i = 0; i < count; i++)
        CHECK(call_event(one, &event[i], &now) == NULL);
    if (atomic_exchange(&one->ordered, false))
        call_peers_step(one, now);
}

/* A connection for RAIL is passed on; its other end. */
static int pass(int seat, uint32_t rail)
{
    struct call_hello hello;
    int ends[2];
    CHECK_EQUAL(call_hello_make(&hello, 3, 0, rail, 1), OK);
    CHECK_EQUAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    CHECK(vbase_packet_send(seat, &hello, sizeof hello, ends[1], 0));
    close(ends[1]);
    return ends[0];
}

/* Takes it away; 0: closed. */
static ssize_t verdict(int fd)
{
    struct call_verdict word;
    ssize_t got = recv(fd, &word, sizeof word, MSG_DONTWAIT);
    close(fd);
    return got;
}

int main(void)
{
    struct call_note note = {.magic = CALL_NOTE_MAGIC, .host = vbase_host_identity(), .port = 4000};
    static const struct vi_sink sink = {.called = told};
    static const uint8_t secret[SECRET_SIZE] = "a secret of thirty-two bytes....";
    struct call_seat *seat = NULL;
    int ends[2];
    CHECK_EQUAL(vbase_settings_read(), OK);
    CHECK_EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    CHECK(vbase_packet_send(ends[0], &note, sizeof note, -1, 0));
    struct vi_setup setup = {.ranks = RANKS, .secret = secret, .seat_fd = ends[1], .seat = &seat, .sink = &sink};
    for (int i = 0; i < CARDS_OF; i++) {
        CHECK_EQUAL(call_open(&nic[i], &provider[i], &setup), OK);
        CHECK_EQUAL(nic[i].cards.port, 4000);
    }
    CHECK(nic[0].seat == seat && nic[1].seat == seat);

    int first = pass(ends[0], 1 * CALL_PAIRS), second = pass(ends[0], 3 * CALL_PAIRS), third = pass(ends[0], 2 * CALL_PAIRS);
    poll_one(&nic[1]); /* it reads for both */
    CHECK_EQUAL(called[1], 1);
    CHECK_EQUAL(called[0], 0);
    poll_one(&nic[0]);
    CHECK_EQUAL(called[0], 1);
    CHECK_EQUAL(verdict(first), (ssize_t)sizeof(struct call_verdict));
    CHECK_EQUAL(verdict(second), (ssize_t)sizeof(struct call_verdict));
    CHECK_EQUAL(verdict(third), 0);

    first = pass(ends[0], 3 * CALL_PAIRS + 1);
    CHECK_EQUAL(call_seat_step(seat), OK);
    call_close(&nic[1]); /* with one that waits for it */
    CHECK_EQUAL(verdict(first), 0);
    second = pass(ends[0], 3 * CALL_PAIRS);
    poll_one(&nic[0]);
    CHECK_EQUAL(verdict(second), 0);
    CHECK_EQUAL(called[0], 1);
    call_close(&nic[0]);
    vi_seat_close(seat);
    close(ends[0]);
    close(ends[1]);
    return check_done();
}
