/* Linked in under the thread sanitizer, which takes pthread_mutex_timedlock for a lock, but does not know this function
 * (libtsan of gcc 12): it would say that what is locked by it is not locked. */
#include <pthread.h>
#include <time.h>

#define SECOND 1000000000

int pthread_mutex_clocklock(pthread_mutex_t *lock, clockid_t clock, const struct timespec *until)
{
    struct timespec now, today;
    (void)clock_gettime(clock, &now);
    (void)clock_gettime(CLOCK_REALTIME, &today);
    long left = (until->tv_sec - now.tv_sec) * SECOND + until->tv_nsec - now.tv_nsec;
    long at = today.tv_nsec + (left > 0 ? left : 0);
    today.tv_sec += at / SECOND;
    today.tv_nsec = at % SECOND;
    return pthread_mutex_timedlock(lock, &today);
}
