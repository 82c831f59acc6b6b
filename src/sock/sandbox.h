/* A process that confines itself. */
#ifndef SOCK_SANDBOX_H
#define SOCK_SANDBOX_H

#include "base/compiler.h"

void sock_sandbox_enter(void); /* what follows may forbid them: no connection uses shared memory from now on */

#endif
