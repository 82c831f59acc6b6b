/* Two processes hold a connection that was moved, and one of them stops inside the lock of a direction: calls of the other one
 * that do not wait end all the same, and it is told to try again. When the one that stopped is killed, its lock is free, and no byte
 * is lost or told twice. For tests/sock/stopped.sh, with the tests' build of the library. */
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
#include <sys/wait.h>

enum { TAKEN = 1 }; /* of an answer, by the one that stops: bytes that cannot lie in two parts of the ring */

/* One that is stopped there, having begun to ask, or taken a part of the answer. */
static pid_t stopped_at(const char *step, int fd, short event)
{
    char part[TAKEN];
    int status;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("SOCK_STEP", step, 1);
        _exit(event == POLLOUT ? write(fd, "?", 1) != 1 : recv(fd, part, TAKEN, MSG_WAITALL) != TAKEN);
    }
    return waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) ? child : -1;
}

static int refused(int fd, short event)
{
    char answer[SIZE];
    errno = 0;
    ssize_t n = event == POLLOUT ? send(fd, "?", 1, MSG_DONTWAIT) : recv(fd, answer, SIZE, MSG_DONTWAIT);
    return n == -1 && errno == EAGAIN;
}

int main(void)
{
    static const struct {
        const char *step;
        short event;
    } locks[] = {{"stored 0 stop", POLLOUT}, {"bytes_taken 0 stop", POLLIN}};
    struct sockaddr_in address;
    char answer[SIZE];
    int listener = listener_make(&address), wrong = 0;
    pid_t server = fork();
    if (server == 0) {
        serve(accept(listener, NULL, NULL));
        _exit(0);
    }
    close(listener);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) || strcmp(way(fd), "memory") != 0)
        return 2;
    for (int i = 0; i < 2; i++) {
        short event = locks[i].event;
        struct pollfd one = {.fd = fd, .events = event};
        struct epoll_event told, wanted = {.events = (uint32_t)event};
        int set = epoll_create1(EPOLL_CLOEXEC), added = epoll_ctl(set, EPOLL_CTL_ADD, fd, &wanted);
        alarm(5);
        if (event == POLLIN && write(fd, "?", 1) != 1)
            return 3;
        pid_t child = stopped_at(locks[i].step, fd, event);
        int lies = 0, asked = ioctl(fd, FIONREAD, &lies), once = refused(fd, event), ready = poll(&one, 1, 0), waits = epoll_wait(set, &told, 1, 0);
        if (asked || (event == POLLIN && (lies < SIZE - TAKEN || lies > SIZE))) {
            printf("%s: %d bytes are to be read\n", locks[i].step, lies);
            wrong++;
        }
        if (child < 0 || added || !once || ready != 1 || one.revents != event || waits != 1 || !refused(fd, event)) {
            printf("%s: child %d, refused %d, poll %d, epoll %d\n", locks[i].step, child > 0, once, ready, waits);
            wrong++;
        }
        if (child > 0 && (kill(child, SIGKILL) || waitpid(child, NULL, 0) != child))
            return 4;
        close(set);
        if (event == POLLIN && recv(fd, answer, SIZE - TAKEN, MSG_WAITALL) != SIZE - TAKEN)
            return 5;
        if (!refused(fd, POLLIN) || strcmp(way(fd), "memory") != 0) {
            printf("%s: it does not go on behind the dead one\n", locks[i].step);
            wrong++;
        }
    }
    close(fd);
    return waitpid(server, NULL, 0) != server || wrong;
}
