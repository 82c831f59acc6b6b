/* A connection between two processes, of which one stops at a step of the tests' build of the library (step.c), where
 * that is loaded; the other one goes on meanwhile. For programs of tests/sock/ends.sh. */
#include "listener.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 100, STOPPED = 99, GO_ON = 98 }; /* the descriptors of step.c */

/* By turns, until it is moved. The end that talks first is 0. */
static void talk(int fd, int end)
{
    char byte = 0;
    for (int i = 0; i < ROUNDS; i++)
        if (i % 2 == end ? send(fd, &byte, 1, 0) != 1 : recv(fd, &byte, 1, 0) != 1)
            exit(2);
}

static int connection_make(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)))
        _exit(2);
    return fd;
}

/* A connection to a child, of which END is what it does with its end after the talk, and its exit status. Nobody else has
 * the end ON that lets this process go on. *FD: the end of this process. */
static inline pid_t stop_before_bell(int (*end)(int fd, int on), int *fd)
{
    struct sockaddr_in address;
    int listener = listener_make(&address), on[2];
    if (pipe(on))
        exit(2);
    pid_t child = fork();
    if (child == 0) {
        close(listener);
        close(on[0]);
        int own = connection_make(&address);
        talk(own, 1);
        _exit(end(own, on[1]));
    }
    close(on[1]);
    *fd = accept(listener, NULL, NULL);
    close(listener);
    talk(*fd, 0);
    if (dup2(on[0], GO_ON) < 0 || dup2(STDERR_FILENO, STOPPED) < 0)
        exit(2);
    return child;
}
