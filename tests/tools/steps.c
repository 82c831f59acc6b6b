/* Timing one call of a step stands for all: over many calls of known length the estimate is what they all took, also
 * where calls come in a fixed order; and all together never exceed the time that there was. */
#include "check.h"
#include "profile/steps.h"

enum { CALLS = 400000, KINDS = 4 };
static const uint64_t takes[KINDS] = {20, 60, 35, 900};

/* A call of so many ticks, one that may pass: as record.h does. What it stands for; 0: it passed. */
static uint64_t call_make(struct profile_steps *steps, uint64_t *now, uint64_t usual, uint64_t when_due)
{
    if (profile_step_passes(steps)) {
        if (usual % 7) {
            profile_step_pass(steps);
            CHECK(!profile_step_enter(steps)); /* what a callback calls */
            *now += usual;
            CHECK(profile_step_passed(steps));
        } else { /* a brief one */
            profile_step_skip(steps);
            *now += usual;
        }
        return 0;
    }
    CHECK(profile_step_enter(steps));
    CHECK(profile_step_due(steps));
    *now += when_due;
    uint64_t ticks = profile_step_end(steps, true, *now - when_due, *now);
    profile_step_leave(steps);
    return ticks;
}

/* One that is always timed: it ends no step. */
static uint64_t long_make(struct profile_steps *steps, uint64_t *now, uint64_t usual)
{
    int32_t left = steps->left;
    CHECK(profile_step_enter(steps));
    *now += usual;
    uint64_t ticks = profile_step_end(steps, false, *now - usual, *now);
    profile_step_leave(steps);
    CHECK_EQUAL(steps->left, left);
    return ticks;
}

/* KINDS by turns, or in blocks of so many; between them a call of 5,000 ticks that is always timed. */
static void estimates(int block)
{
    struct profile_steps steps = {0};
    uint64_t now = 1000000, all[KINDS] = {0}, estimate[KINDS] = {0}, timed = 0;
    for (int i = 0; i < CALLS; i++) {
        int kind = i / block % KINDS;
        uint64_t stands_for = call_make(&steps, &now, takes[kind], takes[kind]);
        all[kind] += takes[kind];
        estimate[kind] += stands_for;
        timed += stands_for > 0;
        if (i % 8 == 7)
            CHECK_EQUAL(long_make(&steps, &now, 5000), 5000);
        now += 100; /* the program computes */
    }
    CHECK(timed > CALLS / PROFILE_TIMED_ONE * 9 / 10 && timed < CALLS / PROFILE_TIMED_ONE * 11 / 10);
    for (int kind = 0; kind < KINDS; kind++)
        CHECK(estimate[kind] > all[kind] * 9 / 10 && estimate[kind] < all[kind] * 11 / 10);
}

/* Each call that is due is a thousand times as long as the others. */
static void never_more_than_there_was(void)
{
    struct profile_steps steps = {0};
    uint64_t now = 1000000, began_all = now, estimate = 0, others = 0;
    for (int i = 0; i < CALLS; i++) {
        estimate += call_make(&steps, &now, 20, 20000);
        others += long_make(&steps, &now, 700);
    }
    CHECK(estimate + others <= now - began_all);
}

/* A process that was forked within a call, or between two: none passes or is timed any more. */
static void forked(void)
{
    struct profile_steps within = {.left = 7, .step = 7}, between = within;
    profile_step_pass(&within);
    profile_step_forked(&within);
    CHECK(!profile_step_passed(&within));
    profile_step_forked(&between);
    for (int i = 0; i < 3; i++) {
        CHECK(!profile_step_passes(&within) && !profile_step_enter(&within));
        CHECK(!profile_step_passes(&between) && !profile_step_enter(&between));
    }
}

int main(void)
{
    forked();
    estimates(1);
    estimates(4);
    estimates(1000);
    never_more_than_there_was();
    return check_done();
}
