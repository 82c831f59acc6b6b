/* Are the system calls allowed that shared memory needs? */
#ifndef SOCK_TRIAL_H
#define SOCK_TRIAL_H

#include "base/compiler.h"

/* The process began under a filter that forbids them: a child makes them, once. */
bool sock_trial_forbids(void);

#endif
