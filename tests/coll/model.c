/* Every collective against a serial model, on 1 to 17 and some more ranks, over a model of msg with random delays: all
 * bytes of all buffers are compared, the guards around them and the holes of layouts too. Several collectives are under
 * way at once, started in another order on each rank, and started again as persistent ones are. Also among ranks on
 * several nodes: of equally many ranks and not, one after the other and by turns.
 *
 * takes: 15 presets: release asan
 * timeout: 600
 * apart: 1 */
#include "coll/fake_msg.h"

#include "coll/cases.h"
#include "coll/nodes.h"

#define AT_ONCE 3

#ifdef __SANITIZE_ADDRESS__
#define SPREAD_SIZES 3 /* every third number of ranks on nodes: it takes seven times as long */
#else
#define SPREAD_SIZES 1
#endif

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

enum spreading { NOWHERE, PAIRS, TRIPLES, BY_TURNS, UNEVEN, ALONE, SPREADINGS };

static int32_t node_name(enum spreading spreading, int rank, int size)
{
    switch (spreading) {
    case PAIRS:
        return rank / 2;
    case TRIPLES:
        return rank / 3;
    case BY_TURNS:
        return rank % ((size + 2) / 3);
    case UNEVEN: /* 1, 3 and the others */
        return rank < 1 ? 0 : rank < 4 ? 1 : 4;
    default:
        return rank;
    }
}

static struct coll_nodes *spread_over_nodes(enum spreading spreading, int rank, int size)
{
    int32_t name[CASE_RANKS];
    for (int r = 0; r < size; r++)
        name[r] = node_name(spreading, r, size);
    return spreading == NOWHERE ? NULL : vcoll_nodes_new(name, size, rank);
}

static void all_kinds(int size, int repeats, enum spreading spreading)
{
    static struct test test[AT_ONCE];
    struct test *const tests[AT_ONCE] = {&test[0], &test[1], &test[2]};
    fake_open(size, (uint64_t)size + 1000 * (uint64_t)spreading);
    for (int i = 0; i < size; i++)
        group[i] = (struct coll_group){.context = &fake.context[i], .rank = i, .size = size,
                                       .sequence = (1u << 30) - 3, /* tags wrap early in the test */
                                       .meetings = UINT32_MAX,     /* none: all ranks are in one thread */
                                       .nodes = spread_over_nodes(spreading, i, size)};
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
    for (int i = 0; i < size; i++)
        vcoll_group_close(&group[i]);
}

int main(int argc, char **argv)
{
    int repeats = argc > 1 ? atoi(argv[1]) : 1;
    dress(of4, 4);
    dress(of12, 12);
    dress(of16, 16);
    for (int size = 1; size <= 17; size++)
        all_kinds(size, repeats, NOWHERE);
    for (int size = 2; size <= 12; size += SPREAD_SIZES)
        for (int i = 2 * PAIRS; i < 2 * SPREADINGS; i++) {
            vbase_settings.coll = i % 2 ? "slices" : ""; /* whatever the length */
            all_kinds(size, repeats, (enum spreading)(i / 2));
        }
    vbase_settings.coll = "";
    all_kinds(40, 1, NOWHERE); /* more messages than a window, trees of more than one level */
    all_kinds(75, 1, NOWHERE);
    all_kinds(40, 1, PAIRS);
    for (int i = 0; i < 3; i++) {
        vtype_layout_drop(of4[i]);
        vtype_layout_drop(of12[i]);
        vtype_layout_drop(of16[i]);
    }
    return check_done();
}
