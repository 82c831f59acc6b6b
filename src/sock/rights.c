/* Processes that give up rights; see rights.h. All connections of such a process go back to TCP first, also those that
 * others hold as well, and so the boards of peers are left, too. What it opens later is moved as ever. */
#include "sock/rights.h"
#include "base/log.h"
#include "sock/epoll.h"
#include "sock/hooks.h"
#include "sock/place.h"
#include "sock/real.h"
#include "sock/rest.h"
#include "sock/stream.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of glibc 2.32 and newer; it knows also where there is no /proc. */
extern char __libc_single_threaded __attribute__((weak));

/* The memory cannot be changed under other threads. */
static bool thread_is_alone(void)
{
    struct stat status;
    if (&__libc_single_threaded && __libc_single_threaded)
        return true;
    return stat("/proc/self/task", &status) == 0 && status.st_nlink == 3; /* `.`, `..`, one */
}

/* Two that hold a connection do not know of each other any more: each has to be done with what it would have to share,
 * which are the ring and the bells behind it. */
static bool goes_back(struct sock_file *file, bool alone)
{
    sock_stream_back_out(file);
    bool done = sock_stream_back_in(file) ||
                ((sock_rest_there() || (alone && sock_rest_open())) && sock_stream_leave_rest(file));
    return done && (alone || atomic_load(&file->link->in_phase) != PHASE_SKIP);
}

/* True: unread bytes of it lie in memory that it may share. */
static bool link_leave(struct sock_file *file)
{
    struct sock_link *link = file->link;
    if (!sock_joined(file))
        return false;
    if (!goes_back(file, sock_link_alone(link)))
        sock_stream_break(file, "bytes lie unread and this process gives up rights");
    if (file->peer)
        sock_peer_leave(file->peer);
    file->peer = NULL;
    return atomic_load(&link->in_phase) != PHASE_BACK && sock_rest_left(atomic_load(&link->rest));
}

static void family_leave(void)
{
    bool rest = false;
    for (uint32_t i = 1; i < sock_link_end(); i++) {
        struct sock_file *file = sock_hold_number(i);
        if (!file)
            continue;
        rest |= link_leave(file);
        sock_drop(file);
    }
    for (uint32_t i = 1; i < sock_sets_end(); i++)
        if (sock_holders_have(&sock_set_at(i)->holders, sock_pid()) && !sock_holders_alone(&sock_set_at(i)->holders))
            sock_set_make_plain(sock_set_at(i), i);
    if (!sock_family_renew())
        LOG_WARN("no memory for this process alone: the memory of those that have more rights stays");
    else if (!rest)
        sock_rest_forget();
}

void sock_rights_look(void)
{
    sigset_t all, before;
    int saved = errno;
    if ((uint32_t)getpid() != sock_pid() || !sock_family_exceeds())
        return; /* a child that has our memory is no process of its own */
    if (thread_is_alone()) {
        sigfillset(&all);
        (void)pthread_sigmask(SIG_BLOCK, &all, &before);
        family_leave();
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    } else {
        LOG_WARN("this process has threads: the memory of those that have more rights stays");
    }
    errno = saved;
}

int sock_setuid(uid_t user)
{
    int result = sock_real.setuid(user);
    sock_rights_look();
    return result;
}

int sock_setreuid(uid_t real, uid_t effective)
{
    int result = sock_real.setreuid(real, effective);
    sock_rights_look();
    return result;
}

int sock_setresuid(uid_t real, uid_t effective, uid_t saved)
{
    int result = sock_real.setresuid(real, effective, saved);
    sock_rights_look();
    return result;
}
