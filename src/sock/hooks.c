/* The functions that the program finds instead of libc's, made from the table. In C they are called hook_NAME, since
 * the headers declare some of libc's names otherwise than they are taken here; to the linker they are NAME. */
#include "sock/hooks.h"
#include "sock/table.h"

#define HOOK(type, name, parameters, arguments)                                                                        \
    VEXPORT type hook_##name parameters __asm__(#name);                                                                \
    type hook_##name parameters { return sock_##name arguments; }
#define HOOK_FD(type, name, parameters, arguments)                                                                     \
    VEXPORT type hook_##name parameters __asm__(#name);                                                                \
    type hook_##name parameters                                                                                        \
    {                                                                                                                  \
        if (likely(!sock_known(fd)))                                                                                   \
            return sock_real.name arguments;                                                                           \
        return sock_##name arguments;                                                                                  \
    }
#define ALIAS(other, name)                                                                                             \
    VEXPORT __typeof__(hook_##name) alias_##other __asm__(#other) __attribute__((alias(#name)));
#include "sock/hooks.def"
