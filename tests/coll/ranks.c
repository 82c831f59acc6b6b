/* Every collective among the ranks of a real job, all bytes compared. Alone it is a job of one rank; real.sh runs it with
 * more. Each rank makes the same cases from the same seed and plays its own part. Arguments: repeats, and "time" for a
 * line with the time of a barrier and of a small sum; or "death". */
#include "coll/cases.h"
#include "base/clock.h"
#include <unistd.h>

#define AT_ONCE 10 /* more than a hall has tracks */
#define NO_MEETINGS UINT32_MAX /* in a group: everything over messages, nothing in shared memory */

static int rank, size;

static void check_own(const struct test *test)
{
    area_check(&test->one[rank].send, name(test), rank);
    area_check(&test->one[rank].receive, name(test), rank);
}

static void finish(struct test *test)
{
    for (int i = 0; i < test->size; i++) {
        area_free(&test->one[i].send);
        area_free(&test->one[i].receive);
    }
}

static void blocking(enum coll_kind kind, uint64_t count)
{
    static struct test test;
    choose(&test, kind, size, count);
    make_and_expect(&test);
    CHECK_EQUAL(vcoll_run(&test.one[rank].call), OK);
    check_own(&test);
    finish(&test);
}

static void one_completed(void *context, int error)
{
    struct one *one = context;
    one->completions++;
    one->error = error;
}

static bool completed(void *context)
{
    struct one *one = context;
    return one->completions > 0;
}

static void wait_for(struct test *test)
{
    struct one *one = &test->one[rank];
    CHECK_EQUAL(vmsg_wait_until(completed, one), OK);
    CHECK_EQUAL(one->error, OK);
    check_own(test);
}

/* Several at once, three times: where they are prepared once, each time in an order of the rank's own. */
static void together(enum coll_kind kind, enum coll_form form)
{
    static struct test test[AT_ONCE];
    const int many = form != COLL_ANY && (kind == COLL_BARRIER || kind == COLL_ALLREDUCE) ? AT_ONCE : 3;
    for (int t = 0; t < many; t++) {
        choose(&test[t], t % 3 ? (enum coll_kind)case_random(COLL_KINDS) : kind, size, some_count(size));
        make_and_expect(&test[t]);
        test[t].one[rank].call.form = form;
        if (form != COLL_ONCE)
            CHECK_EQUAL(vcoll_prepare(&test[t].one[rank].call, &test[t].one[rank].schedule), OK);
    }
    for (int again = 0; again < 3; again++) {
        for (int t = 0; t < many; t++) {
            struct one *one = &test[form == COLL_ONCE ? t : (t + rank + again) % many].one[rank];
            one->completions = 0;
            if (form == COLL_ONCE)
                CHECK_EQUAL(vcoll_prepare(&one->call, &one->schedule), OK);
            CHECK_EQUAL(vcoll_launch(one->schedule, one_completed, one), OK);
        }
        for (int i = 0; i < many; i++) {
            int t = (i + rank) % many;
            wait_for(&test[t]);
            refill(&test[t]);
            if (form == COLL_ONCE)
                vcoll_release(test[t].one[rank].schedule);
        }
    }
    for (int t = 0; t < many; t++) {
        if (form != COLL_ONCE)
            vcoll_release(test[t].one[rank].schedule);
        finish(&test[t]);
    }
}

/* Nobody leaves the barrier before the one who is late has come. */
static void barrier_holds(struct msg_context *context)
{
    for (int late = 0; late < size && late < 4; late++) {
        struct coll_call barrier = {.kind = COLL_BARRIER, .group = &group[rank]};
        bool found = false;
        struct msg_result result;
        if (rank == late) {
            usleep(2000);
            for (int i = 0; i < size; i++)
                if (i != rank)
                    CHECK_EQUAL(vmsg_send(context, i, 1, &late, sizeof late), OK);
        }
        CHECK_EQUAL(vcoll_run(&barrier), OK);
        if (rank == late)
            continue;
        struct msg_where where = {context, late, 1};
        CHECK_EQUAL(vmsg_probe(&where, &found, &result), OK);
        CHECK(found);
        CHECK_EQUAL(vmsg_recv(context, late, 1, &late, sizeof late, &result), OK);
    }
}

/* The last rank dies while the others wait for it in a hall: a blocking call and one that does not block end, and so do
 * those behind them. */
static void death_is_told(void)
{
    struct coll_call barrier = {.kind = COLL_BARRIER, .group = &group[rank], .form = COLL_ONCE};
    struct one one = {.completions = 0};
    struct coll_schedule *schedule;
    CHECK_EQUAL(vcoll_run(&barrier), OK);
    CHECK(group[rank].hall);
    if (rank == size - 1) {
        usleep(20000); /* the others wait by then, in most runs */
        _exit(3);
    }
    CHECK_EQUAL(vcoll_prepare(&barrier, &schedule), OK);
    CHECK_EQUAL(vcoll_launch(schedule, one_completed, &one), OK);
    CHECK_EQUAL(vcoll_run(&barrier), ERR_PEER_DEAD);
    CHECK_EQUAL(vmsg_wait_until(completed, &one), OK);
    CHECK_EQUAL(one.error, ERR_PEER_DEAD);
    CHECK_EQUAL(vcoll_run(&barrier), ERR_PEER_DEAD);
    vcoll_release(schedule);
    if (check_done())
        _exit(1);
    printf("rank %d was told\n", rank);
    fflush(stdout);
    _exit(0);
}

static void say_times(void)
{
    double value = 1;
    struct coll_call barrier = {.kind = COLL_BARRIER, .group = &group[rank]};
    struct coll_call sum = {.kind = COLL_ALLREDUCE, .group = &group[rank], .send = {.base = COLL_IN_PLACE},
                            .receive = {.base = &value, .count = 1, .layout = of4[0]},
                            .reduction = {.kernel = vtype_kernel(OPERATION_SUM, ELEMENT_U32), .commutative = true}};
    struct coll_call *const calls[] = {&barrier, &sum};
    for (int c = 0; c < 2; c++) {
        uint64_t start = 0;
        int rounds = 2000, ok = 0;
        for (int i = -rounds / 10; i < rounds; i++) {
            if (i == 0)
                start = vbase_clock_ns();
            ok |= vcoll_run(calls[c]);
        }
        CHECK_EQUAL(ok, OK);
        if (rank == 0)
            printf("%s, %d ranks, %s: %.2f us\n", c ? "sum of 4 bytes" : "barrier", size,
                   group[rank].hall ? "shared memory" : "messages",
                   (double)(vbase_clock_ns() - start) / 1000.0 / rounds);
    }
}

static void all_kinds(void)
{
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        blocking((enum coll_kind)kind, some_count(size));
        blocking((enum coll_kind)kind, 20000 / (unsigned)size); /* mostly beyond what goes eagerly */
        together((enum coll_kind)kind, COLL_ANY);
    }
}

/* The same among some ranks of a context, in another order than there: all but one from three on, counted from the last. */
static void among_some(struct msg_context *context)
{
    static int member[CASE_RANKS];
    int all = size, own = rank, left_out = all > 2 ? all / 2 : -1;
    size = 0;
    for (int i = all - 1; i >= 0; i--)
        if (i != left_out) {
            rank = i == own ? size : rank;
            member[size++] = i;
        }
    if (own != left_out) {
        group[rank] = (struct coll_group){.context = context, .rank = rank, .size = size, .member = member, .sequence = 9};
        all_kinds();
        CHECK(!group[rank].hall);
    }
    rank = own;
    size = all;
}

int main(int argc, char **argv)
{
    int repeats = argc > 1 ? atoi(argv[1]) : 1;
    struct msg_context *collectives, *messages;
    CHECK_EQUAL(vmsg_start(), OK);
    if (check_failed)
        return check_done();
    rank = vmsg_job()->rank;
    size = vmsg_job()->size;
    CHECK_EQUAL(vmsg_context_open(2, NULL, size, rank, &messages), OK);
    CHECK_EQUAL(vmsg_context_open(3, NULL, size, rank, &collectives), OK);
    group[rank] = (struct coll_group){.context = collectives, .rank = rank, .size = size};
    dress(of4, 4);
    dress(of12, 12);
    dress(of16, 16);
    if (argc > 1 && !strcmp(argv[1], "death"))
        death_is_told();
    case_seed((uint64_t)size);
    group[rank].meetings = NO_MEETINGS;
    for (int repeat = 0; repeat < repeats; repeat++)
        all_kinds();
    barrier_holds(messages);
    if (argc > 2)
        say_times();
    group[rank].meetings = 0;
    for (int kind = COLL_BARRIER; kind <= COLL_ALLREDUCE; kind++)
        for (int i = 0; i < 5; i++)
            blocking((enum coll_kind)kind, 1 + (uint64_t)i);
    for (int kind = 0; kind < COLL_KINDS; kind++) /* each draws others beside it */
        together((enum coll_kind)kind, kind % 2 ? COLL_ONCE : COLL_AGAIN);
    barrier_holds(messages);
    if (argc > 2)
        say_times();
    vcoll_group_close(&group[rank]);
    among_some(messages);
    vmsg_context_close(collectives);
    vmsg_context_close(messages);
    vmsg_stop();
    return check_done();
}
