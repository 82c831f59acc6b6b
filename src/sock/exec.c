/* A new program in this process knows nothing of rings: connections that it inherits go back to TCP first. One that has
 * bytes in its ring, which nobody could read any more, is reset. A connection that other processes hold stays as it is:
 * a child that calls exec was made for something else. */
#include "sock/hooks.h"
#include "sock/link.h"
#include "sock/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void inherit_one(struct sock_file *file, int fd)
{
    if (!sock_joined(file) || (sock_real.fcntl(fd, F_GETFD, 0) & FD_CLOEXEC))
        return;
    sock_stream_back_out(file, fd);
    if (!sock_stream_back_in(file, fd) && sock_link_alone(file->link))
        sock_stream_break(file, fd, "bytes lie unread and a new program begins");
}

static void inherit(void)
{
    int saved = errno;
    for (int fd = 0; fd < sock_table_end(); fd++) {
        struct sock_file *file = sock_known(fd) ? sock_hold(fd) : NULL;
        if (!file)
            continue;
        inherit_one(file, fd);
        sock_drop(file);
    }
    errno = saved;
}

int sock_execve(const char *path, char *const argv[], char *const envp[])
{
    inherit();
    return sock_real.execve(path, argv, envp);
}
int sock_execv(const char *path, char *const argv[])
{
    inherit();
    return sock_real.execv(path, argv);
}
int sock_execvp(const char *file, char *const argv[])
{
    inherit();
    return sock_real.execvp(file, argv);
}
int sock_execvpe(const char *file, char *const argv[], char *const envp[])
{
    inherit();
    return sock_real.execvpe(file, argv, envp);
}
int sock_fexecve(int fd, char *const argv[], char *const envp[])
{
    inherit();
    return sock_real.fexecve(fd, argv, envp);
}
int sock_execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
    inherit();
    return sock_real.execveat(folder, path, argv, envp, flags);
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
