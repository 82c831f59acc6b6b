/* Blocking receives from anyone, who first look at the lane of whoever was the last: another one's message is told as his; a receive
 * that is posted comes first; and who never stops does not keep others out. What is sent lies in the lanes before it is received:
 * the ranks tell so by a pipe, without the engine. */
#include "harness.h"

#define FLOOD 100
#define SOON 16 /* of a flood, before another one has his turn */

static int pipes[3][2]; /* read by each rank */

static void tell(int rank) { CHECK_EQUAL(write(pipes[rank][1], "", 1), 1); }

static void hear(int rank)
{
    char byte;
    CHECK_EQUAL(read(pipes[rank][0], &byte, 1), 1);
}

static int from_anyone(int *value)
{
    struct msg_result result = {.source = -7};
    CHECK_EQUAL(vmsg_recv(world, MSG_ANY_SOURCE, 1, value, sizeof *value, &result), OK);
    CHECK_EQUAL(result.bytes, sizeof *value);
    CHECK_EQUAL(result.tag, 1);
    return result.source;
}

static void say(int value) { CHECK_EQUAL(vmsg_send(world, 0, 1, &value, sizeof value), OK); }

/* Rank RANK sends COUNT messages, from VALUE on; they are in his lane when this is over. */
static void order(int rank, int value, int count)
{
    int what[2] = {value, count};
    CHECK_EQUAL(write(pipes[rank][1], what, sizeof what), sizeof what);
    hear(0);
}

static void obey(int rank)
{
    int what[2];
    while (read(pipes[rank][0], what, sizeof what) == sizeof what && what[1]) {
        for (int i = 0; i < what[1]; i++)
            say(what[0] + i);
        tell(0);
    }
}

static void receive(void)
{
    int value;
    for (int i = 0; i < 3 * SOON; i++) { /* turns change, at every place of the rotation */
        int who = 1 + i / 3 % 2;
        order(who, i, 1);
        CHECK_EQUAL(from_anyone(&value), who);
        CHECK_EQUAL(value, i);
    }
    for (int i = 0; i < SOON; i++) { /* he who is guessed sends two, and the first belongs to what is posted */
        struct msg_request posted = {.completed = NULL};
        struct msg_where from = {world, 1, 1};
        int first = 0;
        order(1, 7, 1);
        CHECK_EQUAL(from_anyone(&value), 1);
        CHECK_EQUAL(vmsg_recv_start(&posted, &from, &(struct type_buffer){.base = &first, .count = sizeof first}), OK);
        order(1, 10, 2);
        CHECK_EQUAL(from_anyone(&value), 1);
        CHECK_EQUAL(value, 11);
        CHECK_EQUAL(vmsg_wait(&posted), OK);
        CHECK_EQUAL(first, 10);
    }
    int next = 100, before = 0, others = 0;
    order(1, next, FLOOD);
    order(2, 1, 1);
    for (int i = 0; i < FLOOD + 1; i++) {
        int source = from_anyone(&value);
        CHECK_EQUAL(value, source == 1 ? next : 1);
        next += source == 1;
        others += source == 2;
        before += source == 1 && !others;
    }
    CHECK_EQUAL(others, 1);
    CHECK(before <= SOON);
    for (int rank = 1; rank < 3; rank++)
        CHECK_EQUAL(write(pipes[rank][1], (int[2]){0, 0}, 2 * sizeof(int)), 2 * sizeof(int));
}

static void anyone(int rank)
{
    if (rank == 0)
        receive();
    else
        obey(rank);
}

int main(void)
{
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(pipe(pipes[i]), 0);
    harness_run(3, anyone);
    return check_done();
}
