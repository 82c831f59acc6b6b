/* Connections over loopback: meeting, crossing, every size, puts, back-pressure, "not now", resets, and meeting again.
 * timeout: 60 */
#include "tcp_pair.h"
#include "base/counters.h"
#include "vi/tcp/tcp.h"
#include "vi/call/report.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static char told[4096];

static void tell_line(void *context, const char *text)
{
    (void)context;
    snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s\n", text);
}

/* What is said of the ways to a peer begins so. */
static void check_told(int from, int to, const char *beginning, const char *within)
{
    told[0] = '\0';
    call_report_peer(pair[from].nic, (uint32_t)to, &(struct call_reporter){.line = tell_line});
    if (strncmp(told, beginning, strlen(beginning)) != 0 || !strstr(told, within))
        CHECK_TEXT(told, beginning);
}

static void every_size(void)
{
    static const size_t edges[] = {0, 1, 7, 8, 100, 1000, 4096, 16384, 65536, TCP_MAX_SEND - 1, TCP_MAX_SEND};
    uint64_t number = 0;

    pair_open(2);
    CHECK_EQUAL(pair_connect(0, 1), OK);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < ARRAY_LENGTH(edges); i++)
            pair_send(0, 1, number++, edges[i]);
    for (size_t length = 0; length < 3000; length++)
        pair_send(0, 1, number++, length);
    PAIR_WAIT(pair[1].got == number);
    CHECK_EQUAL(pair[1].called, 1);
    CHECK_EQUAL(pair[0].called, 0);
    for (uint64_t n = 0; n < 100; n++) {
        pair_send(1, 0, n, 8);
        PAIR_WAIT(pair[0].got == n + 1);
    }
    CHECK_EQUAL(pair_try_send(0, 1, number, TCP_MAX_SEND + 1), ERR_ARGUMENT);
    check_told(0, 1, "rail 0: lo 127.0.0.1 - 127.0.0.1: used, round trip ", "/s lately, carries\n");
    check_told(1, 0, "rail 0: lo 127.0.0.1 - 127.0.0.1: used, round trip ", "/s lately, carries\n");
    check_told(0, 2, "", "");
    pair_close();
}

/* A caller that computes for longer than a call may take finds that it got through. */
static void computing(void)
{
    pair_open(2);
    CHECK_EQUAL(pair_connect(0, 1), OK);
    struct call_nic *nic = &tcp_nic_of(pair[0].nic)->call;
    uint64_t now = vbase_clock_ns();
    call_peers_step(nic, now);
    CHECK(nic->peers[1]->rail[0].dial != NULL);
    call_peers_step(nic, now + 10000000000ull);
    CHECK_EQUAL(nic->peers[1]->rail[0].attempts, 0);
    pair_send(0, 1, 0, 8);
    PAIR_WAIT(pair[1].got == 1);
    pair_close();
}

/* Both call at once, again and again: one connection on each side, whoever is asked first. */
static void crossing(void)
{
    for (int round = 0; round < 40; round++) {
        pair_open(2);
        CHECK_EQUAL(pair_connect(0, 1), OK);
        for (int i = 0; i < round / 4; i++)
            vi_poll(pair[0].nic, 1);
        CHECK_EQUAL(pair_connect(1, 0), OK);
        pair_send(0, 1, 0, 100);
        pair_send(1, 0, 0, 200);
        for (int i = 0; i < round % 4; i++)
            vi_poll(pair[1].nic, 1);
        PAIR_WAIT(pair[0].got == 1 && pair[1].got == 1);
        for (uint64_t n = 1; n < 20; n++) {
            pair_send(0, 1, n, 50);
            pair_send(1, 0, n, 50);
        }
        PAIR_WAIT(pair[0].got == 20 && pair[1].got == 20);
        CHECK_EQUAL(pair[0].down + pair[1].down + pair[0].called + pair[1].called, 0);
        CHECK_EQUAL(tcp_nic_of(pair[0].nic)->call.watched, 1);
        CHECK_EQUAL(tcp_nic_of(pair[1].nic)->call.watched, 1);
        pair_close();
    }
}

/* FROM calls TO, whose listener answers, until the proof is sent. TO itself does not look. */
static struct call_link *call_until_proved(int from, int to, uint32_t epoch)
{
    struct call_nic *nic = &tcp_nic_of(pair[from].nic)->call;
    CHECK_EQUAL(pair_connect(from, to), OK);
    nic->peers[to]->rail[0].floor = epoch - 1;
    call_peers_step(nic, vbase_clock_ns());
    struct call_link *dial = nic->peers[to]->rail[0].dial;
    for (uint64_t since = vbase_clock_ns(); dial->phase != CALL_PROVED && !pair_late(since);) {
        call_seat_listen(tcp_nic_of(pair[to].nic)->call.seat, vbase_clock_ns());
        call_greet(dial, vbase_clock_ns());
    }
    call_seat_listen(tcp_nic_of(pair[to].nic)->call.seat, vbase_clock_ns());
    CHECK_EQUAL(dial->phase, CALL_PROVED);
    return dial;
}

static void take_called(int rank)
{
    struct call_nic *nic = &tcp_nic_of(pair[rank].nic)->call;
    CHECK_EQUAL(call_seat_step(nic->seat), OK);
    call_peers_step(nic, vbase_clock_ns());
}

/* Of two calls that cross, one has a newer epoch than the other: both sides take that one, whoever made it. */
static void crossing_newer(int newer, bool verdict_first)
{
    int older = 1 - newer;
    pair_open(2);
    (void)call_until_proved(newer, older, 3);
    struct call_link *dial = call_until_proved(older, newer, 2);
    take_called(newer);
    if (verdict_first)
        call_greet(dial, vbase_clock_ns());
    take_called(older);
    pair_send(0, 1, 0, 100);
    pair_send(1, 0, 0, 200);
    PAIR_WAIT(pair[0].got == 1 && pair[1].got == 1);
    CHECK_EQUAL(pair[0].down + pair[1].down + pair[0].called + pair[1].called, 0);
    for (int i = 0; i < 2; i++) {
        struct call_peer *peer = tcp_nic_of(pair[i].nic)->call.peers[1 - i];
        CHECK_EQUAL(peer->rail[0].epoch, 3);
        CHECK(peer->rail[0].dial == NULL);
        CHECK_EQUAL(peer->parked_count, 0);
    }
    pair_close();
}

static void puts_land(void)
{
    enum { LENGTH = 3 << 20, PIECES = 100 };
    unsigned char *memory = malloc(LENGTH), *local = malloc(LENGTH);
    struct vi_region region;
    struct iovec piece[PIECES];
    struct vi_transfer put = {.local = piece, .pieces = PIECES, .cookie = &region, .signal = true, .immediate = 77};

    pair_open(2);
    CHECK_EQUAL(vi_reg(pair[1].nic, memory, LENGTH, &region), OK);
    CHECK_EQUAL(pair_connect(0, 1), OK);
    put.key = region.key;
    for (unsigned round = 0; round < 6; round++) {
        size_t length = round == 0 ? 0 : round == 1 ? 100 : LENGTH - 5 * round;
        memset(memory, 0, LENGTH);
        for (size_t i = 0; i < length; i++)
            local[i] = check_byte(round, i);
        for (size_t i = 0; i < PIECES; i++)
            piece[i] = (struct iovec){local + length * i / PIECES, length * (i + 1) / PIECES - length * i / PIECES};
        put.offset = round;
        pair_send(0, 1, 2 * round, 1000);
        CHECK_EQUAL(vi_put(pair[0].vi[1], &put), OK);
        pair_send(0, 1, 2 * round + 1, 2000);
        PAIR_WAIT(pair[0].done == round + 1 && pair[1].arrived == round + 1 && pair[1].got == 2 * round + 2);
        CHECK_EQUAL(pair[0].done_status, OK);
        CHECK(pair[0].done_cookie == &region);
        CHECK_EQUAL(pair[1].immediate, 77);
        for (size_t i = 0; i < LENGTH; i++)
            if (memory[i] != (i >= round && i < round + length ? check_byte(round, i - round) : 0)) {
                CHECK_EQUAL(i, -1);
                break;
            }
    }
    vi_dereg(&region);
    free(memory);
    free(local);
    pair_close();
}

/* A key that is not, memory that is gone, places outside: refused there, told here, and the connection lives on. */
static void puts_refused(void)
{
    static unsigned char memory[1000], local[1000];
    struct vi_region region, other;
    struct iovec piece = {local, 500};
    struct vi_transfer put = {.local = &piece, .pieces = 1, .cookie = &region, .signal = true};
    struct vi_key keys[4];

    pair_open(2);
    CHECK_EQUAL(vi_reg(pair[1].nic, memory, 1000, &region), OK);
    CHECK_EQUAL(vi_reg(pair[1].nic, memory, 1000, &other), OK);
    CHECK_EQUAL(pair_connect(0, 1), OK);
    keys[0] = (struct vi_key){{region.key.word[0] + (1ull << 32), 1000}}; /* another generation */
    keys[1] = (struct vi_key){{UINT64_MAX, 1000}};
    keys[2] = (struct vi_key){{region.key.word[0], 1u << 20}}; /* it lies about the length */
    keys[3] = other.key;
    vi_dereg(&other);
    memset(local, 0xaa, sizeof(local));
    put.offset = 600;
    for (unsigned i = 0; i < 4; i++) {
        put.key = keys[i];
        put.offset = i == 2 ? 501 : 0;
        CHECK_EQUAL(vi_put(pair[0].vi[1], &put), OK);
        PAIR_WAIT(pair[0].done == i + 1);
        CHECK_EQUAL(pair[0].done_status, ERR_ARGUMENT);
    }
    put.key = region.key;
    put.offset = 501;
    CHECK_EQUAL(vi_put(pair[0].vi[1], &put), ERR_ARGUMENT);
    for (size_t i = 0; i < sizeof(memory); i++)
        CHECK_EQUAL(memory[i], 0);
    CHECK_EQUAL(pair[1].arrived, 0);
    put.offset = 500;
    CHECK_EQUAL(vi_put(pair[0].vi[1], &put), OK);
    PAIR_WAIT(pair[0].done == 5 && pair[1].arrived == 1);
    CHECK_EQUAL(pair[0].done_status, OK);
    CHECK_EQUAL(memory[499] + memory[500] + memory[999], 0xaa * 2);
    vi_dereg(&region);
    pair_close();
}

/* Memory that is deregistered while a put is coming in is not written any more; the rest of the stream is fine. */
static void put_cut(void)
{
    enum { LENGTH = 8 << 20 };
    unsigned char *memory = malloc(LENGTH), *local = malloc(LENGTH);
    struct vi_region region;
    struct iovec piece = {local, LENGTH};
    struct vi_transfer put = {.local = &piece, .pieces = 1, .cookie = &region};

    memset(memory, 0, LENGTH);
    memset(local, 1, LENGTH);
    pair_open(2);
    CHECK_EQUAL(vi_reg(pair[1].nic, memory, LENGTH, &region), OK);
    CHECK_EQUAL(pair_connect(0, 1), OK);
    put.key = region.key;
    CHECK_EQUAL(vi_put(pair[0].vi[1], &put), OK);
    pair_send(0, 1, 0, 10);
    PAIR_WAIT(memory[0] == 1);
    CHECK_EQUAL(memory[LENGTH - 1], 0);
    vi_dereg(&region);
    memset(memory, 0, LENGTH);
    PAIR_WAIT(pair[0].done == 1 && pair[1].got == 1);
    CHECK_EQUAL(pair[0].done_status, ERR_ARGUMENT);
    for (size_t i = 0; i < LENGTH; i++)
        if (memory[i]) {
            CHECK_EQUAL(i, -1);
            break;
        }
    free(memory);
    free(local);
    pair_close();
}

/* Nobody reads: the sender is told to wait, after a bounded number of messages; nothing is lost. */
static void back_pressure(size_t length)
{
    uint64_t number = 0, full = vbase_counters->lane_full + vbase_counters->socket_full;
    int refusals = 0;

    pair_open(2);
    CHECK_EQUAL(pair_connect(0, 1), OK);
    PAIR_WAIT(pair[1].called == 1);
    while (refusals < 100 && number < 100000) {
        if (pair_try_send(0, 1, number, length) == OK)
            number++;
        else
            refusals++;
        vi_poll(pair[0].nic, 1);
    }
    CHECK_EQUAL(refusals, 100);
    CHECK(number <= pair[0].nic->caps.depth);
    CHECK(vbase_counters->lane_full + vbase_counters->socket_full - full >= 100);
    CHECK_EQUAL(pair[1].got, 0);
    for (int n = 0; n < 3000; n++)
        pair_send(0, 1, number++, length);
    PAIR_WAIT(pair[1].got == number);
    CHECK_EQUAL(pair[1].down + pair[0].down, 0);
    pair_close();
}

/* One thread sleeps on the nic, and another one polls: it reads two frames and has room for one. What it leaves is no
 * more in the socket, and wakes the sleeper. */
static void left_over(void)
{
    struct vi_wait from;
    uint64_t since = vbase_clock_ns();
    int bytes = 0;
    pair_open(2);
    CHECK_EQUAL(pair_connect(0, 1), OK);
    pair_send(0, 1, 0, 8);
    PAIR_WAIT(pair[1].got == 1);
    while (vi_arm(pair[1].nic, VI_ARM_SLEEP, &from) != OK && !pair_late(since))
        pair_poll();
    struct pollfd sleeper = {.fd = from.descriptor, .events = from.events};
    CHECK_EQUAL(poll(&sleeper, 1, 0), 0);
    pair_send(0, 1, 1, 8);
    pair_send(0, 1, 2, 8);
    int fd = tcp_vi_of(pair[1].vi[0])->call.link->fd;
    while (bytes < (int)(2 * (sizeof(struct tcp_frame) + 8)) && !pair_late(since))
        CHECK_EQUAL(ioctl(fd, FIONREAD, &bytes), 0);
    CHECK_EQUAL(poll(&sleeper, 1, 0), 1);
    CHECK_EQUAL(vi_poll(pair[1].nic, 1), 1);
    CHECK_EQUAL(pair[1].got, 2);
    CHECK_EQUAL(poll(&sleeper, 1, 0), 1);
    CHECK_EQUAL(vi_poll(pair[1].nic, 1), 1);
    CHECK_EQUAL(pair[1].got, 3);
    pair_close();
}

/* The connection is reset in the middle of two puts, by either side; told once on both; then they meet again. */
static void reset(void)
{
    enum { LENGTH = 8 << 20 };
    unsigned char *memory = calloc(1, LENGTH), *local = calloc(1, LENGTH);
    struct vi_region region;
    struct iovec piece = {local, LENGTH};
    struct vi_transfer put = {.local = &piece, .pieces = 1, .cookie = &region};

    for (int from = 0; from < 2; from++) {
        pair_open(2);
        CHECK_EQUAL(vi_reg(pair[1].nic, memory, LENGTH, &region), OK);
        CHECK_EQUAL(pair_connect(from, 1 - from), OK);
        PAIR_WAIT(pair[1 - from].called == 1);
        PAIR_WAIT(tcp_vi_of(pair[from].vi[1 - from])->call.link != NULL);
        pair_send(0, 1, 0, 8);
        PAIR_WAIT(pair[1].got == 1);
        put.key = region.key;
        CHECK_EQUAL(vi_put(pair[0].vi[1], &put), OK);
        CHECK_EQUAL(vi_put(pair[0].vi[1], &put), OK);
        struct sockaddr nowhere = {.sa_family = AF_UNSPEC}; /* resets the connection */
        CHECK_EQUAL(connect(tcp_vi_of(pair[from].vi[1 - from])->call.link->fd, &nowhere, sizeof(nowhere)), 0);
        PAIR_WAIT(pair[0].down == 1 && pair[1].down == 1);
        CHECK_EQUAL(pair[0].done, 2);
        CHECK_EQUAL(pair[0].done_status, ERR_LINK_DOWN);
        CHECK_EQUAL(pair[0].down_cause, ERR_LINK_DOWN);
        CHECK_EQUAL(pair_try_send(0, 1, 1, 8), ERR_LINK_DOWN);
        CHECK_EQUAL(pair_try_send(1, 0, 1, 8), ERR_LINK_DOWN);
        for (int n = 0; n < 1000; n++)
            pair_poll();
        CHECK_EQUAL(pair[0].down + pair[1].down, 2);
        for (int i = 0; i < 2; i++)
            vi_disconnect(pair[i].vi[1 - i]);
        pair[0].vi[1] = pair[1].vi[0] = NULL;
        CHECK_EQUAL(pair_connect(0, 1), OK); /* and again, with a new epoch */
        pair_send(0, 1, 1, 1000);
        PAIR_WAIT(pair[1].got == 2);
        CHECK_EQUAL((uint32_t)pair[0].vi[1]->name, 2);
        vi_dereg(&region);
        pair_close();
    }
    free(memory);
    free(local);
}

/* What was sent before a disconnect arrives, even if the connection was not there yet; then both meet again. */
static void sessions(void)
{
    pair_open(2);
    pair[1].disconnect_in_sink = true;
    for (unsigned round = 1; round <= 20; round++) {
        CHECK_EQUAL(pair_connect(0, 1), OK);
        for (uint64_t n = 0; n < 50; n++)
            pair_send(0, 1, (round - 1) * 50 + n, 100 * n);
        vi_disconnect(pair[0].vi[1]);
        pair[0].vi[1] = NULL;
        if (round % 3 == 0)
            PAIR_WAIT(pair[1].down == round);
    }
    PAIR_WAIT(pair[1].down == 20);
    CHECK_EQUAL(pair[1].got, 1000);
    CHECK_EQUAL(pair[1].called, 20);
    CHECK_EQUAL(pair[0].down + pair[0].called, 0);
    pair_close();
}

/* One side vanishes without a word (its machine is gone); it comes back with a newer connection, and the old one ends. */
static void replaced(void)
{
    struct call_peer *peer;

    pair_open(2);
    pair[1].disconnect_in_sink = true;
    CHECK_EQUAL(pair_connect(0, 1), OK);
    pair_send(0, 1, 0, 8);
    PAIR_WAIT(pair[1].got == 1);
    peer = tcp_vi_of(pair[0].vi[1])->call.peer;
    int silent = dup(tcp_vi_of(pair[0].vi[1])->call.link->fd); /* stays open, says nothing */
    vi_disconnect(pair[0].vi[1]);
    pair[0].vi[1] = NULL;
    pair[1].expected = 1;
    struct call_link *link = container_of(list_first(&tcp_nic_of(pair[0].nic)->call.closed), struct call_vi, node)->link;
    int other = socket(AF_INET, SOCK_STREAM, 0);
    call_watch(link, 0);
    dup2(other, link->fd); /* the goodbye goes nowhere */
    close(other);
    CHECK_EQUAL(peer->rail[0].epoch, 1);
    CHECK_EQUAL(pair_connect(0, 1), OK);
    pair_send(0, 1, 1, 8);
    PAIR_WAIT(pair[1].got == 2);
    CHECK_EQUAL(pair[1].down, 1);
    CHECK_EQUAL(pair[1].called, 2);
    close(silent);
    pair_close();
}

/* The call of one more rail fails in its greeting, long after everything else was done for that peer: it is made again. */
static void called_again(void)
{
    pair_open(2);
    pair[0].accept_later = pair[1].accept_later = true;
    CHECK_EQUAL(pair_connect(0, 1), OK);
    PAIR_WAIT(tcp_vi_of(pair[0].vi[1])->call.link != NULL);
    struct call_nic *nic = &tcp_nic_of(pair[0].nic)->call;
    struct call_peer *peer = nic->peers[1];
    struct call_rail *rail = &peer->rail[1];
    base_lock(&nic->lock); /* as if there were two cards */
    rail->pair = peer->rail[0].pair;
    peer->most = 2;
    peer->pairs = 2;
    call_peer_busy(peer);
    base_unlock(&nic->lock);
    for (uint64_t since = vbase_clock_ns(); vbase_clock_ns() - since < 400000000;) /* rank 1 computes */
        CHECK(vi_poll(pair[0].nic, 16) >= 0);
    CHECK(rail->dial && rail->dial->phase == CALL_GREETING);
    CHECK_EQUAL(shutdown(rail->dial->fd, SHUT_RD), 0);
    PAIR_WAIT(rail->link != NULL);
    CHECK_EQUAL(rail->attempts, 0);
    pair_close();
}

/* Nobody is there: a bounded time, then one word. */
static void nobody(void)
{
    char card[CALL_CARD_TEXT], why[200];
    struct vi_address to = {.peer = 1, .card = card};

    pair_open(2);
    snprintf(card, sizeof(card), "%s", pair[1].nic->card);
    vi_nic_close(pair[1].nic);
    pair[1].nic = NULL;
    CHECK_EQUAL(vi_connect(pair[0].nic, &to, NULL, &pair[0].vi[1]), OK);
    uint64_t usual = vbase_settings.patience;
    vbase_settings.patience = 100000000;
    PAIR_WAIT(pair[0].down == 1);
    snprintf(why, sizeof(why), "%s", vbase_error_detail());
    CHECK_EQUAL(pair[0].down_cause, ERR_UNREACHABLE);
    vbase_settings.patience = usual;
    CHECK(strstr(why, "no rail to rank 1 on ") == why);
    CHECK(strstr(why, "(127.0.0.1) for 0.1 s; the last error: connecting from ") != NULL);
    check_told(0, 1, "rail 0: lo 127.0.0.1 - 127.0.0.1: not used: connecting from 127.0.0.1 (lo) to 127.0.0.1 port", "refused");
    CHECK_EQUAL(pair_try_send(0, 1, 0, 8), ERR_LINK_DOWN);
    pair_close();
}

/* Rank 1 is not reached, and rank 0 computes for longer than its patience, or is stopped: it tries again when it looks
 * at the network, for as long as its patience was left, and only then it gives up. */
static void absent(void)
{
    char card[1000];
    pair_open(2);
    snprintf(card, sizeof(card), "%s", pair[1].nic->card);
    vi_nic_close(pair[1].nic); /* its port refuses connections */
    pair[1].nic = NULL;
    CHECK_EQUAL(vi_connect(pair[0].nic, &(struct vi_address){1, card}, &pair[0], &pair[0].vi[1]), OK);
    struct call_nic *nic = &tcp_nic_of(pair[0].nic)->call;
    struct call_peer *peer = nic->peers[1];
    PAIR_WAIT(peer->cause);
    uint64_t now = vbase_clock_ns() + 3 * vbase_settings.patience, back = now;
    call_peers_step(nic, now);
    CHECK_EQUAL(pair[0].down, 0);
    for (int i = 0; i < 1000 && !pair[0].down; i++) { /* the clock is ours; the calls are refused at once */
        if (peer->rail[0].dial)
            call_rail_failed(&peer->rail[0], ECONNREFUSED, now);
        now = nic->timer_at;
        call_peers_step(nic, now);
    }
    CHECK_EQUAL(pair[0].down, 1);
    CHECK(now - back > vbase_settings.patience / 10 * 9 && now - back <= vbase_settings.patience);
    pair_close();
}

int main(void)
{
    CHECK_EQUAL(vbase_settings_read(), OK);
    every_size();
    computing();
    crossing();
    for (int way = 0; way < 4; way++)
        crossing_newer(way / 2, way % 2);
    puts_land();
    puts_refused();
    put_cut();
    back_pressure(8);
    back_pressure(60000);
    left_over();
    reset();
    sessions();
    replaced();
    called_again();
    nobody();
    absent();
    return check_done();
}
