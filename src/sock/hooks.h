/* What our hooks call: sock_read for read, and so on, one for each row of hooks.def. The descriptor of a HOOK_FD is
 * in the table when it is called, and may have left it a moment later. */
#ifndef SOCK_HOOKS_H
#define SOCK_HOOKS_H

#include "sock/real.h"

#define HOOK(type, name, parameters, arguments) type sock_##name parameters;
#include "sock/hooks.def"

#endif
