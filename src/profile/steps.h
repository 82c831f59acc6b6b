/* Which of the calls that do not wait a thread times: one at the end of each step. Steps are of random length, so no
 * loop of the program falls in with them, and what is timed stands for all calls of its step: in the mean that is what
 * they all take. Of a call whose waits are known the rest is so estimated. Each thread has its own.
 *
 * One number says whether a call may pass and only be counted: so many of them may, and none within another call, where
 * the number is negative. */
#pragma once

#include "profile/page.h"
#include <stdbool.h>
#include <stdint.h>

struct profile_steps {
    int32_t left;  /* so many calls pass, then one is timed; negative: within a call */
    uint32_t step; /* so many were to pass */
    uint32_t random;
    uint32_t single; /* so many of the next steps are one call long */
    uint64_t spent_until; /* the first call began, and what all calls took since then: never in the future */
};

/* A call passes. Else it is timed, or within another one. */
static inline bool profile_step_passes(const struct profile_steps *steps)
{
    return steps->left > 0;
}
static inline void profile_step_pass(struct profile_steps *steps)
{
    steps->left += INT32_MIN;
}

/* The same of a brief one: nothing is within it. */
static inline void profile_step_skip(struct profile_steps *steps)
{
    steps->left--;
}

/* One that passed has ended. False: its process was forked meanwhile. */
static inline bool profile_step_passed(struct profile_steps *steps)
{
    steps->left += INT32_MAX; /* without the sign, and one less */
    return steps->left >= 0;
}

/* One that does not pass begins. False: within another one. */
static inline bool profile_step_enter(struct profile_steps *steps)
{
    bool outside = steps->left >= 0;
    steps->left |= INT32_MIN;
    return outside;
}
static inline void profile_step_leave(struct profile_steps *steps)
{
    steps->left &= INT32_MAX;
}

/* Within a call that does not pass: whether it is the last of a step, if it is one of those that could pass. */
static inline bool profile_step_due(const struct profile_steps *steps)
{
    return steps->left == INT32_MIN;
}

/* The process was forked: nothing is timed any more, for good. */
static inline void profile_step_forked(struct profile_steps *steps)
{
    steps->left = INT32_MIN;
}

/* So many ticks of a call, due or not, are known without timing it. */
static inline void profile_step_known(struct profile_steps *steps, uint64_t ticks)
{
    if (steps->spent_until)
        steps->spent_until += ticks;
}

/* A call that was timed has ended: the ticks that it stands for. */
static inline uint64_t profile_step_end(struct profile_steps *steps, bool due, uint64_t began, uint64_t ended)
{
    uint64_t ticks = ended - began;
    if (!steps->spent_until)
        steps->spent_until = began;
    if (due) {
        uint64_t all = ticks * (steps->step + 1ul), most = ended > steps->spent_until ? ended - steps->spent_until : 0;
        ticks = all < most ? all : most;
        steps->random = steps->random * 1664525 + 1013904223;
        steps->step = steps->single ? 0 : (uint32_t)((uint64_t)steps->random * (2 * PROFILE_TIMED_ONE - 1) >> 32);
        steps->single -= steps->single > 0;
        steps->left = (int32_t)steps->step + INT32_MIN;
    }
    steps->spent_until += ticks;
    return ticks;
}
