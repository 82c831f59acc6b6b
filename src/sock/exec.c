/* exec in all its forms: what the new program inherits is seen to before (inherit.h). */
#include "sock/hooks.h"
#include "sock/inherit.h"
#include "sock/segment.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int sock_execve(const char *path, char *const argv[], char *const envp[])
{
    char *const *given = sock_inherit_begin(path, envp, SOCK_REPLACES);
    int result = sock_real.execve(path, argv, given);
    sock_inherit_end(given, envp);
    return result;
}
int sock_execv(const char *path, char *const argv[]) { return sock_execve(path, argv, environ); }
int sock_execvpe(const char *file, char *const argv[], char *const envp[])
{
    char *const *given = sock_inherit_begin(file, envp, SOCK_REPLACES);
    int result = sock_real.execvpe(file, argv, given);
    sock_inherit_end(given, envp);
    return result;
}
int sock_execvp(const char *file, char *const argv[]) { return sock_execvpe(file, argv, environ); }
int sock_fexecve(int fd, char *const argv[], char *const envp[])
{
    char path[40];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    char *const *given = sock_inherit_begin(path, envp, SOCK_REPLACES);
    int result = sock_real.fexecve(fd, argv, given);
    sock_inherit_end(given, envp);
    return result;
}
int sock_execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
    char *const *given = sock_inherit_begin(folder == AT_FDCWD || *path == '/' ? path : NULL, envp, SOCK_REPLACES);
    int result = sock_real.execveat(folder, path, argv, given, flags);
    sock_inherit_end(given, envp);
    return result;
}

/* The arguments up to their NULL as an array, and behind it the environment where it is GIVEN. */
static int exec_list(int (*exec)(const char *, char *const[], char *const[]), const char *path, const char *first,
                     va_list list, bool given)
{
    va_list again;
    int n = first != NULL;
    va_copy(again, list);
    while (n && va_arg(again, char *))
        n++;
    va_end(again);
    char **argv = sock_pages_take(((size_t)n + 1) * sizeof(*argv));
    if (!argv)
        return -1;
    argv[0] = (char *)(uintptr_t)first;
    for (int i = 1; n && i <= n; i++)
        argv[i] = va_arg(list, char *);
    int result = exec(path, argv, given ? va_arg(list, char **) : environ);
    sock_pages_leave(argv);
    return result;
}

VEXPORT int hook_execl(const char *path, const char *first, ...) __asm__("execl");
int hook_execl(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    int result = exec_list(sock_execve, path, first, list, false);
    va_end(list);
    return result;
}

VEXPORT int hook_execlp(const char *file, const char *first, ...) __asm__("execlp");
int hook_execlp(const char *file, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    int result = exec_list(sock_execvpe, file, first, list, false);
    va_end(list);
    return result;
}

VEXPORT int hook_execle(const char *path, const char *first, ...) __asm__("execle");
int hook_execle(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    int result = exec_list(sock_execve, path, first, list, true);
    va_end(list);
    return result;
}
