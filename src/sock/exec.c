/* exec in all its forms: what the new program inherits is seen to before (inherit.h). */
#include "sock/hooks.h"
#include "sock/inherit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int sock_execve(const char *path, char *const argv[], char *const envp[])
{
    char *const *given = sock_inherit_begin(path, envp, true);
    int result = sock_real.execve(path, argv, given);
    sock_inherit_end(given, envp);
    return result;
}
int sock_execv(const char *path, char *const argv[]) { return sock_execve(path, argv, environ); }
int sock_execvpe(const char *file, char *const argv[], char *const envp[])
{
    char *const *given = sock_inherit_begin(file, envp, true);
    int result = sock_real.execvpe(file, argv, given);
    sock_inherit_end(given, envp);
    return result;
}
int sock_execvp(const char *file, char *const argv[]) { return sock_execvpe(file, argv, environ); }
int sock_fexecve(int fd, char *const argv[], char *const envp[])
{
    char path[40];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    char *const *given = sock_inherit_begin(path, envp, true);
    int result = sock_real.fexecve(fd, argv, given);
    sock_inherit_end(given, envp);
    return result;
}
int sock_execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
    char *const *given = sock_inherit_begin(folder == AT_FDCWD || *path == '/' ? path : NULL, envp, true);
    int result = sock_real.execveat(folder, path, argv, given, flags);
    sock_inherit_end(given, envp);
    return result;
}

/* The list of arguments, up to its NULL, as an array on the stack of the caller. */
static int count_arguments(va_list list)
{
    int n = 1;
    while (va_arg(list, char *))
        n++;
    return n;
}

enum kind { EXECL, EXECLP, EXECLE };

static int exec_list(enum kind kind, const char *path, const char *first, va_list list)
{
    va_list again;
    va_copy(again, list);
    int n = first ? count_arguments(again) : 0;
    va_end(again);
    char **argv = calloc((size_t)n + 1, sizeof(*argv));
    if (!argv)
        return -1;
    argv[0] = (char *)(uintptr_t)first;
    for (int i = 1; i < n; i++)
        argv[i] = va_arg(list, char *);
    if (n)
        (void)va_arg(list, char *); /* the NULL */
    int result = kind == EXECL    ? sock_execv(path, argv)
                 : kind == EXECLP ? sock_execvp(path, argv)
                                  : sock_execve(path, argv, va_arg(list, char **));
    free(argv);
    return result;
}

#define EXEC(name, kind)                                                                                               \
    VEXPORT int hook_##name(const char *path, const char *first, ...) __asm__(#name);                                  \
    int hook_##name(const char *path, const char *first, ...)                                                          \
    {                                                                                                                  \
        va_list list;                                                                                                  \
        va_start(list, first);                                                                                         \
        int result = exec_list(kind, path, first, list);                                                               \
        va_end(list);                                                                                                  \
        return result;                                                                                                 \
    }
EXEC(execl, EXECL)
EXEC(execlp, EXECLP)
EXEC(execle, EXECLE)
