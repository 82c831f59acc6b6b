/* Processes that this one makes: its connections get one more holder, or one that nobody can count. */
#include "sock/hooks.h"
#include "sock/inherit.h"
#include "sock/link.h"
#include "sock/sandbox.h"
#include "sock/table.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif

static pid_t forked(pid_t (*how)(void))
{
    uint32_t mark = sock_family_fork();
    pid_t pid = how();
    if (pid == 0)
        sock_family_child(mark);
    else if (pid < 0)
        sock_family_failed(mark);
    return pid;
}

pid_t sock_fork(void) { return forked(sock_real.fork); }
pid_t sock__Fork(void) { return forked(sock_real._Fork); }

pid_t sock_forkpty(int *master, char *name, const void *terminal, const void *size)
{
    uint32_t mark = sock_family_fork();
    pid_t pid = sock_real.forkpty(master, name, terminal, size);
    if (pid == 0)
        sock_family_child(mark);
    else if (pid < 0)
        sock_family_failed(mark);
    return pid;
}

/* The parent ends inside of libc; what comes back is the child. */
int sock_daemon(int nochdir, int noclose)
{
    uint32_t mark = sock_family_fork(), before = sock_pid();
    int result = sock_real.daemon(nochdir, noclose);
    if ((uint32_t)getpid() != before)
        sock_family_child(mark);
    else
        sock_family_failed(mark);
    return result;
}

/* A child of vfork runs in our memory, where its closing of descriptors would be ours. So it gets memory of its own,
 * and we wait, as vfork does, until it has called exec or ended: then the pipe that it holds is closed. */
pid_t sock_vfork(void)
{
    int ends[2];
    char byte;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return forked(sock_real.fork);
    pid_t pid = forked(sock_real.fork);
    if (pid == 0) {
        sock_real.close(ends[0]);
        return 0; /* the other end closes by itself */
    }
    int saved = errno;
    sock_real.close(ends[1]);
    while (pid > 0 && sock_real.read(ends[0], &byte, 1) < 0 && errno == EINTR)
        ;
    sock_real.close(ends[0]);
    errno = saved;
    return pid;
}

/* libc makes these children past our hooks. What is not close-on-exec they hold for as long as they live. */
int sock_posix_spawn(pid_t *pid, const char *path, const void *actions, const void *attributes, char *const argv[],
                     char *const envp[])
{
    char *const *given = sock_inherit_begin(path, envp, false);
    int result = sock_real.posix_spawn(pid, path, actions, attributes, argv, given);
    sock_inherit_end(given, envp);
    return result;
}

int sock_posix_spawnp(pid_t *pid, const char *path, const void *actions, const void *attributes, char *const argv[],
                      char *const envp[])
{
    char *const *given = sock_inherit_begin(path, envp, false);
    int result = sock_real.posix_spawnp(pid, path, actions, attributes, argv, given);
    sock_inherit_end(given, envp);
    return result;
}

/* Their children get the environment of this process as it is: nothing can be left to them. */
int sock_system(const char *command)
{
    (void)sock_inherit_begin(NULL, environ, false);
    return sock_real.system(command);
}

FILE *sock_popen(const char *command, const char *mode)
{
    (void)sock_inherit_begin(NULL, environ, false);
    return sock_real.popen(command, mode);
}

/* A clone that shares memory is a thread, or a vfork in disguise: libc's own are not seen here, either. */
static long cloned(long number, long a, long b, long c, long d, long e, long f)
{
    uint32_t mark = sock_family_fork();
    long pid = sock_real.syscall(number, a, b, c, d, e, f);
    if (pid == 0)
        sock_family_child(mark);
    else if (pid < 0)
        sock_family_failed(mark);
    return pid;
}

long sock_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    switch (number) {
#ifdef SYS_fork
    case SYS_fork:
        return cloned(number, a, b, c, d, e, f);
#endif
    case SYS_clone:
        if (!((unsigned long)a & (CLONE_VM | CLONE_FILES)))
            return cloned(number, a, b, c, d, e, f);
        break;
    case SYS_seccomp:
    case SYS_io_uring_setup:
        sock_sandbox_enter();
        break;
    case SYS_close:
        return sock_close((int)a);
    case SYS_dup:
        return sock_dup((int)a);
    case SYS_dup3:
        return sock_dup3((int)a, (int)b, (int)c);
    case SYS_read:
        return sock_read((int)a, (void *)b, (size_t)c);
    case SYS_write:
        return sock_write((int)a, (const void *)b, (size_t)c);
    case SYS_epoll_ctl:
        return sock_epoll_ctl((int)a, (int)b, (int)c, (struct epoll_event *)d);
    case SYS_shutdown:
        return sock_shutdown((int)a, (int)b);
    default:
        break;
    }
    return sock_real.syscall(number, a, b, c, d, e, f);
}
