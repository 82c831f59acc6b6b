/* Timing one call of a step stands for all: over many calls of known length the estimate is what they all took, also
 * where calls come in a fixed order; and all together never exceed the time that there was. */
#include "check.h"
#include "profile/steps.h"

enum { CALLS = 400000, KINDS = 4 };
static const uint64_t takes[KINDS] = {20, 60, 35, 900};

/* KINDS by turns, or in blocks of so many; between them a call of 5,000 ticks that is always timed. */
static void estimates(int block)
{
    struct profile_steps steps = {0};
    uint64_t now = 1000000, all[KINDS] = {0}, estimate[KINDS] = {0}, timed = 0;
    for (int i = 0; i < CALLS; i++) {
        int kind = i / block % KINDS;
        bool due = profile_step_due(&steps);
        uint64_t began = now;
        now += takes[kind];
        all[kind] += takes[kind];
        if (due)
            estimate[kind] += profile_step_end(&steps, began, now);
        timed += due;
        if (i % 8 == 7) {
            now += 5000;
            CHECK_EQUAL(profile_step_end(&steps, now - 5000, now), 5000);
        }
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
        bool due = profile_step_due(&steps);
        uint64_t began = now;
        now += due ? 20000 : 20;
        if (due)
            estimate += profile_step_end(&steps, began, now);
        now += 700;
        others += profile_step_end(&steps, now - 700, now);
    }
    CHECK(estimate + others <= now - began_all);
}

int main(void)
{
    estimates(1);
    estimates(4);
    estimates(1000);
    never_more_than_there_was();
    return check_done();
}
