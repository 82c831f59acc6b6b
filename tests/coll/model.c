/* Every collective against a serial model, on 1 to 17 and some more ranks, over a model of msg with random delays: all
 * bytes of all buffers are compared, the guards around them and the holes of layouts too. Several collectives are under
 * way at once, started in another order on each rank, and started again as persistent ones are.
 *
 * takes: 15 presets: release asan
 * timeout: 300
 * apart: 1 */
#include "coll/fake_msg.h"

#include "coll/cases.h"

#define AT_ONCE 3

/* ---- running ------------------------------------------------------------------------------------------------------- */

static void one_completed(void *context, int error)
{
    struct one *one = context;
    one->completions++;
    one->error = error;
}

static bool all_done(void *context)
{
    struct test *test = context;
    for (int i = 0; i < test->size; i++)
        if (test->one[i].schedule && !vcoll_done(test->one[i].schedule))
            return false;
    return true;
}

static void verify(struct test *test)
{
    for (int i = 0; i < test->size; i++) {
        area_check(&test->one[i].send, name(test), i);
        area_check(&test->one[i].receive, name(test), i);
    }
}

static void finish(struct test *test)
{
    for (int i = 0; i < test->size; i++) {
        if (test->one[i].schedule)
            vcoll_release(test->one[i].schedule);
        area_free(&test->one[i].send);
        area_free(&test->one[i].receive);
    }
}

/* One rank runs the blocking form while the others' schedules are under way. */
static void run_blocking(struct test *test)
{
    make_and_expect(test);
    int blocking = (int)case_random((uint64_t)test->size);
    for (int i = 0; i < test->size; i++)
        if (i != blocking) {
            CHECK_EQUAL(vcoll_prepare(&test->one[i].call, &test->one[i].schedule), OK);
            CHECK_EQUAL(vcoll_launch(test->one[i].schedule, one_completed, &test->one[i]), OK);
        }
    CHECK_EQUAL(vcoll_run(&test->one[blocking].call), OK);
    vmsg_wait_until(all_done, test);
    for (int i = 0; i < test->size; i++) {
        CHECK_EQUAL(test->one[i].error, OK);
        CHECK_EQUAL(test->one[i].completions, i != blocking);
    }
    verify(test);
    finish(test);
}

/* Several at once, started in another order on each rank, with messages arriving in between; then all of it again. */
static void run_together(struct test *const *test, int tests)
{
    int size = test[0]->size;
    for (int t = 0; t < tests; t++)
        make_and_expect(test[t]);
    for (int i = 0; i < size; i++)
        for (int t = 0; t < tests; t++)
            CHECK_EQUAL(vcoll_prepare(&test[t]->one[i].call, &test[t]->one[i].schedule), OK);
    for (int again = 0; again < 3; again++) {
        int left[CASE_RANKS], launches = size * tests;
        for (int i = 0; i < size; i++)
            left[i] = (1 << tests) - 1;
        while (launches) {
            int i = (int)case_random((uint64_t)size), t = (int)case_random((uint64_t)tests);
            if (case_random(2))
                fake_step(size);
            if (!(left[i] & 1 << t))
                continue;
            left[i] &= ~(1 << t);
            launches--;
            CHECK_EQUAL(vcoll_launch(test[t]->one[i].schedule, one_completed, &test[t]->one[i]), OK);
        }
        for (int t = 0; t < tests; t++) {
            vmsg_wait_until(all_done, test[t]);
            verify(test[t]);
            for (int i = 0; i < size; i++)
                CHECK_EQUAL(test[t]->one[i].completions, again + 1);
            refill(test[t]);
        }
    }
    for (int t = 0; t < tests; t++)
        finish(test[t]);
}

static void all_kinds(int size, int repeats)
{
    static struct test test[AT_ONCE];
    struct test *const tests[AT_ONCE] = {&test[0], &test[1], &test[2]};
    fake_open(size, (uint64_t)size);
    for (int i = 0; i < size; i++)
        group[i] = (struct coll_group){.context = &fake.context[i], .rank = i, .size = size,
                                       .sequence = (1u << 30) - 3, /* tags wrap early in the test */
                                       .meetings = UINT32_MAX};    /* none: all ranks are in one thread */
    for (int repeat = 0; repeat < repeats; repeat++)
        for (int kind = 0; kind < COLL_KINDS; kind++) {
            choose(&test[0], kind, size, some_count(size));
            run_blocking(&test[0]);
            for (int t = 0; t < AT_ONCE; t++)
                choose(&test[t], t ? (enum coll_kind)case_random(COLL_KINDS) : (enum coll_kind)kind, size,
                       t ? 1 + case_random(9) : some_count(size));
            run_together(tests, AT_ONCE);
        }
    fake_close();
}

int main(int argc, char **argv)
{
    int repeats = argc > 1 ? atoi(argv[1]) : 1;
    dress(of4, 4);
    dress(of12, 12);
    dress(of16, 16);
    for (int size = 1; size <= 17; size++)
        all_kinds(size, repeats);
    all_kinds(40, 1); /* more messages than a window, trees of more than one level */
    all_kinds(75, 1);
    for (int i = 0; i < 3; i++) {
        vtype_layout_drop(of4[i]);
        vtype_layout_drop(of12[i]);
        vtype_layout_drop(of16[i]);
    }
    return check_done();
}
