/* Are the system calls allowed that shared memory needs? */
#ifndef SOCK_TRIAL_H
#define SOCK_TRIAL_H

#include "base/compiler.h"

/* A child makes them once. False: one was refused, or the child was killed for it. */
bool sock_trial_passes(void);

#endif
