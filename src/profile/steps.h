/* Which of the calls that do not wait a thread times: one at the end of each step. Steps are of random length, so no
 * loop of the program falls in with them, and what is timed stands for all calls of its step: in the mean that is what
 * they all take. Of a call whose waits are known the rest is so estimated. Each thread has its own. */
#pragma once

#include "profile/page.h"
#include <stdbool.h>
#include <stdint.h>

struct profile_steps {
    uint32_t passed, step; /* calls of this step; it ends with the one after so many */
    uint32_t random;
    uint32_t single; /* so many of the next steps are one call long */
    uint64_t spent_until; /* the first call began, and what all calls took since then: never in the future */
};

/* A call begins: whether it is timed. */
static inline bool profile_step_due(struct profile_steps *steps)
{
    return steps->passed++ >= steps->step;
}

/* So many ticks of a call, due or not, are known without timing it. */
static inline void profile_step_known(struct profile_steps *steps, uint64_t ticks)
{
    if (steps->spent_until)
        steps->spent_until += ticks;
}

/* A call that was timed, due or not, has ended: the ticks that it stands for. */
static inline uint64_t profile_step_end(struct profile_steps *steps, uint64_t began, uint64_t ended)
{
    uint64_t ticks = ended - began;
    if (!steps->spent_until)
        steps->spent_until = began;
    if (steps->passed > steps->step) { /* else it is one that is always timed, within a step */
        uint64_t all = ticks * steps->passed, most = ended > steps->spent_until ? ended - steps->spent_until : 0;
        ticks = all < most ? all : most;
        steps->random = steps->random * 1664525 + 1013904223;
        steps->step = steps->single ? 0 : (uint32_t)((uint64_t)steps->random * (2 * PROFILE_TIMED_ONE - 1) >> 32);
        steps->single -= steps->single > 0;
        steps->passed = 0;
    }
    steps->spent_until += ticks;
    return ticks;
}
