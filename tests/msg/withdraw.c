/* A rank that withdraws from an operation of a context is heard by those that are in it: before they open the context,
 * and while they wait. One whose context is closed by then, and that uses the id for another one, hears nothing in that.
 * Messages of the world say what comes first: frames between two ranks come in order. tcp: 1 */
#include "harness.h"

enum { LATE = 5, EARLY, WHILE, TAG = 77 };

static void turn_give(int to) { CHECK_EQUAL(vmsg_send(world, to, 1, NULL, 0), OK); }
static void turn_await(int from) { CHECK_EQUAL(vmsg_recv(world, from, 1, NULL, 0, NULL), OK); }

static struct msg_context *open_context(uint32_t id, const int *members, int size, int rank)
{
    struct msg_context *context = NULL;
    CHECK_EQUAL(vmsg_context_open(id, members, size, rank, &context), OK);
    return context;
}

static void guard_is_quiet(struct msg_request *guard)
{
    CHECK(!vmsg_request_done(guard));
    CHECK(vmsg_guard_end(guard));
}

/* Rank 1 withdraws when rank 0 has closed the context: KEPT: rank 0 opens the next one with its id afterwards. */
static void late(int rank, bool kept)
{
    static const int others[] = {0, 2};
    struct msg_context *context = open_context(LATE, NULL, 3, rank);
    struct msg_request guard = {.completed = NULL};
    if (rank == 1) {
        turn_await(0);
        CHECK(!vmsg_context_withdrew(context));
        vmsg_withdraw(context, NULL, 3, TAG);
        CHECK(vmsg_context_withdrew(context));
        turn_give(0);
    }
    vmsg_context_close(context);
    if (rank == 0) {
        if (!kept) {
            context = open_context(LATE, others, 2, 0);
            CHECK_EQUAL(vmsg_guard_start(&guard, context, TAG, NULL, 0), OK);
        }
        turn_give(1);
        turn_await(1);
        if (kept) {
            context = open_context(LATE, others, 2, 0);
            CHECK_EQUAL(vmsg_guard_start(&guard, context, TAG, NULL, 0), OK);
        }
        guard_is_quiet(&guard);
        vmsg_context_close(context);
    }
}

/* Two others withdraw from the same, one of them from a context that is not open here any more. */
static void both(int rank)
{
    static const int pair[] = {0, 2};
    struct msg_request guard = {.completed = NULL};
    struct msg_context *context = NULL;
    if (rank == 1) {
        context = open_context(EARLY, NULL, 3, 1);
        vmsg_withdraw(context, NULL, 3, TAG);
    }
    if (rank != 0)
        turn_give(0);
    else
        turn_await(1), turn_await(2);
    if (rank == 2) {
        context = open_context(EARLY, pair, 2, 1);
        vmsg_withdraw(context, NULL, 2, TAG);
        turn_give(0);
    } else if (rank == 0) {
        turn_await(2);
        context = open_context(EARLY, pair, 2, 0);
        CHECK_EQUAL(vmsg_guard_start(&guard, context, TAG, NULL, 0), ERR_MEMORY);
    }
    vmsg_context_close(context);
}

static void while_waiting(int rank)
{
    struct msg_context *context = open_context(WHILE, NULL, 3, rank);
    struct msg_request guard = {.completed = NULL}, other = {.completed = NULL};
    if (rank == 1) {
        turn_await(0);
        vmsg_withdraw(context, NULL, 3, TAG);
        turn_give(0);
    } else if (rank == 0) {
        CHECK_EQUAL(vmsg_guard_start(&guard, context, TAG, NULL, 0), OK);
        CHECK_EQUAL(vmsg_guard_start(&other, context, TAG + 1, NULL, 0), OK);
        turn_give(1);
        turn_await(1);
        CHECK(vmsg_request_done(&guard));
        CHECK_EQUAL(guard.result.error, ERR_MEMORY);
        guard_is_quiet(&other);
    }
    vmsg_context_close(context);
}

static void body(int rank)
{
    late(rank, true);
    late(rank, false);
    both(rank);
    while_waiting(rank);
}

int main(void)
{
    harness_run(3, body);
    return check_done();
}
