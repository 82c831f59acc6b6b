/* close and its kin: a number of the program is given back, unless it is one of the preload's own. */
#include "sock/closing.h"
#include "sock/epoll.h"
#include "sock/hooks.h"
#include "sock/meet.h"
#include "sock/wait.h"

#include <errno.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

void sock_forget(int fd)
{
    sock_blocks_left();
    struct sock_file *file = sock_known(fd) ? sock_hold(fd) : NULL;
    if (!file && !sock_is_set(fd))
        return;
    sock_change_begin();
    if (!file) {
        sock_set_closed(fd);
        sock_change_end();
        return;
    }
    sock_set_closing(file, fd);
    if (sock_file_remove(fd, file))
        sock_meet_end(file);
    sock_file_close(fd, file);
    sock_change_end();
}

int sock_close(int fd)
{
    if (sock_table_is_own(fd)) {
        errno = EBADF;
        return -1;
    }
    sock_forget(fd);
    return sock_real.close(fd);
}

static void forget_range(unsigned first, unsigned last)
{
    for (unsigned fd = first; fd <= last && fd < (unsigned)sock_table_end(); fd++)
        if (sock_known((int)fd))
            sock_forget((int)fd);
}

/* In pieces, around the descriptors of the preload. */
static int close_between(unsigned first, unsigned last, int flags)
{
    for (int own; first <= last && first < SOCK_DESCRIPTORS && (own = sock_table_own_next((int)first)) >= 0;) {
        if ((unsigned)own > last)
            break;
        if ((unsigned)own > first && sock_real.close_range(first, (unsigned)own - 1, flags) != 0)
            return -1;
        first = (unsigned)own + 1;
    }
    return first <= last ? sock_real.close_range(first, last, flags) : 0;
}

void sock_closefrom(int first)
{
    unsigned from = first < 0 ? 0 : (unsigned)first;
    forget_range(from, ~0u);
    if (close_between(from, ~0u, 0) != 0) /* a kernel before 5.9 */
        sock_real.closefrom(first);
}

int sock_close_range(unsigned first, unsigned last, int flags)
{
    if (first > last || (flags & CLOSE_RANGE_CLOEXEC))
        return sock_real.close_range(first, last, flags);
    forget_range(first, last);
    return close_between(first, last, flags);
}
