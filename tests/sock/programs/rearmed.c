/* A thread waits in an epoll set for room in a one-shot connection that is empty. Another one takes the wish
 * to hear of it back and utters it again, a varied while later, so that the waiter is about to look at the connection:
 * each time it is told. Prints how often. For tests/sock/armed.sh.
 *   rearmed ROUNDS */
#include "../lib/listener.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 30, PAUSES = 100, PAUSE = 200, SECONDS = 5 };
static int set;
static _Atomic int told;

static void *wait_there(void *unused)
{
    struct epoll_event event;
    while (epoll_wait(set, &event, 1, -1) == 1)
        if (event.events & EPOLLOUT)
            atomic_fetch_add(&told, 1);
    return unused;
}

static void take_turns(int fd, int first)
{
    char byte = 0;
    for (int i = 0; i < 2 * SMALL; i++)
        if ((i % 2 == first ? write(fd, &byte, 1) : read(fd, &byte, 1)) != 1)
            _exit(1);
}

static int arm(int fd, int what, uint32_t events)
{
    struct epoll_event event = {.events = EPOLLONESHOT | events};
    return epoll_ctl(set, what, fd, &event);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address;
    int listener = listener_make(&address), rounds = argc > 1 ? atoi(argv[1]) : 1, round = 0;
    pid_t child = fork();
    if (child == 0) {
        char byte;
        int fd = accept(listener, NULL, NULL);
        take_turns(fd, 0);
        return read(fd, &byte, 1) != 0;
    }
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    pthread_t thread;
    set = epoll_create1(0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
        return 2;
    take_turns(fd, 1);
    if (arm(fd, EPOLL_CTL_ADD, 0) || pthread_create(&thread, NULL, wait_there, NULL))
        return 2;
    for (; round < rounds; round++) {
        time_t until = time(NULL) + SECONDS;
        int before = atomic_load(&told);
        if (arm(fd, EPOLL_CTL_MOD, 0))
            return 2;
        for (volatile int i = 0; i < round % PAUSES * PAUSE; i++)
            ;
        if (arm(fd, EPOLL_CTL_MOD, EPOLLOUT))
            return 2;
        while (atomic_load(&told) == before && time(NULL) < until)
            sched_yield();
        if (atomic_load(&told) == before)
            break;
    }
    printf("%d\n", round);
    fflush(stdout);
    shutdown(fd, SHUT_WR);
    return waitpid(child, NULL, 0) != child;
}
