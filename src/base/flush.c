/* What the program has printed, before the process ends without exit().
 *
 * fflush may wait for ever: for the lock of a stream that another thread holds (one that reads standard input, say), or
 * for the reader of a pipe. So an alarm ends it: its handler jumps out of fflush, wherever that is. No thread is made
 * for it, for the caller may be a signal handler that interrupted malloc. */
#include "base/base.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#define FLUSH_MS 1000 /* for all of it */
#define AGAIN_MS 10   /* the alarm repeats, should it come just before the jump is prepared */

enum { IDLE, FLUSHING, FLUSHED };
static _Atomic int stage;
static sigjmp_buf out;
static pthread_t flusher;

/* The alarm is the process's, so any thread may get it. */
static void time_over(int number)
{
    if (pthread_equal(pthread_self(), flusher))
        siglongjmp(out, 1);
    pthread_kill(flusher, number);
}

static void flush(void)
{
    struct sigaction action = {.sa_handler = time_over, .sa_flags = SA_RESTART};
    struct itimerval limit = {.it_value.tv_usec = (FLUSH_MS - AGAIN_MS) * 1000, .it_interval.tv_usec = AGAIN_MS * 1000};
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    if (sigsetjmp(out, 0) == 0 && sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &limit, NULL) == 0) {
        pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
        (void)fflush(stdout); /* before all others, among which may be one whose lock is never free */
        (void)fflush(stderr);
        (void)fflush(NULL);
    }
    signal(SIGALRM, SIG_IGN);
}

void vbase_flush(void)
{
    int idle = IDLE;
    if (atomic_compare_exchange_strong(&stage, &idle, FLUSHING)) {
        flusher = pthread_self();
        flush();
        atomic_store(&stage, FLUSHED);
    }
    /* another thread is at it; or this one was, and a signal handler of the program ends the process, too */
    for (int ms = 0; ms < FLUSH_MS && atomic_load(&stage) == FLUSHING && !pthread_equal(pthread_self(), flusher); ms++)
        usleep(1000);
}
