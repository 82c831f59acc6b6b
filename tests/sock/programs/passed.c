/* A connection is passed in a message to another process, which uses it: which way do the bytes go? For
 * tests/sock/passed.sh.
 *   passed family      to a process forked before; the other one has closed it
 *   passed several     the same, taken by recvmmsg
 *   passed held        the same, closed only when the kept way has been seen
 *   passed refused     the message is not sent, and the connection is used where it is
 *   passed looked      the message is looked at before it is taken
 *   passed lost        after many messages that nobody takes
 *   passed stranger    to another program
 *   passed worker      that program: the message comes on descriptor 3 */
#include "../lib/way.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { MANY = 300, ROUNDS = 60 };

static struct sockaddr_in address = {.sin_family = AF_INET};

static void *serve_one(void *fd)
{
    serve((int)(intptr_t)fd);
    close((int)(intptr_t)fd);
    return NULL;
}
static void serve_all(int listener)
{
    for (;;) {
        pthread_t thread;
        int fd = accept(listener, NULL, NULL);
        if (fd < 0 || pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)fd) != 0)
            _exit(7);
        pthread_detach(thread);
    }
}

static int connected(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
        exit(2);
    return fd;
}

union control {
    struct cmsghdr head;
    char space[CMSG_SPACE(sizeof(int))];
};
static int pass(int to, int fd)
{
    char byte = 0;
    union control control = {
        .head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec piece = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    memcpy(CMSG_DATA(&control.head), &fd, sizeof(int));
    return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}
static int taken(int from, int flags, int several)
{
    char byte;
    int fd;
    union control control;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    struct mmsghdr messages[2] = {{.msg_hdr = message}, {.msg_hdr = {.msg_iov = &piece, .msg_iovlen = 1}}};
    if (several ? recvmmsg(from, messages, 2, flags | MSG_WAITFORONE, NULL) != 1 : recvmsg(from, &message, flags) != 1)
        _exit(6);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
    return fd;
}

/* By memory sooner or later? */
static const char *way_at_last(int fd)
{
    const char *found = "TCP";
    for (int i = 0; i < ROUNDS && strcmp(found, "TCP") == 0; i++)
        found = way(fd);
    return found;
}

static int work(int from, const char *how)
{
    char byte;
    if (strcmp(how, "looked") == 0)
        close(taken(from, MSG_PEEK, 0));
    int fd = taken(from, 0, strcmp(how, "several") == 0);
    if (strcmp(how, "held") == 0)
        printf("%s, ", way(fd));
    fflush(stdout);
    if (write(from, "", 1) != 1 || read(from, &byte, 1) != 1) /* the other one closes it now */
        return 5;
    puts(way_at_last(fd));
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc == 2 ? argv[1] : "";
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), ends[2], status;
    char byte;
    if (strcmp(how, "worker") == 0)
        return work(3, how);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 64) ||
        getsockname(listener, (struct sockaddr *)&address, &length) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 2;
    pid_t server = fork(), worker = server ? fork() : -1;
    if (server == 0) {
        close(ends[0]);
        close(ends[1]);
        serve_all(listener);
    }
    if (worker == 0) {
        close(ends[0]);
        close(listener);
        if (strcmp(how, "stranger") != 0)
            _exit(work(ends[1], how) | (fflush(stdout) ? 1 : 0));
        if (dup2(ends[1], 3) != 3)
            _exit(2);
        execl("/proc/self/exe", "passed", "worker", (char *)NULL);
        _exit(2);
    }
    close(listener);
    close(ends[1]);
    if (strcmp(how, "refused") == 0) {
        int none[2], fd = connected();
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, none) || close(none[1]) || pass(none[0], fd))
            return 2;
        puts(way_at_last(fd));
        kill(worker, SIGKILL);
    } else {
        int nobody[2];
        for (int i = 0; strcmp(how, "lost") == 0 && i < MANY; i++) {
            int fd = connected();
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, nobody) || !pass(nobody[0], fd))
                return 2;
            close(fd);
            close(nobody[0]);
            close(nobody[1]);
        }
        int fd = connected();
        if (!pass(ends[0], fd))
            return 2;
        if (strcmp(how, "held") != 0)
            close(fd);
        if (read(ends[0], &byte, 1) != 1)
            return 2;
        if (strcmp(how, "held") == 0)
            close(fd);
        if (write(ends[0], "", 1) != 1)
            return 2;
    }
    waitpid(worker, &status, 0);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}
