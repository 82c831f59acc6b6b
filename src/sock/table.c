/* The table of descriptors, and the descriptors of the preload itself; see table.h. */
#include "sock/table.h"
#include "base/atomic.h"
#include "sock/real.h"
#include "sock/signal.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define OWN_LOW  16384 /* the kernel has a table up to the highest number, and copies it in fork */
#define OWN_MOST 4096

_Atomic uint32_t sock_table[SOCK_DESCRIPTORS];
static _Atomic int end; /* of what was ever used, but for the preload's own */
static _Atomic int own_begin = SOCK_DESCRIPTORS, own_end;

int sock_table_end(void) { return atomic_load_explicit(&end, memory_order_relaxed); }

static void raise_to(_Atomic int *bound, int value)
{
    int seen = atomic_load_explicit(bound, memory_order_relaxed);
    while (seen < value && !atomic_compare_exchange_weak(bound, &seen, value))
        ;
}

uint32_t sock_table_set(int fd, uint32_t entry)
{
    raise_to(&end, fd + 1);
    return atomic_exchange(&sock_table[fd], entry);
}

bool sock_table_is_own(int fd) { return sock_known(fd) && atomic_load(&sock_table[fd]) == SOCK_OWN; }

int sock_table_own_next(int from)
{
    int begin = atomic_load(&own_begin), last = atomic_load(&own_end);
    for (int fd = from > begin ? from : begin; fd < last; fd++)
        if (sock_table_is_own(fd))
            return fd;
    return -1;
}

/* The limit is one of the whole process: who reads, sets or inherits it is not to see it raised. */
static struct base_lock limit_lock;
static uint32_t limit_stays; /* children that are being made */

void sock_limit_lock(void)
{
    sock_section_enter();
    base_lock(&limit_lock);
}

void sock_limit_unlock(void)
{
    base_unlock(&limit_lock);
    sock_section_leave();
}

void sock_limit_stay(void)
{
    sock_limit_lock();
    limit_stays++;
    sock_limit_unlock();
}

void sock_limit_free(void)
{
    sock_limit_lock();
    limit_stays--;
    sock_limit_unlock();
}

void sock_limit_child(void)
{
    atomic_store(&limit_lock.word, 0);
    limit_stays = 0;
}

/* Behind the numbers that the program may use, so that none of those is taken away; where the hard limit forbids that,
 * or a child is being made, or they are very many, high among them. The limit holds for new numbers alone. */
static int number_high_locked(int fd)
{
    struct rlimit limit, wide;
    if (sock_real.getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return sock_real.fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (limit.rlim_cur > OWN_LOW || limit.rlim_max == limit.rlim_cur || limit_stays)
        return sock_real.fcntl(fd, F_DUPFD_CLOEXEC, limit.rlim_cur > 2 * OWN_LOW ? OWN_LOW : (long)limit.rlim_cur / 2);
    wide = (struct rlimit){limit.rlim_cur + OWN_MOST, limit.rlim_max};
    if (wide.rlim_cur > wide.rlim_max)
        wide.rlim_cur = wide.rlim_max;
    if (sock_real.setrlimit(RLIMIT_NOFILE, &wide) != 0)
        return -1;
    int high = sock_real.fcntl(fd, F_DUPFD_CLOEXEC, (long)limit.rlim_cur);
    (void)sock_real.setrlimit(RLIMIT_NOFILE, &limit);
    return high;
}

static int number_high(int fd)
{
    sock_limit_lock();
    int high = number_high_locked(fd);
    sock_limit_unlock();
    return high;
}

static void own_set(int fd)
{
    int seen = atomic_load(&own_begin);
    raise_to(&own_end, fd + 1);
    while (seen > fd && !atomic_compare_exchange_weak(&own_begin, &seen, fd))
        ;
    atomic_store(&sock_table[fd], SOCK_OWN);
}

/* No cancellation point: the thread may have a lock. */
static void close_quietly(int fd) { (void)sock_raw(SYS_close, fd, 0, 0, 0, 0, 0); }

int sock_own_copy(int fd)
{
    int high = number_high(fd);
    if (high >= 0 && (uint32_t)high < SOCK_DESCRIPTORS)
        own_set(high);
    return high;
}

int sock_own_keep(int fd)
{
    int high = fd >= 0 ? sock_own_copy(fd) : -1;
    if (fd >= 0)
        close_quietly(fd);
    return high;
}

void sock_own_close(int fd)
{
    if ((uint32_t)fd < SOCK_DESCRIPTORS)
        atomic_store(&sock_table[fd], 0);
    close_quietly(fd);
}
