/* What a schedule does when something is wrong, and what it promises besides moving bytes: a barrier holds, a truncated
 * message stops nobody, any other failure ends the schedule with everything cancelled, layouts live as long as the
 * schedule, small collectives need no memory of their own.
 * apart: 1 */
#include "coll/fake_msg.h"
#include "coll/schedule.h"

#define RANKS 20

static struct coll_group group[RANKS];
static struct coll_schedule *schedule[RANKS];

static void open_groups(int size, uint64_t seed)
{
    fake_open(size, seed);
    for (int i = 0; i < size; i++)
        group[i] = (struct coll_group){.context = &fake.context[i], .rank = i, .size = size};
}

static void prepare(int rank, struct coll_call call)
{
    call.group = &group[rank];
    CHECK_EQUAL(vcoll_prepare(&call, &schedule[rank]), OK);
}

static void launch(int rank)
{
    CHECK_EQUAL(vcoll_launch(schedule[rank], NULL, NULL), OK);
}

static void release_all(int size)
{
    for (int i = 0; i < size; i++)
        vcoll_release(schedule[i]);
}

static void settle(int size)
{
    while (fake_step(size))
        ;
}

static void barrier_holds(int size)
{
    for (int late = 0; late < size; late++) {
        open_groups(size, (uint64_t)late);
        for (int i = 0; i < size; i++)
            prepare(i, (struct coll_call){.kind = COLL_BARRIER});
        for (int i = 0; i < size; i++)
            if (i != late)
                launch(i);
        settle(size);
        for (int i = 0; i < size; i++)
            CHECK(!vcoll_done(schedule[i]));
        launch(late);
        settle(size);
        for (int i = 0; i < size; i++)
            CHECK(vcoll_done(schedule[i]));
        release_all(size);
        fake_close();
    }
}

/* Rank 3 expects less than it is sent: it alone reports it, and the ranks that wait for it get their part. */
static void truncation(uint64_t count, int size)
{
    unsigned char *data = calloc((size_t)size, count);
    open_groups(size, 1);
    memset(data, 7, count);
    for (int i = 0; i < size; i++) {
        prepare(i, (struct coll_call){.kind = COLL_BCAST, .receive = {data + (uint64_t)i * count, count - (i == 3), 0, 0, 0, 0}});
        launch(i);
    }
    settle(size);
    for (int i = 0; i < size; i++) {
        CHECK(vcoll_done(schedule[i]));
        CHECK_EQUAL(vcoll_error(schedule[i]), i == 3 ? ERR_TRUNCATED : OK);
        CHECK_EQUAL(data[(uint64_t)i * count], 7);
    }
    release_all(size);
    fake_close();
    free(data);
}

/* Three ranks of nine, in another order, of whom one passes less: who gets less than he expects reports it, in every start. */
static void less(enum coll_kind kind)
{
    static const int member[] = {7, 2, 5};
    static unsigned char data[3][300];
    open_groups(9, 1);
    for (int i = 0; i < 3; i++) {
        group[i] = (struct coll_group){&fake.context[member[i]], i, 3, member, .sequence = 5};
        prepare(i, (struct coll_call){.kind = kind, .send = {.base = COLL_IN_PLACE},
                                      .receive = {.base = data[i], .count = i == 1 ? 90 : 100},
                                      .root = 1,
                                      .reduction = {.kernel = vtype_kernel(OPERATION_BOR, ELEMENT_BYTE), .commutative = true}});
    }
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < 3; i++)
            launch(i);
        settle(9);
        int told = 0;
        for (int i = 0; i < 3; i++) {
            CHECK(vcoll_done(schedule[i]));
            told += vcoll_error(schedule[i]) == ERR_ARGUMENT;
        }
        CHECK_EQUAL(told, kind == COLL_BCAST ? 2 : 1);
    }
    release_all(3);
    fake_close();
}

static void own_part_truncated(void)
{
    char from[4] = "abc", to[4] = "xyz";
    open_groups(1, 1);
    struct coll_call call = {.kind = COLL_GATHER, .group = group, .send = {.base = from, .count = 4},
                             .receive = {.base = to, .count = 2}};
    CHECK_EQUAL(vcoll_run(&call), ERR_TRUNCATED);
    CHECK_TEXT(to, "abz");
}

/* The n-th message fails: whoever takes part in it ends with the cause and leaves nothing behind; the others wait for
 * what never comes, until somebody stops them. */
static void failure(enum coll_kind kind, int size, long n)
{
    static unsigned char send[RANKS][RANKS * 100], receive[RANKS][RANKS * 100];
    open_groups(size, (uint64_t)n);
    fake.fail_at = n;
    for (int i = 0; i < size; i++) {
        prepare(i, (struct coll_call){.kind = kind, .send = {.base = send[i], .count = 100},
                                      .receive = {.base = receive[i], .count = 100},
                                      .reduction = {.kernel = vtype_kernel(OPERATION_BOR, ELEMENT_BYTE)}});
        launch(i);
    }
    settle(size);
    int failed = 0;
    for (int i = 0; i < size; i++) {
        failed += vcoll_done(schedule[i]) && vcoll_error(schedule[i]) == ERR_PEER_DEAD;
        if (!vcoll_done(schedule[i])) {
            vcoll_schedule_stop(schedule[i], ERR_TIMEOUT);
            CHECK(vcoll_done(schedule[i]));
            CHECK_EQUAL(vcoll_error(schedule[i]), ERR_TIMEOUT);
        }
        CHECK(!fake.context[i].posted);
    }
    CHECK(failed == (fake.messages > n ? failed : 0) && (failed > 0) == (fake.messages > n));
    release_all(size);
    for (int i = 0; i < size; i++)
        for (struct fake_message *message; (message = fake.context[i].arrived);) {
            fake.context[i].arrived = message->next;
            fake.under_way--;
            CHECK(!message->sender); /* nobody waits for it any more */
            free(message->data);
            free(message);
        }
    fake_close();
}

/* A failed message ends the schedule although the others of its round will never come. */
static void cancelled(void)
{
    unsigned char data[4] = {0};
    open_groups(4, 1);
    fake.fail_at = 0;
    for (int i = 0; i < 2; i++) {
        prepare(i, (struct coll_call){.kind = COLL_GATHER, .send = {.base = data, .count = 1},
                                      .receive = {.base = data, .count = 1}});
        launch(i);
    }
    settle(4);
    CHECK(vcoll_done(schedule[0]));
    CHECK_EQUAL(vcoll_error(schedule[0]), ERR_PEER_DEAD);
    release_all(2);
    fake_close();
}

static void wrong_calls(void)
{
    struct coll_schedule *none = NULL;
    open_groups(2, 1);
    struct coll_call call = {.kind = COLL_BCAST, .group = group, .root = 2};
    CHECK_EQUAL(vcoll_prepare(&call, &none), ERR_ARGUMENT);
    CHECK_EQUAL(vcoll_run(&call), ERR_ARGUMENT);
    CHECK(!none);
    CHECK_EQUAL(group[0].sequence, 2); /* in step with the members whose calls were right */
    group[1].sequence = 2;
    for (int i = 0; i < 2; i++)
        prepare(i, (struct coll_call){.kind = COLL_BARRIER});
    launch(0);
    CHECK_EQUAL(vcoll_launch(schedule[0], NULL, NULL), ERR_STATE);
    launch(1);
    settle(2);
    CHECK(vcoll_done(schedule[0]) && vcoll_done(schedule[1]));
    release_all(2);
    fake_close();
}

static void layouts_live(void)
{
    struct type_layout *words;
    unsigned char data[2][64] = {{0}};
    open_groups(2, 1);
    CHECK_EQUAL(vtype_layout_bytes(4, 4, &words), OK);
    for (int i = 0; i < 2; i++)
        prepare(i, (struct coll_call){.kind = COLL_BCAST, .receive = {.base = data[i], .count = 16, .layout = words}});
    vtype_layout_keep(words); /* ours; the maker's own goes */
    vtype_layout_drop(words);
    CHECK(words->references > 1);
    memset(data[0], 3, 64);
    launch(0);
    launch(1);
    settle(2);
    release_all(2);
    CHECK_EQUAL(words->references, 1);
    CHECK_EQUAL(data[1][63], 3);
    vtype_layout_drop(words);
    fake_close();
}

/* Sixteen ranks: barrier, small broadcast and small sums fit in the block that is used again and again. */
static void small_is_small(void)
{
    static uint64_t data[16][8];
    open_groups(16, 1);
    for (enum coll_kind kind = COLL_BARRIER; kind <= COLL_ALLREDUCE; kind++) {
        for (int i = 0; i < 16; i++) {
            prepare(i, (struct coll_call){.kind = kind, .send = {.base = COLL_IN_PLACE},
                                          .receive = {.base = data[i], .count = 64},
                                          .reduction = {.kernel = vtype_kernel(OPERATION_BOR, ELEMENT_BYTE), .commutative = true}});
            CHECK(!schedule[i]->memory);
        }
        release_all(16);
    }
}

int main(void)
{
    barrier_holds(1);
    barrier_holds(2);
    barrier_holds(7);
    barrier_holds(20);
    truncation(100, 9);
    truncation(9 * 131072 + 64, 9); /* cut into pieces */
    less(COLL_BCAST);
    less(COLL_ALLREDUCE);
    own_part_truncated();
    for (long n = 0; n < 40; n++) {
        failure(COLL_ALLGATHER, 5, n);
        failure(COLL_ALLTOALL, 7, n);
        failure(COLL_ALLREDUCE, 18, n);
        failure(COLL_SCAN, 6, n);
    }
    cancelled();
    wrong_calls();
    layouts_live();
    small_is_small();
    return check_done();
}
