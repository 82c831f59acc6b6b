/* A program of another user that waits for room for half a second: how often it wakes up meanwhile, and how soon it is
 * told. Needs root; knows nothing of Viaduct.
 *   users NUMBER [OTHER]   the user that it becomes, and that the other end becomes; prints "woken N, in time" */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void turns(int fd, int first)
{
    char byte = 0;
    for (int i = 0; i < 60; i++)
        if ((i % 2 == 0) == first ? write(fd, &byte, 1) != 1 : read(fd, &byte, 1) != 1)
            exit(9);
}

static void ask(int fd)
{
    char *data = calloc(1, 1 << 16);
    struct pollfd one = {.fd = fd, .events = POLLOUT};
    struct rusage before, after;
    turns(fd, 1);
    while (send(fd, data, 1 << 16, MSG_DONTWAIT) > 0)
        ;
    getrusage(RUSAGE_SELF, &before);
    double start = now();
    int ready = poll(&one, 1, 5000);
    double took = now() - start;
    getrusage(RUSAGE_SELF, &after);
    printf("woken %ld, %s\n", after.ru_nvcsw - before.ru_nvcsw, ready == 1 && took < 2 ? "in time" : "late");
}

static void answer(int fd)
{
    char *data = calloc(1, 1 << 16);
    turns(fd, 0);
    usleep(500000);
    while (read(fd, data, 1 << 16) > 0)
        ;
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int status, listener = socket(AF_INET, SOCK_STREAM, 0);
    if (argc < 2 || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        int fd = -1;
        close(listener);
        if (setuid((uid_t)atoi(argv[1])) || (fd = socket(AF_INET, SOCK_STREAM, 0)) < 0 ||
            connect(fd, (struct sockaddr *)&address, length))
            return 3;
        ask(fd);
        return 0;
    }
    if (argc > 2 && setuid((uid_t)atoi(argv[2])))
        return 3;
    int fd = accept(listener, NULL, NULL);
    answer(fd);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
