/* Two providers reach one peer: the quicker one carries; when it is cut in the middle of transfers the other one is
 * called and goes on, and when it is back it carries again. Every byte is looked at. Run by several.sh, on the double
 * of libibverbs.
 *   several locked   no more memory may be registered: frames and transfers go all the same
 *   several gone     a device is removed: TCP carries from then on */
#include "msg/harness.h"
#include "base/counters.h"
#include "verbs/double.h"

enum { MESSAGES = 6, LONGEST = 3000000, GOES_ON = 1, OVERRUN = 2, GONE = 3, FAILED = 4 };
static const size_t lengths[MESSAGES] = {8, 20000, 700000, 0, 3000, LONGEST};
static unsigned char *out[MESSAGES], *in[MESSAGES];

static void ports(bool up)
{
    char name[16];
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "double%d", i);
        double_port(name, up);
    }
}

/* Both ways at once; CUT, in the middle of them: ports are down or up, a completion queue overflows, a device is
 * removed, or the next request has no right to the memory that it names. */
static void exchange(int rank, unsigned round, int cut)
{
    struct msg_request send[MESSAGES], receive[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        struct msg_where other = {world, 1 - rank, i};
        struct type_buffer from = {.base = out[i], .count = lengths[i]}, to = {.base = in[i], .count = lengths[i]};
        for (size_t at = 0; at < lengths[i]; at++)
            out[i][at] = check_byte(round * 10 + (unsigned)(i + rank), at);
        send[i] = receive[i] = (struct msg_request){0};
        CHECK_EQUAL(vmsg_recv_start(&receive[i], &other, &to), OK);
        CHECK_EQUAL(vmsg_send_start(&send[i], &other, &from, MSG_STANDARD), OK);
    }
    if (cut >= 0) {
        CHECK_EQUAL(vmsg_wait(&receive[2]), OK);
        if (cut == OVERRUN)
            double_overrun();
        else if (cut == GONE)
            double_gone();
        else if (cut == FAILED)
            double_fail(1, IBV_WC_REM_ACCESS_ERR);
        else
            ports(cut);
    }
    for (int i = 0; i < MESSAGES; i++) {
        size_t at = 0;
        CHECK_EQUAL(vmsg_wait(&send[i]), OK);
        CHECK_EQUAL(vmsg_wait(&receive[i]), OK);
        while (at < lengths[i] && in[i][at] == check_byte(round * 10 + (unsigned)(i + 1 - rank), at))
            at++;
        CHECK_EQUAL(at, lengths[i]);
    }
}

/* Rounds until small messages go by NAME, as rank 0 sees it. */
static unsigned rounds_until(int rank, unsigned round, const char *name)
{
    for (int on = GOES_ON; on == GOES_ON; round++) {
        struct msg_route route;
        exchange(rank, round, -1);
        CHECK_EQUAL(vmsg_route(world, 1 - rank, &route), OK);
        on = strcmp(route.transport, name) == 0 ? 0 : GOES_ON;
        if (rank == 0)
            CHECK_EQUAL(vmsg_send(world, 1, 99, &on, sizeof on), OK);
        else
            CHECK_EQUAL(vmsg_recv(world, 0, 99, &on, sizeof on, NULL), OK);
    }
    return round;
}

/* Frames that the device sends late, and more than the ring has room for at first; CUT: it never does. They come as
 * they were sent, and only a cut costs the rail. */
static void late(int rank, bool cut)
{
    enum { FRAMES = 40, BYTES = 8000 };
    struct msg_request request[FRAMES];
    struct msg_where other = {world, 1 - rank, 7};
    uint64_t lost = vbase_counters->rails_lost;
    if (rank == 0)
        double_late(true);
    for (int i = 0; i < FRAMES; i++) {
        struct type_buffer buffer = {.base = out[0] + i * BYTES, .count = BYTES};
        request[i] = (struct msg_request){0};
        for (size_t at = 0; at < BYTES && rank == 0; at++)
            out[0][i * BYTES + (int)at] = check_byte((unsigned)i, at);
        CHECK_EQUAL(rank == 0 ? vmsg_send_start(&request[i], &other, &buffer, MSG_STANDARD)
                              : vmsg_recv_start(&request[i], &other, &buffer), OK);
    }
    if (rank == 0 && cut)
        ports(false);
    if (rank == 0)
        double_late(false);
    for (int i = 0; i < FRAMES; i++) {
        size_t at = 0;
        CHECK_EQUAL(vmsg_wait(&request[i]), OK);
        while (at < BYTES && out[0][i * BYTES + (int)at] == check_byte((unsigned)i, at))
            at++;
        CHECK_EQUAL(at, BYTES);
    }
    CHECK_EQUAL(rank == 0 ? vmsg_recv(world, 1, 8, NULL, 0, NULL) : vmsg_send(world, 0, 8, NULL, 0), OK);
    if (rank == 0 && !cut)
        CHECK_EQUAL(vbase_counters->rails_lost, lost);
    if (rank == 0 && cut)
        ports(true);
}

static uint64_t cards_sum(const uint64_t *first)
{
    uint64_t sum = 0;
    for (int card = 0; card < COUNT_CARDS; card++)
        sum += first[card];
    return sum;
}

/* Each rank sends all bytes of a round, or reads those of the other: they count as the card's. */
static unsigned counted(int rank, unsigned round)
{
    uint64_t bytes = cards_sum(&vbase_counters->card0), frames = cards_sum(&vbase_counters->frames0), all = 0;
    for (int i = 0; i < MESSAGES; i++)
        all += lengths[i];
    exchange(rank, round, -1);
    CHECK(cards_sum(&vbase_counters->card0) - bytes >= all);
    CHECK(cards_sum(&vbase_counters->frames0) - frames >= MESSAGES);
    return round + 1;
}

static void memory_take(void)
{
    for (int i = 0; i < MESSAGES; i++) {
        out[i] = malloc(LONGEST);
        in[i] = malloc(LONGEST);
    }
}

static void memory_give(void)
{
    for (int i = 0; i < MESSAGES; i++) {
        free(out[i]);
        free(in[i]);
    }
}

static void locked(int rank)
{
    memory_take();
    double_lockable(1);
    uint64_t registered = double_counted()->registered;
    (void)rounds_until(rank, 0, "verbs");
    late(rank, false);
    CHECK_EQUAL(double_counted()->registered, registered);
    memory_give();
}

static void lost_for_good(int rank, unsigned round, int how)
{
    exchange(rank, round++, rank == 0 ? how : -1);
    round = rounds_until(rank, round, "tcp");
    uint64_t lost = vbase_counters->rails_lost;
    for (int times = 0; times < 20; times++)
        exchange(rank, round++, -1);
    CHECK_EQUAL(vbase_counters->rails_lost, lost);
}

static void gone(int rank)
{
    memory_take();
    lost_for_good(rank, rounds_until(rank, 0, "verbs"), GONE);
    memory_give();
}

static void body(int rank)
{
    memory_take();
    unsigned round = rounds_until(rank, 0, "verbs");
    round = counted(rank, round);
    late(rank, false);
    late(rank, true);
    round = rounds_until(rank, round, "verbs");
    for (int times = 0; times < 3; times++) {
        exchange(rank, round++, rank == times % 2 ? false : -1);
        round = rounds_until(rank, round, "tcp");
        exchange(rank, round++, rank == times % 2 ? true : -1);
        round = rounds_until(rank, round, "verbs");
    }
    exchange(rank, round++, rank == 0 ? FAILED : -1); /* several.sh looks at what is told of it */
    for (int times = 0; times < 5; times++)
        exchange(rank, round++, -1);
    round = rounds_until(rank, round, "verbs");
    lost_for_good(rank, round, OVERRUN);
    CHECK_EQUAL(cards_sum(&vbase_counters->lost0), vbase_counters->rails_lost);
    memory_give();
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";
    harness_run(2, strcmp(how, "locked") == 0 ? locked : strcmp(how, "gone") == 0 ? gone : body);
    return check_done();
}
