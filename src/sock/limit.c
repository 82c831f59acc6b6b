/* The limit of descriptors belongs to the program, which sets and reads it as if this library were not there.
 *
 * Our own descriptors lie behind the limit, so that no number of the program is taken away. The kernel gives such a
 * number only while the limit is higher, and that is so for the whole process. So the limit is raised for one call,
 * under a lock, which the program's calls that set or read the limit take as well: what the program sets is not undone,
 * and it never reads what this library has set. A fork waits, because this is a change (holder.h). What libc reads by
 * itself (sysconf, getdtablesize) may be the raised limit. */
#include "sock/limit.h"
#include "base/atomic.h"
#include "sock/holder.h"
#include "sock/hooks.h"

#include <fcntl.h>
#include <sys/resource.h>

#define OWN_LOW  16384 /* the kernel has a table up to the highest number, and copies it in fork */
#define OWN_MOST 4096

static struct base_lock raising;

static void limit_lock(int what)
{
    if (what != RLIMIT_NOFILE)
        return;
    sock_change_begin();
    base_lock(&raising);
}

static void limit_unlock(int what)
{
    if (what != RLIMIT_NOFILE)
        return;
    base_unlock(&raising);
    sock_change_end();
}

/* High among the program's numbers where the hard limit forbids more, or where there are very many. */
static int number_high(int fd)
{
    struct rlimit limit, wide;
    if (sock_real.getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return sock_real.fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (limit.rlim_cur > OWN_LOW || limit.rlim_max < limit.rlim_cur + OWN_MOST)
        return sock_real.fcntl(fd, F_DUPFD_CLOEXEC, limit.rlim_cur > 2 * OWN_LOW ? OWN_LOW : (long)limit.rlim_cur / 2);
    wide = (struct rlimit){limit.rlim_cur + OWN_MOST, limit.rlim_max};
    if (sock_real.setrlimit(RLIMIT_NOFILE, &wide) != 0)
        return -1;
    int high = sock_real.fcntl(fd, F_DUPFD_CLOEXEC, (long)limit.rlim_cur);
    (void)sock_real.setrlimit(RLIMIT_NOFILE, &limit);
    return high;
}

int sock_number_high(int fd)
{
    limit_lock(RLIMIT_NOFILE);
    int high = number_high(fd);
    limit_unlock(RLIMIT_NOFILE);
    return high;
}

int sock_getrlimit(int what, struct rlimit *limit)
{
    limit_lock(what);
    int result = sock_real.getrlimit(what, limit);
    limit_unlock(what);
    return result;
}

int sock_setrlimit(int what, const struct rlimit *limit)
{
    limit_lock(what);
    int result = sock_real.setrlimit(what, limit);
    limit_unlock(what);
    return result;
}

int sock_prlimit(pid_t pid, int what, const struct rlimit *limit, struct rlimit *old)
{
    limit_lock(what);
    int result = sock_real.prlimit(pid, what, limit, old);
    limit_unlock(what);
    return result;
}
