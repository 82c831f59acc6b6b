/* Two processes hold a connection that was moved, and one of them stops inside the lock of a direction: calls of the other one
 * that do not wait end all the same, and it is told to try again, then as well when the one that stopped goes on or is killed. What
 * has no such answer is done without the lock. No byte is lost or told twice. For tests/sock/stopped.sh, with the tests' build of
 * the library. */
#include "../lib/listener.h"
#include "../lib/way.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { TAKEN = 1 }; /* of an answer, by the one that stops: bytes that cannot lie in two parts of the ring */

static const struct {
    const char *step;
    short event;
} locks[] = {{"stored 0 stop", POLLOUT}, {"bytes_taken 0 stop", POLLIN}};

static int wrong;

/* Somebody sets the clock while others wait. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME)
        now->tv_sec += 3600;
    return result;
}

/* One that is stopped there, having begun to ask, or taken a part of the answer. */
static pid_t stopped_at(const char *step, int fd, short event)
{
    char part[TAKEN];
    int status;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGPIPE, SIG_IGN);
        setenv("SOCK_STEP", step, 1);
        _exit(event == POLLOUT ? write(fd, "?", 1) != 1 : recv(fd, part, TAKEN, MSG_WAITALL) != TAKEN);
    }
    return waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) ? child : -1;
}

/* An answer lies there: one that waited for it in two processes would go by TCP. */
static void ask(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    if (write(fd, "?", 1) != 1 || poll(&one, 1, 5000) != 1)
        exit(3);
}

/* Its exit status; -1: it was killed. */
static int ended(pid_t child, int signal)
{
    int status = 0;
    if (child <= 0 || kill(child, signal) || waitpid(child, &status, 0) != child)
        exit(4);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int refused(int fd, short event)
{
    char answer[SIZE];
    errno = 0;
    ssize_t n = event == POLLOUT ? send(fd, "?", 1, MSG_DONTWAIT) : recv(fd, answer, SIZE, MSG_DONTWAIT);
    return n == -1 && errno == EAGAIN;
}

static int answered(int fd, ssize_t size)
{
    char answer[SIZE];
    return size == 0 || recv(fd, answer, (size_t)size, MSG_WAITALL) == size;
}

/* Calls that have no answer for the time being; the alarm tells where they wait. */
static int others_end(int fd, int set, short event)
{
    struct epoll_event wanted = {.events = (uint32_t)event};
    int one = 1, zero = 0, error = -1, quick = -1;
    socklen_t length = sizeof(int);
    return epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL) == 0 && epoll_ctl(set, EPOLL_CTL_ADD, fd, &wanted) == 0 &&
           epoll_ctl(set, EPOLL_CTL_MOD, fd, &wanted) == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 &&
           error == 0 && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0 &&
           getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &quick, &length) == 0 && quick == 1 &&
           setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &zero, sizeof(zero)) == 0;
}

/* Level-triggered, and killed. */
static void killed(int fd, const char *step, short event)
{
    struct pollfd one = {.fd = fd, .events = event};
    struct epoll_event told, wanted = {.events = (uint32_t)event};
    int set = epoll_create1(EPOLL_CLOEXEC), added = epoll_ctl(set, EPOLL_CTL_ADD, fd, &wanted);
    if (event == POLLIN)
        ask(fd);
    pid_t child = stopped_at(step, fd, event);
    int lies = 0, asked = ioctl(fd, FIONREAD, &lies), once = refused(fd, event), ready = poll(&one, 1, 0),
        others = others_end(fd, set, event), waits = epoll_wait(set, &told, 1, 0);
    if (asked || (event == POLLIN && (lies < SIZE - TAKEN || lies > SIZE))) {
        printf("%s: %d bytes are to be read\n", step, lies);
        wrong++;
    }
    if (child < 0 || added || !once || ready != 1 || one.revents != event || !others || waits != 1 || !refused(fd, event)) {
        printf("%s: child %d, refused %d, poll %d, others %d, epoll %d\n", step, child > 0, once, ready, others, waits);
        wrong++;
    }
    (void)ended(child, SIGKILL);
    close(set);
    if (!answered(fd, event == POLLIN ? SIZE - TAKEN : 0) || !refused(fd, POLLIN) || strcmp(way(fd), "memory") != 0) {
        printf("%s: it does not go on behind the dead one\n", step);
        wrong++;
    }
}

/* Edge-triggered: nothing comes behind the refusal but the end of the reason for it, SIGCONT or SIGKILL. */
static void told_again(int fd, const char *step, short event, int signal)
{
    struct epoll_event told, wanted = {.events = (uint32_t)event | EPOLLET};
    int set = epoll_create1(EPOLL_CLOEXEC), added = epoll_ctl(set, EPOLL_CTL_ADD, fd, &wanted);
    if (event == POLLIN)
        ask(fd);
    int first = epoll_wait(set, &told, 1, 1000), second = epoll_wait(set, &told, 1, 0);
    pid_t child = stopped_at(step, fd, event);
    int once = refused(fd, event), status = ended(child, signal), waits = epoll_wait(set, &told, 1, 1000);
    if (added || first != 1 || second != 0 || !once || status != (signal == SIGCONT ? 0 : -1) || waits != 1) {
        printf("%s, EPOLLET, signal %d: refused %d, told %d %d, then %d\n", step, signal, once, first, second, waits);
        wrong++;
    }
    if (!answered(fd, event == POLLIN ? SIZE - TAKEN : signal == SIGCONT ? SIZE : 0) || !refused(fd, POLLIN)) {
        printf("%s, EPOLLET: a byte was lost or is there twice\n", step);
        wrong++;
    }
    if (epoll_wait(set, &told, 1, 0) > 0 && epoll_wait(set, &told, 1, 0) > 0) {
        printf("%s, EPOLLET: it is told without end\n", step);
        wrong++;
    }
    close(set);
}

/* The one that stops has taken the last byte: poll ends by its time, or says that the call is to be tried. */
static void polled(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    ask(fd);
    if (!answered(fd, SIZE - TAKEN))
        exit(5);
    pid_t child = stopped_at("bytes_taken 0 stop", fd, POLLIN);
    int ready = poll(&one, 1, 100), status = ended(child, SIGCONT);
    if (ready < 0 || ready > 1 || status || !refused(fd, POLLIN)) {
        printf("poll: %d, the one that was stopped %d\n", ready, status);
        wrong++;
    }
}

/* The end is told at once, and nothing comes behind it. */
static void shut(int fd)
{
    char byte;
    pid_t child = stopped_at("stored 0 stop", fd, POLLOUT);
    int result = shutdown(fd, SHUT_WR);
    ssize_t n = read(fd, &byte, 1);
    int status = ended(child, SIGCONT);
    if (result || n != 0 || status != 1) {
        printf("shutdown: %d, the other end says %zd, the one that was stopped %d\n", result, n, status);
        wrong++;
    }
    close(fd);
}

static void closed(int fd)
{
    struct epoll_event told, wanted = {.events = EPOLLIN};
    int set = epoll_create1(EPOLL_CLOEXEC), added = epoll_ctl(set, EPOLL_CTL_ADD, fd, &wanted);
    ask(fd);
    pid_t child = stopped_at("bytes_taken 0 stop", fd, POLLIN);
    int result = close(fd), waits = epoll_wait(set, &told, 1, 0), status = ended(child, SIGCONT);
    if (added || result || waits || status) {
        printf("close: %d, its set says %d, the one that was stopped %d\n", result, waits, status);
        wrong++;
    }
    close(set);
}

static int connected(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) || strcmp(way(fd), "memory") != 0)
        exit(2);
    alarm(10);
    return fd;
}

int main(void)
{
    struct sockaddr_in address;
    int listener = listener_make(&address), status;
    pid_t server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int i = 0, fd; i < 3; i++, close(fd))
            serve(fd = accept(listener, NULL, NULL));
        _exit(0);
    }
    close(listener);
    int fd = connected(&address);
    for (int i = 0; i < 2; i++) {
        killed(fd, locks[i].step, locks[i].event);
        told_again(fd, locks[i].step, locks[i].event, SIGCONT);
        told_again(fd, locks[i].step, locks[i].event, SIGKILL);
    }
    polled(fd);
    close(fd);
    shut(connected(&address));
    closed(connected(&address));
    return waitpid(server, &status, 0) != server || status || wrong;
}
