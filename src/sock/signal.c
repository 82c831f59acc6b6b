/* sigaction and signal; see signal.h. The kernel knows one function of ours as the handler of all signals, which looks
 * where the thread is and calls the program's. */
#include "sock/signal.h"
#include "base/atomic.h"
#include "sock/hooks.h"
#include "sock/step.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define SIGNALS   65
#define OWN_FLAGS (int)(SA_SIGINFO | SA_RESETHAND) /* that the kernel is told otherwise than the program has said */

typedef void (*handler_function)(int, siginfo_t *, void *);
static void arrived(int number, siginfo_t *info, void *context);

static struct {
    _Atomic handler_function handler;
    _Atomic int flags;
} program[SIGNALS];

static _Thread_local struct {
    int depth;
    bool waiting; /* a signal does, see info */
    bool no_restart;
    void *handler; /* the frame of the one that runs */
    sigset_t mask; /* before all signals were blocked */
    siginfo_t info[SIGNALS];
    bool there[SIGNALS];
} thread TLS_QUICK;

static bool is_fault(int number, const siginfo_t *info)
{
    return info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
                                 number == SIGTRAP || number == SIGSYS);
}

/* Under which the kernel's action of a signal and what we know of it change together. In a section: no handler of this
 * thread waits for it. */
static struct base_lock lock;

static void actions_lock(void)
{
    sock_section_enter();
    base_lock(&lock);
}

static void actions_unlock(void)
{
    base_unlock(&lock);
    sock_section_leave();
}

void sock_signal_child(void) { atomic_store(&lock.word, 0); }

/* As the kernel does it: flags and mask stay. What another thread has set meanwhile stays as well. */
static void handler_reset(int number, int flags)
{
    struct sigaction action;
    if (sock_real.sigaction(number, NULL, &action) != 0 || action.sa_sigaction != arrived)
        return;
    action.sa_handler = SIG_DFL;
    action.sa_flags = flags;
    (void)sock_real.sigaction(number, &action, NULL);
}

/* What the program has set, now or since the kernel chose; where that runs once it is taken away. The flags are read
 * last and set first: those of a handler or of a later one. */
static handler_function handler_take(int number, int *flags)
{
    handler_function handler = atomic_load(&program[number].handler);
    *flags = atomic_load(&program[number].flags);
    if (likely(!(*flags & (int)SA_RESETHAND)))
        return handler;
    SOCK_STEP(handler_once);
    actions_lock();
    handler = atomic_load(&program[number].handler);
    *flags = atomic_load(&program[number].flags);
    if (*flags & (int)SA_RESETHAND)
        handler_reset(number, *flags);
    actions_unlock();
    return handler;
}

static void arrived(int number, siginfo_t *info, void *context)
{
    int flags, saved = errno;
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
    handler_function handler = handler_take(number, &flags);
    thread.no_restart |= !(flags & SA_RESTART);
    void *outer = thread.handler;
    thread.handler = __builtin_frame_address(0);
    handler(number, info, context);
    thread.handler = outer;
    errno = saved;
}

/* It may have been left by a jump: then the stack is shorter now, or another one. (Stacks grow down.) */
bool sock_in_handler(void)
{
    const char *here = __builtin_frame_address(0), *handler = thread.handler;
    stack_t other;
    if (likely(!handler))
        return false;
    if (sigaltstack(NULL, &other) == 0 && !(other.ss_flags & SS_DISABLE)) {
        bool there = handler >= (char *)other.ss_sp && handler < (char *)other.ss_sp + other.ss_size;
        if (there != ((other.ss_flags & SS_ONSTACK) != 0))
            here = there ? handler + 1 : here; /* it has left the other stack, or is there for another signal */
    }
    if (here > handler)
        thread.handler = NULL;
    return thread.handler;
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

void sock_restart_begin(void) { thread.no_restart = false; }
bool sock_restart_wanted(void) { return !thread.no_restart; }

/* BEFORE: what was there. Under the lock. */
static int action_set(int number, const struct sigaction *action, struct sigaction *before)
{
    bool handled = action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
    handler_function handler = atomic_load(&program[number].handler);
    int flags = atomic_load(&program[number].flags);
    struct sigaction ours;
    if (handled) {
        ours = *action;
        ours.sa_sigaction = arrived;
        ours.sa_flags = (ours.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO; /* that is done when the handler runs */
        atomic_store(&program[number].flags, action->sa_flags);
        atomic_store(&program[number].handler, action->sa_sigaction);
    }
    int result = sock_real.sigaction(number, handled ? &ours : action, before);
    if (result != 0 && handled) {
        atomic_store(&program[number].flags, flags);
        atomic_store(&program[number].handler, handler);
    }
    if (result == 0 && before->sa_flags & SA_SIGINFO && before->sa_sigaction == arrived) {
        before->sa_sigaction = handler;
        before->sa_flags = (before->sa_flags & ~SA_SIGINFO) | (flags & OWN_FLAGS);
    }
    return result;
}

/* The program's memory is looked at without the lock: it may be such that it cannot be. */
int sock_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction wanted, before;
    if (number <= 0 || number >= SIGNALS)
        return sock_real.sigaction(number, action, old);
    if (action)
        wanted = *action;
    actions_lock();
    int result = action_set(number, action ? &wanted : NULL, &before);
    actions_unlock();
    if (result == 0 && old)
        *old = before;
    return result;
}

static _Atomic bool interrupts[SIGNALS]; /* by siginterrupt, for what signal says later */

static sighandler_t handler_set(int number, sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    return sock_sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

sighandler_t sock_signal(int number, sighandler_t handler)
{
    bool interrupt = number > 0 && number < SIGNALS && atomic_load(&interrupts[number]);
    return handler_set(number, handler, interrupt ? 0 : SA_RESTART);
}

sighandler_t sock___sysv_signal(int number, sighandler_t handler)
{
    return handler_set(number, handler, (int)SA_RESETHAND | SA_NODEFER);
}

int sock_siginterrupt(int number, int interrupt)
{
    struct sigaction action;
    if (sock_sigaction(number, NULL, &action) != 0)
        return -1;
    action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    if (number > 0 && number < SIGNALS)
        atomic_store(&interrupts[number], interrupt != 0);
    return sock_sigaction(number, &action, NULL);
}

/* What sigset does besides: the signal is blocked by SIG_HOLD, and otherwise not; it says whether it was. */
sighandler_t sock_sigset(int number, sighandler_t handler)
{
    sigset_t one, before;
    struct sigaction now;
    sigemptyset(&one);
    if (handler == SIG_HOLD && sock_sigaction(number, NULL, &now) == 0) /* libc would tell our own function */
        return sock_real.sigset(number, handler) == SIG_HOLD ? SIG_HOLD : now.sa_handler;
    if (handler == SIG_HOLD || sigaddset(&one, number) != 0)
        return sock_real.sigset(number, handler);
    sighandler_t old = handler_set(number, handler, 0);
    if (old == SIG_ERR || pthread_sigmask(SIG_UNBLOCK, &one, &before) != 0)
        return SIG_ERR;
    return sigismember(&before, number) ? SIG_HOLD : old;
}
