/* The trial of a process under a filter of system calls (sandbox.c): a child makes all calls that the library makes and
 * the program perhaps does not. It does so by the functions that make them later, on objects that only it has.
 *
 * The child is one of which the program sees nothing: it sends no signal when it ends, and wait does not find it. It
 * begins with all signals blocked, so no handler of the program runs there, and it takes no lock that another thread
 * may hold. */
#include "sock/trial.h"
#include "sock/find.h"
#include "sock/link.h"
#include "sock/packet.h"
#include "sock/place.h"
#include "sock/program.h"
#include "sock/real.h"
#include "sock/rest.h"
#include "sock/segment.h"
#include "sock/tcp.h"
#include "sock/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* The two ends of a connection as those of a meeting; false: there may be none. */
static bool ends_meet(int ends[2])
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t length = sizeof(sa_family_t); /* the kernel makes a name */
    struct ucred user;
    socklen_t size = sizeof(user);
    int listener = sock_own_keep(sock_real.socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ends[0] = sock_real.socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0 || ends[0] < 0 || bind(listener, (struct sockaddr *)&name, length) != 0 ||
        listen(listener, 1) != 0)
        return false;
    length = sizeof(name);
    if (getsockname(listener, (struct sockaddr *)&name, &length) != 0 ||
        sock_real.connect(ends[0], (struct sockaddr *)&name, length) != 0)
        return false;
    ends[1] = sock_real.accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return ends[1] >= 0 && sock_real.getsockopt(ends[1], SOL_SOCKET, SO_PEERCRED, &user, &size) == 0;
}

static bool meeting_works(void)
{
    static const uint64_t cookie[2];
    struct sock_mapping mapping;
    struct sock_packet packet = {0};
    int ends[2], gifts[GIFTS] = {-1, -1, -1}, taken[GIFTS], place = sock_place_open();
    if (place < 0 || !ends_meet(ends) || (gifts[GIFT_SEGMENT] = sock_segment_make(0, cookie, &mapping)) < 0 ||
        !sock_level_commit(&mapping, 0, 1) || !sock_board_open(&packet.board, &gifts[GIFT_BOARD]))
        return false;
    gifts[GIFT_EVENT] = sock_place_event(place);
    sock_segment_leave(0, &mapping);
    if (!sock_packet_send(ends[0], &packet, gifts) || !sock_packet_receive(ends[1], &packet, taken) ||
        !sock_segment_take(taken[GIFT_SEGMENT], 0, cookie, &mapping))
        return false;
    struct sock_peer *peer = sock_peer_take(packet.board, taken[GIFT_BOARD]);
    sock_place_sleep(place);
    return peer && sock_peer_event(peer, place, taken[GIFT_EVENT]) && !sock_peer_wake(peer, (uint32_t)place, 1, NULL);
}

static bool waiting_works(void)
{
    struct pollfd none = {.fd = -1};
    struct timespec now = {0, 0};
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    cpu_set_t processors;
    int set = sock_real.epoll_create1(EPOLL_CLOEXEC), place = sock_place_thread();
    sigset_t mask;
    (void)sched_getaffinity(0, sizeof(processors), &processors);
    sched_yield();
    sock_raw(SYS_futex, (long)&now, FUTEX_WAKE, 1, 0, 0, 0);
    sock_raw(SYS_rt_tgsigqueueinfo, getpid(), sock_raw(SYS_gettid, 0, 0, 0, 0, 0, 0), 0, (long)&mask, 0, 0);
    (void)sock_process_is_dead((uint32_t)getpid());
    return set >= 0 && place >= 0 && sock_real.ppoll(&none, 1, &now, NULL) == 0 &&
           sock_real.epoll_ctl(set, EPOLL_CTL_ADD, sock_place_event(place), &event) == 0 &&
           sock_real.epoll_pwait(set, &event, 1, 0, NULL) >= 0 && sigprocmask(SIG_SETMASK, NULL, &mask) == 0;
}

/* Whatever these answer is right; they are not to kill. */
static void ask_and_leave(void)
{
    struct sock_ends ends = {.port = {1, 2}};
    struct sock_owner owner;
    uint64_t bytes, rest;
    int kept[SOCK_TCP_KEPT], fd = sock_real.socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)sock_find_peer(&ends, true, 1, &owner);
    (void)sock_ends_read(fd, true, &ends);
    (void)sock_tcp_cookie(fd);
    (void)sock_tcp_sent(fd, true, &bytes);
    (void)sock_tcp_consumed(fd, &bytes);
    (void)sock_tcp_special(fd);
    sock_tcp_hasten(fd, kept);
    sock_tcp_reset(fd);
    sock_spin_prepare();
    (void)sock_program_has_library("/proc/self/exe", environ);
    (void)(sock_family_make() && !sock_family_exceeds() && sock_family_renew());
    if (sock_rest_open() && (rest = sock_rest_begin(1)) && sock_rest_add(rest, "", 1))
        sock_rest_drop(rest);
}

static void child(void)
{
    sock_raw(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0); /* no core file */
    bool works = meeting_works() && waiting_works();
    ask_and_leave();
    sock_raw(SYS_exit_group, works ? 0 : 1, 0, 0, 0, 0, 0);
}

static bool trial_passes(void)
{
    sigset_t all, before;
    int status = -1, saved = errno;
    sigfillset(&all);
    if (sigprocmask(SIG_BLOCK, &all, &before) != 0)
        return false;
    long pid = sock_raw(SYS_clone, 0, 0, 0, 0, 0, 0);
    if (pid == 0)
        child();
    while (pid > 0 && sock_raw(SYS_wait4, pid, (long)&status, __WALL, 0, 0, 0) == -EINTR)
        ;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return pid > 0 && status == 0;
}

bool sock_trial_forbids(void)
{
    static _Atomic int known; /* 1: no, 2: yes */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer)
        return answer == 2;
    char text[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? sock_real.read(fd, text, sizeof(text) - 1) : 0;
    if (fd >= 0)
        sock_real.close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *line = strstr(text, "\nSeccomp:");
    answer = line && line[9] && line[10] != '0' && !trial_passes() ? 2 : 1;
    atomic_store_explicit(&known, answer, memory_order_relaxed);
    return answer == 2;
}
