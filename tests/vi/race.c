/* Races forced at every critical point of publishing and falling asleep: the hooks of the provider call the other side.
 * Whatever the moment, a message is either found by the last sweep or rings the bell. */
#define VIADUCT_HOOKS
#include "inside.h"

/* The provider's own code, this time with its hooks. */
#include "../../src/vi/shm/doorbell.c"
#include "../../src/vi/shm/inbox.c"
#include "../../src/vi/shm/lane.c"

static const char *stop_at;   /* the hook that is waited for */
static void (*action)(void);
static int acted;
static bool answers;          /* what is sent at the critical point is an answer: it goes by turn */
static struct vi *vi;         /* from 1 to 0 */
static struct vi_wait wait_for;
static int armed;             /* what arming for sleep answered last */

void shm_hook(const char *where)
{
    if (stop_at && strcmp(where, stop_at) == 0) {
        stop_at = NULL;
        acted++;
        action();
    }
}

static void settle(void)
{
    uint64_t until = vbase_clock_ns() + TUNED(SHM_SETTLE) * 3 / 2;

    while (vbase_clock_ns() < until)
        cpu_pause();
}

static void owner_sleeps(void)
{
    CHECK_EQUAL(vi_arm(inside.nic[0], VI_ARM_SOON, NULL), OK);
    settle();
    armed = vi_arm(inside.nic[0], VI_ARM_SLEEP, &wait_for);
}

static void sender_sends(void)
{
    CHECK_EQUAL(inside_send(vi, 5, 8), OK);
}

/* The owner may sleep for ever now: only allowed when nothing lies there or the bell has changed. */
static void check_not_lost(void)
{
    bool sleeps = armed == OK && atomic_load(wait_for.futex) == wait_for.value;

    CHECK(!sleeps || inside.got[0] == 2);
    CHECK_EQUAL(vi_arm(inside.nic[0], VI_ARM_AWAKE, NULL), OK);
    while (vi_poll(inside.nic[0], 16) > 0)
        ;
    CHECK_EQUAL(inside.got[0], 2);
}

static void start(const char *where, void (*what)(void))
{
    inside_start(2);
    inside_open(0);
    inside_open(1);
    vi = inside_connect(1, 0);
    CHECK_EQUAL(inside_send(vi, 4, 8), OK);
    while (inside.got[0] == 0)
        vi_poll(inside.nic[0], 16);
    if (answers) {
        CHECK_EQUAL(inside_send(inside_connect(0, 1), 4, 8), OK);
        while (inside.got[1] == 0)
            vi_poll(inside.nic[1], 16);
        CHECK(atomic_load(&shm_vi_of(vi)->turn_out) != 0);
    }
    armed = ERR_AGAIN;
    acted = 0;
    stop_at = where;
    action = what;
}

/* The sender is held up at WHERE while the owner falls asleep completely, or wants to. */
static void sender_is_late(const char *where, int answer)
{
    start(where, owner_sleeps);
    sender_sends();
    CHECK_EQUAL(acted, 1);
    CHECK_EQUAL(armed, answer);
    check_not_lost();
    inside_stop();
}

/* The owner is held up at WHERE while the sender sends. */
static void owner_is_late(const char *where, int answer)
{
    start(where, sender_sends);
    owner_sleeps();
    CHECK_EQUAL(acted, 1);
    CHECK_EQUAL(armed, answer);
    check_not_lost();
    inside_stop();
}

/* No sleep before stores that were under way have become visible, whatever the caller does. */
static void hasty(void)
{
    start(NULL, NULL);
    CHECK_EQUAL(vi_arm(inside.nic[0], VI_ARM_SLEEP, &wait_for), ERR_AGAIN);
    settle();
    CHECK_EQUAL(vi_arm(inside.nic[0], VI_ARM_SLEEP, &wait_for), OK);
    CHECK_EQUAL(atomic_load(wait_for.futex), wait_for.value);
    CHECK_EQUAL(vi_arm(inside.nic[0], VI_ARM_AWAKE, NULL), OK);
    CHECK_EQUAL(vi_arm(inside.nic[0], VI_ARM_SLEEP, &wait_for), ERR_AGAIN);
    inside_stop();
}

/* Of many senders one rings; one who sends to somebody awake never does. */
static void one_rings(void)
{
    uint64_t wakes = vbase_counters->wakes;

    start(NULL, NULL);
    for (int n = 0; n < 10; n++)
        CHECK_EQUAL(inside_send(vi, 5, 8), OK);
    CHECK_EQUAL(vbase_counters->wakes, wakes);
    while (vi_poll(inside.nic[0], 16) > 0)
        ;
    owner_sleeps();
    CHECK_EQUAL(armed, OK);
    for (int n = 0; n < 10; n++)
        CHECK_EQUAL(inside_send(vi, 5, 8), OK);
    CHECK_EQUAL(vbase_counters->wakes, wakes + 1);
    CHECK(atomic_load(wait_for.futex) != wait_for.value);
    inside_stop();
}

static void every_point(void)
{
    sender_is_late("publish", OK);     /* nothing there yet: it sleeps, and is rung */
    sender_is_late("look", ERR_AGAIN); /* the cell is there: the sweep finds it */
    owner_is_late("sleep", ERR_AGAIN);
    owner_is_late("sweep", ERR_AGAIN);
    hasty();
    one_rings();
    start("ring", owner_sleeps); /* between the fence of a sender that saw SOON and its second look */
    CHECK_EQUAL(vi_arm(inside.nic[0], VI_ARM_SOON, NULL), OK);
    sender_sends();
    CHECK_EQUAL(acted, 1);
    CHECK_EQUAL(armed, ERR_AGAIN);
    check_not_lost();
    inside_stop();
}

/* Between the look at the lane and that at the turn comes a message by the lane, then one by turn: in this order. */
static void sends_twice(void)
{
    CHECK_EQUAL(inside_send(vi, 5, 400), OK);
    CHECK_EQUAL(inside_send(vi, 6, 8), OK);
}
static void turn_is_late(void)
{
    answers = true;
    start("turn", sends_twice);
    CHECK_EQUAL(vi_poll_only(inside_connect(0, 1), 1), 1);
    CHECK_EQUAL(acted, 1);
    CHECK_EQUAL(inside.header[0], 5);
    CHECK_EQUAL(vi_poll_only(inside_connect(0, 1), 1), 1);
    CHECK_EQUAL(inside.header[0], 6);
    inside_stop();
}

int main(void)
{
    CHECK_EQUAL(vbase_settings_read(), OK);
    every_point();
    answers = true;
    every_point();
    turn_is_late();
    return check_done();
}
