/* Collectives of several threads at once, each on a group of its own, blocking and not. Alone a job of one rank; real.sh
 * runs it with more. */
#include "check.h"
#include "coll/coll.h"
#include <pthread.h>

#define THREADS 3
#define ROUNDS 200
#define WORDS 3000 /* the larger sums are cut into pieces */

static int rank, size;

struct work {
    pthread_t thread;
    struct coll_group group;
    uint32_t value[WORDS];
    int number;
};

static void add_words(const void *in, void *inout, size_t count)
{
    const uint32_t *a = in;
    uint32_t *b = inout;
    for (size_t i = 0; i < count; i++)
        b[i] += a[i];
}

static bool done(void *schedule)
{
    return vcoll_done(schedule);
}

static int start_and_wait(const struct coll_call *call)
{
    struct coll_schedule *schedule;
    int error = vcoll_prepare(call, &schedule);
    if (error)
        return error;
    error = vcoll_launch(schedule, NULL, NULL);
    if (!error)
        error = vmsg_wait_until(done, schedule);
    error = error ? error : vcoll_error(schedule);
    vcoll_release(schedule);
    return error;
}

static void *work(void *argument)
{
    struct work *mine = argument;
    struct type_layout *word;
    CHECK_EQUAL(vtype_layout_bytes(4, 4, &word), OK);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint64_t words = round % 50 == 49 ? WORDS * (size <= 5) + 1 : 1 + round % 9;
        struct coll_call sum = {.kind = COLL_ALLREDUCE, .group = &mine->group, .send = {.base = COLL_IN_PLACE},
                                .receive = {.base = mine->value, .count = words < WORDS ? words : WORDS, .layout = word},
                                .reduction = {.kernel = add_words, .commutative = true}};
        uint32_t expected = 0, salt = round * 7 + (uint32_t)mine->number;
        for (int i = 0; i < size; i++)
            expected += salt * (uint32_t)(i + 1);
        for (uint64_t i = 0; i < sum.receive.count; i++)
            mine->value[i] = salt * (uint32_t)(rank + 1) + (uint32_t)i;
        CHECK_EQUAL(round % 2 ? start_and_wait(&sum) : vcoll_run(&sum), OK);
        for (uint64_t i = 0; i < sum.receive.count; i++)
            CHECK_EQUAL(mine->value[i], expected + (uint32_t)size * (uint32_t)i);
        struct coll_call barrier = {.kind = COLL_BARRIER, .group = &mine->group};
        CHECK_EQUAL(round % 3 ? start_and_wait(&barrier) : vcoll_run(&barrier), OK);
    }
    vtype_layout_drop(word);
    return NULL;
}

int main(void)
{
    static struct work worker[THREADS];
    CHECK_EQUAL(vmsg_start(), OK);
    if (check_failed)
        return check_done();
    rank = vmsg_job()->rank;
    size = vmsg_job()->size;
    vmsg_threads(true);
    for (int i = 0; i < THREADS; i++) {
        worker[i].number = i;
        worker[i].group = (struct coll_group){.rank = rank, .size = size};
        CHECK_EQUAL(vmsg_context_open((uint32_t)i + 2, NULL, size, rank, &worker[i].group.context), OK);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(worker[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        vcoll_group_close(&worker[i].group);
        vmsg_context_close(worker[i].group.context);
    }
    vmsg_stop();
    return check_done();
}
