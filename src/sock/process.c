/* Processes that this one makes: its connections get one more holder, or one that nobody can count. */
#include "sock/process.h"
#include "base/descriptor.h"
#include "sock/file.h"
#include "sock/hooks.h"
#include "sock/inherit.h"
#include "sock/policy.h"
#include "sock/rights.h"
#include "sock/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

/* A child is about to be made, from its first moment on it holds what this process holds. That is counted behind the
 * handlers of the program (pthread_atfork): they may take locks under which another thread opens or closes. */
struct making {
    bool counted;
    bool waits; /* until the child has called exec or ended: then the pipe that it holds is closed */
    uint32_t mark;
    int ends[2];
    sigset_t mask;
};
static _Thread_local struct making of_thread TLS_QUICK;

static void making_begin(struct making *making)
{
    sigset_t all;
    making->counted = sock_policy.on || sock_family_is_there();
    if (making->counted) {
        sigfillset(&all);
        (void)pthread_sigmask(SIG_BLOCK, &all, &making->mask);
        sock_freeze();
        making->mark = sock_family_fork();
        sock_limit_stay();
    }
    if (making->waits && pipe2(making->ends, O_CLOEXEC) != 0)
        making->waits = false;
}

static void making_thaw(struct making *making)
{
    if (making->counted) {
        sock_thaw();
        (void)pthread_sigmask(SIG_SETMASK, &making->mask, NULL);
    }
}

static void making_in_parent(struct making *making)
{
    if (making->waits)
        sock_real.close(making->ends[1]);
    if (making->counted)
        sock_limit_free();
    making_thaw(making);
}

static void making_in_child(struct making *making)
{
    sock_unseen_none();
    if (making->counted)
        sock_family_child(making->mark);
    if (making->waits)
        sock_real.close(making->ends[0]); /* the other end closes by itself */
    making_thaw(making);
    making->counted = making->waits = false;
}

/* The parent's end of it: CHILD is negative where there is none. */
static pid_t making_end(struct making *making, pid_t child)
{
    int saved = errno;
    char byte;
    if (child == 0)
        return 0;
    if (making->counted)
        sock_family_made(making->mark, child < 0 ? 0 : (uint32_t)child);
    while (making->waits && sock_raw(SYS_read, making->ends[0], (long)&byte, 1, 0, 0, 0) == -EINTR)
        ;
    if (making->waits)
        sock_real.close(making->ends[0]);
    making->counted = making->waits = false;
    errno = saved;
    return child;
}

static void thread_begins(void) { making_begin(&of_thread); }
static void thread_parent(void) { making_in_parent(&of_thread); }
static void thread_child(void) { making_in_child(&of_thread); }

void sock_process_start(void) { (void)pthread_atfork(thread_begins, thread_parent, thread_child); }

pid_t sock_fork(void) { return making_end(&of_thread, sock_real.fork()); }

pid_t sock_forkpty(int *master, char *name, const void *terminal, const void *size)
{
    return making_end(&of_thread, sock_real.forkpty(master, name, terminal, size));
}

/* The parent ends inside of libc; what comes back is the child. */
int sock_daemon(int nochdir, int noclose)
{
    int result = sock_real.daemon(nochdir, noclose);
    if (of_thread.counted)
        (void)making_end(&of_thread, -1);
    return result;
}

/* A child of vfork runs in our memory, where its closing of descriptors would be ours. So it gets memory of its own,
 * and we wait, as vfork does. */
pid_t sock_vfork(void)
{
    of_thread.waits = true;
    return sock_fork();
}

/* Past the handlers of the program. */
static pid_t made(struct making *making, pid_t child)
{
    if (child == 0)
        making_in_child(making);
    else
        making_in_parent(making);
    return making_end(making, child);
}

pid_t sock__Fork(void)
{
    struct making making = {0};
    making_begin(&making);
    return made(&making, sock_real._Fork());
}

struct run {
    int (*run)(void *);
    void *argument;
    struct making making;
};

static int run_child(void *given)
{
    struct run *run = given;
    making_in_child(&run->making);
    return run->run(run->argument);
}

/* One that shares memory is a thread, or a vfork. */
int sock_clone(int (*run)(void *), void *stack, int flags, void *argument, void *parent, void *thread, void *child)
{
    bool waits = (flags & CLONE_VFORK) && !(flags & CLONE_FILES);
    struct run ours = {run, argument, {.waits = waits}};
    if (waits)
        flags &= ~(CLONE_VM | CLONE_VFORK);
    if (!run || flags & (CLONE_VM | CLONE_FILES))
        return sock_real.clone(run, stack, flags, argument, parent, thread, child);
    making_begin(&ours.making);
    return made(&ours.making, sock_real.clone(run_child, stack, flags, &ours, parent, thread, child));
}

/* libc makes these children past our hooks. What is not close-on-exec they hold for as long as they live, and what libc
 * copies for them. */
int sock_posix_spawn_file_actions_adddup2(void *actions, int fd, int to)
{
    sock_inherit_copied(fd);
    return sock_real.posix_spawn_file_actions_adddup2(actions, fd, to);
}

#define SPAWN_PARAMETERS                                                                                               \
    int *child, const char *path, const void *actions, const void *attributes, char *const argv[], char *const envp[]
#define SPAWN_ARGUMENTS child, path, actions, attributes, argv, envp
_Static_assert(_Generic((pid_t)0, int: 1, default: 0), "one type serves a number of a process and a descriptor of it");

static int spawned(int (*real)(SPAWN_PARAMETERS), SPAWN_PARAMETERS)
{
    char *const *given = sock_inherit_begin(path, envp, actions ? SOCK_CHILD_COPIES : SOCK_CHILD);
    int result = real(child, path, actions, attributes, argv, given);
    sock_inherit_end(given, envp);
    return result < 0 ? ENOSYS : result; /* they say what went wrong by their result */
}

int sock_posix_spawn(SPAWN_PARAMETERS) { return spawned(sock_real.posix_spawn, SPAWN_ARGUMENTS); }
int sock_posix_spawnp(SPAWN_PARAMETERS) { return spawned(sock_real.posix_spawnp, SPAWN_ARGUMENTS); }
int sock_pidfd_spawn(SPAWN_PARAMETERS) { return spawned(sock_real.pidfd_spawn, SPAWN_ARGUMENTS); }
int sock_pidfd_spawnp(SPAWN_PARAMETERS) { return spawned(sock_real.pidfd_spawnp, SPAWN_ARGUMENTS); }

/* Their children get the environment of this process: what tells them what is left to them stands there meanwhile. If
 * another thread has changed it by then, it stays. */
struct shell {
    char **own, **given;
};

static void shell_begin(struct shell *shell)
{
    shell->own = environ;
    environ = shell->given = (char **)(uintptr_t)sock_inherit_begin("/bin/sh", environ, SOCK_CHILD);
}

static void shell_end(void *of)
{
    struct shell *shell = of;
    bool is_ours = environ == shell->given;
    if (is_ours)
        environ = shell->own;
    sock_inherit_end(is_ours ? shell->given : shell->own, shell->own);
}

/* A thread may be cancelled in it. */
int sock_system(const char *command)
{
    struct shell shell;
    int result;
    if (!command)
        return sock_real.system(command);
    shell_begin(&shell);
    pthread_cleanup_push(shell_end, &shell);
    result = sock_real.system(command);
    pthread_cleanup_pop(1);
    return result;
}

FILE *sock_popen(const char *command, const char *mode)
{
    struct shell shell;
    shell_begin(&shell);
    FILE *pipe = sock_real.popen(command, mode);
    shell_end(&shell);
    return pipe;
}

static long cloned(long number, long a, long b, long c, long d, long e, long f)
{
    struct making making = {0};
    making_begin(&making);
    return made(&making, (pid_t)sock_real.syscall(number, a, b, c, d, e, f));
}

/* The rows of the table that are system calls, by number. Their arguments are words, of which a function takes what it
 * declares, as the kernel would. */
struct call {
    void (*function)(void);
    bool is_int; /* what it returns */
};
static struct call call_of(long number)
{
    struct call call = {NULL, false};
    switch (number) {
#define HOOK(type, name, parameters, arguments)
#define CALL(type, name, parameters, arguments, number)                                                                \
    case number:                                                                                                       \
        call = (struct call){(void (*)(void))sock_##name, sizeof(type) == sizeof(int)};                                \
        break;
#include "sock/hooks.def"
    default:
        break;
    }
    return call;
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
    case SYS_clone3: /* the flags are its first word */
        if (a && !(*(const uint64_t *)a & (CLONE_VM | CLONE_FILES))) /* NOLINT: an address */
            return cloned(number, a, b, c, d, e, f);
        break;
    case SYS_setuid:
    case SYS_setreuid:
    case SYS_setresuid: {
        long result = sock_real.syscall(number, a, b, c, d, e, f); /* of one thread: not what libc's function does */
        sock_rights_look();
        return result;
    }
    case SYS_seccomp:
    case SYS_io_uring_setup:
        sock_sandbox_enter();
        break;
#ifdef SYS_dup2
    case SYS_dup2:
        return sock_dup2((int)a, (int)b);
#endif
    default:
        break;
    }
    struct call call = call_of(number);
    if (call.function) {
        long n = ((long (*)(long, long, long, long, long, long))call.function)(a, b, c, d, e, f);
        return call.is_int ? (int)n : n;
    }
    return sock_real.syscall(number, a, b, c, d, e, f);
}
