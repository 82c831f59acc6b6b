/* sigaction and signal; see signal.h. The kernel knows one function of ours as the handler of all signals, which looks
 * where the thread is and calls the program's. */
#include "sock/signal.h"
#include "sock/hooks.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define SIGNALS 65

static struct {
    void (*_Atomic handler)(int, siginfo_t *, void *);
    _Atomic int flags;
} program[SIGNALS];

static _Thread_local struct {
    int depth;
    bool waiting; /* a signal does, see info */
    bool interrupted, no_restart;
    sigset_t mask; /* before all signals were blocked */
    siginfo_t info[SIGNALS];
    bool there[SIGNALS];
} thread TLS_QUICK;

static bool is_fault(int number, const siginfo_t *info)
{
    return info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
                                 number == SIGTRAP || number == SIGSYS);
}

static void arrived(int number, siginfo_t *info, void *context)
{
    int flags = atomic_load(&program[number].flags), saved = errno;
    if (thread.depth > 0 && !is_fault(number, info)) {
        sigset_t *mask = &((ucontext_t *)context)->uc_sigmask; /* holds when this function returns */
        if (!thread.waiting)
            memcpy(&thread.mask, mask, sizeof(thread.mask));
        thread.waiting = true;
        thread.info[number] = *info;
        thread.there[number] = true;
        sigfillset(mask);
        return;
    }
    thread.interrupted = true;
    thread.no_restart |= !(flags & SA_RESTART);
    atomic_load(&program[number].handler)(number, info, context);
    errno = saved;
}

void sock_section_enter(void) { thread.depth++; }

/* What waited is sent to this thread once more, and arrives with the mask that held before. */
void sock_section_leave(void)
{
    if (--thread.depth > 0 || likely(!thread.waiting))
        return;
    int saved = errno;
    for (int i = 1; i < SIGNALS; i++)
        if (thread.there[i]) {
            thread.there[i] = false;
            (void)sock_raw(SYS_rt_tgsigqueueinfo, getpid(), sock_raw(SYS_gettid, 0, 0, 0, 0, 0, 0), i,
                           (long)&thread.info[i], 0, 0);
        }
    thread.waiting = false;
    (void)pthread_sigmask(SIG_SETMASK, &thread.mask, NULL);
    errno = saved;
}

void sock_restart_begin(void) { thread.interrupted = thread.no_restart = false; }
bool sock_restart_wanted(void) { return thread.interrupted && !thread.no_restart; }

int sock_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction ours, before;
    bool handled = action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
    if (number <= 0 || number >= SIGNALS)
        return sock_real.sigaction(number, action, old);
    void (*handler)(int, siginfo_t *, void *) = atomic_load(&program[number].handler);
    int flags = atomic_load(&program[number].flags);
    if (handled) {
        ours = *action;
        ours.sa_sigaction = arrived;
        ours.sa_flags |= SA_SIGINFO;
        atomic_store(&program[number].handler, action->sa_sigaction);
        atomic_store(&program[number].flags, action->sa_flags);
    }
    int result = sock_real.sigaction(number, handled ? &ours : action, &before);
    if (result != 0 && handled) {
        atomic_store(&program[number].handler, handler);
        atomic_store(&program[number].flags, flags);
    }
    if (result == 0 && old) {
        *old = before;
        if (before.sa_flags & SA_SIGINFO && before.sa_sigaction == arrived) {
            old->sa_sigaction = handler;
            old->sa_flags = (before.sa_flags & ~SA_SIGINFO) | (flags & SA_SIGINFO);
        }
    }
    return result;
}

sighandler_t sock_signal(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    return sock_sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}
