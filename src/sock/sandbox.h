/* Whether the system calls that shared memory needs may be made. */
#ifndef SOCK_SANDBOX_H
#define SOCK_SANDBOX_H

#include "base/compiler.h"

void sock_sandbox_enter(void); /* what follows may forbid them: no connection uses shared memory from now on */
bool sock_sandbox_forbids(void); /* the process began under a filter that does; tried once */

#endif
